"""One instruction of PTX: what is inferred of it held to the PTX ISA, chapter 9, in many worlds at once.

An opcode that gains an effect in the table is drawn here, and needs a line below.
"""

import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from random import Random

import numpy as np
import numpy.typing as npt

from ptx import only
from sassan.ipet.loop_bounds.execute import SymbolicExecutor, writers
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.step import conditions
from sassan.ipet.loop_bounds.values import Known, SymbolicState, Value
from sassan.ir import Immediate, Variable
from sassan.isa.ptx_table import table
from sassan.machine.launch import LaunchConfiguration
from worlds import WORDS, Bools, Numbers, Worlds

_OPCODES = {
    ".".join((name, *filter(None, words))).lower()
    for name, rows in table().rows.items()
    for row in rows
    for effect in row.effects
    for words in product(*([*sorted(names), *([""] if optional else [])] for names, optional in effect.modifiers))
}
OPCODES = sorted(_OPCODES)
REGISTERS = "".join(f"\t.reg .{kind} %{name}<5>;\n" for name, kind in (("p", "pred"), ("h", "b16"), ("r", "b32"), ("l", "b64")))
FILE = {1: "p", 8: "h", 16: "h", 32: "r", 64: "l"}
Whole = npt.NDArray[np.object_]
"""An integer of any size in each world."""
_COMPARE: Mapping[str, Callable[[Whole, Whole], Whole]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    **dict.fromkeys(("lt", "lo"), operator.lt),
    **dict.fromkeys(("le", "ls"), operator.le),
    **dict.fromkeys(("gt", "hi"), operator.gt),
    **dict.fromkeys(("ge", "hs"), operator.ge),
}
_COMBINE: Mapping[str, Callable[[Whole, Whole], Whole]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
_ones = np.frompyfunc(int.bit_count, 1, 1)


def _table(a: Whole, b: Whole, c: Whole, lut: int) -> Whole:
    return sum((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) for row in range(8) if lut >> row & 1) + 0 * a


_RESULTS: Mapping[str, Callable[..., Whole]] = {
    "mov": lambda a: a,
    "cvta": lambda a: a,
    "add": operator.add,
    "sub": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
    "neg": operator.neg,
    "abs": abs,
    "min": np.minimum,
    "max": np.maximum,
    "popc": lambda a: _ones(a % (1 << 64)),
    "selp": lambda a, b, p: np.where(p != 0, a, b),
    "lop3": _table,
    "bfe": lambda a, b, c: a >> (b & 255) & ((1 << (c & 255)) - 1),
}


@cache
def types(opcode: str) -> list[tuple[str, int]]:
    """Return signedness and bits of the types of an opcode, in order."""
    words = [re.fullmatch(r"([usb])(8|16|32|64)", word) for word in opcode.split(".")[1:]]
    return [(match[1], int(match[2])) for match in words if match] or [("p", 1)]


def _operands(opcode: str) -> tuple[int, list[tuple[str, int]]]:  # noqa: PLR0911  # one for each shape
    """Return the bits of the result, and the types of the sources."""
    name, *words = opcode.split(".")
    kinds = types(opcode)
    kind, bits = kinds[-1]
    truth = ("p", 1)
    match name:
        case "setp":
            return 1, [kinds[0], kinds[0], *([truth] if not _COMBINE.keys().isdisjoint(words) else [])]
        case "selp":
            return bits, [kinds[0], kinds[0], truth]
        case "mul" | "mad":
            wide = 2 * bits if "wide" in words else bits
            return wide, [kinds[0], kinds[0], *([(kind, wide)] if name == "mad" else [])]
        case "shl" | "shr":
            return bits, [kinds[0], ("u", 32)]
        case "bfe":
            return bits, [kinds[0], ("u", 32), ("u", 32)]
        case "lop3":
            return bits, [kinds[0]] * 3
        case "popc":
            return 32, kinds
        case "cvt":
            return kinds[0][1], [kinds[1]]
        case "mov" | "not" | "neg" | "abs" | "cvta":
            return bits, kinds
        case _:
            return bits, kinds * 2


def _expected(opcode: str, words: list[Whole]) -> Whole:  # noqa: PLR0911  # one for each shape
    name, *modifiers = opcode.split(".")
    bits = types(opcode)[-1][1]
    if name == "setp":
        left, right, *others = words
        truth = next(_COMPARE[word] for word in modifiers if word in _COMPARE)(left, right)
        how = next((_COMBINE[word] for word in modifiers if word in _COMBINE), None)
        return np.asarray(truth if how is None else how(truth, others[0] != 0)).astype(np.bool_).astype(object) * 1
    if name in {"mul", "mad"}:
        value = words[0] * words[1]
        value = value >> bits if "hi" in modifiers else value
        return value + sum(words[2:])
    if name == "shl":
        return words[0] << np.minimum(words[1], bits)
    if name == "shr":
        return words[0] >> np.minimum(words[1], bits)
    if name == "cvt":
        return as_number(*types(opcode)[0], words[0])
    if name == "popc":
        return _ones(words[0] % (1 << bits))
    return _RESULTS[name](*words)


def as_number(kind: str, bits: int, words: Whole) -> Whole:
    """Return words of a type as integers."""
    words = words % (1 << bits)
    return words - (words >> bits - 1 << bits) if kind == "s" else words


def _word(worlds: Worlds, bits: int, few: bool, given: bool) -> tuple[list[Known], Whole]:
    """Return what is known of an operand, and what it is in each world; `given`: a number that stands in the instruction."""
    if bits == 1:
        known, numbers = worlds.truth()
        return [known], numbers.astype(object)
    if few or given:
        number = worlds.random.randrange(70) if few else worlds.random.choice((worlds.random.choice(WORDS), worlds.random.getrandbits(64)))
        parts = [worlds.constant(number >> 32 * place & 0xFFFFFFFF) for place in range(2 if bits == 64 else 1)]
    else:
        parts = [worlds.word() for _ in range(2 if bits == 64 else 1)]
    numbers = sum((numbers.astype(object) << 32 * place for place, (_, numbers) in enumerate(parts)), np.zeros(worlds.count, dtype=object))
    return [known for known, _ in parts], numbers % (1 << bits)


def hold(random: Random, opcode: str, count: int = 16) -> None:
    """Check an instruction that is drawn, in so many worlds."""
    name = opcode.partition(".")[0]
    result, sources = _operands(opcode)
    worlds = Worlds(random, count)
    texts = [f"%{FILE[bits]}{index + 1}" for index, (_, bits) in enumerate(sources)]
    words: list[tuple[list[Known], Whole]] = []
    for index, (kind, bits) in enumerate(sources):
        given = bits > 1 and name != "cvt" and random.random() < 0.3
        words.append(_word(worlds, bits, bool(index) and name in {"shl", "shr", "bfe"} and random.random() < 0.8, given))
        if given:
            texts[index] = str(as_number(random.choice((kind, "s")), bits, words[-1][1][0]))
    lut = random.getrandbits(8)
    line = f"{opcode} %{FILE[result]}0, {', '.join(texts)}{f', {lut}' if name == 'lop3' else ''};"
    function, isa = only(line, "ret;", registers=REGISTERS)
    one = function.instructions[0]
    facts = isa.facts(one)
    assert facts is not None, line
    assert facts.computes is not None, line
    held: dict[int, Known] = {}
    for operand, (known, _) in zip(one.operands[1:], words, strict=False):
        assert isinstance(operand, Variable | Immediate)
        if isinstance(operand, Variable) and random.random() < 0.85:
            held |= {operand.number + place: part for place, part in enumerate(known)}
    given_words = [as_number(kind, bits, numbers) for (kind, bits), (_, numbers) in zip(sources, words, strict=True)]
    values = _expected(opcode, [*given_words, lut] if name == "lop3" else given_words)
    machine = SymbolicExecutor(LaunchSymbols(function, LaunchConfiguration()), {0: facts.writes}, 12, conditions(function))
    states = machine.run([worlds.state(held)], machine.plans(writers([one], {0: facts}), -1))
    to = one.operands[0]
    assert isinstance(to, Variable)
    allowed = np.zeros(count, dtype=np.bool_)
    for state in states:
        allowed |= _allows(worlds, state, to, result, values)
    assert allowed.all(), (line, [numbers[int(np.argmin(allowed))] for _, numbers in words], held, states)


def _allows(worlds: Worlds, state: SymbolicState, to: Variable, bits: int, values: Whole) -> Bools:
    """Say in which worlds a state allows these results; of one of 8 or 16 bits only the low half counts."""
    held = state.registers.get(to.number)
    if bits in {8, 16} and isinstance(held, Value):
        return worlds.may_end(state, held, (values & 0xFFFF).astype(np.int64))
    results: list[tuple[Known, Numbers]] = []
    for place in range(2 if bits == 64 else 1):
        known = state.registers.get(to.number + place)
        if known is not None:
            results.append((known, (values >> 32 * place & (1 if bits == 1 else 0xFFFFFFFF)).astype(np.int64)))
    return worlds.allows(state, results)
