"""Registers: which are live where, and what more of them would allow."""
