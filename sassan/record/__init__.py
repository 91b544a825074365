"""Recording the launches of a program without a GPU (`sassan record`); docs/developer/design/recording.md describes the design."""

from sassan.record.devices import DeviceChoice
from sassan.record.run import RecordedProgram, RecordingLimits, record

__all__ = ["DeviceChoice", "RecordedProgram", "RecordingLimits", "record"]
