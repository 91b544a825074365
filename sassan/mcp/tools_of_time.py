"""The tools that say how long a launch takes, and why: estimate, bound, explain."""

from sassan.api.analyzing import analyze
from sassan.api.estimating import estimate
from sassan.api.launching import Launch
from sassan.errors import UsageError
from sassan.ir import Program
from sassan.mcp import answers
from sassan.mcp.calls import ToolCall
from sassan.mcp.folder import RootFolder
from sassan.mcp.inputs import gpu_of, program_of
from sassan.mcp.tools import CODE, LAUNCH, Document, ServedTool, schema

_ASSUMPTIONS = {"assumptions": {"type": "boolean", "description": "List the assumptions in words, and not only how many there are."}}


def read(call: ToolCall) -> tuple[Program, Launch]:
    """Return the code of a call and its launch."""
    given, root = call.arguments, RootFolder.of(call.root)
    block, grid = (tuple(shape) if isinstance(shape, list) else shape for shape in (given.get("block"), given.get("grid")))
    launch = Launch(
        block=block,
        grid=grid,
        parameters=given.get("parameters", {}),
        registers=given.get("registers"),
        shared=given.get("shared"),
        gpu=gpu_of(given, root),
    )
    return program_of(given, root, call.limits), launch


def _estimate(call: ToolCall) -> Document:
    given = call.arguments
    if any(given.get(name) is None for name in ("gpu", "block", "grid")):
        raise UsageError("usage", "an estimate needs the GPU, the block and the grid of a launch", hint="pass `gpu`, `block` and `grid`")
    program, launch = read(call)
    known = estimate(program, function=given.get("function"), launch=launch, loop_bound=given.get("loop_bound"))
    listed = bool(given.get("assumptions"))
    return {"functions": [answers.estimate(each, call.limits.rows, assumptions=listed) for each in known]}


ESTIMATE = ServedTool(
    "estimate",
    "Expected time of a launch of a CUDA kernel on a GPU, in microseconds, and what binds it; nothing is run. Needs gpu, block, grid, and "
    "the integer arguments (parameters) that loops and addresses depend on. CUDA source is compiled; PTX, cubins and SASS listings are "
    "read. Use it after every change of a kernel and compare `us`. `bound_by` says what to improve: dram or l2 (fewer bytes), l1 "
    "(uncoalesced accesses), shared (bank conflicts), issue or a unit such as fma (fewer instructions), latency (more warps or more "
    "independent work), barrier, tail (blocks too few or too long), launch (too little work). `stalls` are the instructions and source "
    "lines before which warps wait most. `estimate` is null where `gaps` say what is missing. It is an expectation, not a bound.",
    schema(CODE, LAUNCH, _ASSUMPTIONS, required=("gpu", "block", "grid")),
    _estimate,
)


def _bound(call: ToolCall) -> Document:
    given = call.arguments
    program, launch = read(call)
    known = analyze(program, function=given.get("function"), launch=launch, loop_bound=given.get("loop_bound"))
    rows: list[Document] = []
    for each in known:
        document = each.to_dict()
        row = answers.picked(document, "name", "demangled", "arch", "wcet", "makespan", "grid")
        row["gaps"] = list(each.to_dict()["gaps"])[: call.limits.rows]
        rows.append(row)
    return {"functions": rows}


BOUND = ServedTool("bound", "", schema(CODE, LAUNCH, _ASSUMPTIONS), _bound)
EXPLAIN = ServedTool("explain", "", schema(CODE, LAUNCH), _bound)
