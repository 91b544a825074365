"""Bounds and estimates held to recorded runs of real GPUs."""
