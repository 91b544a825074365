"""Abstract domains: they know groups, points and registers by number, and no opcode."""
