"""The tool that runs a program of the folder: record. It is offered only where the user of the server allows it."""

from collections import Counter
from functools import partial

from sassan.app.reading import architecture
from sassan.errors import InputError
from sassan.files import write
from sassan.launches import archive, text
from sassan.mcp.calls import ToolCall
from sassan.mcp.folder import RootFolder
from sassan.mcp.tools import Document, ServedTool, schema
from sassan.record import DeviceChoice, RecordingLimits, record

_SHARE = 0.8
"""Of the time of a call, for the program; the rest is to write what it launched."""
_MOST = 10_000
_DATA = 64 << 20


def _record(call: ToolCall) -> Document:
    given, root = call.arguments, RootFolder.of(call.root)
    program = str(root.path / root.file(given["program"]))
    output = given.get("output", "launches.toml")
    place = root.new_file(output, ".toml")
    limits = RecordingLimits(_MOST, call.limits.seconds * _SHARE, _DATA if given.get("data", True) else 0)
    done = record((program, *given.get("arguments", [])), DeviceChoice(architecture(given.get("arch"))), limits)
    if not done.launches.launches:
        hint = f"it ended with status {done.launches.status}; pass the arguments that it needs"
        raise InputError("no-launches", f"'{given['program']}' launched no kernel", hint=hint)
    beside = place.with_suffix(".data")
    if done.launches.data:
        write(beside, partial(archive, done.launches.data))
    write(place, text(done.launches, beside.name if done.launches.data else "").encode())
    kernels = Counter[str]()
    for launch in done.launches.launches:
        kernels[launch.kernel] += launch.count
    rows = call.limits.rows
    return {
        "output": output,
        "status": done.launches.status,
        "launches": done.launches.total,
        "kernels": [{"kernel": name, "launches": count} for name, count in kernels.most_common(rows)],
        "cut": done.launches.cut,
        "notes": list(done.launches.notes[:rows]),
    }


RECORD = ServedTool(
    "record",
    "Runs a CUDA program of the folder without a GPU and writes down its kernel launches: grid, block, arguments, and what the host copied "
    "into device memory. Launches are written down and not run, so results that kernels would compute stay zero. Pass the `output` to "
    "`estimate` as `launches`, with the program as `file`: the answer is the expected time of each kernel of the whole program.",
    schema(
        {
            "program": {"type": "string", "description": "The executable, a file below the folder of the server."},
            "arguments": {"type": "array", "items": {"type": "string"}, "maxItems": 256, "description": "Its arguments."},
            "output": {"type": "string", "description": "The file for the launches below the folder, launches.toml if not given."},
            "arch": {"type": "string", "description": "The architecture that the program sees, e.g. sm_80."},
            "data": {"type": "boolean", "description": "Whether to keep what the program copies into device memory; true if not given."},
        },
        required=("program",),
    ),
    _record,
    programs=True,
)
