"""The tools of the server: what each is called, what it says of itself to a model, and the arguments that it takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sassan.mcp.calls import ToolCall

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool; `schema` is that of its arguments, `run` makes its answer in a worker."""

    name: str
    text: str
    schema: Mapping[str, Any]
    run: Callable[[ToolCall], Document]
    programs: bool = False
    """Whether it runs a program of the user."""


_WHOLE = {"type": "integer", "minimum": 1}
_SHAPE = {
    "description": "Extents in x, y, z, e.g. 256 or [32, 8].",
    "anyOf": [_WHOLE, {"type": "array", "items": _WHOLE, "minItems": 1, "maxItems": 3}],
}
CODE: Mapping[str, Any] = {
    "text": {"type": "string", "description": "The code itself, with `language`; instead of `file`."},
    "language": {"enum": ["cuda", "ptx", "sass"], "description": "What `text` is: CUDA C++, PTX, or a listing of cuobjdump or nvdisasm"},
    "file": {
        "type": "string",
        "description": "A file below the folder of the server, relative to it: .cu, .ptx, .cubin, a listing, or a program.",
    },
    "function": {"type": "string", "description": "Only functions of this name; * and ? are wildcards."},
    "arch": {"type": "string", "description": "The architecture to compile for, e.g. sm_80; without it, that of the GPU."},
}
"""The arguments that say what the code is."""
LAUNCH: Mapping[str, Any] = {
    "gpu": {"type": "string", "description": "The product, e.g. T4, A100-PCIE-40GB, RTX 3080, H100 SXM5; `sassan gpus` lists them."},
    "block": {**_SHAPE, "description": "Threads of a block in x, y, z: 256 or [32, 8]."},
    "grid": {**_SHAPE, "description": "Blocks of the grid in x, y, z: 4096 or [64, 64]."},
    "parameters": {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "description": 'Integer arguments by name in the source, or param_0, ...: {"n": 2048}. Loops and addresses depend on them.',
    },
    "shared": {"type": "integer", "minimum": 0, "description": "Dynamic shared memory of a block, in bytes."},
    "registers": {**_WHOLE, "description": "Registers per thread, where the code does not say it."},
    "loop_bound": {"type": "integer", "minimum": 0, "description": "Back edges per entry of each loop whose bound nothing says."},
}
"""The arguments that say what is known of the launch."""


_OF_EVERY: Mapping[str, Any] = {
    "time_limit": {
        "type": "number",
        "minimum": 0.1,
        "description": "Seconds of this call, where fewer than the server gives are wanted.",
    }
}


def schema(*groups: Mapping[str, Any], required: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Return the schema of the arguments of a tool, which takes no others."""
    properties = {name: kind for group in (*groups, _OF_EVERY) for name, kind in group.items()}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
