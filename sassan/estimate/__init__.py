"""How long a launch takes, and why: an estimate by simulation of one SM."""
