"""A thin layer over PuLP: a frozen model, writers for other solvers, and solutions that are checked again in exact arithmetic."""
