"""Code with control codes, as written in tests: the text of each instruction, a bar, and its control code.

    function = scheduled('''
        LDG.E R0, [R2.64]       | 1 w0 r1
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
    loop:
        @P0 BRA loop            | 5
        IADD3 R1, R0, R0, RZ    | 4 wait0
    ''')

First the stall; `wB` and `rB` set a write and a read barrier, `waitBB` waits for barriers. The listing goes through the front end without
encodings, which would have to be those of its text.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from listing import address
from sassan.frontend import read
from sassan.ir import Function
from sassan.isa.control import ControlCode, encode
from sassan.isa.tables import load
from sassan.source import Source
from sassan.timing import hazards
from sassan.timing.findings import MissingWait, Report
from sassan.timing.scoreboards import check

_CODE = re.compile(r"(\d+)(?: w(\d))?(?: r(\d))?(?: wait(\d+))?")


def scheduled(text: str, arch: str = "sm_80") -> Function:
    """Return the function of a listing of cuobjdump; labels are on separate lines."""
    labels: dict[str, int] = {}
    lines: list[str] = []
    controls: list[int] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line.endswith(":"):
            labels[line[:-1]] = address(len(lines), arch)
        else:
            code, _, control = line.partition("|")
            lines.append(code.strip())
            controls.append(encode(_control(control.strip())))
    listing = f"\tcode for {arch}\n\t\tFunction : kernel\n{''.join(_rows(lines, labels, arch))}\t\t..........\n"
    (function,) = read(Source("test.sass", listing)).functions
    code = (replace(instruction, control=control) for instruction, control in zip(function.instructions, controls, strict=True))
    return replace(function, instructions=tuple(code))


def report(text: str, arch: str = "sm_80") -> Report:
    """Return the findings of the check of a listing."""
    return check(scheduled(text, arch), load(arch).facts, hazards.load(arch))


def found(text: str, arch: str = "sm_80") -> list[str]:
    """Return the findings of the check as text."""
    function = scheduled(text, arch)
    code = {instruction.address: instruction.text for instruction in function.instructions}
    return [_words(finding, code) for finding in report(text, arch).findings]


def _words(finding: MissingWait, code: dict[int, str]) -> str:
    return f"{finding.code}: {finding.message(code[finding.address], code[finding.producer])}"


def _control(text: str) -> ControlCode:
    match = _CODE.fullmatch(text)
    assert match is not None, text
    stall, write, read_, waits = match.groups()
    mask = sum(1 << int(digit) for digit in waits or "")
    return ControlCode(int(stall), False, int(write) if write else None, int(read_) if read_ else None, mask)


def _rows(lines: list[str], labels: dict[str, int], arch: str) -> Iterator[str]:
    for index, line in enumerate(lines):
        code = re.sub(r"\b[a-z]\w+$", lambda match: f"0x{labels[match[0]]:x}" if match[0] in labels else match[0], line)
        yield f"        /*{address(index, arch):04x}*/  {code} ;\n"
