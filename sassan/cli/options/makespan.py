"""Searches for the longest makespan."""

from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sassan.app.makespan.kernels import Paths
from sassan.cli.options.limits import MANY
from sassan.cli.options.panels import Panel


class EngineChoice(StrEnum):
    """How the longest makespan is searched for or bounded."""

    ALL = "all"
    EXACT = "exact"
    BEAM = "beam"
    ANNEAL = "anneal"
    ILP = "ilp"
    BOUNDS = "bounds"


class ProgramForm(StrEnum):
    """Which form of the integer program: the rows (32) and (35) of Berezovskyi et al. 2011, (31) and (34), or warps that are counted."""

    SHORT = "short"
    LONG = "long"
    COUNTED = "counted"


_output = partial(typer.Option, rich_help_panel=Panel.OUTPUT)
_search = partial(typer.Option, rich_help_panel=Panel.SEARCH)
_sm = partial(typer.Option, rich_help_panel=Panel.SM)
Instances = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="STRING|FILE",
        help="A kernel string such as L5C9(L2C9)^10 (several: one per warp, in turn), or a listing; - reads a listing from standard input.",
    ),
]
Configured = Annotated[str | None, typer.Option("--config", metavar="X.toml", help="Read the instance from a file; options override it.")]
WarpCount = Annotated[
    int | None,
    _sm("-W", "--warps", metavar="N", min=1, max=1_000_000, help="Warps on the SM; needed, unless several strings are given."),
]
MachineSm = Annotated[
    str | None,
    _sm("--sm", metavar="6.1", help="Capacities and issue limit of this compute capability; a listing is read as this one."),
]
Capacity = Annotated[
    str | None,
    _sm("--cap", metavar="L=1,C=4", help="Instructions per slot of each unit; fractions (1/2) too. Default: 1 of each."),
]
Partition = Annotated[
    bool,
    _sm("--partition", help="One partition of the SM, with the warps of its scheduler, instead of the whole SM."),
]
Issue = Annotated[int | None, _sm("--issue", metavar="N", min=1, max=MANY, help="Instructions per slot in all.")]
Latency = Annotated[str | None, _sm("--latency", metavar="D=8", help="Slots that an instruction of a unit takes; 1 by default.")]
Interval = Annotated[
    str | None,
    _sm("--interval", metavar="T=2", help="Slots that an instruction holds its unit; else it is as many letters as its latency has slots."),
]
BlockWarps = Annotated[
    int | None,
    _sm("--block-warps", metavar="N", min=1, max=1_000_000, help="Warps that wait for each other at B.", show_default="all"),
]
EngineOption = Annotated[
    EngineChoice | None,
    _search("--engine", help="What searches; 'all' runs bounds, beam, anneal and exact in turn.", show_default="all"),
]
TimeLimit = Annotated[
    float | None,
    _search("--time-limit", metavar="S", min=0.001, max=1e6, help="Seconds; the best result so far is printed.", show_default="10"),
]
Seed = Annotated[int | None, _search("--seed", metavar="N", min=0, max=MANY, help="Of the random numbers.", show_default="0")]
PathsOption = Annotated[
    Paths | None,
    typer.Option(
        "--path", help="Of a listing: all warps take the worst path; each path in turn; or each warp one of its own.", show_default="worst"
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", metavar="N", min=1, max=10_000, help="Paths of a function, with --path all and --path each.", show_default="10"
    ),
]
Chart = Annotated[
    str | None,
    _output("-o", "--output", metavar="X.svg", help="Write the schedule as a Gantt chart: .svg or .html; {name} is the function."),
]
MakespanProgram = Annotated[
    str | None,
    _output("--lp", metavar="X.lp", help="Write the integer program of Berezovskyi et al. 2011, corrected: .lp or .mps."),
]
ProofFile = Annotated[
    str | None,
    _output(
        "--proof", metavar="X.txt", help="Write a proof that no schedule is longer, of up to 200,000 states; scripts/check_proof checks it."
    ),
]
RowsOption = Annotated[
    ProgramForm | None,
    _search(
        "--rows",
        help="Form of the integer program: short or long rows as in Berezovskyi et al. 2011, or warps counted.",
        show_default="short for --lp, counted for --engine ilp",
    ),
]
PageEngine = Annotated[
    EngineChoice | None,
    _search("--engine", help="Search for the longest makespan of the worst path with this engine.", show_default="a simple schedule"),
]
PageTimeLimit = Annotated[
    float | None,
    _search("--time-limit", metavar="S", min=0.001, max=1e6, help="Seconds of each search, with --engine.", show_default="2"),
]
