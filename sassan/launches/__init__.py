"""Recorded launches of a program (`launches.toml`): their model, their reader and their writer."""

from sassan.launches.data import DataFile, archive
from sassan.launches.model import Argument, Buffer, Launches, MemoryWrite, ProgramDevice, ProgramLaunch
from sassan.launches.read import launches_of, parse, read
from sassan.launches.write import table, text

__all__ = [
    "Argument",
    "Buffer",
    "DataFile",
    "Launches",
    "MemoryWrite",
    "ProgramDevice",
    "ProgramLaunch",
    "archive",
    "launches_of",
    "parse",
    "read",
    "table",
    "text",
]
