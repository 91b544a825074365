"""Timing samples of kernels: estimators with confidence intervals, pictures, and the runner that takes them on a GPU."""
