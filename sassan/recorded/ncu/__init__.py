"""Reports of Nsight Compute, and its CSV."""
