"""Every option and argument, declared once: commands name them, so that one word means one thing everywhere."""

from enum import StrEnum
from typing import Annotated

import typer

_MANY = 2**31 - 1
"""Numbers beyond this are typing errors; solvers would round them."""


class Order(StrEnum):
    """Which side of a divergent branch runs first."""

    TAKEN_FIRST = "taken-first"
    EITHER = "either"


class Ablation(StrEnum):
    """A part of the analysis that can be switched off."""

    ACYCLIC_STACK = "acyclic-stack"
    NO_GROUPS = "no-groups"
    NO_AGREEMENT = "no-agreement"
    ACTIVE_ONLY = "active-only"


class Model(StrEnum):
    """What a block costs."""

    UNIT = "unit"


class Letters(StrEnum):
    """Which letters instructions have."""

    TIMING = "timing"
    PAPER_2013 = "2013"


class Level(StrEnum):
    """What a node of the drawn graph stands for."""

    WARP = "warp"
    THREAD = "thread"


_INPUT = "A listing of cuobjdump -sass or nvdisasm -c; - reads standard input."

Files = Annotated[list[str], typer.Argument(metavar="FILE", help=_INPUT)]
File = Annotated[str, typer.Argument(metavar="FILE", help=_INPUT)]

Functions = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--function",
        metavar="NAME|GLOB",
        help="Only functions of this name or pattern; may be repeated.",
    ),
]
Sm = Annotated[
    str | None,
    typer.Option("--sm", metavar="6.1", help="Read the input as this architecture (6.1 or sm_61), whatever it says."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on standard error; errors stay.")]

Bounds = Annotated[
    str | None,
    typer.Option("--bounds", metavar="FACTS.toml", help="Loop bounds: a file as sassan ipet --facts-template writes it."),
]
LoopBound = Annotated[
    int | None,
    typer.Option(
        "--loop-bound",
        metavar="N",
        min=0,
        max=_MANY,
        help="Assume this bound for every loop without a fact.",
    ),
]
CallDepth = Annotated[
    int | None,
    typer.Option("--call-depth", metavar="N", min=0, max=_MANY, help="Tell at most N nested calls apart; merge deeper ones."),
]
OrderOption = Annotated[Order, typer.Option("--order", help="Which side of a divergent branch runs first; 'either' explores both.")]
Ablate = Annotated[
    list[Ablation] | None,
    typer.Option("--ablate", help="Switch a part of the analysis off; may be repeated."),
]
PaperExperiment = Annotated[
    bool,
    typer.Option(
        "--paper-experiment",
        help="Repeat the experiment of the 2023 paper; the result is not a bound.",
    ),
]
ModelOption = Annotated[Model, typer.Option("--model", help="Cost of a block; unit counts its instructions.")]
LettersOption = Annotated[Letters, typer.Option("--letters", help="Letters by functional unit, or as in the 2013 paper (Figure 11).")]
Warps = Annotated[
    int | None,
    typer.Option(
        "-W",
        "--warps",
        metavar="N",
        min=1,
        max=_MANY,
        help="Also bound the makespan of N warps on one SM.",
    ),
]

Listing = Annotated[bool, typer.Option("--listing", help="Write the instructions into the blocks of the drawing.")]
LevelOption = Annotated[Level, typer.Option("--level", help="Draw the warp, or a single thread of it.")]
Drawing = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="X.svg",
        help="Write a drawing: .dot, .svg, .png or .pdf; {name} is the function.",
    ),
]
LinearProgram = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="X.lp", help="Write the integer program: .lp or .mps; {name} is the function."),
]
FactsTemplate = Annotated[bool, typer.Option("--facts-template", help="Print a flow-fact file with every loop that still needs a bound.")]
Solve = Annotated[str | None, typer.Option("--solve", metavar="NAME", help="Solve with this solver; 'none' only writes the program.")]
