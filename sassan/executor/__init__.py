"""Executors of independent work: a small Protocol with implementations in this thread, on threads, on processes and on a cluster."""

from sassan.executor.dask import Certificates, Dask
from sassan.executor.executor import Executor, More
from sassan.executor.processes import Processes, can_end_after, end_after
from sassan.executor.processors import available
from sassan.executor.serial import Serial
from sassan.executor.threads import Threads

__all__ = ["Certificates", "Dask", "Executor", "More", "Processes", "Serial", "Threads", "available", "can_end_after", "end_after"]
