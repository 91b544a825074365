"""What the accesses of warps that were run say of memory."""
