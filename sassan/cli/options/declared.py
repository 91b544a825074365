"""Every option and argument, declared once: commands name them, so that one word means one thing everywhere."""

from enum import StrEnum
from typing import Annotated

import typer

_MANY = 2**31 - 1
"""Numbers beyond this are typing errors; solvers would round them."""


class Order(StrEnum):
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


class Model(StrEnum):
    """What a block costs."""

    UNIT = "unit"
    TABLE = "table"
    CONTROL = "control"
    MEASURED = "measured"


class Letters(StrEnum):
    """Which letters instructions have."""

    TIMING = "timing"
    PAPER_2013 = "2013"


class Engine(StrEnum):
    """How the longest makespan is searched for or bounded."""

    ALL = "all"
    EXACT = "exact"
    BEAM = "beam"
    ANNEAL = "anneal"
    ILP = "ilp"
    BOUNDS = "bounds"


class Rows(StrEnum):
    """Which form of the integer program: the rows (32) and (35) of the 2011 paper, (31) and (34), or warps that are counted."""

    SHORT = "short"
    LONG = "long"
    COUNTED = "counted"


class Paths(StrEnum):
    """Which paths of a function the warps take."""

    WORST = "worst"
    ALL = "all"
    EACH = "each"


class Level(StrEnum):
    """What a node of the drawn graph stands for."""

    WARP = "warp"
    THREAD = "thread"


_INPUT = "A cubin, a program or library with cubins inside, a listing of cuobjdump -sass or nvdisasm -c, or PTX; - reads standard input."

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
    typer.Option(
        "--sm",
        metavar="6.1",
        help="Read the input as this architecture (6.1 or sm_61), whatever it says; of several cubins, those for this one.",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Disassemble cubins anew, and keep nothing for the next time.")]
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
BlockDim = Annotated[
    str | None,
    typer.Option("--block-dim", metavar="X[,Y[,Z]]", help="Threads of a block, as they are launched: what loops may depend on."),
]
Grid = Annotated[str | None, typer.Option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid, as they are launched.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=V",
        help="An integer parameter: n=64 (of a -G build, PTX, or named in a --bounds file), param_0=64 (the first of a cubin), or 0x140=64 "
        "(its place in constant bank 0; 0x140:2=64 where the code does not show how wide it is); may be repeated.",
    ),
]
Recorded = Annotated[
    str | None,
    typer.Option("--recorded", metavar="FILE", help="A recorded GPU run (as sassan validate takes it): measured times beside bounds."),
]
LaunchesFile = Annotated[
    str | None,
    typer.Option(
        "--launches",
        metavar="X.toml",
        help="Analyze every launch that sassan record wrote down, with its block, grid and arguments.",
    ),
]
Registers = Annotated[
    int | None,
    typer.Option("--registers", metavar="N", min=0, max=_MANY, help="Registers per thread, with --block-dim; a cubin tells them."),
]
Shared = Annotated[
    int | None,
    typer.Option(
        "--shared",
        metavar="BYTES",
        min=0,
        max=_MANY,
        help="Shared memory per block, with --block-dim: of a cubin the dynamic part, else all of it.",
    ),
]
Sms = Annotated[
    int | None,
    typer.Option("--sms", metavar="N", min=1, max=_MANY, help="SMs of the GPU, with --grid; any number is bounded by 1.", show_default="1"),
]
PartitionBound = Annotated[
    bool,
    typer.Option("--partition", help="Also bound the warps when each keeps to its scheduler and to the units of its partition of the SM."),
]
CallDepth = Annotated[
    int | None,
    typer.Option("--call-depth", metavar="N", min=0, max=_MANY, help="Tell at most N nested calls apart; merge deeper ones."),
]
OrderOption = Annotated[
    Order,
    typer.Option("--order", help="Which side of a divergent branch runs first; 'arch': the taken one up to sm_62, either since sm_70."),
]
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
ModelOption = Annotated[
    Model,
    typer.Option(
        "--model",
        help="Cost of a block: unit counts its instructions, table adds their latencies, control follows their control codes, "
        "measured reads --measurements.",
    ),
]
Measurements = Annotated[
    str | None,
    typer.Option("--measurements", metavar="X.csv|X.toml", help="Cycles of each block, for --model measured."),
]
MachineFile = Annotated[
    str | None,
    typer.Option(
        "--machine",
        metavar="sm_61|MY.toml",
        help="The GPU that runs the code: an architecture of the tables (its own by default), or a file with changes of your own.",
    ),
]
Latencies = Annotated[
    list[str] | None,
    typer.Option("--latency", metavar="NAME=N", help="Worst cycles of a class of instructions, such as global=900; may be repeated."),
]
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

MaxWcet = Annotated[
    int | None, typer.Option("--max-wcet", metavar="N", min=0, max=_MANY, help="Fail functions whose WCET is above N, or not known.")
]
MaxMakespan = Annotated[
    int | None,
    typer.Option("--max-makespan", metavar="N", min=0, max=_MANY, help="Fail functions whose makespan (with -W) is above N, or not known."),
]
MaxRegisters = Annotated[
    int | None,
    typer.Option(
        "--max-registers", metavar="N", min=0, max=_MANY, help="Fail functions with more registers per thread; only a cubin tells."
    ),
]
MaxDivergent = Annotated[
    int | None,
    typer.Option("--max-divergent", metavar="N", min=0, max=_MANY, help="Fail functions with more branches that may split a warp."),
]
RequireBounded = Annotated[bool, typer.Option("--require-bounded", help="Fail functions without a WCET (with -W: or without a makespan).")]
NoGaps = Annotated[bool, typer.Option("--no-gaps", help="Fail at every gap: whatever the analysis does not understand.")]
Control = Annotated[bool, typer.Option("--control", help="Fail at every instruction that does not wait for its producer.")]
Gates = Annotated[str | None, typer.Option("--gates", metavar="GATES.toml", help="Gates of single functions, by name or pattern.")]
AllowUnmatched = Annotated[
    bool,
    typer.Option("--allow-unmatched", help="Let --gates, --bounds and --baseline match nothing here: the files are a part of a project."),
]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="OLD.json", help="Fail functions whose WCET or makespan grew: what analyze --json said before."),
]
MaxGrowth = Annotated[
    str | None,
    typer.Option("--max-growth", metavar="5%|N", help="Growth that is allowed, in percent or in cycles.", show_default="0%"),
]
FailOnGrowth = Annotated[bool, typer.Option("--fail-on-growth", help="End with status 1 where a WCET or a makespan grew, or got lost.")]
Old = Annotated[str, typer.Argument(metavar="OLD", help=f"{_INPUT} Or the results of an older build: JSON or JSON Lines.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The same, of the newer build.")]
Sarif = Annotated[
    str | None,
    typer.Option("--sarif", metavar="X.sarif", help="Write the failures as SARIF 2.1.0; - prints them to standard output instead of text."),
]

Agreement = Annotated[bool, typer.Option("--agreement", help="Before each block, list the registers on which the warp agrees.")]
SourceFolder = Annotated[
    str | None,
    typer.Option("--source", metavar="DIR", help="Show the text of source lines from the files in this folder; only a cubin names them."),
]
CheckControl = Annotated[
    bool,
    typer.Option("--check", help="Instead of rows, print every consumer that does not wait for its producer; status 1 if there is one."),
]
Listing = Annotated[bool, typer.Option("--listing", help="Write the instructions into the blocks of the drawing.")]
LevelOption = Annotated[Level, typer.Option("--level", help="Draw the warp, or a single thread of it.")]
Compare = Annotated[
    str | None,
    typer.Option("--compare", metavar="OTHER", help="List where the branches of OTHER, such as PTX against SASS, part threads otherwise."),
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
LinearProgram = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="X.lp", help="Write the integer program: .lp or .mps; {name} is the function."),
]
FactsTemplate = Annotated[bool, typer.Option("--facts-template", help="Print a flow-fact file with every loop that still needs a bound.")]
Solve = Annotated[str | None, typer.Option("--solve", metavar="NAME", help="Solve with this solver; 'none' only writes the program.")]

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
    typer.Option("-W", "--warps", metavar="N", min=1, max=1_000_000, help="Warps on the SM; needed, unless several strings are given."),
]
MachineSm = Annotated[
    str | None,
    typer.Option("--sm", metavar="6.1", help="Capacities and issue limit of this compute capability; a listing is read as this one."),
]
Capacity = Annotated[
    str | None,
    typer.Option("--cap", metavar="L=1,C=4", help="Instructions per slot of each unit; fractions (1/2) too. Default: 1 of each."),
]
Partition = Annotated[
    bool,
    typer.Option("--partition", help="One partition of the SM, with the warps of its scheduler, instead of the whole SM."),
]
Issue = Annotated[int | None, typer.Option("--issue", metavar="N", min=1, max=_MANY, help="Instructions per slot in all.")]
Latency = Annotated[str | None, typer.Option("--latency", metavar="D=8", help="Slots that an instruction of a unit takes; 1 by default.")]
EngineOption = Annotated[
    Engine | None,
    typer.Option("--engine", help="What searches; 'all' runs bounds, beam, anneal and exact in turn.", show_default="all"),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="S", min=0.001, max=1e6, help="Seconds; the best result so far is printed.", show_default="10"),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, max=_MANY, help="Of the random numbers.", show_default="0")]
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
    typer.Option("-o", "--output", metavar="X.svg", help="Write the schedule as a Gantt chart: .svg or .html; {name} is the function."),
]
MakespanProgram = Annotated[
    str | None,
    typer.Option("--lp", metavar="X.lp", help="Write the integer program of the 2011 paper, corrected: .lp or .mps."),
]
RowsOption = Annotated[
    Rows | None,
    typer.Option(
        "--rows",
        help="Form of the integer program: short or long rows as in the 2011 paper, or warps counted.",
        show_default="short for --lp, counted for --engine ilp",
    ),
]
Page = Annotated[str, typer.Option("-o", "--output", metavar="X.html", help="Write the page: .html; - writes to standard output.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.", show_default="names of the files")]
PageEngine = Annotated[
    Engine | None,
    typer.Option("--engine", help="Search for the longest makespan of the worst path with this engine.", show_default="a simple schedule"),
]
PageTimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="S", min=0.001, max=1e6, help="Seconds of each search, with --engine.", show_default="2"),
]
