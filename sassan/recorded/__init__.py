"""Recorded runs of real GPUs: readers of profiler reports, tuner caches and tables of times."""

from sassan.recorded.read import read
from sassan.recorded.types import OK, Configuration, Metric, RecordedDevice, RecordedLaunch, Recording, Size, TuningSpace, Value

__all__ = ["OK", "Configuration", "Metric", "RecordedDevice", "RecordedLaunch", "Recording", "Size", "TuningSpace", "Value", "read"]
