"""The group of commands: the module of a command is imported when the command runs, so that help and completion answer at once."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from sassan.cli.options.limits import with_limits
from sassan.cli.options.panels import Panel

SUMMARIES: Mapping[str, str] = {
    "analyze": "Bound every function: graph, string, WCET, makespan.",
    "cfg": "Draw the graph of a warp, or print it.",
    "blocks": "Print each block with its cost and share of the WCET.",
    "strings": "Print the strings of blocks and of the worst path.",
    "listing": "Print one row per instruction, with its control code.",
    "memory": "Print memory accesses: pattern, transactions, waste.",
    "estimate": "Estimate how long a launch takes, and say why.",
    "advise": "Say what to change in a kernel, and what it gains.",
    "rank": "Order a tuning space by estimated time.",
    "ipet": "Bound the WCET, and write its integer program.",
    "export": "Write graphs and loop bounds for other tools.",
    "makespan": "Find the longest makespan of W warps on one SM.",
    "report": "Write everything into one page of HTML.",
    "serve": "Serve a page: source, PTX and machine code together.",
    "mcp": "Serve numbers to programs that write kernels (MCP).",
    "init": "Write a project file with options of other commands.",
    "task": "Bound the response time of a sequence of launches.",
    "verify-certificate": "Check a certificate of task, without the analysis.",
    "check": "Check functions against limits: a gate for CI.",
    "diff": "Show what changed between two builds.",
    "batch": "Analyze many files.",
    "measure": "Estimate times from samples, or take the samples.",
    "record": "Run a program without a GPU, and record its launches.",
    "evolve": "Search for the compiler choices of least cost.",
    "validate": "Compare bounds with measured launches.",
    "gpus": "List the GPUs that --gpu knows, or the figures of one.",
    "experiment": "Run a command with options that repeat the papers.",
    "doctor": "Say what is installed, and how to get the rest.",
    "warm": "Compile the searches, once after an installation.",
}
"""The commands in the order of the help, each with the first sentence of its own.

`sassan.cli.commands.NAME` holds the function NAME, with `_` for `-`.
"""
_PASS_ON = ("record", "experiment")
"""Commands that pass options behind their first argument on, to a program or to another command."""
_ARGUMENTS, _OPTIONS = "Arguments", "Options"
_UNLIMITED = ("experiment", "mcp")
"""Commands whose limits are those of the command that they run, or of each call."""


class PanelCommand(TyperCommand):
    """A command whose help lists its options by panel."""

    def panels(self, ctx: Any) -> Mapping[str, list[Any]]:  # noqa: ANN401 - the types are private to typer
        """The parameters that help shows, by heading: arguments, options without a panel, then each panel that has one."""
        shown: dict[str, list[Any]] = {heading: [] for heading in (_ARGUMENTS, _OPTIONS, *Panel)}
        for parameter in self.get_params(ctx):
            if parameter.get_help_record(ctx) is not None:
                argument = parameter.param_type_name == "argument"
                shown[_ARGUMENTS if argument else getattr(parameter, "rich_help_panel", None) or _OPTIONS].append(parameter)
        return {heading: parameters for heading, parameters in shown.items() if parameters}

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the types are private to typer
        """Write what help shows, panel by panel."""
        for heading, parameters in self.panels(ctx).items():
            with formatter.section(heading):
                formatter.write_dl([parameter.get_help_record(ctx) for parameter in parameters])


@cache
def command(name: str, *, papers: bool = False) -> PanelCommand:
    """The command of a name, with its options, made once: imports its module; `papers`: its help lists those that repeat papers, too."""
    module = name.replace("-", "_")
    function = getattr(import_module(f"sassan.cli.commands.{module}"), module)
    settings = {"help_option_names": ["-h", "--help"], "allow_interspersed_args": name not in _PASS_ON}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=PanelCommand, context_settings=settings)(function if name in _UNLIMITED else with_limits(name, function))
    made = typer.main.get_command(app)
    assert isinstance(made, PanelCommand)
    if papers:
        for parameter in made.params:
            if isinstance(parameter, TyperOption) and parameter.rich_help_panel == Panel.PAPERS:
                parameter.hidden = False
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
