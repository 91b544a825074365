"""From a choice to a cubin: compilers, and the order of PTX instructions."""
