"""Wrong versions of the transfer functions of loop inference, one line at a time: the campaign must notice each.

The code of the functions is exchanged in place, so that whoever uses them uses the wrong ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import getsource
from types import CodeType, FunctionType, ModuleType

from soundness.functions.campaign import Held, hold_function
from soundness.values.mutants import WrongLine

ARITHMETIC, LOGIC, FLOATS = (f"sassan.ipet.loop_bounds.{name}" for name in ("arithmetic", "logic", "floats"))
MOVES, CONDITIONS, STATES = (f"sassan.ipet.loop_bounds.{name}" for name in ("moves", "conditions", "states"))
VALUES, EVALUATE = (f"sassan.ipet.loop_bounds.{name}" for name in ("values", "evaluate"))
EXECUTE, SYMBOLS = (f"sassan.ipet.loop_bounds.{name}" for name in ("execute", "launch_symbols"))
ENVIRONMENT, COMPILER = "sassan.values.environment", "sassan.values.compiler"
RANGES, COMPUTATIONS, WORDS = "sassan.domains.ranges", "sassan.isa.computations", "sassan.domains.floats"
TUPLES = 400_000
"""Tuples of operands within which a wrong line is noticed."""


@contextmanager
def wrong(fault: WrongLine) -> Iterator[None]:
    """Let the functions of a module be those of its source with the line changed."""
    module = import_module(fault.module)
    source = getsource(module)
    assert source.count(fault.right) == 1, fault.what
    made = ModuleType(fault.module)
    exec(compile(source.replace(fault.right, fault.wrong), str(module.__file__), "exec", dont_inherit=True), made.__dict__)  # noqa: S102  # our own source
    kept: list[tuple[FunctionType, CodeType]] = []
    caches = [each for each in vars(module).values() if hasattr(each, "cache_clear")]
    try:
        for right, other in _pairs(module, made, fault.module):
            if _spelled(right.__code__) != _spelled(other.__code__):
                kept.append((right, right.__code__))
                right.__code__ = other.__code__
        assert kept, fault.what
        for cache in caches:
            cache.cache_clear()
        yield
    finally:
        for function, code in kept:
            function.__code__ = code
        for cache in caches:
            cache.cache_clear()


def _pairs(module: object, made: object, name: str) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Yield the functions of a module or a class, each with that of the changed source."""
    for key, value in vars(module).items():
        other = vars(made).get(key)
        right = getattr(value, "fget", None) or getattr(value, "__wrapped__", value)
        changed = getattr(other, "fget", None) or getattr(other, "__wrapped__", other)
        if isinstance(right, FunctionType) and isinstance(changed, FunctionType) and right.__module__ == name:
            if right.__code__.co_freevars == changed.__code__.co_freevars:
                yield right, changed
        elif isinstance(value, type) and isinstance(other, type) and value.__module__ == name:
            yield from _pairs(value, other, name)


def _spelled(code: CodeType) -> tuple[object, ...]:
    """Return what makes a function, without its place in the source."""
    consts = tuple(_spelled(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.co_code, code.co_names, consts


def noticed(fault: WrongLine) -> Held:
    """Return what the campaign finds in the function that should show a wrong line, until the first finding."""
    with wrong(fault):
        return hold_function(fault.by, TUPLES, 1, first=True)


FAULTS = (
    # Sums and products
    WrongLine(
        "a difference taken for a sum", "language subtract", ARITHMETIC, "return step.state.minus(a, b)", "return step.state.plus(a, b)"
    ),
    WrongLine("the narrower of two words kept", "language add", VALUES, "wide, words = (a, second) if", "wide, words = (a, first) if"),
    WrongLine("a range forgotten in a sum", "language add", VALUES, "ranges.add(wide.range, words)", "wide.range"),
    WrongLine("a factor forgotten in a sum", "language add", VALUES, "ranges.signed(a.factor + b.factor)", "a.factor"),
    WrongLine("a range not multiplied", "language multiply", VALUES, "ranges.scale(a.range, factor), a.origins", "a.range, a.origins"),
    WrongLine(
        "corners of signed words alone",
        "language multiply",
        RANGES,
        "for is_signed in (False, True):",
        "for is_signed in (True, True):\n        a = Range(a.low, min(a.width, 1), 1)",
    ),
    WrongLine("a stride that is not halved", "language multiply", RANGES, "a.step * factor or 1)", "a.step * factor * 2 or 1)"),
    WrongLine(
        "a carry that only the greatest words have",
        "language carry",
        ARITHMETIC,
        "if least >= ranges.SIZE or most",
        "if most >= ranges.SIZE or most",
    ),
    WrongLine("a carry one too late", "language carry", ARITHMETIC, "or most < ranges.SIZE:", "or most <= ranges.SIZE:"),
    WrongLine("a carry of the least words alone", "language carry", ARITHMETIC, "or most < ranges.SIZE:", "or least < ranges.SIZE:"),
    WrongLine("a zero that is subtracted without a carry", "language carry", ARITHMETIC, "most + ranges.SIZE - low)", "most - low)"),
    WrongLine(
        "a borrow taken for a carry", "language carry", ARITHMETIC, "(b, -1), is_signed=False).negate()", "(b, -1), is_signed=False)"
    ),
    WrongLine(
        "a borrow of signed words",
        "language carry",
        ARITHMETIC,
        "step.state.times(b, -1), is_signed=False)",
        "step.state.times(b, -1), is_signed=True)",
    ),
    WrongLine("carries of the least words", "language carries", ARITHMETIC, "if least >> _PLACES == most >> _PLACES and most", "if most"),
    WrongLine("one carry taken for two", "language carries", ARITHMETIC, "_PLACES in {0, 2}:", "_PLACES in {0, 1, 2}:"),
    WrongLine("a borrow from zero of every word", "language carry", ARITHMETIC, "EQUAL, a, constant(0)", "LESS, a, constant(0)"),
    WrongLine("a carry of a sum one word late", "language carry", ARITHMETIC, "constant(-(added or 0))", "constant(1 - (added or 0))"),
    WrongLine(
        "a bit of the opposite condition", "language bit", ARITHMETIC, "truth=truth if isinstance", "truth=truth.negate() if isinstance"
    ),
    WrongLine(
        "a bit that is read as its opposite",
        "language equal",
        CONDITIONS,
        "return truth if outcomes[1]",
        "return truth.negate() if outcomes[1]",
    ),
    WrongLine("a bit of a decided condition turned over", "path assume", VALUES, "held != truth.negated", "held == truth.negated"),
    WrongLine(
        "a high product of unsigned words", "language high", ARITHMETIC, "pair, is_signed=is_signed), a", "pair, is_signed=False), a"
    ),
    WrongLine("a high product without its addend", "language high", RANGES, "max(corners) + addend[1]", "max(corners)"),
    WrongLine(
        "a carry into a sum ignored", "sm_75 IADD3 X", ARITHMETIC, "return constant(truth.what != truth.negated)", "return constant(0)"
    ),
    # Shifts
    WrongLine(
        "a shift one place short",
        "language shift_left",
        ARITHMETIC,
        "step.state.times(a, 1 << places.constant)",
        "step.state.times(a, 1 << (places.constant + 1) // 2 * 2)",
    ),
    WrongLine(
        "a shift by the last places of its distance",
        "language shift_left",
        ARITHMETIC,
        "if places.constant is not None and places.constant <= _LAST_PLACE:\n        return step.state.times(a, 1 << places.constant)",
        "if places.constant is not None:\n        return step.state.times(a, 1 << places.constant % _PLACES)",
    ),
    WrongLine(
        "a long shift by its last places",
        "language shift_left",
        RANGES,
        "if high > 31:  # noqa: PLR2004  # the last place of a word\n        return EVERY\n    if low == high",
        "if high > 31:\n        low = high = high % 32\n    if low == high",
    ),
    WrongLine(
        "a shift right without signs",
        "language shift_right",
        ARITHMETIC,
        "step.range(places), is_signed=is_signed), a, places)",
        "step.range(places), is_signed=False), a, places)",
    ),
    WrongLine(
        "a mean of words that wrap around",
        "language shift_right",
        ARITHMETIC,
        "if high - low == words.width and [low >> 1, high >> 1] == ends:",
        "if high - low == words.width:",
    ),
    WrongLine(
        "a stride kept by a shift",
        "language shift_right",
        RANGES,
        "exact = near == far and high - low == a.width and a.step % (1 << near) == 0 and low % (1 << near) == 0",
        "exact = near == far",
    ),
    WrongLine(
        "a funnel by the wrong distance",
        "language funnel_left",
        ARITHMETIC,
        "constant(_PLACES - places.constant)",
        "constant(places.constant)",
    ),
    WrongLine("a high word of a short one", "language funnel_left", ARITHMETIC, "[1] << most < ranges.SIZE", "[1] < ranges.SIZE"),
    WrongLine(
        "a funnel without its high word",
        "language funnel_right",
        ARITHMETIC,
        "(high.constant << _PLACES | low.constant) >> count",
        "low.constant >> count",
    ),
    # Bytes and fields
    WrongLine("the wrong byte", "language permute", ARITHMETIC, ">> 8 * (code & 7) & 255", ">> 8 * (code & 3) & 255"),
    WrongLine("a sign of a byte ignored", "language permute", ARITHMETIC, "(255 if byte >> 7 else 0) if code & 8 else byte", "byte"),
    WrongLine(
        "bytes of another word ignored",
        "language permute",
        ARITHMETIC,
        "return step.of_range(ranges.add(part, ranges.span(0, ranges.SIZE - modulus, modulus)), a, b)\n    #",
        "part = ranges.add(part, ranges.span(0, ranges.SIZE - modulus, modulus))\n    #",
    ),
    WrongLine(
        "a run of bytes one too long", "language permute", ARITHMETIC, "if code != first + place), 4)", "if code != first + place), 4) + 1"
    ),
    WrongLine(
        "signs of a byte in the middle",
        "language permute",
        ARITHMETIC,
        "all(code == 8 + first + count - 1 for code in rest)",
        "all(code >= 8 for code in rest)",
    ),
    WrongLine(
        "a sign that is not extended",
        "language extract_signed",
        ARITHMETIC,
        "return ranges.add(part, ranges.const(-modulus)) if low >= half",
        "return part if low >= half",
    ),
    WrongLine(
        "a field one bit short",
        "language extract",
        ARITHMETIC,
        "ranges.const((1 << width) - 1)), value)\n\n\ndef _extract_signed",
        "ranges.const((1 << width) // 2 - 1)), value)\n\n\ndef _extract_signed",
    ),
    WrongLine(
        "the place of a field ignored",
        "language extract_signed",
        ARITHMETIC,
        "return value if part == step.range(value) and not places",
        "return value if not places",
    ),
    WrongLine(
        "the lower half for the upper",
        "language half",
        COMPILER,
        '"shift_right", whole, _fixed(self.algebra.number(_HALF_BITS))',
        '"shift_right", whole, _fixed(self.algebra.number(0))',
    ),
    WrongLine("the highest one of the least word", "language highest_one", ARITHMETIC, "high.bit_length() - 1)", "high.bit_length() - 2)"),
    WrongLine(
        "a magnitude that skips 0", "language abs", ARITHMETIC, "least = 0 if low <= 0 <= high else", "least = 1 if low < 0 < high else"
    ),
    WrongLine("32 ones forgotten", "language popc", ARITHMETIC, "ranges.span(0, _PLACES), value", "ranges.span(0, _LAST_PLACE), value"),
    # Bits
    WrongLine("a mask that is no mask", "language bit_and", RANGES, "if mask & (mask + 1) == 0:", "if mask & 1:"),
    WrongLine(
        "low bits of words that wrap around", "language bit_and", RANGES, "if a.low % modulus + a.width < modulus:", "if a.width < modulus:"
    ),
    WrongLine(
        "a disjunction below its operands",
        "language bit_or",
        RANGES,
        "return span(max(a.unsigned[0], b.unsigned[0]), (1",
        "return span(a.unsigned[0] + b.unsigned[0], (1",
    ),
    WrongLine(
        "bits above the highest one", "language bit_xor", RANGES, "return span(0, (1 << highs.bit_length()) - 1)", "return span(0, highs)"
    ),
    WrongLine(
        "a conjunction with ones for one with zeros",
        "language bit_and",
        LOGIC,
        '== 0 if name != "AND" else _keeps(other.constant, step.range(word)):',
        "== 0:",
    ),
    WrongLine(
        "the columns of a table exchanged",
        "language lop3",
        LOGIC,
        "shift = {0xF0: 4, 0xCC: 2, 0xAA: 1}[column]",
        "shift = {0xF0: 4, 0xCC: 1, 0xAA: 2}[column]",
    ),
    WrongLine(
        "an input that does not matter",
        "language lop3",
        LOGIC,
        "return kept[0] if lut == COLUMNS[places[0]] else step.state.minus(constant(-1), kept[0])",
        "return kept[0]",
    ),
    WrongLine(
        "a function of zeros that is 1",
        "language lop3",
        LOGIC,
        "if lut & 1:\n        return ranges.EVERY",
        "if lut & 128:\n        return ranges.EVERY",
    ),
    # Truths and comparisons
    WrongLine(
        "a disjunction as a conjunction",
        "language disjunction",
        VALUES,
        "conjunction(a.negate(), b.negate()).negate()",
        "conjunction(a, b)",
    ),
    WrongLine(
        "a difference of one side",
        "language difference",
        VALUES,
        "return disjunction(conjunction(a, b.negate()), conjunction(a.negate(), b))",
        "return conjunction(a, b.negate())",
    ),
    WrongLine(
        "halves of a table exchanged",
        "language plop3",
        LOGIC,
        "_chosen(lut >> half & mask, inputs[1:], half // 2), _chosen(lut & mask,",
        "_chosen(lut & mask, inputs[1:], half // 2), _chosen(lut >> half & mask,",
    ),
    WrongLine("not equal taken for equal", "language compare", LOGIC, "return truth.negate() if opposite else truth", "return truth"),
    WrongLine("operands not exchanged", "language compare", LOGIC, "first, second = (b, a) if swapped else (a, b)", "first, second = a, b"),
    WrongLine(
        "signed for unsigned",
        "language compare",
        LOGIC,
        "relation, first, second, is_signed=is_signed)",
        "relation, first, second, is_signed=True)",
    ),
    WrongLine(
        "less than by one",
        "language compare",
        CONDITIONS,
        "return True if high < other_low else False if low >= other_high else None",
        "return True if high <= other_low else False if low >= other_high else None",
    ),
    WrongLine(
        "distances of words that wrap around",
        "language compare",
        CONDITIONS,
        "exact and max(high, other_high) - min(low, other_low) < _HALF",
        "True",
    ),
    WrongLine(
        "low words ignored where high ones are the same",
        "language extended",
        LOGIC,
        "return disjunction(strict, conjunction(same, low))",
        "return strict",
    ),
    WrongLine(
        "a flag for its opposite",
        "language borrowed",
        LOGIC,
        'carry if name in {"GE", "LT"} else',
        'carry.negate() if name in {"GE", "LT"} else',
    ),
    WrongLine(
        "a condition of two words that holds", "language same", LOGIC, "return other if truth.what else other.negate()", "return other"
    ),
    WrongLine("nothing known, taken for true", "language maybe", LOGIC, "return Truth(Maybe(word.origins))", "return YES"),
    # What paths know
    WrongLine("an end of a range one too low", "path assume", CONDITIONS, "least, high - strict, is_signed", "least, high - 1, is_signed"),
    WrongLine("an end of a range one too high", "path assume", CONDITIONS, "words, low + strict, most", "words, low + 1, most"),
    WrongLine("a word in the middle left out", "path assume", RANGES, "if (a.low + a.width) % SIZE == word:", "if a.holds(word):"),
    WrongLine(
        "a negative multiple narrowed as a positive one",
        "path assume",
        CONDITIONS,
        "ranges.negate(value.range)), value.factor)",
        "ranges.negate(value.range)), 1)",
    ),
    WrongLine("the opposite of less than", "path assume", CONDITIONS, "return AT_MOST, right, left", "return LESS, right, left"),
    WrongLine("one of two conditions that fail", "path assume", CONDITIONS, "return left + right\n", "return left\n"),
    WrongLine(
        "a decision for its opposite",
        "path assume",
        CONDITIONS,
        "if state.decided[condition] == wanted else []",
        "if state.decided[condition] != wanted else []",
    ),
    WrongLine(
        "few multiples one too few",
        "path assume",
        CONDITIONS,
        "ranges.span(left[0], left[-1], step)",
        "ranges.span(left[0], left[-1] - step, step)",
    ),
    WrongLine("ranges of symbols of one state", "path join", STATES, "RANGES.join(words, self.other.range_of(b))", "words"),
    WrongLine(
        "facts of one state",
        "path join",
        STATES,
        "words if words is state.facts[symbol] else RANGES.join(words, state.facts[symbol])",
        "words",
    ),
    WrongLine(
        "facts that one state lacks",
        "path join",
        STATES,
        "            if symbol in state.facts\n        }\n        decided",
        "            if symbol in {**state.facts, **out.facts}\n        }\n        decided",
    ),
    WrongLine(
        "decisions of one state",
        "path reduce",
        STATES,
        "for condition, truth in out.decided.items() if state.decided.get(condition) is truth}",
        "for condition, truth in out.decided.items()}",
    ),
    WrongLine(
        "one distance for all",
        "path merge_shifted",
        STATES,
        "groups.setdefault((*held, *(distances[name][place].range for name in moved)), [])",
        "groups.setdefault((*held,), [])",
    ),
    # Floats
    WrongLine(
        "a number rounded down",
        "language float_of",
        WORDS,
        'return word_of(-(-number >> places) << places) if rounding == "RP" else',
        'return word_of(number >> places << places) if rounding == "RP" else',
    ),
    WrongLine("a negative number as a positive one", "language float_of", FLOATS, "if low < 0:", "if high < 0:"),
    WrongLine(
        "a float rounded the wrong way",
        "language integer_of",
        WORDS,
        "min(_ROUND[rounding](number_of(word)), most)",
        "min(int(number_of(word)), most)",
    ),
    WrongLine("a float above all integers", "language integer_of", FLOATS, "(1 << 32 - is_signed) - 1", "(1 << 32) - 1"),
    WrongLine(
        "ends of a reciprocal exchanged",
        "language reciprocal",
        FLOATS,
        "approximated(ends[1])[0], approximated(ends[0])[1]",
        "approximated(ends[0])[0], approximated(ends[1])[1]",
    ),
    WrongLine(
        "a reciprocal that is exact",
        "language reciprocal",
        WORDS,
        "return nearest - (product >= 1), nearest + (product <= 1)",
        "return nearest, nearest",
    ),
    WrongLine(
        "a product flushed to 0 ignored",
        "language float_product",
        FLOATS,
        "low if min(low, ends[0], others[0]) >= NORMAL else 0, high",
        "low, high",
    ),
    # Loads of constants, operands, choices
    WrongLine(
        "a byte of a constant without its sign",
        "language constant",
        ENVIRONMENT,
        "const(value - (1 << 8 * size) if signed and value >> 8 * size - 1 else value)",
        "const(value)",
    ),
    WrongLine("a narrow constant one bit short", "language constant", SYMBOLS, "ranges.span(0, 2 * half - 1)", "ranges.span(0, half - 1)"),
    WrongLine(
        "the base of a constant ignored",
        "language constant",
        MOVES,
        "reduce(step.state.plus, base, constant",
        "reduce(step.state.plus, base[:0], constant",
    ),
    WrongLine(
        "one lane for all",
        "language lane",
        MOVES,
        "return word if step.instruction.address in step.same else step.unknown()",
        "return word",
    ),
    WrongLine(
        "a special register one short",
        "language special",
        ENVIRONMENT,
        "else LaneWord(high=extent - 1)",
        "else LaneWord(high=max(extent - 2, 1))",
    ),
    WrongLine("a minus ignored", "language operand", COMPILER, "if negated or inverted:", "if inverted:"),
    WrongLine(
        "an inversion as a minus",
        "sm_75 IADD3",
        COMPILER,
        "self.algebra.number(0 if negated else -1)",
        "self.algebra.number(0)",
    ),
    WrongLine("a magnitude ignored", "language operand", COMPILER, "and not operand.absolute and _NO", "and _NO"),
    WrongLine(
        "a part of a register ignored",
        "language operand",
        COMPILER,
        "operand.absolute and _NO_MEANING.issuperset(operand.modifiers):",
        "operand.absolute:",
    ),
    WrongLine(
        "a predicate without its negation",
        "sm_75 SEL",
        COMPILER,
        'return self._call("negation", truth) if negated else truth',
        "return truth",
    ),
    WrongLine(
        "words of a choice exchanged",
        "sm_75 SEL",
        EXECUTE,
        "zip((True, False), outcomes, strict=True)",
        "zip((False, True), outcomes, strict=True)",
    ),
    WrongLine(
        "a guard ignored",
        "sm_75 IADD3",
        EXECUTE,
        "for late in self._write(run, plan, capacity)] + skips",
        "for late in self._write(run, plan, capacity)]",
    ),
    WrongLine(
        "a guard for its opposite",
        "sm_75 IADD3",
        EXECUTE,
        "return truth.negate() if guard.negated else truth",
        "return truth if guard.negated else truth.negate()",
    ),
    WrongLine(
        "a remainder left out", "sm_75 LOP AND", EVALUATE, "for remainder in range(modulus)]", "for remainder in range(modulus - 1)]"
    ),
    WrongLine(
        "a modifier ignored",
        "sm_75 IMNMX @sign?",
        COMPUTATIONS,
        'Fixed("U32" not in self.modifiers and',
        'Fixed("S64" not in self.modifiers and',
    ),
    WrongLine(
        "the low word of a pair for the high one",
        "sm_75 IMAD WIDE @sign?",
        COMPUTATIONS,
        "bit_length() - 1 + target.place",
        "bit_length() - 1",
    ),
    WrongLine(
        "a short immediate without its sign",
        "sm_61 IADD3",
        COMPUTATIONS,
        "return Immediate(operand.value - high, operand.modifiers)",
        "return operand",
    ),
)
"""A handful of kinds per family: wrong ends of ranges, lanes of bytes, signs, carries, modifiers, and words taken for each other."""
