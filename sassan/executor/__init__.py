"""Where independent work runs: one small Protocol, injected into whoever runs many things; here, on threads, or on processes."""

from sassan.executor.executor import Executor
from sassan.executor.pools import Processes, Threads, available
from sassan.executor.serial import Serial

__all__ = ["Executor", "Processes", "Serial", "Threads", "available"]
