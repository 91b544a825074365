"""Drawings, listings, integer programs, pages."""

from enum import StrEnum
from typing import Annotated

import typer


class LevelChoice(StrEnum):
    """What a node of the drawn graph stands for."""

    WARP = "warp"
    THREAD = "thread"


Recorded = Annotated[
    str | None,
    typer.Option("--recorded", metavar="FILE", help="A recorded GPU run (as sassan validate takes it): measured times beside bounds."),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline-us",
        metavar="N",
        min=0,
        help="With --launches, show whether all of them together are bounded by this many microseconds.",
        show_default="max-total-us of [check] in sassan.toml",
    ),
]
Agreement = Annotated[bool, typer.Option("--agreement", help="Before each block, list the warp-uniform registers.")]
Live = Annotated[bool, typer.Option("--live", help="Count the general registers in use at each instruction.")]
SourceFolder = Annotated[
    str | None,
    typer.Option("--source", metavar="DIR", help="Show the text of source lines from the files in this folder; only a cubin names them."),
]
CheckControl = Annotated[
    bool,
    typer.Option("--check", help="Instead of rows, print every consumer that does not wait for its producer; status 1 if there is one."),
]
MachineCode = Annotated[bool, typer.Option("--sass", help="Compare machine code, block by block, instead of numbers.")]
CodePage = Annotated[str | None, typer.Option("-o", "--output", metavar="X.html", help="With --sass, write a page with both sides.")]
Listing = Annotated[bool, typer.Option("--listing", help="Write the instructions into the blocks of the drawing.")]
Focus = Annotated[
    str | None,
    typer.Option(
        "--focus",
        metavar="all|loop|worst|0x120",
        help="With -o, draw all, the loop that costs most, the worst path, or the block of an address with its neighbours.",
        show_default="all; above 200 blocks loops, calls and equal cases as one block each",
    ),
]
LevelOption = Annotated[LevelChoice, typer.Option("--level", help="Draw the warp, or a single thread of it.")]
Compare = Annotated[
    str | None,
    typer.Option("--compare", metavar="OTHER", help="List where the branches of OTHER, such as PTX against SASS, diverge differently."),
]
Drawing = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="X.svg",
        help="Write a drawing: .dot, .svg, .png or .pdf; {name} is the function.",
    ),
]
Exchange = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="X.ffx",
        help="Write flow facts (.ffx), or a graph (.dot, .graphml); {name} is the function.",
        show_default="flow facts, printed",
    ),
]
LinearProgram = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="X.lp", help="Write the integer program: .lp or .mps; {name} is the function."),
]
FactsTemplate = Annotated[bool, typer.Option("--facts-template", help="Print a flow-fact file with every loop that still needs a bound.")]
Solve = Annotated[str | None, typer.Option("--solve", metavar="NAME", help="Solve with this solver; 'none' only writes the program.")]
PageFile = Annotated[str, typer.Option("-o", "--output", metavar="X.html", help="Write the page: .html; - writes to standard output.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.", show_default="names of the files")]
