"""Streaming multiprocessors: how much each unit takes per cycle, and how many warps are resident, per compute capability."""

from sassan.machine.multiprocessor import Multiprocessor, load
from sassan.machine.user import MachineFile, known, machine_of, read_file

__all__ = ["MachineFile", "Multiprocessor", "known", "load", "machine_of", "read_file"]
