"""sassan: static timing analysis of NVIDIA GPU machine code."""

__version__ = "0.1.0"
