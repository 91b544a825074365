"""Integer programs of the longest schedule, and the engine that solves them."""
