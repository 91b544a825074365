"""WCET by implicit path enumeration over the warp-level CFG (warp-cfg.md, section 4; design decisions in README.md)."""
