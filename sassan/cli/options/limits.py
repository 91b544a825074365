"""Limits of numbers on the command line."""

MANY = 2**31 - 1
"""Numbers beyond this are typing errors; solvers would round them."""
