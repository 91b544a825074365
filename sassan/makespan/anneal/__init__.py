"""Simulated annealing over strings of placements: plain, compiled, and the engine."""
