"""The parts of an instruction's text that its encoding holds: name, features, shape and values.

`FADD.FTZ R1, -R2, 0.5` has the name `FADD`, the features `.FTZ` and `1-` (a sign behind the first value), the shape `R#,R#,#` and the
values `R1`, `R2`, `0.5`.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

RELOCATED = "("
"""In a value: a symbol, whose number the linker writes."""
_VALUE = re.compile(
    r"\0|(?<![\w.])(?:(?P<file>U?[RP]|S?B)(?:\d+|[ZT])(?!\w)|-?0x[0-9a-f]+"
    r"|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|\.(?!NEG))|[-+](?:INF|QNAN|SNAN)(?!\w))"
)
_SYMBOL = re.compile(r"(?:[0-9]{1,3}@[a-z]{1,9}|`)\(")
_GUARD = re.compile(r"@!?U?P\w+ ")
_MARKS = re.compile(r"#|[-~!|]|\.[A-Za-z0-9_]+| |\{[0-9,]*\}")
_TARGET = re.compile(r"[ ,]{0,2}(?:\.L_x_\d+|\0|-?0x[0-9a-f]+)$")
_TO_TARGETS = frozenset({"BRA", "BSSY", "CALL", "SSY", "PBK", "PCNT", "CAL", "PRET", "RET", "LEPC"})
"""Opcodes whose last operand is a relative address of code, which the text has as an absolute one."""
_TO_SECOND = frozenset({"WARPSYNC"})
"""The same, where it is not their only operand: alone it is a mask of lanes."""
_TYPE = re.compile(r"B?[FUSB][0-9]+|E[0-9]M[0-9]")
"""Modifiers that mean another thing behind one of their kind: `F2F.F16.F32` is not `F2F.F32.F16`."""
_TWO_OPERATORS = frozenset({"PSET", "PSETP"})
"""The same: `PSETP.AND.OR` is not `PSETP.OR.AND`; the last modifier is the second operator."""
_TEXTURE, _AGAIN = "T", ".P"
"""The first letter of instructions on textures, and how these print such a mark until Pascal."""
_ORDERS = frozenset({"CONSTANT", "WEAK", "STRONG", "MMIO", "ORDERED", "PRIVATE", "CTA", "SM", "GPU", "SYS", "VC"})
"""Modifiers that say together which order and scope an access to memory has: `.STRONG.GPU` is one feature."""
_TEXTS = 8192


class Written(NamedTuple):
    """The parts of a text; `reused` is how many marks of registers that are read again it has."""

    name: str
    features: tuple[str, ...]
    shape: str
    values: tuple[str, ...]
    reused: int


def ends_in_address(name: str, modifiers: Collection[str], *, alone: bool) -> bool:
    """Return whether the last operand of an opcode, if it is a number, is a relative address of code; `alone`: it has no other.

    `BRX R2 -0xa0` is an offset to a register; absolute calls and jumps (JCAL, JMP, CALL.ABS) go where the loader decides.
    """
    return "ABS" not in modifiers and (name in _TO_TARGETS or (name in _TO_SECOND and not alone))


@lru_cache(maxsize=_TEXTS)
def written(text: str, *, absolute: bool = False) -> Written:
    """Return the parts of a text without its guard, and without the address of code that it ends in, unless that is `absolute`."""
    opcode, _, operands = _GUARD.sub("", text, count=1).partition(" ")
    name, *modifiers = opcode.split(".")
    symbol = _SYMBOL.search(operands)
    if symbol is not None and (end := operands.rfind(")")) > symbol.end():
        named = operands[symbol.start() : end + 1]  # an untrusted name
        operands = f"{operands[: symbol.start()]}\0{operands[end + 1 :]}"
    else:
        named = ""
    if not absolute and ends_in_address(name, modifiers, alone="," not in operands):
        operands = _TARGET.sub("", operands)
    values: list[str] = []
    features = _modifiers(modifiers, twice=name in _TWO_OPERATORS)
    count = reused = 0
    if name.startswith(_TEXTURE) and _AGAIN in features:
        features.remove(_AGAIN)
        reused = 1

    def marked(value: re.Match[str]) -> str:
        values.append(named if value[0] == "\0" else value[0])
        return f"{value['file'] or ''}#"

    def featured(mark: re.Match[str]) -> str:
        nonlocal count, reused
        piece = mark[0]
        if piece == "#":
            count += 1
            return piece
        if piece == ".reuse":
            reused += 1
        elif piece[0] == "{":
            features.extend(f"{{{each}" for each in piece[1:-1].split(",") if each)
            return "{}"
        elif piece != " ":
            features.append(f"{count}{piece}")
        return ""

    before, brace, behind = operands.partition("{")
    inside, _, after = behind.partition("}")
    shape = _MARKS.sub(featured, _VALUE.sub(marked, before) + (f"{{{inside}}}" + _VALUE.sub(marked, after) if brace else ""))
    return Written(name, tuple(features), shape, tuple(values), reused)


def _modifiers(modifiers: list[str], *, twice: bool) -> list[str]:
    """The features of modifiers; `twice`: the last of them is a second operator."""
    out: list[str] = []
    order = ""
    types = 0
    for modifier in modifiers:
        if modifier in _ORDERS:
            order += f".{modifier}"
        elif _TYPE.fullmatch(modifier):
            out.append(f".{modifier}" + "'" * types)
            types += 1
        else:
            out.append(f".{modifier}")
    if twice and out:
        out[-1] += "'"
    return [*out, order] if order else out
