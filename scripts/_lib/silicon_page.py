"""The page of the reference that shows `samples/experiments/silicon*.csv`: bounds and estimates against recorded GPU runs."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import public_page

EXPERIMENTS = Path(__file__).resolve().parents[2] / "samples" / "experiments"
BOUNDS = EXPERIMENTS / "silicon.csv"
PREDICTIONS = EXPERIMENTS / "silicon_predictions.csv"
ROLES = EXPERIMENTS / "roles.csv"
PUBLISHED = EXPERIMENTS / "published.csv"
MADE_WITH = EXPERIMENTS / "silicon.toml"

_ABOUT = """\
A row is a source of recordings under a cost model: `n` measurements, the share of them that have a bound, the bound over the measured
cycles, and `below`: how many bounds are below their measurement, which refutes them. A part of a source that is also summed up alone stands
below it, behind a comma. Where there is no bound, the gaps say why.

What is charged at its worst stands apart. *Addresses not known*: lanes, or rows of lanes, may lie anywhere to each other, and DRAM may move
the sector of each anew, since their addresses come from data, or from values that are not followed. The lanes of a dedispersion add a delay
that they load: its bound is many times its time on data where neighbours lie close, and the same code on other data does take so long.
*Atomics that may collide*: all operations may be on one address.

The recordings are not part of the repository. `scripts/experiments silicon DIR -o OUT` makes the figures again from a folder of them; copy
`silicon.csv`, `silicon_predictions.csv` and `silicon.toml` of OUT to `samples/experiments`; `scripts/docs --reference` writes this page.
[Validation on GPUs](../../samples/README.md#validation-on-gpus) says what the sources are,
[trust a number](../guides/trust-a-number.md) what to make of it."""
_METHODS = """\
How well each way of predicting a time does: the mean error in percent of the measurement, the geometric mean of predicted over measured,
the share within a factor of two, Kendall's tau, and for tuning spaces the time of the best of the first 1 or 10 configurations by that
order, over the best time of all. *Cross-validated* is the estimate with figures of the hardware that are fitted to the launches of all
other programs and tuning spaces (`scripts/calibrate`).

A time is compared at the clock at which the GPU ran: that which a profiler sets, and in a tuning space the base clock where runs become
faster by the ratio of both clocks at once, as those of the recorded convolution do after some 0.15 s of work; configurations whose clock is
not known are not looked at."""
_ROLES = """\
Products and attention that ask the copy engine and the tensor cores of warpgroups, timed on an H100 80GB HBM3 at 1,980 MHz: the ladder of
`pranjalssh/fast.cu`, compiled by nvcc 13.0 for sm_90a and recorded, and kernels of ours in Triton 3.6, whose arguments were given by hand.
The roofline is that of the peak of the tensor cores. Bounds are those of [Proof 11](../proofs/warps-with-roles.md): the warps of a block
one after the other, in clusters of two those of both blocks, and DRAM moves each tile for each block that asks for it. Kernels 11 and
12 read the order of their tiles from memory: the loop over them is bounded by all that a block could get. Estimates take the clock as
given, and six of these kernels gave the figure for requests that L2 answers together (`together` of sassan/estimate/figures.toml).
`samples/experiments/roles.csv` has the figures; nothing makes them again without that GPU."""
_PUBLISHED = """\
Code of public repositories, compiled by nvcc 13.0 and recorded; times are those that its authors published, at the clock that a product
boosts to where they do not say another one. Nothing was fitted to them but what L2 gives an SM of a B200 (from its v4), and the causes of
errors that they showed were mended. The RTX 5090 was held to 400 W. DeepGEMM is compiled as it stands, and launched with the tiles that its
heuristics choose; the times are those that its first release (a6d97a1) published of an H800, which is taken for an H100 SXM. The roofline
is that of the peak of the tensor cores, of
single precision (RTX A6000), or of DRAM (softmax). `samples/experiments/published.csv` has the figures."""
_PUBLISHED_HEAD = ("code", "GPU", "kernel", "launch", "published us", "estimate us", "bound us", "roofline us", "bound / published")
_ROLES_HEAD = ("code", "kernel", "launch", "measured us", "estimate us", "bound us", "roofline us", "bound / measured")
_BOUNDS_HEAD = ("source", "model", "n", "bounded", "least", "median", "90 %", "most", "below", "gaps")
_PREDICTIONS_HEAD = ("source", "model", "method", "n", "mean error", "mean ratio", "within 2x", "tau", "regret@1", "regret@10")


def page(head: str) -> str:
    """The text of the page, `head` below its title."""
    bounds = _rows(BOUNDS)
    lines = ["# Bounds against silicon", "", head, _ABOUT, "", _made_with(), "", _summary(bounds), "", "## Bounds", ""]
    lines += _table(_BOUNDS_HEAD, [_bound(row) for row in bounds])
    if PREDICTIONS.exists():
        lines += ["", "## Predictions", "", _METHODS, "", *_table(_PREDICTIONS_HEAD, [_prediction(row) for row in _rows(PREDICTIONS)])]
    return "\n".join([*lines, *_with_roles(_rows(ROLES)), *_published(_rows(PUBLISHED)), *public_page.section()]) + "\n"


def _with_roles(rows: list[dict[str, str]]) -> list[str]:
    """Kernels whose warps have roles, as they were timed on one GPU."""
    return ["", "## Kernels with roles", "", _ROLES, "", *_table(_ROLES_HEAD, [_timed(row, "code", "kernel", "launch") for row in rows])]


def _published(rows: list[dict[str, str]]) -> list[str]:
    """Kernels whose times others published."""
    cells = [_timed(row, "code", "gpu", "kernel", "launch") for row in rows]
    return ["", "## Published times", "", _PUBLISHED, "", *_table(_PUBLISHED_HEAD, cells)]


def _timed(row: dict[str, str], *names: str) -> tuple[str, ...]:
    keys = ("measured_us", "estimate_us", "bound_us", "roofline_us")
    return (*(row[name] for name in names), *(row[key] or "-" for key in keys), _over(row))


def _over(row: dict[str, str]) -> str:
    return f"{float(row['bound_us']) / float(row['measured_us']):.1f}" if row["bound_us"] else "-"


def _made_with() -> str:
    """Of which code these figures are: it may have changed since."""
    made = tomllib.loads(MADE_WITH.read_text("utf-8"))
    return f"The figures are those of commit `{made['commit']}`, with programs that {made['clang']} compiled."


def _summary(bounds: list[dict[str, str]]) -> str:
    """How many measurements refute their bound, by cost model; parts of a source are not counted twice."""
    whole = [row for row in bounds if ", " not in row["source"]]
    counts: list[str] = []
    for model in dict.fromkeys(row["model"] for row in whole):
        rows = [row for row in whole if row["model"] == model]
        bounded = sum(round(int(row["n"]) * float(row["bounded_share"])) for row in rows)
        total, below = (sum(int(row[key]) for row in rows) for key in ("n", "below"))
        counts.append(f"`{model}`: {bounded:,} of {total:,} measurements have a bound, and {below:,} refute it")
    return "Together, " + "; ".join(counts) + "."


def _bound(row: dict[str, str]) -> tuple[str, ...]:
    ratios = (_figure(row[f"ratio_{name}"]) for name in ("min", "median", "p90", "max"))
    gaps = row["gaps"].replace(" ", ", ").replace(":", " ") or "-"
    return (row["source"], row["model"], row["n"], _share(row["bounded_share"]), *ratios, row["below"], gaps)


def _prediction(row: dict[str, str]) -> tuple[str, ...]:
    figures = (_share(row["mape"]), _figure(row["geometric_mean"]), _share(row["within_2x"]))
    ranks = (_figure(row[name]) for name in ("tau", "regret_1", "regret_10"))
    return (row["source"], row["model"], row["method"], row["n"], *figures, *ranks)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _figure(text: str) -> str:
    return f"{float(text):,.2f}" if text else "-"


def _share(text: str) -> str:
    return f"{float(text):.0%}" if text else "-"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]
