"""Warps of a block with paths of their own, which meet at barriers: their traces, and which arrivals each wait waits for."""
