"""The tools that show machine code, and what a change did to it: listing, diff."""

from typing import Any

from sassan.api.diffs import diff
from sassan.api.estimating import estimate
from sassan.app.inputs import check_patterns, wanted
from sassan.app.settings import Settings
from sassan.app.views import listing_of
from sassan.errors import UsageError
from sassan.fields.kinds import address
from sassan.ir import Program
from sassan.mcp import answers
from sassan.mcp.calls import ToolCall
from sassan.mcp.folder import RootFolder
from sassan.mcp.inputs import program_of
from sassan.mcp.tools import CODE, LAUNCH, Document, ServedTool, schema
from sassan.mcp.tools_of_time import choices, code
from sassan.render.listing import ListingRow

_MOST, _DEFAULT = 1000, 100
_WINDOW = {
    "first": {
        "type": "string",
        "pattern": "^0x[0-9a-fA-F]{1,8}$",
        "description": "The address of the first instruction that is listed, e.g. 0x0110.",
    },
    "rows": {
        "type": "integer",
        "minimum": 1,
        "maximum": _MOST,
        "description": f"How many are listed of each function, {_DEFAULT} if not given.",
    },
}


def _listing(call: ToolCall) -> Document:
    given = call.arguments
    functions = code(call).functions
    patterns = () if given.get("function") is None else (given["function"],)
    check_patterns(patterns, [each.name for each in functions])
    first, most = int(given.get("first", "0x0"), 16), given.get("rows", _DEFAULT)
    listed: list[Document] = []
    for each in (each for each in functions if wanted(each.name, patterns)):
        shown = listing_of(each, Settings())
        rows = [row for row in shown.rows if row.instruction.address >= first]
        listed.append(
            {
                "name": each.name,
                "arch": each.arch,
                "instructions": len(shown.rows),
                "rows": [_row(row) for row in rows[:most]],
                "next": address(rows[most].instruction.address) if len(rows) > most else None,
            }
        )
    return {"functions": listed}


def _row(row: ListingRow) -> Document:
    control = row.control
    known: dict[str, Any] = {"address": address(row.instruction.address), "text": row.instruction.text, "unit": row.unit}
    if control is not None:
        known |= {"stall": control.stall, "waits": list(control.waits), "sets": [control.write_barrier, control.read_barrier]}
    return {**known, "live": row.live, "source": answers.source(row.source)}


LISTING = ServedTool(
    "listing",
    "The machine code (SASS) of the functions, an instruction a row: address, text, functional unit, control code (`stall` cycles before "
    "the next instruction, barriers that it waits for, and sets for its result and its sources), registers in use (`live`), source line. "
    "`next` is the address to go on with as `first`. Look at it to see what the compiler made of a line: unrolling, vector loads, spills "
    "(STL, LDL), conversions, calls.",
    schema(CODE, _WINDOW),
    _listing,
)

_SIDE = {"type": "object", "properties": dict(CODE), "additionalProperties": False}


def _diff(call: ToolCall) -> Document:
    given, known, rows = call.arguments, choices(call), call.limits.rows
    old, new = (_side(call, name) for name in ("old", "new"))
    changed = diff(old, new, function=given.get("function"), **known)
    answer = changed.to_dict()
    functions = [
        {**answers.picked(each, "name", "arch", "state", "was", "code_changed", "numbers"), "lists": _shortened(each["lists"], rows)}
        for each in _rows(answer)
    ]
    document: dict[str, Any] = {"summary": answer["summary"], "functions": functions}
    if all(given.get(name) is not None for name in ("gpu", "block", "grid")):
        sides = [estimate(side, function=given.get("function"), **known) for side in (old, new)]
        document["estimates"] = [[{"name": each.name, "us": each.us, "bound_by": each.bound_by} for each in side] for side in sides]
    return document


def _rows(answer: Document) -> list[Any]:
    return list(answer["functions"])


def _shortened(lists: Document, most: int) -> Document:
    return {name: {side: list(texts)[:most] for side, texts in both.items()} for name, both in lists.items()}


def _side(call: ToolCall, name: str) -> Program:
    given = call.arguments[name]
    if "function" in given:
        raise UsageError("usage", f"`{name}` takes no `function`", hint="pass `function` for both sides")
    merged = {"gpu": call.arguments.get("gpu"), **given}
    return program_of(merged, RootFolder.of(call.root), call.limits)


DIFF = ServedTool(
    "diff",
    "What a change of a kernel did to its machine code and its bounds: `old` and `new` are each code as of `estimate` (text with language, "
    "or file). Per function: whether the instructions differ, `numbers` that differ (instructions, registers, WCET, accesses, conflicts) "
    "with their old and new value, and `lists` that differ (loops, gaps, assumptions). With gpu, block and grid also `estimates`: the "
    "expected time of each side.",
    schema({"old": _SIDE, "new": _SIDE, "function": CODE["function"]}, LAUNCH, required=("old", "new")),
    _diff,
)
