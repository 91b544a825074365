"""`sassan mcp`: the server for programs that write kernels."""

from typing import Annotated

import typer

from sassan.cli.options.inputs import Quiet
from sassan.cli.options.panels import Panel
from sassan.cli.output.exhaustion import memory_available
from sassan.cli.output.terminal import note, safe
from sassan.errors import MissingToolError
from sassan.executor import available
from sassan.extras import install

_MIB, _GIB = 1 << 20, 1 << 30
_WORKERS = 2

Root = Annotated[
    str,
    typer.Option("--root", metavar="DIR", help="The folder whose files clients may name; no link and no .. leads out of it."),
]
AllowRun = Annotated[
    bool,
    typer.Option(
        "--allow-run", help="Offer the tool record, which runs programs of the folder, with the rights of the user and no sandbox."
    ),
]
MaxInput = Annotated[
    float, typer.Option("--max-input", metavar="MIB", min=0.001, max=64, help="MiB of one input.", rich_help_panel=Panel.RESOURCES)
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", metavar="S", min=0.1, max=1e5, help="Seconds of one call, after which it is ended.", rich_help_panel=Panel.RESOURCES
    ),
]
MemoryLimit = Annotated[
    float | None,
    typer.Option(
        "--memory-limit",
        metavar="GIB",
        min=0.1,
        max=1e5,
        help="GiB of memory of one call.",
        show_default="a quarter of the memory",
        rich_help_panel=Panel.RESOURCES,
    ),
]
Rows = Annotated[
    int, typer.Option("--max-rows", metavar="N", min=1, max=10_000, help="Rows of each list of an answer.", rich_help_panel=Panel.OUTPUT)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, max=64, help="Calls at a time; others wait.", show_default="2", rich_help_panel=Panel.RESOURCES
    ),
]


def mcp(
    *,
    root: Root = ".",
    allow_run: AllowRun = False,
    max_input: MaxInput = 4.0,
    max_rows: Rows = 8,
    time_limit: TimeLimit = 60.0,
    memory_limit: MemoryLimit = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Serve numbers to programs that write kernels (MCP).

    The server speaks the Model Context Protocol over standard input and output: a client starts it, lists its tools (estimate, bound,
    explain, advise, listing, diff) and calls them. Code is given as text, or as a file below the folder. Each call runs in a process of
    its own within limits; what exceeds them ends that call alone. The network is not used. Needs the extra mcp.

    \b
    Examples:
      sassan mcp --root kernels/
      sassan mcp --root . --time-limit 20 --max-input 1

    \b
    In the configuration of a client:
      {"mcpServers": {"sassan":
        {"command": "sassan", "args": ["mcp", "--root", "kernels/"]}}}
    """
    try:
        from sassan.mcp.server import serve  # noqa: PLC0415 - an extra
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "sassan":
            raise
        raise MissingToolError("missing-extra", "the server of the Model Context Protocol needs mcp", hint=install("mcp")) from error
    from sassan.mcp.calls import CallLimits  # noqa: PLC0415 - start-up
    from sassan.mcp.folder import RootFolder  # noqa: PLC0415 - start-up

    memory = int(memory_limit * _GIB) if memory_limit is not None else memory_available() // 4
    limits = CallLimits(time_limit, memory, int(max_input * _MIB), max_rows)
    folder = RootFolder.of(root).path
    if not quiet:
        note(f"note: serving files of {safe(str(folder))} over standard input and output\n")
    serve(str(folder), limits, jobs or min(_WORKERS, available()), programs=allow_run)
