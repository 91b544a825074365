"""Schedules of machine code on one SM, in cycles: a lower end beside the bounds of many warps."""
