"""Whether a file that a compiler made holds GPU code at all: one of host code alone has nothing to be analyzed."""

import re
from collections.abc import Sequence
from pathlib import Path

from sassan.errors import SassanError
from sassan.frontend.cubin.elf import Elf, is_gpu
from sassan.frontend.cubin.extract import cubins_or_none
from sassan.frontend.cubin.tools import cuobjdump
from sassan.frontend.image import Image
from sassan.scratch import scratch
from sassan.system.processes import ToolLimits, ToolProblem, run
from sassan.system.reading import read

_MARKS = (b".nv_fatbin", b"__nv_relfatbin")
"""Sections of host code that hold GPU code."""
_LIMITS = ToolLimits(seconds=120, size=64 * 1024 * 1024)
_LARGEST = 1 << 32
_ELF_HEADER = 64
"""Bytes of it; in a shorter file the machine that the code is for may be missing."""
_KINDS = re.compile(rb"^Fatbin (.*) code:\s*$", re.MULTILINE)
_PTX = re.compile(rb"^\s*\.version\s", re.MULTILINE)
_PTX_CODE = re.compile(rb"\.(?:entry|func)\b")


def is_host_only(path: Path) -> bool:
    """Say whether a file holds no GPU code, neither machine code nor PTX; False, too, where that is unknown."""
    try:
        image = Image(path.name, read(path, _LARGEST))
        if image.kind == "ELF" and len(image.data) < _ELF_HEADER:
            return False
        if image.kind == "ELF" and is_gpu(image):
            return _has_none((image,))
        if image.kind in {"ELF", "archive"} and not any(mark in image.data for mark in _MARKS):
            return True
        if image.kind:
            return _has_none(cubins_or_none(image)) and _holds_no_other(image)
    except (OSError, SassanError, ToolProblem):
        return False
    return _PTX.search(image.data) is not None and not _PTX_CODE.search(image.data)


def _has_none(images: Sequence[Image]) -> bool:
    return not any(section.is_code for image in images for section in Elf(image).sections)


def _holds_no_other(image: Image) -> bool:
    """Say whether beside its cubins a file has at most PTX, and that without a function: what waits for a later link is code, too."""
    with scratch() as folder:
        source = folder / {"fatbin": "input.fatbin", "archive": "input.a"}.get(image.kind, "input")
        source.write_bytes(image.data)
        text = run([cuobjdump().path, "-ptx", str(source)], folder, _LIMITS)
    return {*_KINDS.findall(text)} <= {b"elf", b"ptx"} and not _PTX_CODE.search(text)
