"""The text of a cubin as printed by nvdisasm."""

import re

from sassan.errors import InputError
from sassan.frontend.cubin import cache
from sassan.frontend.cubin.tools import nvdisasm
from sassan.frontend.image import Image
from sassan.scratch import scratch
from sassan.source import Source
from sassan.system.processes import ToolLimits, ToolProblem, run

_MIB = 1024 * 1024
CODE = ("-c",)
LINES = ("-c", "-g")
_PLAIN = "-ndf"
"""Without the analysis of dataflow, which says where indirect branches may go, and takes a sixth of the time for a small kernel."""
_COMMENT = re.compile(r'^[ \t]*//## File ".*", line [0-9]{1,9}[ \t]*\n', re.MULTILINE)
"""What nvdisasm prints of source lines, between the instructions."""
_INDIRECT = re.compile(rb"\b(?:BRX|JMX)")
PLAIN_SINCE = 75
"""SMs whose branches nvdisasm follows for nothing else: there is no stack of tokens."""


_AHEAD: dict[str, str] = {}
"""Texts that are read soon (`together.py`), by the key of the cache; each is taken once."""
_MOST_AHEAD = 64


def disassemble(image: Image, sm: int, options: tuple[str, ...] = CODE, *, cached: bool = True) -> str:
    """Return the output of nvdisasm for a cubin of architecture `sm`.

    Raises MissingToolError when no nvdisasm reads it, InputError nvdisasm-failed.
    """
    tool = nvdisasm(sm)
    name = cache.key(image.data, tool.version, *options)
    if not cached and (ahead := _AHEAD.pop(name, None)) is not None:
        return ahead
    text = cache.get(name) if cached else None
    if text is None:
        text = _run(image, [tool.path, *options, _PLAIN]) if sm >= PLAIN_SINCE else None
        if text is None or _INDIRECT.search(text):
            text = _run(image, [tool.path, *options])
        if cached:
            cache.put(name, text)
    return text.decode("utf-8", "replace")


def without_lines(text: str) -> str | None:
    """Return the text of the code, as `CODE` prints it, of one with source lines; None where the name of a file is more than one line."""
    code = _COMMENT.sub("", text)
    return None if "//##" in code else code


def plain_text(image: Image, sm: int) -> str:
    """Return what nvdisasm prints of the code without its analysis of dataflow; raises as `disassemble`."""
    return _run(image, [nvdisasm(sm).path, *CODE, _PLAIN]).decode("utf-8", "replace")


def keep_ahead(image: Image, sm: int, text: str) -> bool:
    """Keep a text for the next `disassemble` of a cubin without the cache; say whether it says all that is printed otherwise."""
    if _INDIRECT.search(text.encode()):
        return False
    if len(_AHEAD) >= _MOST_AHEAD:
        _AHEAD.clear()
    _AHEAD[cache.key(image.data, nvdisasm(sm).version, *CODE)] = text
    return True


def limits(size: int) -> ToolLimits:
    """Return the limits of nvdisasm for a cubin of `size` bytes.

    For a kernel of 5,000 instructions (88 kB) it takes 0.3 s of processor time and 80 MB, and prints 0.4 MB; it takes 0.1 s and 40 MB to
    start, and 1 s for 120 instructions with an indirect branch on a machine that is three times as slow. On a damaged cubin it may loop for
    ever. On a machine with much else to do the same work takes far longer by the clock: only what
    waits without computing meets the limit in `seconds`.
    """
    processor = 5 + size // 32768
    return ToolLimits(seconds=300 + 60 * processor, size=256 * _MIB, processor=processor, memory=256 * _MIB + 4096 * size)


def _run(image: Image, command: list[str]) -> bytes:
    with scratch() as folder:
        (folder / "k.cubin").write_bytes(image.data)
        try:
            return run([*command, "k.cubin"], folder, limits(len(image.data)))
        except ToolProblem as problem:
            message = f"the disassembler refused the cubin: {problem}"
            hint = "the file is damaged, or is of a CUDA version that this nvdisasm does not support"
            raise InputError("nvdisasm-failed", message, source=Source(image.name, ""), hint=hint) from None
