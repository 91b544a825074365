"""Streaming multiprocessors: how much each unit takes per cycle, and how many warps are resident, per compute capability."""

from sassan.machine.multiprocessor import Multiprocessor, load

__all__ = ["Multiprocessor", "load"]
