"""`rank`: the configurations of a tuning space in the order of their estimated times, without a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import fspath
from typing import cast, overload

from sassan import recorded
from sassan.api import checking, tables
from sassan.api.choices import Path
from sassan.api.launching import Launch
from sassan.api.launching import parameters as texts
from sassan.app.reading import read_gpu
from sassan.errors import UsageError
from sassan.evolve.ranking.candidates import Candidates, TunedLaunch, of_cache, of_config
from sassan.evolve.ranking.rank import Ranked, RankedFields, Ranking, document, outcomes, ranking
from sassan.evolve.run import tools_of
from sassan.evolve.space import config as configurations
from sassan.executor import Executor, Processes, Serial
from sassan.fields.field import Value
from sassan.machine.parameters import setting

_MOST = 20
"""Configurations that a notebook shows."""


@dataclass(frozen=True, slots=True, repr=False)
class RankedSpace(Sequence[Ranked]):
    """The configurations, best first, each with its parameters (`candidate.values`), its estimated time `us` and its `outcome`.

    Times are microseconds; one that could not be compiled or estimated stands at the end, without a time, and its `outcome` says why.
    `ranking` is what was found, whose shape may change between versions.
    """

    ranking: Ranking

    def __repr__(self) -> str:
        """Return how many there are and the best in a line."""
        best = self.ranking.rows[0]
        return f"<RankedSpace: {len(self)} configurations, the best {dict(best.candidate.values)} with {best.us or 0:.2f} us>"

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(self.ranking.rows)

    @overload
    def __getitem__(self, key: int) -> Ranked: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Ranked, ...]: ...
    def __getitem__(self, key: int | slice) -> Ranked | tuple[Ranked, ...]:
        """Return a configuration by its place; raises IndexError."""
        return self.ranking.rows[key]

    @property
    def tau(self) -> float | None:
        """Kendall's rank correlation tau-b of estimated and measured times, from -1 to 1, which is equal order (Knight 1966).

        None without measured times.
        """
        return self.ranking.tau

    def regret(self, first: int) -> float | None:
        """Return the best measured time of the `first` configurations over the best of all: 1.0 means that the best is among them.

        None without measured times. Raises UsageError for what is not a whole number.
        """
        return self.ranking.regret(checking.whole("first", first))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What all estimates rest on, a sentence each (docs/reference/assumptions.md)."""
        return self.ranking.assumptions

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan rank --json`: `configurations` in order, with times in microseconds, and `summary`."""
        return document(self.ranking, None)

    def _repr_html_(self) -> str:
        return _table(self.ranking)


def rank(  # noqa: PLR0913 - every choice of a user is a parameter
    space: Path,
    *,
    gpu: str | None = None,
    source: Path | None = None,
    block: str | Sequence[str] = (),
    grid: str | Sequence[str] = (),
    parameters: Mapping[str | int, int] | None = None,
    shared: int = 0,
    define: Sequence[str] = (),
    where: str | Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    workers: int = 1,
    cached: bool = True,
) -> RankedSpace:
    """Return the configurations of a tuning space, best first by estimated time: each is compiled with NVRTC, for no GPU is needed.

    `space` is a configuration of `sassan evolve` (.toml), or the cache of Kernel Tuner, KTT or T4 results. `gpu` is the product, where the
    space names none or another one is meant. Of a cache: `source` is the code that was measured, if not beside it; `block` and `grid` are
    expressions over its parameters (and problem_x, problem_y, problem_z), by axis; `parameters` are integer arguments, `shared` bytes of a
    block, `define` macros (`N=64`). `where` keeps configurations for which expressions hold (`TILE <= 16`); `sample` draws so many at
    random, by `seed`. `workers` are processes (a script then needs `if __name__ == "__main__"`); `cached` False compiles and estimates
    again. Numbers are those of `sassan rank`; times are in microseconds.
    Raises InputError for what is refused or where nothing has an estimate, UsageError for choices that have no effect on the space,
    MissingToolError without NVRTC.
    """
    path, product = fspath(checking.path("space", space)), None if gpu is None else read_gpu(checking.text("gpu", gpu))
    given = TunedLaunch(
        None if source is None else fspath(checking.path("source", source)),
        product,
        _several("block", block),
        _several("grid", grid),
        tuple(map(setting, texts(Launch(parameters=parameters or {})))),
        checking.whole("shared", shared),
        tuple(f"-D{text}" for text in _several("define", define)),
    )
    known = _candidates(path, given).where(_several("where", where))
    if not known.entries:
        raise UsageError("nothing", f"{path}: no choice is left to rank", hint="relax `where` or the restrictions of the file")
    if sample is not None:
        known = known.sample(checking.whole("sample", sample), checking.whole("seed", seed))
    count = checking.whole("workers", workers)
    executor: Executor = Serial() if count <= 1 else Processes(count)
    rows = tuple(outcomes(known, tools_of(known.config), executor, cached=checking.flag("cached", cached)))
    return RankedSpace(ranking(known, rows))


def _candidates(path: str, given: TunedLaunch) -> Candidates:
    """Return the configurations of a file; raises UsageError for choices that have no effect on it, or a file that is not a space."""
    if path.endswith(".toml"):
        if replace(given, gpu=None) != TunedLaunch():
            message = "source, block, grid, parameters, shared and define have no effect on a configuration"
            raise UsageError("usage", message, hint=f"write them into {path}")
        return of_config(configurations.read(path), given.gpu)
    known = recorded.read(path)
    if not isinstance(known, recorded.TuningSpace):
        raise UsageError("no-tuning-space", f"'{path}' records launches, no tuning space", hint="sassan validate compares launches")
    return of_cache(known, given)


def _several(name: str, value: object) -> tuple[str, ...]:
    """Return one text or several as several; raises UsageError."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence):
        return tuple(checking.text(name, each) for each in cast("Sequence[object]", value))
    raise checking.wrong(name, value, "a text, or several")


def _table(known: Ranking) -> str:
    """Return the best configurations, each with its parameters, for notebooks."""
    fields = [field for field in RankedFields.fields if field.head]
    names = tuple(known.rows[0].candidate.values)
    rows = (
        (*(str(row.candidate.values[name]) for name in names), *(tables.shown(each, row) for each in fields)) for row in known.rows[:_MOST]
    )
    return tables.of_rows((*names, *(each.head for each in fields)), rows) + tables.assumptions(known.assumptions)
