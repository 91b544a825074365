"""The worst-case makespan of W warps on one streaming multiprocessor (docs/concepts/time.md)."""
