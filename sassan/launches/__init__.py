"""Recorded launches of a program (`launches.toml`): what they are, and how they are read and written."""

from sassan.launches.model import Argument, Buffer, Launches, ProgramDevice, ProgramLaunch
from sassan.launches.read import parse, read
from sassan.launches.write import text

__all__ = ["Argument", "Buffer", "Launches", "ProgramDevice", "ProgramLaunch", "parse", "read", "text"]
