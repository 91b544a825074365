"""`sassan experiment`: the options of a command that repeat experiments of papers."""

from typing import Annotated

import typer
from typer.core import TyperOption

from sassan.cli.group import SUMMARIES, command
from sassan.cli.options.panels import Panel
from sassan.errors import UsageError

Command = Annotated[list[str], typer.Argument(metavar="COMMAND…", help="A command that reads code, and its arguments.")]


def experiment(arguments: Command) -> None:
    """Run a command with options that repeat the papers.

    These switch parts of the analysis off, count loops as Jeanmougin et al. 2023 did, or give instructions the letters of Berezovskyi et
    al. 2013. What they print is for comparison, and no bound. 'sassan experiment COMMAND --help' lists them.

    \b
    Examples:
      sassan experiment analyze --help
      sassan experiment analyze kernels.sass --ablate no-groups
      sassan experiment analyze kernels.sass --paper-experiment --loop-bound 10
      sassan experiment strings voronoi.ptx --letters 2013 --loop-bound 1
    """
    name, *rest = arguments
    chosen = command(name, papers=True) if name in SUMMARIES else None
    if chosen is None or not any(isinstance(option, TyperOption) and option.rich_help_panel == Panel.PAPERS for option in chosen.params):
        raise UsageError("usage", f"no experiment with '{name}'", hint="'sassan experiment --help' has examples")
    status = chosen.main(rest, prog_name=f"sassan experiment {name}", standalone_mode=False)
    if status:
        raise typer.Exit(status)
