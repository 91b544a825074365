"""What integer instructions compute, over ranges: sums, products and shifts. A form that is not here leaves its results unknown."""

from collections.abc import Mapping

from sassan.arch import described
from sassan.domains import ranges
from sassan.ipet.loop_bounds.conditions import EQUAL, LESS, compare
from sassan.ipet.loop_bounds.operands import CARRY, CONDITIONS, ZERO, Operation, Step, short
from sassan.ipet.loop_bounds.values import NO, YES, Maybe, Truth, Value, constant
from sassan.ir import Constant, Immediate, Operand, Register

_HALF_WORD = 0xFFFF
_PLACES = 32
_LAST_PLACE = 31


def _predicates(operands: tuple[Operand, ...]) -> int:
    """Return how many operands at the front are conditions."""
    return next((place for place, one in enumerate(operands) if not (isinstance(one, Register) and one.file in CONDITIONS)), len(operands))


def _parts(step: Step, least: int) -> tuple[Operand, list[Operand], list[Operand], list[Operand]] | None:
    """Return destination, condition destinations, sources and condition sources; None for another form."""
    to, *rest = step.instruction.operands
    count = _predicates(tuple(rest))
    sources = rest[count:]
    late = 0
    while late < len(sources) and _predicates((sources[-1 - late],)):
        late += 1
    words = sources[: len(sources) - late]
    return (to, rest[:count], words, sources[len(sources) - late :]) if len(words) >= least else None


def sum_of(step: Step) -> None:
    """IADD, IADD3, IADD32I, VIADD with carries in and out."""
    parts = _parts(step, 1)
    if parts is None:
        return
    to, outs, sources, ins = parts
    modifiers = set(step.modifiers)
    if modifiers - {"X", "reuse"} or "64" in modifiers:
        if modifiers == {"64"}:
            _sum_of_pairs(step, to, sources)
        return
    if "X" in modifiers and not ins and any(map(_is_negated, sources)):
        return
    words = [_short_word(step, one) for one in sources]
    total = constant(0)
    for one in words:
        total = step.state.plus(total, one)
    if "X" in modifiers:
        total = _with_carries(step, total, ins)
    step.put(to, total)
    # Which of two carries belongs to which partial sum is not told.
    plain = "X" not in modifiers and sum(isinstance(one, Register) and one.index is not None for one in outs) <= 1
    carry = _carry_of(step, sources, words) if plain else _unknown_carry(total)
    for out in outs:
        step.put(out, carry)
    if isinstance(to, Register) and "CC" in to.modifiers:
        step.writes[CARRY] = carry
        zero = compare(step.state, EQUAL, total, constant(0), is_signed=False)
        step.writes[ZERO] = zero if "X" not in modifiers else Truth(Maybe(total.origins))


def _sum_of_pairs(step: Step, to: Operand, sources: list[Operand]) -> None:
    """IADD.64: the high word needs the carry of the low ones."""
    lows, highs = [step.word(one) for one in sources], [step.word(one, 1) for one in sources]
    if len(lows) != 2 or any(isinstance(one, Register) and one.negated for one in sources):  # noqa: PLR2004  # two summands
        return
    step.put(to, step.state.plus(*lows))
    carry = step.carry(*lows)
    if isinstance(carry.what, bool):
        step.put(to, step.state.plus(step.state.plus(*highs), constant(carry.what)), 1)


def _short_word(step: Step, operand: Operand) -> Value:
    value = step.immediate(operand)
    if value is not None and step.instruction.opcode.split(".")[0] == "IADD3" and described(step.around.function.arch).short_immediates:
        return constant(short(value))
    return step.word(operand)


def _with_carries(step: Step, total: Value, ins: list[Operand]) -> Value:
    for carry in [step.truth(one) for one in ins] or [step.flag(CARRY)]:
        if isinstance(carry.what, bool):
            total = step.state.plus(total, constant(carry.what != carry.negated))
        else:
            total = step.state.plus(total, Value(None, 0, ranges.span(0, 1)))
    return total


def _unknown_carry(total: Value) -> Truth:
    return Truth(Maybe(total.origins))


def _carry_of(step: Step, sources: list[Operand], words: list[Value]) -> Truth:
    """Return the carry of a sum: of a difference, whether nothing is borrowed."""
    summands = [(_is_subtracted(one), word) for one, word in zip(sources, words, strict=True)]
    kept = [(minus, word) for minus, word in summands if word.constant != 0]
    zeros = sum(minus for minus, word in summands if word.constant == 0)
    if zeros:
        # x - 0 is x + ~0 + 1: nothing is borrowed, whatever x is.
        return YES if zeros == 1 and len(kept) <= 1 and not any(minus for minus, _ in kept) else Truth(Maybe())
    if len(kept) < 2:  # noqa: PLR2004  # two summands
        return _unknown_carry(kept[0][1]) if kept and kept[0][0] else NO
    if len(kept) > 2:  # noqa: PLR2004
        return _unknown_carry(kept[0][1])
    (first, a), (second, b) = sorted(kept, key=lambda one: one[0])
    if first:
        return _unknown_carry(a)
    if second:
        return compare(step.state, LESS, a, step.state.times(b, -1), is_signed=False).negate()
    return step.carry(a, b)


def _is_negated(operand: Operand) -> bool:
    return isinstance(operand, (Register, Constant)) and (operand.negated or operand.inverted)


def _is_subtracted(operand: Operand) -> bool:
    """Say whether an operand is -x, not ~x, which adds no 1."""
    return isinstance(operand, (Register, Constant)) and operand.negated and not operand.inverted


def product(step: Step) -> None:
    """IMAD and its kind: low word, high word, or both."""
    parts = _parts(step, 3)
    if parts is None:
        return
    to, outs, (left, right, addend, *_), ins = parts
    modifiers = set(step.modifiers) - {"MOV", "SHL", "IADD", "U32", "S32"}
    a, b = step.word(left), step.word(right)
    if modifiers == {"HI"}:
        _high(step, to, a, b, addend)
    elif modifiers == {"WIDE"}:
        _wide(step, to, a, b, addend)
    elif modifiers <= {"X"} and not outs:
        total = step.state.plus(_times(step, a, b), step.word(addend))
        step.put(to, _with_carries(step, total, ins) if modifiers else total)


def _times(step: Step, a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if other.constant is not None:
            return step.state.times(one, other.constant)
    return step.found(ranges.multiply(step.range(a), step.range(b)), a, b)


def _pair(step: Step, operand: Operand, *, is_signed: bool) -> tuple[int, int] | None:
    """Return the least and the greatest 64-bit number of a pair whose high word is known."""
    low, high = step.range(step.word(operand)), step.range(step.word(operand, 1))
    if isinstance(operand, Immediate):
        return None
    (least, most), (below, above) = low.unsigned, high.view(is_signed)
    return ((below << _PLACES) + least, (above << _PLACES) + most)


def _high(step: Step, to: Operand, a: Value, b: Value, addend: Operand) -> None:
    pair = _pair(step, addend, is_signed=step.is_signed)
    if pair is not None:
        words = ranges.high_product(step.range(a), step.range(b), pair, is_signed=step.is_signed)
        step.put(to, step.found(words, a, b, step.word(addend), step.word(addend, 1)))


def _wide(step: Step, to: Operand, a: Value, b: Value, addend: Operand) -> None:
    """Return both words of a product; the high one only where the addend is a number."""
    low = step.state.plus(_times(step, a, b), step.word(addend))
    step.put(to, low)
    pair = _pair(step, addend, is_signed=step.is_signed)
    if pair is not None and pair[0] == pair[1]:
        words = ranges.high_product(step.range(a), step.range(b), pair, is_signed=step.is_signed)
        step.put(to, step.found(words, a, b), 1)


def product_only(step: Step) -> None:
    """IMUL: the low word."""
    to, left, right = step.instruction.operands
    if not set(step.modifiers) - {"U32", "S32"}:
        step.put(to, _times(step, step.word(left), step.word(right)))


def short_product(step: Step) -> None:
    """XMAD: the product of two half words, with what Maxwell needs to make whole products of it."""
    to, left, right, addend = step.instruction.operands
    modifiers = set(step.modifiers)
    if modifiers - {"PSL", "MRG", "CBCC"} or (isinstance(to, Register) and "CC" in to.modifiers):
        return
    a, b, c = _half(step, left), _half(step, right), step.word(addend)
    whole = step.word(_plain(right))
    found = step.state.times(_times(step, a, b), 1 << 16) if "PSL" in modifiers else _times(step, a, b)
    if "CBCC" in modifiers:
        c = step.state.plus(c, step.state.times(whole, 1 << 16))
    found = step.state.plus(found, c)
    if "MRG" in modifiers:
        low = step.found(ranges.both(step.range(found), ranges.const(_HALF_WORD)), found)
        found = step.state.plus(step.state.times(whole, 1 << 16), low)
    step.put(to, found)


def _plain(operand: Operand) -> Operand:
    if isinstance(operand, Register):
        return Register(operand.file, operand.index)
    return Constant(operand.bank, operand.base, operand.offset) if isinstance(operand, Constant) else operand


def _half(step: Step, operand: Operand) -> Value:
    modifiers = set(getattr(operand, "modifiers", ())) - {"reuse"}
    whole = step.word(_plain(operand))
    words = step.range(whole)
    if modifiers == {"H1"}:
        return step.found(ranges.shift_right(words, ranges.const(16), is_signed=False), whole)
    if modifiers or getattr(operand, "negated", False):
        return step.unknown()
    return whole if words.unsigned[1] <= _HALF_WORD else step.found(ranges.both(words, ranges.const(_HALF_WORD)), whole)


def shift_left(step: Step) -> None:
    """SHL, and SHF.L of one word."""
    to, source, places, *high = step.instruction.operands
    modifiers = set(step.modifiers) - {"U32", "S32", "U64", "S64"}
    if modifiers - {"L"} or (high and "L" not in modifiers) or "U64" in step.modifiers:
        return
    a, b = step.word(source), step.word(places)
    step.put(to, step.state.times(a, 1 << b.constant) if b.constant is not None and b.constant <= _LAST_PLACE else _shifted(step, a, b))


def _shifted(step: Step, a: Value, b: Value) -> Value:
    return step.found(ranges.shift_left(step.range(a), step.range(b)), a, b)


def shift_right(step: Step) -> None:
    """SHR: arithmetic, unless the word is unsigned."""
    to, source, places = step.instruction.operands
    if set(step.modifiers) <= {"U32", "S32"}:
        _put_right(step, to, step.word(source), step.word(places))


def _put_right(step: Step, to: Operand, a: Value, b: Value) -> None:
    step.put(to, step.found(ranges.shift_right(step.range(a), step.range(b), is_signed=step.is_signed), a, b))


def funnel(step: Step) -> None:
    """SHF and USHF since Volta: to the left the low word, to the right the high one."""
    to, low, places, high = step.instruction.operands
    modifiers = set(step.modifiers)
    if modifiers in ({"L", "U32"}, {"L", "S32"}):
        shift_left(step)
    elif modifiers in ({"R", "U32", "HI"}, {"R", "S32", "HI"}):
        _put_right(step, to, step.word(high), step.word(places))
    elif modifiers == {"L", "U32", "HI"} and step.word(low).constant == 0:
        step.put(to, _shifted(step, step.word(high), step.word(places)))


def scaled_sum(step: Step) -> None:
    """LEA and ISCADD: one summand shifted; LEA.HI: what a left shift pushes out, plus another."""
    parts = _parts(step, 3)
    if parts is None or parts[3] or (isinstance(parts[0], Register) and "CC" in parts[0].modifiers):
        return
    to, outs, sources, _ = parts
    modifiers = set(step.modifiers)
    places = step.immediate(sources[-1])
    if places is None or not 0 <= places <= _LAST_PLACE or {"X"} & modifiers:
        return
    source, other = step.word(sources[0]), step.word(sources[1])
    if not modifiers and len(sources) == 3:  # noqa: PLR2004  # two summands, places
        found = step.state.plus(step.state.times(source, 1 << places), other)
    elif places and (modifiers == {"HI", "SX32"} or (modifiers == {"HI"} and step.word(sources[2]).constant == 0)):
        high = ranges.shift_right(step.range(source), ranges.const(_PLACES - places), is_signed="SX32" in modifiers)
        found = step.state.plus(step.found(high, source), other)
    else:
        return
    step.put(to, found)
    for one in outs:
        step.put(one, _unknown_carry(found))


def magnitude(step: Step) -> None:
    """IABS."""
    to, source = step.instruction.operands
    value = step.word(source)
    low, high = step.range(value).signed
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    step.put(to, step.found(ranges.span(least, max(abs(low), abs(high))), value))


def field_of(step: Step) -> None:
    """BFE.U32 of a known place and width."""
    to, source, where = step.instruction.operands
    spot = step.immediate(where)
    if step.modifiers != ["U32"] or spot is None:
        return
    value, places, width = step.word(source), spot & 255, spot >> 8 & 255
    if places <= _LAST_PLACE and width <= _LAST_PLACE:
        shifted = ranges.shift_right(step.range(value), ranges.const(places), is_signed=False)
        step.put(to, step.found(ranges.both(shifted, ranges.const((1 << width) - 1)), value))


def count_bits(step: Step) -> None:
    """POPC."""
    to, source = step.instruction.operands
    step.put(to, step.found(ranges.span(0, _PLACES), step.word(source)))


OPERATIONS: Mapping[str, Operation] = {
    **dict.fromkeys(("IADD", "IADD3", "IADD32I", "VIADD", "UIADD3"), sum_of),
    **dict.fromkeys(("IMAD", "UIMAD", "IMAD32I"), product),
    **dict.fromkeys(("IMUL", "IMUL32I"), product_only),
    "XMAD": short_product,
    "SHL": shift_left,
    "SHR": shift_right,
    **dict.fromkeys(("SHF", "USHF"), funnel),
    **dict.fromkeys(("LEA", "ULEA", "ISCADD", "ISCADD32I"), scaled_sum),
    "IABS": magnitude,
    "BFE": field_of,
    **dict.fromkeys(("POPC", "UPOPC"), count_bits),
}
