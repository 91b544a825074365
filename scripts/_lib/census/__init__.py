"""The census: which instructions of the PTX ISA ptxas accepts for an SM, and which of those sassan understands."""
