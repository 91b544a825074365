"""Runs a program without a GPU and writes down its launches (`sassan record`); README.md says how."""

from sassan.record.devices import DeviceChoice
from sassan.record.run import Limits, Recorded, record

__all__ = ["DeviceChoice", "Limits", "Recorded", "record"]
