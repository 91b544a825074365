"""The fuzzer: mutations of shipped samples, one module per kind of format, and what no input may do."""
