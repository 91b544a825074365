"""The analysis core: what a lattice is, how a fixpoint is solved and verified, and the graph algorithms below both."""
