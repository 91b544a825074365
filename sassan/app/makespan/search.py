"""A search for the longest makespan of one instance."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from sassan.app.makespan.instances import MakespanInstance
from sassan.jit import clock
from sassan.makespan.compiling import NOTE
from sassan.makespan.engine import Budget, Engine
from sassan.makespan.merge import Merged

TIME_LIMIT = "time-limit"
INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True)
class InstanceResult:
    """What is known of one instance: `stopped` says why the search ended early, '' when it was done."""

    instance: MakespanInstance
    known: Merged
    seconds: float
    stopped: str = ""


def search(  # noqa: PLR0913 - the limits of a search, and who watches
    instance: MakespanInstance,
    engine: Engine,
    *,
    seconds: float,
    seed: int = 0,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[Merged], None] | None = None,
) -> InstanceResult:
    """What an engine finds in the time given; every schedule has passed the validator.

    Engines end early where `stop` says so; `watch` sees each of their results. Raises UsageError `too-large` when the engine does not take
    the instance.
    """
    begin, started = time.monotonic(), clock.now()
    known = Merged(instance.problem, changed=watch)
    budget = Budget(deadline=started + seconds, seed=seed, stop=stop, memory=_memory())
    last = engine.run(instance.problem, budget, known)
    if engine.name == "all":
        known.changed = None
    else:
        known(last)
    took = time.monotonic() - begin
    # A search that is not begun because its first use takes longer than what is left is cut short by the limit too.
    limited = clock.now() - started >= seconds or any(NOTE in result.note for result in known.last.values())
    stopped = INTERRUPT if stop() else TIME_LIMIT if limited and known.exact is None else ""
    return InstanceResult(instance, known, took, stopped)


def _memory() -> int:
    """Return the bytes that the tables of an engine may take: most of what this process may."""
    if sys.platform != "linux":
        return Budget().memory
    import resource  # noqa: PLC0415 - there is none on Windows

    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return Budget().memory if limit == resource.RLIM_INFINITY else limit * 3 // 4
