"""The group of commands: the module of a command is imported when the command runs, so that help and completion answer at once."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sassan.cli.options.limits import with_limits

SUMMARIES: Mapping[str, str] = {
    "analyze": "Bound every function: graph, string, WCET, makespan.",
    "cfg": "Draw the graph of a warp, or print it.",
    "blocks": "Print one row per block: cost, executions, share of the WCET.",
    "strings": "Print the strings of blocks and of the worst path.",
    "listing": "Print one row per instruction, with its control code.",
    "memory": "Print one row per memory access: pattern, transactions, waste.",
    "estimate": "Estimate how long a launch takes, and say why.",
    "rank": "Order the configurations of a tuning space by estimated time.",
    "ipet": "Bound the WCET, and write the integer program behind it.",
    "makespan": "Find the longest makespan of W warps on one SM.",
    "report": "Write everything into one page of HTML.",
    "serve": "Serve a page with source, PTX and machine code side by side.",
    "init": "Write a project file: what the other commands take from it.",
    "check": "Hold every function to gates, for CI: status 1 where one fails.",
    "diff": "Show what changed between two builds.",
    "batch": "Analyze many files.",
    "measure": "Estimate the time of a kernel from samples, or take them.",
    "record": "Run a program without a GPU and write down its kernel launches.",
    "evolve": "Search for the compiler choices of least cost.",
    "validate": "Hold bounds to recorded launches on a GPU.",
    "gpus": "List the GPUs that --gpu knows, or the figures of one.",
    "warm": "Compile the searches, once after an installation.",
}
"""The commands in the order of the help, each with the first sentence of its own. `sassan.cli.commands.NAME` holds the function NAME."""
_PASS_ON = ("record",)
"""Commands that pass options behind their first argument on to a program."""


def command(name: str) -> TyperCommand:
    """The command of a name, with its options: imports its module."""
    function = getattr(import_module(f"sassan.cli.commands.{name}"), name)
    settings = {"help_option_names": ["-h", "--help"], "allow_interspersed_args": name not in _PASS_ON}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, context_settings=settings)(with_limits(name, function))
    made = typer.main.get_command(app)
    assert isinstance(made, TyperCommand)
    return made


class LazyGroup(TyperGroup):
    """A group that knows the names and summaries of its commands, and imports the one that runs."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - those of typer
        """Take the attributes of a group; its commands are those of SUMMARIES."""
        attributes["commands"] = {name: TyperCommand(name, help=text) for name, text in SUMMARIES.items()}
        super().__init__(**attributes)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, TyperCommand | None, list[str]]:  # noqa: ANN401 - the type of its contexts is private to typer
        """Return the command that the arguments name, and those behind it.

        Raises UsageError of the command line for a name that is unknown.
        """
        name, known, rest = super().resolve_command(ctx, args)
        return name, command(name) if name is not None and known is not None else None, rest
