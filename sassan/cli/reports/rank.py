"""The report of `rank`: the best choices, how the order agrees with measured times, what the estimates rest on."""

from collections.abc import Mapping

from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.evolve.ranking.rank import FIRST, RankedFields, Ranking
from sassan.fields.field import NONE

_TOP = 20
_REASONS = 4


def show(ranking: Ranking, top: int | None, *, every: bool) -> None:
    """Print the best choices of a ranking; `every`: all assumptions."""
    varying, best = _varying(ranking), ranking.rows[: top or _TOP]
    shown = table.of_fields(RankedFields, best, without=() if ranking.measured else (RankedFields.measured_us.head,))
    rows = (
        (str(at), *cells, _text({name: each.candidate.values[name] for name in varying}))
        for at, (each, cells) in enumerate(zip(best, shown.rows, strict=True), 1)
    )
    table.show(Table((Column("#", number=True), *shown.columns, Column("parameters")), tuple(rows)))
    gpu = ranking.candidates.config.shape.gpu
    assert gpu is not None
    known = sum(row.us is not None for row in ranking.rows)
    out(f"\n{len(ranking.rows)} choices on {safe(gpu.name)}, {known} with an estimate\n")
    if ranking.rows[0].us is not None:
        out(f"the first: {safe(_text({name: ranking.rows[0].candidate.values[name] for name in varying}))}\n")
    same = {name: value for name, value in ranking.rows[0].candidate.values.items() if name not in varying}
    if same:
        out(f"the same in all: {safe(_text(same))}\n")
    for why, count in sorted(ranking.without.items(), key=lambda pair: -pair[1])[:_REASONS]:
        out(f"{count} without an estimate: {safe(why)}\n")
    if ranking.measured > 1:
        regrets = ", ".join(f"regret@{first} {_ratio(ranking.regret(first))}" for first in FIRST)
        error = NONE if ranking.mape is None else f"{ranking.mape:.0%}"
        out(f"against {ranking.measured} measured times: {regrets}, tau {_ratio(ranking.tau)}, mean error {error}\n")
    assumptions.show(list(ranking.assumptions), every=every)


def _varying(ranking: Ranking) -> tuple[str, ...]:
    """Return the parameters with more than one value."""
    values = [row.candidate.values for row in ranking.rows]
    return tuple(name for name in values[0] if any(each[name] != values[0][name] for each in values))


def _text(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
