"""The tool that says what to change in a kernel: advise."""

from sassan.api.advising import advise
from sassan.errors import UsageError
from sassan.mcp import answers
from sassan.mcp.calls import ToolCall
from sassan.mcp.tools import CODE, LAUNCH, Document, ServedTool, schema
from sassan.mcp.tools_of_time import choices, code

_KEYS = ("code", "function", "gain_us", "gain_of_total", "places", "why", "example", "sure")


def _advise(call: ToolCall) -> Document:
    given, rows = call.arguments, call.limits.rows
    if any(given.get(name) is None for name in ("block", "grid")):
        raise UsageError("usage", "advice needs the shape of a launch", hint="pass `gpu`, `block` and `grid`")
    known = advise(code(call), function=given.get("function"), **choices(call))
    return {
        "advice": [answers.picked(each.to_dict(), *_KEYS) for each in known[:rows]],
        "binds": known.binds,
        "gaps": [{"code": gap.code, "message": gap.message} for gap in known.gaps[:rows]],
    }


ADVISE = ServedTool(
    "advise",
    "What to change in a kernel: remedies, each tried in the simulator, best first. `gain_us` is gained, `gain_of_total` is its share, "
    "`places` the instructions and source lines, `example` the change in CUDA C++, `sure` how much the remedy may differ from what was "
    "tried. Apply the first one that fits, then ask `estimate` again. An empty list says that nothing gains 2 %; `binds` says what limits.",
    schema(CODE, LAUNCH, required=("gpu", "block", "grid")),
    _advise,
)
