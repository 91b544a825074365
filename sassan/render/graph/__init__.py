"""The graph of a warp as DOT text, as a picture, and as plain data."""
