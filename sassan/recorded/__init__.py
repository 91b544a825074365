"""Recorded runs of real GPUs: readers of profiler reports, tuner caches and tables of times."""

from sassan.recorded.read import read
from sassan.recorded.types import OK, Metric, RecordedDevice, RecordedLaunch, Recording, Size, TuningConfiguration, TuningSpace, Value

__all__ = ["OK", "Metric", "RecordedDevice", "RecordedLaunch", "Recording", "Size", "TuningConfiguration", "TuningSpace", "Value", "read"]
