"""Gates, baselines and differences."""

from functools import partial
from typing import Annotated

import typer

from sassan.cli.options.limits import MANY
from sassan.cli.options.panels import Panel

_baseline = partial(typer.Option, rich_help_panel=Panel.BASELINE)
_code = partial(typer.Option, rich_help_panel=Panel.LIMITS_OF_CODE)
_time = partial(typer.Option, rich_help_panel=Panel.LIMITS_OF_TIME)
_output = partial(typer.Option, rich_help_panel=Panel.OUTPUT)
MaxWcet = Annotated[
    int | None, _time("--max-wcet", metavar="N", min=0, max=MANY, help="Fail functions whose WCET is above N, or not known.")
]
MaxMakespan = Annotated[
    int | None,
    _time("--max-makespan", metavar="N", min=0, max=MANY, help="Fail functions whose makespan (with -W) is above N, or not known."),
]
MaxUs = Annotated[
    float | None,
    _time("--max-us", metavar="US", min=0, max=1e15, help="Fail launches whose bound is above this many microseconds, or not known."),
]
MaxGridCycles = Annotated[
    int | None,
    _time("--max-grid-cycles", metavar="N", min=0, max=MANY, help="Fail launches whose bound is above N cycles, or not known."),
]
MaxTotalUs = Annotated[
    float | None,
    _time("--max-total-us", metavar="US", min=0, max=1e15, help="A deadline: fail where all launches of --launches may take longer."),
]
MaxRegisters = Annotated[
    int | None,
    _code("--max-registers", metavar="N", min=0, max=MANY, help="Fail functions with more registers per thread; known of a cubin only."),
]
MaxDivergent = Annotated[
    int | None,
    _code("--max-divergent", metavar="N", min=0, max=MANY, help="Fail functions with more branches that may split a warp."),
]
MaxWaste = Annotated[
    int | None,
    _code("--max-waste", metavar="N", min=0, max=MANY, help="Fail functions of which a warp wastes more memory transactions."),
]
MaxSpills = Annotated[
    int | None,
    _code("--max-spills", metavar="N", min=0, max=MANY, help="Fail functions with more loads and stores of their stack."),
]
MaxShared = Annotated[
    int | None, _code("--max-shared", metavar="BYTES", min=0, max=MANY, help="Fail functions with more shared memory per block.")
]
MaxLocal = Annotated[
    int | None, _code("--max-local", metavar="BYTES", min=0, max=MANY, help="Fail functions with more local memory per thread.")
]
MinOccupancy = Annotated[
    int | None,
    _code("--min-occupancy", metavar="PERCENT", min=0, max=100, help="Fail kernels (with --block-dim) that fill less of an SM."),
]
MaxMix = Annotated[
    list[str] | None,
    _code("--max-mix", metavar="LETTER=PERCENT", help="Fail functions with more instructions of a letter (D=0); may be repeated."),
]
MinMix = Annotated[
    list[str] | None,
    _code("--min-mix", metavar="LETTER=PERCENT", help="Fail functions with fewer instructions of a letter (T=5); may be repeated."),
]
RequireBounded = Annotated[bool, typer.Option("--require-bounded", help="Fail functions without a WCET (with -W: or without a makespan).")]
NoGaps = Annotated[bool, typer.Option("--no-gaps", help="Fail at every gap: whatever the analysis does not understand.")]
Control = Annotated[bool, _code("--control", help="Fail at every instruction that does not wait for its producer.")]
Gates = Annotated[str | None, typer.Option("--gates", metavar="GATES.toml", help="Gates of single functions, by name or pattern.")]
AllowUnmatched = Annotated[
    bool,
    typer.Option("--allow-unmatched", help="Let --gates, --bounds and --baseline match nothing here: the files are a part of a project."),
]
BaselineFile = Annotated[
    str | None,
    _baseline("--baseline", metavar="OLD.json", help="Fail functions whose numbers grew: what analyze --json said before."),
]
MaxGrowth = Annotated[
    str | None,
    _baseline("--max-growth", metavar="5%|N", help="Growth that is allowed, in percent or in cycles.", show_default="0%"),
]
MaxCodeGrowth = Annotated[
    str | None,
    _baseline(
        "--max-code-growth",
        metavar="5%|N",
        help="The same of registers, instructions, accesses, conflicts, branches.",
        show_default="5% of the first two",
    ),
]
UpdateBaseline = Annotated[
    bool, _baseline("--update-baseline", help="Write the baseline anew, and hold nothing to the old one; other gates hold.")
]
FailOnGrowth = Annotated[bool, typer.Option("--fail-on-growth", help="End with status 1 where a WCET or a makespan grew, or got lost.")]
JUnit = Annotated[str | None, _output("--junit", metavar="X.xml", help="Write the results as JUnit XML, a test case per function.")]
Summary = Annotated[
    str | None, _output("--summary", metavar="FILE", help="Write a summary for reviewers as Markdown: significant, unclear, benign.")
]
Sarif = Annotated[
    str | None,
    _output("--sarif", metavar="X.sarif", help="Write the failures as SARIF 2.1.0; - prints them to standard output instead of text."),
]
