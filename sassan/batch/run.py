"""A batch from beginning to end: inputs to items, items over an executor, lines to where they go, in the order of the inputs."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from sassan.batch.inputs import Input, Passed, expand
from sassan.batch.job import Job
from sassan.batch.lines import ResultPosition
from sassan.batch.results import Begun, Sink
from sassan.batch.summary import BatchSummary
from sassan.batch.work import Item, content_of, digest_of, lost, work
from sassan.errors import InputError, UsageError
from sassan.executor import Executor, Processes

TOGETHER_FILES, TOGETHER_BYTES = 16, 96 * 1024
"""Small files that are one item: enough that handing it over costs next to nothing."""


def run(  # noqa: PLR0913 - what to read, what to do, where, and who watches
    paths: Sequence[str],
    job: Job,
    executor: Executor,
    sink: Sink,
    *,
    begun: Begun | None = None,
    output: Path | None = None,
    watch: Callable[[BatchSummary], None] = lambda _: None,
) -> BatchSummary:
    """Analyze every function that the paths name; lines go to `sink` in the order of the inputs, whatever the executor.

    `begun` is what earlier lines say: those inputs are not read again, except to see that they are the same. `own` is the file of results.
    `watch` sees the tally after every item. Raises InputError `no-input` when there is nothing to read; UsageError `inputs-changed` when
    the inputs are not those that `begun` speaks of, `unknown-function` when no function at all is one that the job asks for, `usage` for a
    time limit on an executor that cannot end an item.
    """
    if job.time_limit is not None and not isinstance(executor, Processes):
        raise UsageError("usage", "only a process of its own can be ended after a time", hint="--time-limit needs --executor processes")
    begin = monotonic()
    before = begun or Begun()
    passed = Passed()
    summary = BatchSummary(before=len(before.outcomes))
    summary.add(before.outcomes)
    items = _items(expand(paths, passed, output), before.places, summary)
    for part in executor.map(partial(work, job), items, lost=lost):
        if part.lines:
            sink.write(part.lines)
        summary.add(part.outcomes)
        summary.files += part.ended
        summary.seconds = monotonic() - begin
        watch(summary)
    summary.passed, summary.repeated, summary.seconds = passed.other, passed.repeated, monotonic() - begin
    if not summary.files:
        where = ", ".join(f"'{path}'" for path in paths[:3]) + (", …" if len(paths) > 3 else "")  # noqa: PLR2004 - enough to see what is meant
        others = f"; {passed.other} other files were skipped" if passed.other else ""
        raise InputError("no-input", f"there is nothing to analyze in {where}{others}", hint="name files to take them whatever they are")
    if job.request.patterns and not summary.functions and not summary.refused:
        wanted = ", ".join(f"'{pattern}'" for pattern in job.request.patterns)
        raise UsageError(
            "unknown-function", f"no function of {summary.files} files matches {wanted}", hint="write patterns as in '*saxpy*'"
        )
    return summary


def count(paths: Sequence[str], output: Path | None = None) -> int:
    """Return how many inputs there are, for whoever waits."""
    return sum(1 for _ in expand(paths, Passed(), output))


def _items(inputs: Iterator[Input], places: Sequence[ResultPosition], summary: BatchSummary) -> Iterator[Item]:
    """Yield what is left to do; raises UsageError `inputs-changed`."""
    for place in places:
        source = next(inputs, None)
        if source is None or source.file != place.file or _digest(source) != place.digest:
            raise _changed(place, source)
        if place.done:
            summary.files += 1
        else:
            yield Item((source,), start=(place.function or 0) + 1, digest=place.digest, functions=place.functions)
    together: list[Input] = []
    size = 0
    for source in inputs:
        if together and (size + source.size > TOGETHER_BYTES or len(together) >= TOGETHER_FILES):
            yield Item(tuple(together))
            together, size = [], 0
        together.append(source)
        size += source.size
    if together:
        yield Item(tuple(together))


def _digest(source: Input) -> str | None:
    return None if source.error is not None else digest_of(content_of(source.path))


def _changed(place: ResultPosition, now: Input | None) -> UsageError:
    if now is None or now.file != place.file:
        there = "there is no such input any more" if now is None else f"now '{os.fspath(now.file)}' stands in its place"
    else:
        there = "its content has changed"
    hint = "pass the same inputs, start again with --overwrite, or name another file"
    return UsageError("inputs-changed", f"the results have '{place.file}': {there}", hint=hint)
