"""Remedies for the time of a launch: each is a change of what the estimate takes, and is tried by estimating again."""
