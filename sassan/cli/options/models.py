"""Cost models, letters, machines, and how far the analysis goes."""

from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sassan.cli.options.limits import MANY
from sassan.cli.options.panels import Panel


class OrderChoice(StrEnum):
    """Which side of a divergent branch runs first."""

    ARCH = "arch"
    TAKEN_FIRST = "taken-first"
    EITHER = "either"


class Ablation(StrEnum):
    """A part of the analysis that can be switched off."""

    ACYCLIC_STACK = "acyclic-stack"
    NO_GROUPS = "no-groups"
    NO_AGREEMENT = "no-agreement"
    ACTIVE_ONLY = "active-only"


class ModelChoice(StrEnum):
    """What a block costs."""

    UNIT = "unit"
    TABLE = "table"
    CONTROL = "control"
    MEASURED = "measured"


class LettersChoice(StrEnum):
    """Which letters instructions have."""

    TIMING = "timing"
    PAPER_2013 = "2013"


_costs = partial(typer.Option, rich_help_panel=Panel.COSTS)
_paths = partial(typer.Option, rich_help_panel=Panel.LOOPS)
_papers = partial(typer.Option, rich_help_panel=Panel.PAPERS, hidden=True)
"""Help lists them for `sassan experiment COMMAND` alone; every command takes them, since scripts pass them."""
CallDepth = Annotated[
    int | None,
    _paths("--call-depth", metavar="N", min=0, max=MANY, help="Distinguish at most N nested calls; merge deeper ones."),
]
OrderOption = Annotated[
    OrderChoice | None,
    _paths(
        "--order",
        help="Which side of a divergent branch runs first; 'arch': the taken one up to sm_62, either since sm_70.",
        show_default=OrderChoice.ARCH.value,
    ),
]
Ablate = Annotated[
    list[Ablation] | None,
    _papers("--ablate", help="Switch a part of the analysis off; may be repeated."),
]
PaperExperiment = Annotated[
    bool,
    _papers(
        "--paper-experiment",
        help="Repeat the experiment of Jeanmougin et al. 2023; the result is not a bound.",
    ),
]
ModelOption = Annotated[
    ModelChoice | None,
    _costs(
        "--model",
        help="Cost of a block: unit counts its instructions, table adds their latencies, control follows their control codes, "
        "measured reads --measurements. Without it unit; with --gpu control, or table where the input has no control codes.",
    ),
]
Measurements = Annotated[
    str | None,
    _costs("--measurements", metavar="X.csv|X.toml", help="Cycles of each block, for --model measured."),
]
MachineFile = Annotated[
    str | None,
    _costs(
        "--machine",
        metavar="sm_61|MY.toml",
        help="The GPU that runs the code: an architecture of the tables (its own by default), or a file with changes of your own.",
    ),
]
Latencies = Annotated[
    list[str] | None,
    _costs("--latency", metavar="NAME=N", help="Worst cycles of a class of instructions, such as global=900; may be repeated."),
]
LettersOption = Annotated[
    LettersChoice, _papers("--letters", help="Letters by functional unit, or as in Berezovskyi et al. 2013 (Figure 11).")
]
