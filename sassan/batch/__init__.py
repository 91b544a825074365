"""Many inputs over an executor: streamed to JSON Lines, resumable, one bad file never stops the rest."""

from sassan.batch.job import Job
from sassan.batch.results import Begun, ResultsFile, Sink
from sassan.batch.run import count, run
from sassan.batch.summary import Summary

__all__ = ["Begun", "Job", "ResultsFile", "Sink", "Summary", "count", "run"]
