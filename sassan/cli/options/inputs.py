"""What is read, and the form of the output."""

from functools import partial
from typing import Annotated

import typer

from sassan.cli.options.panels import Panel

_INPUT = (
    "A cubin, a program or library with cubins inside, a listing of cuobjdump -sass or nvdisasm -c, PTX, or CUDA source (.cu); "
    "- reads standard input."
)
_input = partial(typer.Option, rich_help_panel=Panel.INPUT)
_output = partial(typer.Option, rich_help_panel=Panel.OUTPUT)
Files = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help=f"{_INPUT} Without one, the files of the project.", show_default=False)
]
File = Annotated[str, typer.Argument(metavar="FILE", help=_INPUT)]
Functions = Annotated[
    list[str] | None,
    _input(
        "-f",
        "--function",
        metavar="NAME|GLOB",
        help="Only functions of this name or pattern; may be repeated.",
    ),
]
Sm = Annotated[
    str | None,
    _input(
        "--sm",
        metavar="6.1",
        help="Read the input as this architecture (6.1 or sm_61), whatever it says; of several cubins, those for this one. "
        "SASSAN_ARCHITECTURES names a folder of further architecture files.",
    ),
]
ProjectFile = Annotated[
    str | None,
    _input(
        "--project",
        metavar="FILE|none",
        help="The project file, with options that the command line does not give.",
        show_default="sassan.toml in the folder of the input, or above it",
    ),
]
Arch = Annotated[
    str | None, _input("--arch", metavar="sm_90", help="Compile CUDA source for this architecture.", show_default="that of --gpu")
]
NoCache = Annotated[bool, _input("--no-cache", help="Disassemble cubins anew, and keep nothing for the next time.")]
Csv = Annotated[bool, _output("--csv", help="Print the table as CSV, with whole names and numbers.")]
Json = Annotated[bool, _output("--json", help="Print one JSON document instead of text.")]
AllAssumptions = Annotated[bool, _output("--assumptions", help="Print every assumption with its status, not only the unverified ones.")]
Explain = Annotated[bool, _output("--explain", help="Print where each bound comes from: reasons, blocks, instructions, terms of the grid.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="No progress and no notes, and with -o no table; errors are still printed.")]
Old = Annotated[str, typer.Argument(metavar="OLD", help=f"{_INPUT} Or the results of an older build: JSON or JSON Lines.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The same, of the newer build.")]
