"""Code with control codes, as written in tests: the text of each instruction, a bar, and its control code.

    function = scheduled('''
        LDG.E R0, [R2.64]       | 1 w0 r1
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
    loop:
        @P0 BRA loop            | 5
        IADD3 R1, R0, R0, RZ    | 4 wait0
    ''')

First the stall; `wB` and `rB` set a write and a read barrier, `waitBB` waits for barriers. The listing goes through the front end.
"""

import re

from sassan.arch import described
from sassan.frontend import read
from sassan.ir import Function
from sassan.isa.control import Control, encode
from sassan.isa.tables import load
from sassan.source import Source
from sassan.timing import hazards
from sassan.timing.findings import Finding, Report
from sassan.timing.scoreboards import check

_CODE = re.compile(r"(\d+)(?: w(\d))?(?: r(\d))?(?: wait(\d+))?")


def scheduled(text: str, arch: str = "sm_80") -> Function:
    """Return the function of a listing of cuobjdump; labels are on separate lines."""
    labels: dict[str, int] = {}
    rows: list[tuple[str, int]] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line.endswith(":"):
            labels[line[:-1]] = _address(len(rows), arch)
        else:
            code, _, control = line.partition("|")
            rows.append((code.strip(), encode(_control(control.strip()))))
    words = "".join(_lines(rows, labels, arch))
    listing = f"\tcode for {arch}\n\t\tFunction : kernel\n{words}\t\t..........\n"
    (function,) = read(Source("test.sass", listing)).functions
    return function


def report(text: str, arch: str = "sm_80") -> Report:
    """Return the findings of the check of a listing."""
    return check(scheduled(text, arch), load(arch).facts, hazards.load(arch))


def found(text: str, arch: str = "sm_80") -> list[str]:
    """Return the findings of the check as text."""
    function = scheduled(text, arch)
    code = {instruction.address: instruction.text for instruction in function.instructions}
    return [_words(finding, code) for finding in report(text, arch).findings]


def _words(finding: Finding, code: dict[int, str]) -> str:
    return f"{finding.code}: {finding.message(code[finding.address], code[finding.producer])}"


def _control(text: str) -> Control:
    match = _CODE.fullmatch(text)
    assert match is not None, text
    stall, write, read_, waits = match.groups()
    mask = sum(1 << int(digit) for digit in waits or "")
    return Control(int(stall), False, int(write) if write else None, int(read_) if read_ else None, mask)


def _address(index: int, arch: str) -> int:
    return 8 * (index + index // 3 + 1) if described(arch).control_words else 16 * index


def _lines(rows: list[tuple[str, int]], labels: dict[str, int], arch: str) -> list[str]:
    out: list[str] = []
    for index, (text, control) in enumerate(rows):
        code = re.sub(r"\b[a-z]\w+$", lambda match: f"0x{labels[match[0]]:x}" if match[0] in labels else match[0], text)
        place = f"        /*{_address(index, arch):04x}*/  {code} ;"
        if not described(arch).control_words:
            out.append(f"{place}  /* 0x0000000000000000 */\n  /* 0x{control << 41:016x} */\n")
            continue
        if index % 3 == 0:
            group = [control for _, control in rows[index : index + 3]]
            out.append(f"  /* 0x{sum(control << 21 * slot for slot, control in enumerate(group)):016x} */\n")
        out.append(f"{place}  /* 0x0000000000000000 */\n")
    return out
