"""The GPU file of a board: the figures of its product, with those that were measured on it.

A measurement goes over a figure that is assumed, whichever is worse, and over a published one where it is worse: a measurement refutes a
publication, and cannot prove that nothing is ever slower.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor

from sassan.checked import quoted
from sassan.measure.target.answers import LATENCIES, LATENCY, TargetAnswers
from sassan.products import ON_TARGET, Product
from sassan.timing.latencies import Latencies

_ASSUMED = "assumed"
_WORST_SHARE = 0.01
_AT_LEAST = ("kept_mhz", "dram_efficiency", "dram_share", "l2_bytes_per_cycle")
"""Figures of which more is better."""


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A figure: what bounds took it for until now (None: nothing), what was measured, and what they take it for from now on."""

    figure: str
    unit: str
    before: float | None
    assumed: bool
    measured: float
    after: float

    @property
    def verdict(self) -> str:
        """What the measurement says of the figure before: `refuted` where it is worse, `holds`, or `new` where there was none."""
        if self.before is None:
            return "new"
        return "refuted" if self.worse else "holds"

    @property
    def worse(self) -> bool:
        """Whether what was measured is worse than what was taken for granted."""
        return self.before is not None and (self.measured < self.before if self.figure in _AT_LEAST else self.measured > self.before)


def rows(gpu: Product, answers: TargetAnswers) -> tuple[TargetRow, ...]:
    """Return the figures of a product that were measured: first those of the product, then latencies by their class."""
    return (*_of_product(gpu, answers), *_of_latencies(gpu, answers))


def source(answers: TargetAnswers) -> str:
    """Return the source of the figures, as bounds and certificates print it."""
    return f"{ON_TARGET}{answers.device}, {answers.date}, driver {answers.driver}, CUDA {answers.runtime}"


def board(gpu: Product, answers: TargetAnswers, name: str) -> str:
    """Return the TOML text of the GPU file of a board that is called `name`."""
    known = rows(gpu, answers)
    measured = {row.figure: row for row in known if not row.figure.startswith(LATENCY)}
    latency = {row.figure.removeprefix(LATENCY): row for row in known if row.figure.startswith(LATENCY)}
    lines = [
        "# Written by sassan measure --assumptions: the least, or the most, of what was measured.",
        f"# In a graph, {answers.figures['between_in_graph_us'].most:.6g} us at most pass between two launches.",
        f"# dram_share: meanwhile all cores of the CPU moved {answers.figures['cpu_gb_per_s'].median:.3g} GB/s.",
        "[sources]",
        f"board = {quoted(source(answers))}",
        "",
        f"[product.{quoted(name)}]",
        f"base = {quoted(gpu.name)} # what is not here is as there",
        *_table(name, "measured", measured),
        *_table(name, "latency", latency),
    ]
    return "\n".join(lines) + "\n"


def _table(name: str, table: str, known: Mapping[str, TargetRow]) -> Iterator[str]:
    kept = {figure: row for figure, row in known.items() if row.after != row.before}
    if kept:
        yield f"[product.{quoted(name)}.{table}]"
        yield from (f"{figure} = {row.after:.9g} # {_before(row)}" for figure, row in kept.items())
        yield 'source = "board"'


def _before(row: TargetRow) -> str:
    if row.before is None:
        return "no figure before"
    return f"{'assumed' if row.assumed else 'published'}: {row.before:.6g}"


def _of_product(gpu: Product, answers: TargetAnswers) -> Iterator[TargetRow]:
    figures = answers.figures
    clock = min(gpu.boost_clock, floor(figures["clock_mhz"].least))
    yield _row(gpu, "kept_mhz", "MHz", gpu.kept_clock or gpu.boost_clock, clock)
    efficiency = floor(1e4 * min(1.0, figures["dram_gb_per_s"].least / gpu.dram_bandwidth)) / 1e4
    yield _row(gpu, "dram_efficiency", "", gpu.dram_efficiency, max(_WORST_SHARE, efficiency))
    share = max(_WORST_SHARE, floor(1e4 * answers.share) / 1e4)
    yield TargetRow("dram_share", "", None, assumed=True, measured=share, after=share)
    if "l2_bytes_per_cycle" in figures:
        yield _row(gpu, "l2_bytes_per_cycle", "bytes/cycle", gpu.l2_bytes_per_cycle, max(1, floor(figures["l2_bytes_per_cycle"].least)))
    for figure, unit, before in (
        ("launch_us", "us", gpu.launch_us),
        ("between_us", "us", gpu.between_us),
        ("block_cycles", "cycles", gpu.block_cycles),
    ):
        yield _row(gpu, figure, unit, before, ceil(1e4 * figures[figure].most) / 1e4)


def _row(gpu: Product, figure: str, unit: str, before: float | None, measured: float) -> TargetRow:
    assumed = figure != "kept_mhz" and dict(gpu.sources).get(figure, _ASSUMED).startswith(_ASSUMED)
    if before is None or assumed:
        return TargetRow(figure, unit, before, assumed, measured, measured)
    return TargetRow(figure, unit, before, assumed, measured, (min if figure in _AT_LEAST else max)(before, measured))


def _of_latencies(gpu: Product, answers: TargetAnswers) -> Iterator[TargetRow]:
    table = Latencies(gpu.architecture, dict(gpu.latency))
    for name in LATENCIES:
        known, figure = answers.figures.get(f"{LATENCY}{name}"), table.figure(name)
        if known is None:
            continue
        before, measured = table.cycles(name), ceil(known.most)
        assumed = before is None or (name not in dict(gpu.latency) and (figure is None or figure.unsure))
        after = measured if before is None or assumed else max(before, measured)
        yield TargetRow(f"{LATENCY}{name}", "cycles", before, assumed, measured, after)
