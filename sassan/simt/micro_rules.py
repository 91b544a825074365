"""The row of each integer operation that has one (`micro_operations.py`): the same forms, for the same reasons, as in `integer_*.py`."""

from collections.abc import Callable, Mapping, Sequence

from sassan.ir import Constant, Immediate, Operand, Register
from sassan.isa.registers import bit
from sassan.simt.code import ExactQuotient, Linear, Operation, number
from sassan.simt.integer_work import UnknownError, carries_unknown, is_negated, is_truth, split
from sassan.simt.micro_operations import (
    ADD_WHOLE,
    AND,
    CARRIES,
    COMPARISONS,
    FROM_FLAGS,
    HIGH,
    HIGH_A,
    HIGH_B,
    LOW,
    LOW_IS_FLAGS,
    LOW_IS_TRUTH,
    MERGE,
    MINUS_A,
    MINUS_ADDEND,
    MINUS_SHIFTED,
    MOST_WORDS,
    OF_NEXT,
    OR,
    PARTS,
    PSL,
    SIGNED_NEXT,
    WHOLE_WORD,
    XOR,
    Code,
    MicroOperation,
    RowWork,
    Translator,
    X,
)
from sassan.simt.values import PREDICATES

_CC = bit("CC", 0).bit_length() - 1
_WORD = 0xFFFFFFFF
_TRUTHS = 3
_COMBINATIONS: Mapping[str, int] = {"AND": AND, "OR": OR, "XOR": XOR}


def row_of(rows: Translator, operation: Operation) -> MicroOperation | None:
    """Return the row of an operation that computes what it writes, None where it has none."""
    if (
        operation.gathered
        or not 0 < len(operation.writes) <= MOST_WORDS
        or any(test.flags is not None for test in operation.condition.tests)
    ):
        return None
    rule = _RULES.get(operation.instruction.opcode.partition(".")[0])
    try:
        made = _exact(rows, operation) if operation.exact is not None else None if rule is None else rule(RowWork(rows, operation))
    except (UnknownError, ValueError, KeyError, IndexError):
        return None
    return made if made is not None and made.results.keys() >= set(operation.writes) else None


def _exact(rows: Translator, operation: Operation) -> MicroOperation | None:
    """Return the row of a result that is known exactly."""
    words = [rows.slot(register) for register in operation.reads]
    match operation.exact:
        case Linear(constant=constant, factors=factors) if len(words) == len(factors) <= MOST_WORDS:
            return MicroOperation(
                Code.SUM, words, numbers=(constant & _WORD, *(factor & _WORD for factor in factors)), results={operation.writes[0]: 0}
            )
        case ExactQuotient(divisor=divisor, remainder=remainder):
            return MicroOperation(
                Code.REMAINDER if remainder else Code.QUOTIENT, words[:1], numbers=(divisor,), results={operation.writes[0]: 0}
            )
        case _:
            return None


def _pair(operand: Operand, half: int) -> tuple[Operand | int, int]:
    """Return the register of a half of a pair, with the word that it gets."""
    name = number(operand.file, operand.index) if isinstance(operand, Register) else None
    return (operand if name is None else name + half), half


def _has_flags(operand: Operand) -> bool:
    return isinstance(operand, Register) and "CC" in operand.modifiers


def _move(work: RowWork) -> MicroOperation:
    to, source, *mask = work.instruction.operands
    if (mask and work.integer(mask[0]) != 15) or "64" in work.modifiers:  # noqa: PLR2004  # every byte
        raise UnknownError
    work.word(source)
    return work.done(Code.MOVE, (to, 0))


def _to_one_copy(work: RowWork) -> MicroOperation:
    to, source = work.instruction.operands
    if work.modifiers:
        raise UnknownError
    work.word(source)
    return work.done(Code.MOVE, (to, 0))


def _load_constant(work: RowWork) -> MicroOperation:
    to, source = work.instruction.operands
    if not isinstance(source, Constant) or work.modifiers - {"64", "128"}:
        raise UnknownError
    halves = {"64": 2, "128": 4}.get(next(iter(work.modifiers), ""), 1)
    for half in range(halves):
        work.word(source, half)
    return work.done(Code.MOVE, *(_pair(to, half) for half in range(halves)))


def _add(work: RowWork) -> MicroOperation:
    to, outs, words, ins = split(work.instruction.operands)
    if work.modifiers - {"X"} or len(words) > _TRUTHS or len(ins) > _TRUTHS - 1:
        raise UnknownError
    short = work.rows.place.short and work.instruction.opcode.split(".")[0] == "IADD3"
    options = 0
    for place, word in enumerate(words):
        if short and isinstance(word, Immediate):
            value = work.integer(word)
            work.number(value - (1 << 20) if 1 << 19 <= value < 1 << 20 else value)
        else:
            work.word(word)
        options |= (getattr(word, "negated", False) and not getattr(word, "inverted", False)) * MINUS_A << place
    minus = bool(options)
    if "X" in work.modifiers:
        options |= X
        if not ins and minus:
            if work.instruction.opcode.split(".")[0] == "IADD3":
                raise UnknownError
            options |= PARTS
        for each in ins:
            work.truth(each)
        if not ins:
            options |= FROM_FLAGS
            work.made.truths.append(work.flags())
    elif ins:
        raise UnknownError
    carries = [out for out in outs if getattr(out, "index", None) is not None]
    flags = ((_CC, 3),) if _has_flags(to) else ()
    return work.done(Code.ADD, (to, 0), *((out, 1 + place) for place, out in enumerate(carries[:2])), *flags, numbers=(options,))


def _multiply(work: RowWork) -> MicroOperation:
    to, outs, (left, right, addend, *_), ins = split(work.instruction.operands)
    modifiers = work.modifiers - {"MOV", "SHL", "IADD", "U32", "S32"}
    wide = modifiers & {"HI", "WIDE"}
    if outs or modifiers - {"HI", "WIDE", "X"} or (wide and "X" in modifiers):
        raise UnknownError
    work.word(left)
    work.word(right)
    work.word(addend)
    if wide:
        work.word(addend, 1)
        results = [_pair(to, half) for half in range(2)] if "WIDE" in modifiers else [(to, 1)]
        return work.done(Code.MULTIPLY_WIDE, *results)
    if "X" in modifiers:
        for each in ins:
            work.truth(each)
        if not ins:
            work.made.truths.append(work.flags())
    return work.done(Code.MULTIPLY, (to, 0), numbers=(FROM_FLAGS * ("X" in modifiers and not ins),))


def _multiply_only(work: RowWork) -> MicroOperation:
    to, left, right = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    work.word(left)
    work.word(right)
    work.number(0)
    return work.done(Code.MULTIPLY, (to, 0), numbers=(0,))


def _short_multiply(work: RowWork) -> MicroOperation:
    to, left, right, addend = work.instruction.operands
    names = {"PSL": PSL, "MRG": MERGE, "CBCC": ADD_WHOLE, "CLO": LOW, "CHI": HIGH}
    if work.modifiers - names.keys() or _has_flags(to):
        raise UnknownError
    options = sum(names[each] for each in work.modifiers)
    for operand, high in ((left, HIGH_A), (right, HIGH_B)):
        selected = set(getattr(operand, "modifiers", ())) - {"reuse"}
        if selected - {"H1"} or getattr(operand, "negated", False):
            raise UnknownError
        options |= high if selected else 0
        work.word(_whole(operand))
    work.word(addend)
    return work.done(Code.MULTIPLY_HALVES, (to, 0), numbers=(options,))


def _whole(operand: Operand) -> Operand:
    """Return an operand without the part that is selected of it."""
    if isinstance(operand, Register):
        return Register(operand.file, operand.index)
    return Constant(operand.bank, operand.base, operand.offset) if isinstance(operand, Constant) else operand


def _left(work: RowWork) -> MicroOperation:
    to, source, places = work.instruction.operands[:3]
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    return _shift(work, Code.SHIFT_LEFT, to, source, places)


def _right(work: RowWork) -> MicroOperation:
    to, source, places = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    return _shift(work, Code.SHIFT_RIGHT, to, source, places)


def _shift(work: RowWork, code: Code, to: Operand, source: Operand, places: Operand) -> MicroOperation:
    work.word(source)
    work.word(places)
    return work.done(code, (to, 0))


def _funnel(work: RowWork) -> MicroOperation:
    to, low, places, high = work.instruction.operands
    match sorted(work.modifiers):
        case ["L", "U32"] | ["L", "S32"]:
            return _shift(work, Code.SHIFT_LEFT, to, low, places)
        case ["HI", "R", "U32"] | ["HI", "R", "S32"]:
            return _shift(work, Code.SHIFT_RIGHT, to, high, places)
        case ["R", "U64"]:
            code, most = Code.FUNNEL_RIGHT, 63
        case ["HI", "L", "U64"]:
            code, most = Code.FUNNEL_LEFT, 63
        case ["HI", "L", "U32"]:
            code, most = Code.FUNNEL_LEFT, 32
        case _:
            raise UnknownError
    if not 0 <= work.integer(places) <= most:
        raise UnknownError
    work.word(low)
    work.word(high)
    return work.done(code, (to, 0), numbers=(work.integer(places),))


def _scaled_add(work: RowWork) -> MicroOperation:
    first, second, *rest = work.instruction.operands
    to, outs, words, ins = split((second, first, *rest) if is_truth(first) else work.instruction.operands)
    extended, flags = "X" in work.modifiers, _has_flags(to)
    if (ins and not extended) or len(ins) > _TRUTHS - 1 or carries_unknown(work.modifiers, first, words, out=bool(outs), flags=flags):
        raise UnknownError
    work.word(words[0])
    work.word(words[1])
    match sorted(work.modifiers - {"X"}):
        case [] if not extended:
            options = MINUS_SHIFTED * is_negated(words[0]) | MINUS_ADDEND * is_negated(words[1])
        case ["HI"]:
            work.word(words[2])
            options = OF_NEXT
        case ["HI", "SX32"]:
            options = SIGNED_NEXT
        case _:
            raise UnknownError
    for each in ins:
        work.truth(each)
    if extended and not ins:
        options |= CARRIES
        work.made.truths.append(work.flags())
    results, places = [(to, 0), *((out, 1) for out in outs), *([(_CC, 3)] if flags else [])], work.integer(words[-1]) & 31
    return work.done(Code.SCALED_ADD, *results, numbers=(options, places))


def _bitwise(work: RowWork) -> MicroOperation:
    operands = list(work.instruction.operands)
    outs = [(operands.pop(0), 1)] if is_truth(operands[0]) else []
    to, left, right = operands
    (name,) = work.modifiers - {"NZ"}
    code = {"AND": 0xC0, "OR": 0xFC, "XOR": 0x3C, "PASS_B": 0xCC}[name]
    work.word(left)
    work.word(right)
    work.number(0)
    return work.done(Code.TABLE, (to, 0), *outs, numbers=(code, 0))


def _table(work: RowWork) -> MicroOperation:
    operands = list(work.instruction.operands)
    outs = [(operands.pop(0), 1)] if is_truth(operands[0]) else []
    to, *inputs, code = operands[:5]
    for operand in inputs:
        work.word(operand)
    more = bool(outs) and len(operands) > 5  # noqa: PLR2004  # behind the table
    if more:
        work.truth(operands[5])
    _, _, _ = inputs
    return work.done(Code.TABLE, (to, 0), *outs, numbers=(work.integer(code) & 255, int(more)))


def _truth_table(work: RowWork) -> MicroOperation:
    operands = work.instruction.operands
    for operand in operands[2:5]:
        work.truth(operand)
    return work.done(Code.TRUTHS, (operands[0], 0), (operands[1], 1), numbers=(work.integer(operands[5]), work.integer(operands[6])))


def _two_truths(work: RowWork) -> MicroOperation:
    to, other, *inputs = work.instruction.operands
    first, second = (_COMBINATIONS[name] for name in work.instruction.opcode.split(".")[1:])
    for operand in inputs:
        work.truth(operand)
    rows = [(row >> 2 & 1, row >> 1 & 1, row & 1) for row in range(8)]
    first_table = sum(_combined(second, _combined(first, a, b), c) << row for row, (a, b, c) in enumerate(rows))
    second_table = sum(_combined(second, 1 - _combined(first, a, b), c) << row for row, (a, b, c) in enumerate(rows))
    _, _, _ = inputs
    return work.done(Code.TRUTHS, (to, 0), (other, 1), numbers=(first_table, second_table))


def _combined(how: int, a: int, b: int) -> int:
    return a & b if how == AND else a | b if how == OR else a ^ b


def _how(work: RowWork) -> int:
    return _COMBINATIONS[next((name for name in work.instruction.opcode.split(".")[2:] if name in _COMBINATIONS), "")]


def _set_truth(work: RowWork) -> MicroOperation:
    to, other, left, right, third, *low = work.instruction.operands
    if work.modifiers & {"U64", "S64"}:
        raise UnknownError
    options = LOW_IS_TRUTH if "EX" in work.modifiers else LOW_IS_FLAGS if "X" in work.modifiers else 0
    work.word(left)
    work.word(right)
    work.truth(third)
    if options == LOW_IS_TRUTH:
        work.truth(low[0])
    elif options == LOW_IS_FLAGS:
        work.made.truths.append(work.flags())
    relation = COMPARISONS[work.instruction.opcode.split(".")[1]]
    return work.done(Code.COMPARE, (to, 0), (other, 1), numbers=(relation, _how(work), options))


def _set_word(work: RowWork) -> MicroOperation:
    to, left, right, third = work.instruction.operands
    if work.modifiers & {"BF", "EX", "U64", "S64"}:
        raise UnknownError
    work.word(left)
    work.word(right)
    work.truth(third)
    options = WHOLE_WORD
    if "X" in work.modifiers:
        options |= LOW_IS_FLAGS
        work.made.truths.append(work.flags())
    relation = COMPARISONS[work.instruction.opcode.split(".")[1]]
    flags = ((_CC, 3),) if _has_flags(to) else ()
    return work.done(Code.COMPARE, (to, 0), *flags, numbers=(relation, _how(work), options))


def _select(work: RowWork) -> MicroOperation:
    to, left, right, which = work.instruction.operands
    if "64" in work.modifiers:
        raise UnknownError
    work.word(left)
    work.word(right)
    work.truth(which)
    return work.done(Code.SELECT, (to, 0))


def _select_by_word(work: RowWork) -> MicroOperation:
    to, left, right, word = work.instruction.operands
    for operand in (left, right, word):
        work.word(operand)
    return work.done(Code.SELECT_BY_WORD, (to, 0), numbers=(COMPARISONS[work.instruction.opcode.split(".")[1]],))


def _extreme(work: RowWork) -> MicroOperation:
    to, *sources, which = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    words = [source for source in sources if not is_truth(source)]
    if len(words) not in {2, 3}:
        raise UnknownError
    for word in words:
        work.word(word)
    work.truth(which)
    return work.done(Code.EXTREME, (to, 0), numbers=(len(words),))


def _magnitude(work: RowWork) -> MicroOperation:
    to, source = work.instruction.operands
    work.word(source)
    return work.done(Code.MAGNITUDE, (to, 0))


def _field(work: RowWork) -> MicroOperation:
    to, source, where = work.instruction.operands
    places, width = work.integer(where) & 255, work.integer(where) >> 8 & 255
    if work.modifiers - {"U32", "S32"} or max(places, width) > 31 or (work.signed and not 0 < width <= 32 - places):  # noqa: PLR2004
        raise UnknownError
    work.word(source)
    return work.done(Code.FIELD, (to, 0), numbers=(places, width))


def _bytes(work: RowWork) -> MicroOperation:
    to, first, select, second = work.instruction.operands
    if work.modifiers:
        raise UnknownError
    for operand in (first, select, second):
        work.word(operand)
    return work.done(Code.BYTES, (to, 0))


_RULES: Mapping[str, Callable[[RowWork], MicroOperation]] = {
    **dict.fromkeys(("MOV", "MOV32I", "UMOV"), _move),
    "R2UR": _to_one_copy,
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), _load_constant),
    **dict.fromkeys(("IADD", "IADD3", "IADD32I", "VIADD", "UIADD3"), _add),
    **dict.fromkeys(("IMAD", "UIMAD", "IMAD32I"), _multiply),
    **dict.fromkeys(("IMUL", "IMUL32I"), _multiply_only),
    "XMAD": _short_multiply,
    "SHL": _left,
    "SHR": _right,
    **dict.fromkeys(("SHF", "USHF"), _funnel),
    **dict.fromkeys(("LEA", "ULEA", "ISCADD", "ISCADD32I"), _scaled_add),
    **dict.fromkeys(("LOP", "LOP32I"), _bitwise),
    **dict.fromkeys(("LOP3", "ULOP3"), _table),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _truth_table),
    "PSETP": _two_truths,
    **dict.fromkeys(("ISETP", "UISETP"), _set_truth),
    "ISET": _set_word,
    **dict.fromkeys(("SEL", "USEL"), _select),
    "ICMP": _select_by_word,
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIADDMNMX", "UIMNMX", "UVIMNMX"), _extreme),
    "IABS": _magnitude,
    "BFE": _field,
    **dict.fromkeys(("PRMT", "UPRMT"), _bytes),
}


def drawn(rows: Translator, operation: Operation, *, together: bool) -> MicroOperation | None:
    """Return the row of an operation whose words are all drawn, one for all of them if `together`; None where it has none."""
    words = 1 if together else len(operation.writes)
    if operation.gathered or not 0 < words <= MOST_WORDS or operation.exact is not None:
        return None
    agreeing: Sequence[int] = operation.agreeing or ()
    if len(agreeing) > MOST_WORDS or any(test.flags is not None for test in operation.condition.tests):
        return None
    truths = sum((register in PREDICATES) << place for place, register in enumerate(operation.writes))
    return MicroOperation(
        Code.DRAW,
        is_computed=False,
        words=[rows.slot(register) for register in agreeing],
        numbers=(operation.instruction.address & _WORD, int(operation.agreeing is not None), truths, int(together)),
        results={register: 0 if together else place for place, register in enumerate(operation.writes)},
    )
