"""Takes the cubins out of a host program, a library or a fatbin, with cuobjdump."""

import re
import tempfile
from pathlib import Path

from sassan.errors import InputError
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.cubin.run import Limits, ToolProblem, run
from sassan.frontend.cubin.tools import cuobjdump
from sassan.frontend.image import Image
from sassan.source import Source

_LIMITS = Limits(seconds=120, size=16 * 1024 * 1024)
_FATBINS = frozenset({".nv_fatbin", "__nv_relfatbin"})
_SUFFIX = {"ELF": "", "fatbin": ".fatbin", "archive": ".a"}
_TOTAL = 256 * 1024 * 1024
"""Bytes of all cubins of one file together."""


def cubins(image: Image) -> tuple[Image, ...]:
    """Return the cubins of a file in the order in which cuobjdump numbers them; their name is that of the file.

    Raises InputError no-gpu-code, malformed-elf, cuobjdump-failed or too-large, MissingToolError.
    """
    if image.kind not in _SUFFIX:
        raise _none(image)
    if image.kind == "ELF" and not _FATBINS.intersection(one.name for one in Elf(image).sections):
        raise _none(image)
    tool = cuobjdump()
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        folder = Path(scratch)
        inner = folder / "cubins"
        inner.mkdir()
        source = folder / f"input{_SUFFIX[image.kind]}"
        source.write_bytes(image.data)
        try:
            run([tool.path, "-xelf", "all", str(source)], inner, _LIMITS)
        except ToolProblem as problem:
            raise InputError("cuobjdump-failed", f"the cubins cannot be taken out: {problem}", source=Source(image.name, "")) from None
        return _read(image, inner)


def _read(image: Image, folder: Path) -> tuple[Image, ...]:
    found = sorted((path for path in folder.iterdir() if path.is_file() and not path.is_symlink()), key=_order)
    if not found:
        raise _none(image)
    if sum(path.stat().st_size for path in found) > _TOTAL:
        message = f"the cubins in '{image.name}' have more than {_TOTAL // 1024 // 1024} MiB"
        hint = "take them out with: cuobjdump -xelf all FILE, and name the ones that you want"
        raise InputError("too-large", message, source=Source(image.name, ""), hint=hint)
    return tuple(Image(image.name, path.read_bytes()) for path in found)


def _order(path: Path) -> tuple[list[int], str]:
    """Order `input.10.sm_61.cubin` behind `input.2.sm_61.cubin`."""
    return [int(number) for number in re.findall("[0-9]+", path.name)], path.name


def _none(image: Image) -> InputError:
    message = "the file holds no GPU code; expected a cubin, or a program, library or fatbin with cubins inside"
    return InputError(
        "no-gpu-code", message, source=Source(image.name, ""), hint="PTX alone is no machine code: compile for a GPU (-arch=sm_61)"
    )
