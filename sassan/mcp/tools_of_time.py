"""The tools that say how long a launch takes, and why: estimate, bound, explain."""

from collections.abc import Sequence
from typing import Any, TypedDict

from sassan.api.analyzing import analyze
from sassan.api.estimating import estimate
from sassan.api.kernels import Kernel
from sassan.api.launching import Launch
from sassan.api.memories import memory
from sassan.api.recordings import launches
from sassan.app.explain import ExplanationFields, explain
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.ir import Program
from sassan.mcp import answers
from sassan.mcp.calls import ToolCall
from sassan.mcp.folder import RootFolder
from sassan.mcp.inputs import file_of, gpu_of, program_of
from sassan.mcp.tools import CODE, LAUNCH, Document, ServedTool, schema

_ASSUMPTIONS = {"assumptions": {"type": "boolean", "description": "List the assumptions in words, and not only how many there are."}}
_RECORDING = {
    "launches": {
        "type": "string",
        "description": "A recording below the folder of the server (launches.toml, as `record` writes it), in place of block, grid and "
        "parameters: each launch is estimated with its own.",
    }
}
_OF_A_LAUNCH = ("block", "grid", "parameters", "shared")


class KnownChoices(TypedDict, total=False):
    """What the tools take beside the launch."""

    launch: Launch
    loop_bound: int


def choices(call: ToolCall) -> KnownChoices:
    """Return what a call says of the launch."""
    given = call.arguments
    block, grid = (tuple(shape) if isinstance(shape, list) else shape for shape in (given.get("block"), given.get("grid")))
    launch = Launch(
        block=block,
        grid=grid,
        parameters=given.get("parameters", {}),
        registers=given.get("registers"),
        shared=given.get("shared"),
        gpu=gpu_of(given, RootFolder.of(call.root)),
    )
    known: KnownChoices = {"launch": launch}
    if given.get("loop_bound") is not None:
        known["loop_bound"] = given["loop_bound"]
    return known


def code(call: ToolCall) -> Program:
    """Return the code of a call."""
    return program_of(call.arguments, RootFolder.of(call.root), call.limits)


def _estimate(call: ToolCall) -> Document:
    given, rows = call.arguments, call.limits.rows
    if given.get("launches") is not None:
        return _program(call)
    if given.get("block") is None or given.get("grid") is None:
        raise UsageError("usage", "an estimate needs the shape of a launch", hint="pass `block` and `grid`, or `launches`")
    known = estimate(code(call), function=given.get("function"), **choices(call))
    return {
        "functions": [
            {
                **answers.picked(each.to_dict(), "name", "demangled", "arch"),
                "estimate": answers.time(each),
                "stalls": answers.stalls(each, rows),
                "gaps": answers.gaps(each.to_dict(), rows),
                "assumptions": answers.said(each.assumptions, in_words=bool(given.get("assumptions"))),
            }
            for each in known
        ]
    }


def _program(call: ToolCall) -> Document:
    """Return the estimate of a recording: the kernels by time, and the longest launches."""
    given, rows = call.arguments, call.limits.rows
    both = [name for name in _OF_A_LAUNCH if given.get(name) is not None]
    if both:
        raise UsageError("usage", f"`launches` and `{both[0]}` exclude each other", hint="a recording says the shape of each launch")
    recording = file_of(given, "launches", RootFolder.of(call.root), call.limits)
    assert recording is not None
    known = launches(code(call), recording, function=given.get("function"), **choices(call))
    answer = known.to_dict()
    longest = sorted(known, key=lambda each: -(each.estimate.us if each.estimate is not None else 0.0))[:rows]
    listed = [
        {
            "kernel": each.launch.launch.kernel,
            "grid": list(each.launch.launch.grid),
            "block": list(each.launch.launch.block),
            "count": each.launch.launch.count,
            "us": each.estimate.us if each.estimate is not None else None,
            "bound_by": each.estimate.bound_by if each.estimate is not None else None,
            "gaps": [{"code": gap.code, "message": gap.message} for gap in each.launch.gaps[:rows]],
        }
        for each in longest
    ]
    return {"us": answer["us"], "kernels": list(_rows(answer, "kernels"))[:rows], "launches": listed, "functions": []}


def _rows(answer: Document, name: str) -> list[Any]:
    return list(answer[name])


ESTIMATE = ServedTool(
    "estimate",
    "Expected time of a launch of a CUDA kernel on a GPU, in microseconds, and what binds it; nothing is run. Needs gpu, block, grid, and "
    "the integer arguments (parameters) that loops and addresses depend on. CUDA source is compiled; PTX, cubins and SASS listings are "
    "read. Use it after every change of a kernel and compare `us`. `bound_by` says what to improve: dram or l2 (fewer bytes), l1 "
    "(uncoalesced accesses), shared (bank conflicts), issue or a unit such as fma (fewer instructions), latency (more warps or more "
    "independent work), barrier, tail (blocks too few or too long), launch (too little work). `stalls` are the instructions and source "
    "lines before which warps wait most. `estimate` is null where `gaps` say what is missing. It is an expectation, not a bound.",
    schema(CODE, LAUNCH, _RECORDING, _ASSUMPTIONS, required=("gpu",)),
    _estimate,
)


def _bound(call: ToolCall) -> Document:
    given, rows = call.arguments, call.limits.rows
    known = analyze(code(call), function=given.get("function"), **choices(call))
    return {"functions": [_bounded(each, rows, in_words=bool(given.get("assumptions"))) for each in known]}


def _bounded(each: Kernel, rows: int, *, in_words: bool) -> Document:
    known = each.to_dict()
    return {
        **answers.picked(known, "name", "demangled", "arch", "wcet", "makespan", "grid"),
        "gaps": answers.gaps(known, rows),
        "assumptions": answers.said(each.assumptions, in_words=in_words),
    }


BOUND = ServedTool(
    "bound",
    "A time that a launch never exceeds under stated assumptions, for deadlines: `wcet` is the worst case of one warp in cycles, "
    "`makespan` that of the warps of an SM (with block), `grid` that of the whole launch in cycles and microseconds (with block, grid and "
    "gpu). A bound is null where `gaps` say what is missing: most often the iterations of a loop, which parameters decide, or loop_bound. "
    "Bounds are above the expected time, often several times: compare variants of a kernel by `estimate`.",
    schema(CODE, LAUNCH, _ASSUMPTIONS),
    _bound,
)


def _explain(call: ToolCall) -> Document:
    given, rows = call.arguments, call.limits.rows
    if any(given.get(name) is None for name in ("block", "grid")):
        raise UsageError("usage", "an explanation needs the shape of a launch", hint="pass `gpu`, `block` and `grid`")
    program, known = code(call), choices(call)
    explained: list[Document] = []
    for each in estimate(program, function=given.get("function"), **known):
        analysis = each.result.analysis
        accesses = memory(each.function, **known).to_dict()
        bounded = Kernel(analysis).to_dict()
        parts = explain(analysis)
        reasons = document(ExplanationFields, parts)["wcet"] if parts is not None else []
        explained.append(
            {
                **answers.picked(bounded, "name", "demangled", "arch", "instructions", "registers"),
                "estimate": answers.time(each),
                "lines": answers.by_line(each.function, ((stall.address, stall.share) for stall in each.stalls), rows),
                "stalls": answers.stalls(each, rows),
                "accesses": _wasteful(accesses, rows),
                "occupancy": answers.picked(bounded, "occupancy").get("occupancy"),
                "warp_alone": _rows({"wcet": reasons}, "wcet")[:rows],
                "gaps": answers.gaps(each.to_dict(), rows),
            }
        )
    return {"functions": explained}


def _wasteful(document: Document, most: int) -> Sequence[Document]:
    """Return the accesses that waste transactions, those that waste most first."""
    names = ("address", "opcode", "space", "bytes", "pattern", "stride", "sectors", "passes", "ideal", "executions", "reason", "source")
    return [answers.picked(each, *names) for each in document["accesses"] if each["reason"]][:most]


EXPLAIN = ServedTool(
    "explain",
    "Why a launch takes its expected time: `lines`, the source lines where warps wait, by share; `stalls`, the instructions with the "
    "reason (names of Nsight Compute: long_scoreboard waits for memory, math_pipe_throttle for a busy unit, barrier for other warps); "
    "`accesses`, the memory accesses that make more transactions than their bytes need, with the stride and the reason; `occupancy`, what "
    "limits the resident warps; `warp_alone`, what one warp waits for if it runs alone. Ask it when `bound_by` of `estimate` does not say "
    "what to change.",
    schema(CODE, LAUNCH, required=("gpu", "block", "grid")),
    _explain,
)
