"""Extracts the cubins of a host program, a library or a fatbin, with cuobjdump."""

import re
from pathlib import Path

from sassan.errors import InputError
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.cubin.tools import cuobjdump
from sassan.frontend.image import Image
from sassan.scratch import scratch
from sassan.source import Source
from sassan.system.processes import ToolLimits, ToolProblem, run

_MIB = 1024 * 1024
_FATBINS = frozenset({".nv_fatbin", "__nv_relfatbin"})
_SUFFIX = {"ELF": "", "fatbin": ".fatbin", "archive": ".a"}
_TOTAL = 256 * _MIB
"""Limit on the bytes of all cubins of one file together."""


def cubins(image: Image) -> tuple[Image, ...]:
    """Return the cubins of a file in cuobjdump's order; their name is that of the file.

    Raises InputError no-gpu-code, malformed-elf, cuobjdump-failed or too-large, MissingToolError.
    """
    if image.kind not in _SUFFIX:
        raise _none(image)
    if image.kind == "ELF" and not _FATBINS.intersection(section.name for section in Elf(image).sections):
        raise _none(image)
    tool = cuobjdump()
    with scratch() as folder:
        inner = folder / "cubins"
        inner.mkdir()
        source = folder / f"input{_SUFFIX[image.kind]}"
        source.write_bytes(image.data)
        try:
            run([tool.path, "-xelf", "all", f"../{source.name}"], inner, _limits(len(image.data)))
        except ToolProblem as problem:
            raise InputError("cuobjdump-failed", f"the cubins cannot be extracted: {problem}", source=Source(image.name, "")) from None
        return _read(image, inner)


def cubins_or_none(image: Image) -> tuple[Image, ...]:
    """Return the cubins of a file, () where it has none; raises InputError and MissingToolError as `cubins` does."""
    try:
        return cubins(image)
    except InputError as error:
        if error.code != "no-gpu-code":
            raise
        return ()


def _limits(size: int) -> ToolLimits:
    """Return the limits for a file of so many bytes: some kilobytes of compressed zeros are a cubin of gigabytes."""
    processor = 10 + size // _MIB
    return ToolLimits(seconds=300 + 60 * processor, size=16 * _MIB, processor=processor, memory=256 * _MIB + 16 * size)


def _read(image: Image, folder: Path) -> tuple[Image, ...]:
    paths = sorted((path for path in folder.iterdir() if path.is_file() and not path.is_symlink()), key=_order)
    if not paths:
        raise _none(image)
    if sum(path.stat().st_size for path in paths) > _TOTAL:
        message = f"the cubins in '{image.name}' are larger than {_TOTAL // _MIB} MiB together"
        hint = "extract them with: cuobjdump -xelf all FILE, and pass the ones you need"
        raise InputError("too-large", message, source=Source(image.name, ""), hint=hint)
    return tuple(Image(image.name, path.read_bytes()) for path in paths)


def _order(path: Path) -> tuple[list[int], str]:
    """Return a key that sorts `input.10.sm_61.cubin` after `input.2.sm_61.cubin`."""
    return [int(number) for number in re.findall("[0-9]+", path.name)], path.name


def _none(image: Image) -> InputError:
    message = "the file contains no GPU code; expected a cubin, or a program, library or fatbin that contains cubins"
    return InputError(
        "no-gpu-code", message, source=Source(image.name, ""), hint="PTX alone is not machine code; compile for a GPU (-arch=sm_61)"
    )
