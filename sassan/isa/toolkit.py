"""The newest toolkit whose machine code the tables were compared with."""

NEWEST = (13, 5)
"""By `scripts/census`, which compares every instruction that its ptxas writes with the tables."""
