"""What may be chosen: the configuration of a search, its genes and launches."""
