"""What is read, and the form of the output."""

from typing import Annotated

import typer

_INPUT = (
    "A cubin, a program or library with cubins inside, a listing of cuobjdump -sass or nvdisasm -c, PTX, or CUDA source (.cu); "
    "- reads standard input."
)
Files = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help=f"{_INPUT} Without one, the files of the project.", show_default=False)
]
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
    typer.Option(
        "--sm",
        metavar="6.1",
        help="Read the input as this architecture (6.1 or sm_61), whatever it says; of several cubins, those for this one. "
        "SASSAN_ARCHITECTURES names a folder of further architecture files.",
    ),
]
ProjectFile = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="FILE|none",
        help="The project file, with options that the command line does not give.",
        show_default="sassan.toml in the folder of the input, or above it",
    ),
]
Arch = Annotated[
    str | None, typer.Option("--arch", metavar="sm_90", help="Compile CUDA source for this architecture.", show_default="that of --gpu")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Disassemble cubins anew, and keep nothing for the next time.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the table as CSV, with whole names and numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
AllAssumptions = Annotated[
    bool, typer.Option("--assumptions", help="Print all assumptions, each with what backs it, not only those that nothing backs.")
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print where each bound comes from: reasons, blocks, instructions, terms of the grid.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes, and with -o no table; errors stay.")]
Old = Annotated[str, typer.Argument(metavar="OLD", help=f"{_INPUT} Or the results of an older build: JSON or JSON Lines.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The same, of the newer build.")]
