"""WCET by implicit path enumeration over the warp-level CFG (docs/proofs/ipet-rows.md; decisions in README.md)."""
