"""Instruction facts as data: which registers an instruction reads and writes, what it does to the flow, and when its threads agree."""
