"""What bitwise instructions, comparisons and selections compute, over ranges and conditions."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.conditions import AT_MOST, EQUAL, LESS, compare
from sassan.ipet.loop_bounds.operands import CARRY, CONDITIONS, ZERO, Choice, Operation, Outcomes, Step
from sassan.ipet.loop_bounds.values import NO, YES, Known, Maybe, State, Truth, Value, conjunction, constant, difference, disjunction
from sassan.ir import Operand, Register

_WORD = (1 << 32) - 1
_COLUMNS = (0xF0, 0xCC, 0xAA)
"""The columns of a truth table of three inputs."""
_TABLE = 0xFF
_AND = 0xC0
"""The table of the first two words, whatever the third."""
_RELATIONS: Mapping[str, tuple[str, bool, bool]] = {
    "LT": (LESS, False, False),
    "LE": (AT_MOST, False, False),
    "GT": (LESS, True, False),
    "GE": (AT_MOST, True, False),
    "EQ": (EQUAL, False, False),
    "NE": (EQUAL, False, True),
}
"""Each comparison by another one: with its operands swapped, or its opposite."""
_COMBINE: Mapping[str, Callable[[Truth, Truth], Truth]] = {"AND": conjunction, "OR": disjunction, "XOR": difference}
_BITWISE: Mapping[str, Callable[[Range, Range], Range]] = {"AND": ranges.both, "OR": ranges.either, "XOR": ranges.differ}


def bitwise(step: Step) -> None:
    """LOP and LOP32I of two words."""
    operands = list(step.instruction.operands)
    out = operands.pop(0) if _is_condition(operands[0]) else None
    to, left, right = operands
    names = [one for one in step.modifiers if one != "NZ"]
    if len(names) != 1 or names[0] not in {*_BITWISE, "PASS_B"}:
        return
    a, b = step.word(left), step.word(right)
    found = b if names[0] == "PASS_B" else _two(step, names[0], a, b)
    step.put(to, found)
    if out is not None and "NZ" in step.modifiers:
        step.put(out, compare(step.state, EQUAL, found, constant(0), is_signed=False).negate())


def _is_condition(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file in CONDITIONS


def _two(step: Step, name: str, a: Value, b: Value) -> Value:
    if name == "XOR":
        for one, other in ((a, b), (b, a)):
            if one.constant == _WORD:
                return step.state.minus(constant(-1), other)
    for one, other in ((a, b), (b, a)):
        if other.constant == (_WORD if name == "AND" else 0):
            return one
    return step.found(_BITWISE[name](step.range(a), step.range(b)), a, b)


def table(step: Step) -> None:
    """LOP3 and ULOP3: any bitwise function of three words."""
    operands = list(step.instruction.operands)
    out = operands.pop(0) if _is_condition(operands[0]) else None
    to, *inputs, code = operands[:5]
    lut = step.immediate(code)
    if lut is None or len(inputs) != 3 or set(step.modifiers) - {"LUT", "NZ"}:  # noqa: PLR2004  # three inputs
        return
    words = [step.word(one) for one in inputs]
    found = _function(step, lut, words)
    step.put(to, found)
    more = step.truth(operands[5]) if len(operands) > 5 else NO  # noqa: PLR2004  # what is behind the table
    if out is not None:
        differs = compare(step.state, EQUAL, found, constant(0), is_signed=False).negate()
        step.put(out, disjunction(differs, more))


def apart(step: Step, room: int) -> list[State]:
    """Return a state for each rest that a conjunction with 1 or 3 may leave of a word, as far as there is room; else the state as it is.

    So `n & 3` turns of a loop, and the test that there are any, fit together.
    """
    word, mask = _masked(step)
    symbol = word.symbol if word is not None else None
    if word is None or symbol is None or mask not in {1, 3} or mask > room or abs(word.factor) != 1 or word.range.constant is None:
        return [step.state]
    old, modulus = step.state.facts.get(symbol, symbol.range), mask + 1
    # factor x symbol + constant = rest
    rests = [(rest - word.range.low) * word.factor % modulus for rest in range(modulus)]
    found = [ranges.residue(old, rest, modulus) for rest in rests]
    if old.step > 1 or old.width < modulus:
        return [step.state]
    return [replace(step.state, facts={**step.state.facts, symbol: one}) for one in found if one is not None]


def _masked(step: Step) -> tuple[Value | None, int]:
    """Return the word and the number of which an instruction is the conjunction; None and 0 where it is another."""
    name, *modifiers = step.instruction.opcode.split(".")
    sources = [one for one in step.instruction.operands[1:] if not _is_condition(one)]
    both = ("AND" in modifiers and len(sources) == 2) or (  # noqa: PLR2004  # two words
        name in {"LOP3", "ULOP3"} and len(sources) == 4 and step.immediate(sources[3]) == _AND and step.word(sources[2]).constant == 0  # noqa: PLR2004
    )
    mask = step.immediate(sources[1]) if both and name.startswith(("LOP", "ULOP")) else None
    return (None, 0) if mask is None else (step.word(sources[0]), mask)


def _function(step: Step, lut: int, words: list[Value]) -> Value:
    """Return a function of three words, once those that are all zeros or all ones are put in."""
    for word, column in zip(words, _COLUMNS, strict=True):
        if word.constant in {0, _WORD}:
            lut = _fixed(lut, column, ones=word.constant != 0)
    # Only now: what is put in may leave a table that another input does not matter to.
    mattering = [
        (word, column)
        for word, column in zip(words, _COLUMNS, strict=True)
        if _fixed(lut, column, ones=True) != _fixed(lut, column, ones=False)
    ]
    kept, columns = [word for word, _ in mattering], [column for _, column in mattering]
    if not kept:
        return constant(_WORD if lut & 1 else 0)
    if len(kept) == 1:
        return kept[0] if lut == columns[0] else step.state.minus(constant(-1), kept[0])
    if len(kept) == 2:  # noqa: PLR2004  # two words
        return _pair(step, lut, kept, columns)
    if all(one.constant is not None for one in kept):
        return constant(_bits(lut, [one.constant or 0 for one in words]))
    return step.found(_below(lut, [step.range(one) for one in kept]), *kept)


def _fixed(lut: int, column: int, *, ones: bool) -> int:
    """Return the table after one input is known: the half where it holds, taken for both."""
    shift = {0xF0: 4, 0xCC: 2, 0xAA: 1}[column]
    half = lut & column if ones else lut & ~column & _TABLE
    return half | (half >> shift if ones else half << shift) & _TABLE


def _pair(step: Step, lut: int, kept: list[Value], columns: list[int]) -> Value:
    (a, b), (first, second) = kept, columns
    for inverted_a in (False, True):
        for inverted_b in (False, True):
            one, other = first ^ (_TABLE * inverted_a), second ^ (_TABLE * inverted_b)
            named = {one & other: "AND", one | other: "OR", one ^ other: "XOR"}
            if lut in named:
                x = step.state.minus(constant(-1), a) if inverted_a else a
                y = step.state.minus(constant(-1), b) if inverted_b else b
                return _two(step, named[lut], x, y)
    return step.unknown(a.origins | b.origins)


def _bits(lut: int, words: list[int]) -> int:
    found = 0
    for row in range(8):
        if lut >> row & 1:
            part = _WORD
            for word, column in zip(words, _COLUMNS, strict=True):
                part &= word if column >> row & 1 else ~word
            found |= part
    return found & _WORD


def _below(lut: int, words: list[Range]) -> Range:
    """Return a range of which every bit beyond those of the inputs is 0, where the function of zeros is 0."""
    if lut & 1:
        return ranges.EVERY
    most = max(one.unsigned[1] for one in words)
    return ranges.span(0, (1 << most.bit_length()) - 1)


def conditions(step: Step) -> None:
    """PLOP3: any function of three conditions, and another."""
    operands = step.instruction.operands
    if len(operands) != 7:  # noqa: PLR2004  # two destinations, three inputs, two tables
        return
    inputs = [step.truth(one) for one in operands[2:5]]
    for to, code in ((operands[0], operands[5]), (operands[1], operands[6])):
        lut = step.immediate(code)
        if lut is not None:
            step.put(to, _chosen(lut, inputs, 4))


def _chosen(lut: int, inputs: list[Truth], half: int) -> Truth:
    """Return a function of conditions by its table: the first one chooses the half."""
    if not inputs:
        return YES if lut & 1 else NO
    mask = (1 << half) - 1
    high, low = _chosen(lut >> half & mask, inputs[1:], half // 2), _chosen(lut & mask, inputs[1:], half // 2)
    if high == low:
        return high
    return disjunction(conjunction(inputs[0], high), conjunction(inputs[0].negate(), low))


def two_conditions(step: Step) -> None:
    """PSETP.AND.OR: two conditions combined, and combined with a third."""
    to, other, *inputs = step.instruction.operands
    if len(inputs) != 3 or len(step.modifiers) != 2:  # noqa: PLR2004  # three inputs, two ways to combine them
        return
    a, b, c = (step.truth(one) for one in inputs)
    first, second = (_COMBINE[one] for one in step.modifiers)
    found = first(a, b)
    step.put(to, second(found, c))
    step.put(other, second(found.negate(), c))


def _relation(step: Step, name: str, a: Value, b: Value, *, is_signed: bool) -> Truth | None:
    if name not in _RELATIONS:
        return None
    relation, swapped, opposite = _RELATIONS[name]
    first, second = (b, a) if swapped else (a, b)
    found = compare(step.state, relation, first, second, is_signed=is_signed)
    return found.negate() if opposite else found


def set_condition(step: Step) -> None:
    """ISETP and UISETP: a comparison, and its opposite, each combined with a condition."""
    to, other, left, right, third, *low = step.instruction.operands
    name, *modifiers = step.modifiers
    how = next((one for one in modifiers if one in _COMBINE), None)
    if how is None or set(modifiers) - {"U32", "S32", "U64", "S64", "EX", "X", how}:
        return
    found = _compared(step, name, left, right, low)
    if found is not None:
        step.put(to, _COMBINE[how](found, step.truth(third)))
        step.put(other, _COMBINE[how](found.negate(), step.truth(third)))


def _compared(step: Step, name: str, left: Operand, right: Operand, low: list[Operand]) -> Truth | None:
    a, b, modifiers = step.word(left), step.word(right), step.modifiers
    if "EX" in modifiers:
        return _extended(step, name, a, b, step.truth(low[0])) if low else None
    if "X" in modifiers:
        low_words = _below_borrow(step, name)
        return None if low_words is None else _extended(step, name, a, b, low_words)
    if {"U64", "S64"} & set(modifiers):
        below = _relation(step, name, a, b, is_signed=False)
        return None if below is None else _extended(step, name, step.word(left, 1), step.word(right, 1), below)
    return _relation(step, name, a, b, is_signed=step.is_signed)


def _below_borrow(step: Step, name: str) -> Truth | None:
    """Return how the low words compare that an instruction before has subtracted: until Pascal. ptxas writes no others."""
    match name:
        case "GE":
            return step.flag(CARRY)
        case "LT":
            return step.flag(CARRY).negate()
        case "EQ":
            return step.flag(ZERO)
        case "NE":
            return step.flag(ZERO).negate()
        case _:
            return None


def _extended(step: Step, name: str, a: Value, b: Value, low: Truth) -> Truth | None:
    """Return a comparison of pairs, from the high words and the outcome of the low ones."""
    same = compare(step.state, EQUAL, a, b, is_signed=False)
    if name == "NE":
        return disjunction(same.negate(), low)
    if name == "EQ":
        return conjunction(same, low)
    strict = _relation(step, "LT" if name in {"LT", "LE"} else "GT", a, b, is_signed=step.is_signed)
    return None if strict is None or name not in {"LT", "LE", "GT", "GE"} else disjunction(strict, conjunction(same, low))


def _outcomes(step: Step, truth: Truth, first: list[Value], second: list[Value]) -> Outcomes:
    """Return that the destination holds these words where a condition holds, else those."""
    found: list[dict[int, Known]] = []
    for words in (first, second):
        step.writes = {}
        for place, word in enumerate(words):
            step.put(step.instruction.operands[0], word, place)
        found.append(step.writes)
    return truth, found[0], found[1]


def select(step: Step) -> Outcomes | None:
    """SEL and USEL."""
    _, left, right, which = step.instruction.operands
    width = 2 if "64" in step.modifiers else 1
    a, b = ([step.word(one, place) for place in range(width)] for one in (left, right))
    return _outcomes(step, step.truth(which), a, b)


def select_by_word(step: Step) -> Outcomes | None:
    """ICMP: a selection by the sign of a word."""
    _, left, right, word = step.instruction.operands
    name, *modifiers = step.modifiers
    truth = _relation(step, name, step.word(word), constant(0), is_signed=step.is_signed)
    if truth is None or set(modifiers) - {"U32", "S32"}:
        return None
    return _outcomes(step, truth, [step.word(left)], [step.word(right)])


def set_word(step: Step) -> Outcomes | None:
    """ISET: all ones where a comparison holds, else zeros."""
    _, left, right, third = step.instruction.operands
    name, *modifiers = step.modifiers
    how = next((one for one in modifiers if one in _COMBINE), None)
    if how is None or set(modifiers) - {"U32", "S32", how}:
        return None
    found = _compared(step, name, left, right, [])
    return None if found is None else _outcomes(step, _COMBINE[how](found, step.truth(third)), [constant(-1)], [constant(0)])


def set_float(step: Step) -> Outcomes | None:
    """FSET, DSET: all ones or zeros, nobody knows which."""
    return None if "BF" in step.modifiers else _outcomes(step, Truth(Maybe(frozenset({"floating point"}))), [constant(-1)], [constant(0)])


def extreme(step: Step) -> Outcomes | None:
    """IMNMX, VIMNMX, VIADDMNMX: the lesser of two words, or the greater where the condition fails."""
    _, *sources, which = step.instruction.operands
    sources = [one for one in sources if not _is_condition(one)]
    wanted = step.truth(which).what
    if set(step.modifiers) - {"U32", "S32"} or not isinstance(wanted, bool):
        return None
    words = [step.word(one) for one in sources]
    if len(words) == 3:  # noqa: PLR2004  # a sum and another
        words = [step.state.plus(words[0], words[1]), words[2]]
    first, second = words if wanted else words[::-1]
    return _outcomes(step, compare(step.state, AT_MOST, words[0], words[1], is_signed=step.is_signed), [first], [second])


CHOICES: Mapping[str, Choice] = {
    **dict.fromkeys(("SEL", "USEL"), select),
    "ICMP": select_by_word,
    "ISET": set_word,
    **dict.fromkeys(("FSET", "DSET"), set_float),
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIADDMNMX", "UIMNMX", "UVIMNMX"), extreme),
}
OPERATIONS: Mapping[str, Operation] = {
    **dict.fromkeys(("LOP", "LOP32I"), bitwise),
    **dict.fromkeys(("LOP3", "ULOP3"), table),
    **dict.fromkeys(("PLOP3", "UPLOP3"), conditions),
    "PSETP": two_conditions,
    **dict.fromkeys(("ISETP", "UISETP"), set_condition),
}
