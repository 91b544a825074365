"""Kernel strings over L/C/S/D: per block and along paths, run-length coded with repeats (timing.md, makespan.md)."""
