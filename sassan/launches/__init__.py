"""Recorded launches of a program (`launches.toml`): what they are, and how they are read and written."""

from sassan.launches.model import Argument, Buffer, Device, Launches, RecordedLaunch
from sassan.launches.read import parse, read
from sassan.launches.write import text

__all__ = ["Argument", "Buffer", "Device", "Launches", "RecordedLaunch", "parse", "read", "text"]
