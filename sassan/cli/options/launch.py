"""The launch, the warps of an SM, and the bounds of loops."""

from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sassan.app.options import ASSUME_NONE
from sassan.cli.options.limits import MANY
from sassan.cli.options.panels import Panel
from sassan.estimate.policy import Policy

_gpu = partial(typer.Option, rich_help_panel=Panel.GPU)
_launch = partial(typer.Option, rich_help_panel=Panel.LAUNCH)
_loops = partial(typer.Option, rich_help_panel=Panel.LOOPS)
Bounds = Annotated[
    str | None,
    _loops(
        "--bounds",
        metavar="FACTS.toml",
        help="Flow facts, such as loop bounds: TOML (sassan ipet --facts-template begins it), or .ffx of OTAWA.",
    ),
]
LoopBound = Annotated[
    int | None,
    _loops(
        "--loop-bound",
        metavar="N",
        min=0,
        max=MANY,
        help="Assume this bound for every loop without a fact.",
    ),
]
BlockDim = Annotated[
    str | None,
    _launch("--block-dim", metavar="X[,Y[,Z]]", help="Threads of a block at launch; bounds of loops may depend on them."),
]
Grid = Annotated[str | None, _launch("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid at launch.")]
Parameters = Annotated[
    list[str] | None,
    _launch(
        "--param",
        metavar="NAME=V",
        help="An integer parameter: n=64 (of a .cu file, a build with -G, one with -lineinfo whose source lies beside it, PTX, or named in "
        "a --bounds file), param_0=64 (the first of a cubin), or 0x140=64 (its place in constant bank 0; 0x140:2=64 where the code does "
        "not show how wide it is); may be repeated.",
    ),
]
Align = Annotated[
    list[str] | None,
    _launch("--align", metavar="PARAM=N", help="Bytes at whose multiples the array of a pointer begins (else 256); may be repeated."),
]
Distinct = Annotated[
    list[str] | None,
    _gpu(
        "--distinct",
        metavar="ADDRESS=N",
        help="Assume that the operations of the atomic instruction at ADDRESS are spread over N L2 slices, not one for all: for a grid on "
        "a --gpu; may be repeated.",
    ),
]
LaunchesFile = Annotated[
    str | None,
    _launch(
        "--launches",
        metavar="X.toml",
        help="Analyze every launch in a recording of sassan record, with its block, grid and arguments.",
    ),
]


class RecordedData(StrEnum):
    """Whether recorded contents of memory are used."""

    RECORDED = "recorded"
    NONE = ASSUME_NONE


DataChoice = Annotated[
    RecordedData | None,
    _launch(
        "--data",
        metavar="recorded|assume-none",
        help="With --launches: take memory that the host wrote as recorded, where no kernel changes it, or hold for any contents.",
        show_default="recorded",
    ),
]
RunBefore = Annotated[
    bool,
    _launch(
        "--run-before",
        help="With --launches: run the launches on the machine here, up to 10^9 instructions of threads, so that memory is known which "
        "earlier kernels computed.",
    ),
]
Registers = Annotated[
    int | None,
    _launch("--registers", metavar="N", min=0, max=MANY, help="Registers per thread, with --block-dim; a cubin contains them."),
]
Shared = Annotated[
    int | None,
    _launch(
        "--shared",
        metavar="BYTES",
        min=0,
        max=MANY,
        help="Shared memory per block, with --block-dim: the dynamic part for a cubin, else all of it.",
    ),
]
Sms = Annotated[
    int | None,
    _gpu(
        "--sms",
        metavar="N",
        min=1,
        max=MANY,
        help="SMs of the GPU, with --grid; the bound for 1 SM holds for any number.",
        show_default="1",
    ),
]
Gpu = Annotated[
    str | None,
    _gpu(
        "--gpu",
        metavar="NAME",
        help="The GPU that runs the code (sassan gpus lists them), or a .toml file that describes one: its SMs, their number, its clock.",
    ),
]
Clock = Annotated[
    str | None,
    _gpu(
        "--clock",
        metavar="MHZ",
        help="With --gpu: the clock that the SMs keep, such as 1410, or base: what profilers lock. It is not checked.",
        show_default="boost clock",
    ),
]
DramShare = Annotated[
    str | None,
    _gpu(
        "--dram-share",
        metavar="PERCENT",
        help="With --gpu: the part of the bandwidth of DRAM (60%) that others leave the GPU while it waits; latencies of DRAM grow by it.",
        show_default="100%",
    ),
]
CoRunners = Annotated[
    str | None,
    _gpu(
        "--co-runners",
        metavar="RATE",
        help="With --gpu: what others (CPU, camera) move in DRAM at most: 20GB/s.",
    ),
]
PartitionBound = Annotated[
    bool,
    _gpu("--partition", help="Also bound the warps when each keeps to its scheduler and to the units of its partition of the SM."),
]
Warps = Annotated[
    int | None,
    _gpu(
        "-W",
        "--warps",
        metavar="N",
        min=1,
        max=MANY,
        help="Also bound the makespan of N warps on one SM.",
    ),
]

ScheduleOption = Annotated[
    bool,
    typer.Option(
        "--schedule",
        help="With --model table or control: also make a schedule of the warps of an SM, the lower end of the interval whose upper end is "
        "their bound.",
    ),
]
WhatIf = Annotated[
    list[str] | None,
    typer.Option(
        "--what-if",
        metavar="registers=N|block=X[,Y[,Z]]|gpu=NAME",
        help="Also estimate the launch with this changed; may be repeated.",
    ),
]


PolicyOption = Annotated[
    Policy,
    typer.Option(
        "--policy",
        help="Which warp a scheduler takes, of those that may issue: the oldest; the last one, else the oldest; or each in turn.",
    ),
]
