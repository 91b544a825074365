"""The text of a cubin, as nvdisasm prints it."""

import tempfile
from pathlib import Path

from sassan.errors import InputError
from sassan.frontend.cubin import cache
from sassan.frontend.cubin.run import Limits, ToolProblem, run
from sassan.frontend.cubin.tools import nvdisasm
from sassan.frontend.image import Image
from sassan.source import Source

LIMITS = Limits(seconds=60, size=256 * 1024 * 1024)
"""nvdisasm takes some 0.4 s, and prints some 1 MB, for 5000 instructions."""
CODE = ("-c",)
LINES = ("-c", "-g")


def disassemble(image: Image, sm: int, options: tuple[str, ...] = CODE, *, cached: bool = True) -> str:
    """Return what nvdisasm prints of a cubin of architecture `sm`.

    Raises MissingToolError when no nvdisasm reads it, InputError nvdisasm-failed.
    """
    tool = nvdisasm(sm)
    name = cache.key(image.data, tool.version, *options)
    text = cache.get(name) if cached else None
    if text is None:
        text = _run(image, [tool.path, *options])
        if cached:
            cache.put(name, text)
    return text.decode("utf-8", "replace")


def _run(image: Image, command: list[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        folder = Path(scratch)
        (folder / "k.cubin").write_bytes(image.data)
        try:
            return run([*command, "k.cubin"], folder, LIMITS)
        except ToolProblem as problem:
            message = f"the disassembler refused the cubin: {problem}"
            hint = "the file is damaged, or of a CUDA version that this nvdisasm does not know"
            raise InputError("nvdisasm-failed", message, source=Source(image.name, ""), hint=hint) from None
