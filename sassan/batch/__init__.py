"""Many inputs over an executor: streamed to JSON Lines, resumable, one bad file never stops the rest."""

from sassan.batch.job import Job
from sassan.batch.results import Begun, ResultsFile, Sink
from sassan.batch.run import count, run
from sassan.batch.summary import BatchSummary

__all__ = ["BatchSummary", "Begun", "Job", "ResultsFile", "Sink", "count", "run"]
