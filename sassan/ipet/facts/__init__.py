"""Flow facts: what a user knows of loops, blocks and branches, from a TOML file to rows of the IPET system."""
