"""Kernel strings over L/C/S/D: of blocks and along paths, run-length coded with repeats."""
