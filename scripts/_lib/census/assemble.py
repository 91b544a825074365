"""What ptxas accepts: modules of many kernels, without those that it refuses."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _lib.census.statements import Statement, module

_SECONDS = 600
_ERROR = re.compile(r"line (\d+); error\s*: (.*)")


class PtxasError(Exception):
    """ptxas ends without saying which line it refuses: it crashes on one of them."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A cubin with the kernels of the statements that ptxas accepts (`module`), the others by number with what it says of them."""

    cubin: Path
    accepted: list[tuple[int, Statement]]
    refused: dict[int, str]


def assembled(ptxas: str, chosen: Sequence[tuple[int, Statement]], arch: str, version: str, cubin: Path) -> Assembled:
    """Return the cubin of numbered statements for an SM; raises PtxasError where ptxas fails without naming a line."""
    left, refused = list(chosen), dict[int, str]()
    while left:
        late = _refused(ptxas, left, arch, version, cubin)
        if not late:
            break
        refused |= late
        left = [each for each in left if each[0] not in late]
    return Assembled(cubin, left, refused)


def _refused(ptxas: str, chosen: Sequence[tuple[int, Statement]], arch: str, version: str, cubin: Path) -> dict[int, str]:
    """Assemble statements; return those with an error, by number, with what ptxas says of them."""
    text, owners = module(chosen, arch, version)
    source = cubin.with_suffix(".ptx")
    source.write_text(text, encoding="utf-8")
    command = [ptxas, f"-arch={arch}", str(source), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603 - a list, no shell
    if done.returncode == 0:
        return {}
    refused = {owners[int(line) - 1]: said for line, said in _ERROR.findall(done.stderr)}
    if not refused or -1 in refused:
        raise PtxasError(f"ptxas fails for {arch}: {done.stderr[:500]}")
    return refused
