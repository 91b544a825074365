"""Recorded runs of real GPUs: readers of profiler reports, tuner caches and tables of times."""

from sassan.recorded.read import read
from sassan.recorded.types import OK, Configuration, Device, Metric, RecordedLaunch, Recording, Size, TuningSpace, Value

__all__ = ["OK", "Configuration", "Device", "Metric", "RecordedLaunch", "Recording", "Size", "TuningSpace", "Value", "read"]
