"""The engines by name; each is imported when it is requested, since compilers and solvers are slow to load."""

from sassan.errors import UsageError
from sassan.executor import Executor
from sassan.makespan.engine import Engine

NAMES = ("all", "exact", "beam", "anneal", "ilp", "bounds")


def load(name: str, rows: str | None = None, executor: Executor | None = None) -> Engine:
    """Return the engine of this name; `rows` is the form of the integer program of `ilp`, `executor` runs the chains of `anneal`.

    Raises UsageError `unknown-engine`.
    """
    match name:
        case "all":
            from sassan.makespan.all import All, SearchStep  # noqa: PLC0415

            searches = (SearchStep(load("beam"), 0.3), SearchStep(load("anneal", executor=executor), 0.15))
            return All(load("bounds"), searches, load("exact"))
        case "exact":
            from sassan.makespan.exact.engine import Exact  # noqa: PLC0415

            return Exact()
        case "beam":
            from sassan.makespan.beam.engine import Beam  # noqa: PLC0415

            return Beam()
        case "anneal":
            from sassan.makespan.anneal.engine import Anneal  # noqa: PLC0415

            return Anneal(executor=executor)
        case "ilp":
            from sassan.makespan.program.build import Form  # noqa: PLC0415
            from sassan.makespan.program.engine import Ilp  # noqa: PLC0415

            return Ilp(Form(rows)) if rows is not None else Ilp()
        case "bounds":
            from sassan.makespan.bounds.engine import Bounds  # noqa: PLC0415

            return Bounds()
        case _:
            raise UsageError("unknown-engine", f"unknown engine '{name}'", hint=f"the engines are {', '.join(NAMES)}")
