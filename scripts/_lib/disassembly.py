"""What a disassembler prints for encodings: thousands in one run, those that it refuses included."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sassan.arch import architecture
from sassan.frontend.cubin.tools import NVDISASM, tools
from sassan.isa.encoding_models import CONTROL
from sassan.isa.spelling import written

_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", re.MULTILINE)
_SCHEDULE = re.compile(r"\s+[&?][\w.]+.*$")
"""What CUDA 13 prints of the control code behind an instruction."""
_ILLEGAL = re.compile(r"at address (0x[0-9a-f]+)")
_NOP_MAXWELL, _NOP_VOLTA = 0x50B0000000070F00, 0x000FC00000000000_0000000000007918
_CONTROL_MAXWELL = 0x7E0
"""Of an instruction until Pascal: waits for nothing, and announces nothing."""
_CONTROL_VOLTA = 0x7F1
"""The same since Volta, for encodings without control codes: with none at all some are refused, and `.reuse` is not printed."""
_SCHEDULED = 0x1FFFF
"""The bits of a control code that an instruction with one has: all but those that mark registers."""
_MOST = 60_000
"""Instructions of a run."""
_SECONDS = 600


def disassemblers(arch: str) -> list[str]:
    """Return the paths of all disassemblers for an SM, the newest version last."""
    known = architecture(arch)
    assert known is not None
    suitable = [tool for tool in tools(NVDISASM) if known.number in tool.reads]
    return [tool.path for tool in sorted(suitable, key=lambda tool: tuple(map(int, tool.version.split("."))))]


def changed(before: str, after: str) -> bool:
    """Whether a text, '' for none, is another one, but for the target of a branch, which depends on where it is."""
    if before == after or not (before and after):
        return before != after
    return written(before) != written(after) or before.split(maxsplit=1)[0] != after.split(maxsplit=1)[0]


def texts(tool: str, arch: str, words: Sequence[int]) -> list[str]:
    """Return the text of each encoding, '' of one that is refused, or skipped; until Pascal the bits from 64 on are the control code.

    An encoding keeps the control code that it has: one with another is another instruction, or none.
    """
    return [text for first in range(0, len(words), _MOST) for text in _texts(tool, arch, words[first : first + _MOST])]


def _texts(tool: str, arch: str, words: Sequence[int]) -> list[str]:
    known = architecture(arch)
    assert known is not None
    paired = known.control_words
    left = list(words)
    refused: set[int] = set()
    while True:
        code = (
            _bundles(left)
            if paired
            else b"".join((word | _missing(word, "volta") << CONTROL["volta"]).to_bytes(16, "little") for word in left)
        )
        done = _run(tool, arch, code)
        late = {_index(int(at, 16), paired=paired) for at in _ILLEGAL.findall(done.stderr)}
        if not late:
            break
        refused |= late
        for index in late:
            left[index] = _NOP_MAXWELL if paired else _NOP_VOLTA
    out = [""] * len(words)
    for at, text in _LINE.findall(done.stdout):
        index = _index(int(at, 16), paired=paired)
        if index < len(out):
            out[index] = " ".join(_SCHEDULE.sub("", text).split())
    if done.returncode:
        raise ValueError(f"{tool}: {done.stderr[:500]}")
    return ["" if index in refused else text for index, text in enumerate(out)]


def _missing(word: int, table: str) -> int:
    """A control code for an encoding that has none."""
    return 0 if word >> CONTROL[table] & _SCHEDULED else {"maxwell": _CONTROL_MAXWELL, "volta": _CONTROL_VOLTA}[table]


def _run(tool: str, arch: str, code: bytes) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryDirectory(prefix="sassan-") as folder:
        path = Path(folder) / "code.bin"
        path.write_bytes(code)
        command = [tool, "-b", arch.upper().replace("SM_", "SM").replace("A", "a"), "-ndf", "-novliw", "-c", str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603 - a list, no shell


def _index(address: int, *, paired: bool) -> int:
    return address // 32 * 3 + address % 32 // 8 - 1 if paired else address // 16


def _bundles(words: Sequence[int]) -> bytes:
    """Words of instructions with a word of control codes before each three."""
    out = bytearray()
    for first in range(0, len(words), 3):
        three = [*words[first : first + 3], *[_NOP_MAXWELL] * 2][:3]
        control = sum((word >> CONTROL["maxwell"] | _missing(word, "maxwell")) << 21 * place for place, word in enumerate(three))
        for word in (control, *three):
            out += (word & (1 << 64) - 1).to_bytes(8, "little")
    return bytes(out)
