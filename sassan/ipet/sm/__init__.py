"""Bounds of many warps: shares of an SM -> optima over the paths of one warp -> bound of the resident warps -> bound of a grid."""
