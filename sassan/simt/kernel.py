"""The compiled execution of micro-operations (`micro_operations.py`): warp by warp, each operation in all of its lanes.

Importing this module imports the compiler. All compiled functions are in this one file: numba's disk cache recompiles a function only when
its own file changes. The numbers of `micro_operations.py` are compiled in: who changes them has to change this file, too.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.jit.decorators import uncounted, uncounted_inner
from sassan.simt.micro_operations import (
    ADD_WHOLE,
    AND,
    CARRIES,
    EQUAL,
    FROM_FLAGS,
    GREATER,
    GREATER_EQUAL,
    HIGH,
    HIGH_A,
    HIGH_B,
    LESS,
    LESS_EQUAL,
    LOW,
    LOW_IS_FLAGS,
    LOW_IS_TRUTH,
    MERGE,
    MINUS_A,
    MINUS_ADDEND,
    MINUS_SHIFTED,
    NOT_EQUAL,
    OF_NEXT,
    OR,
    PARTS,
    PSL,
    SIGNED_NEXT,
    WHOLE_WORD,
    ZERO,
    Code,
    X,
)
from sassan.simt.values import FACTOR, LANES, Rows, Truth, Words

Numbers = npt.NDArray[np.int64]
Longs = npt.NDArray[np.uint64]
MASK = np.uint64(0xFFFFFFFF)
_FACTOR = np.uint64(FACTOR)
_ONE = np.uint64(1)
_WORD = np.uint64(32)

# The columns of a row.
CODE, WORDS, TRUTHS, FIRST_WORD, FIRST_TRUTH, NEGATED, INVERTED, OTHERWISE, SIGNED, FIRST_NUMBER = 0, 1, 2, 3, 7, 10, 11, 12, 13, 14
BROADCAST, NOTE, FIRST_TEST, TESTS, FIRST_READ, READS, FIRST_WRITE, WRITES, SURE, EXACT = 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
COLUMNS = 29
NEVER = -1
"""The number of tests of a condition that never holds."""

FLAGS = 4
"""Where the words of an operation hold the flags that it reads."""

# Numba takes no member of an enumeration for its number.
_MOVE, _ADD, _SCALED_ADD, _MULTIPLY, _MULTIPLY_WIDE = (
    int(code) for code in (Code.MOVE, Code.ADD, Code.SCALED_ADD, Code.MULTIPLY, Code.MULTIPLY_WIDE)
)
_MULTIPLY_HALVES, _SUM, _QUOTIENT, _LAST_SUM = (int(code) for code in (Code.MULTIPLY_HALVES, Code.SUM, Code.QUOTIENT, Code.REMAINDER))
_SHIFT_LEFT, _SHIFT_RIGHT, _FUNNEL_RIGHT, _FUNNEL_LEFT, _LAST_SHIFT = (
    int(code) for code in (Code.SHIFT_LEFT, Code.SHIFT_RIGHT, Code.FUNNEL_RIGHT, Code.FUNNEL_LEFT, Code.FIELD)
)
_TABLE, _TRUTHS, _LAST_TABLE, _COMPARE, _SELECT, _SELECT_BY_WORD, _EXTREME, _DRAW = (
    int(code) for code in (Code.TABLE, Code.TRUTHS, Code.BYTES, Code.COMPARE, Code.SELECT, Code.SELECT_BY_WORD, Code.EXTREME, Code.DRAW)
)


class OperationTable(NamedTuple):
    """Rows (operations, columns), the tests (place, negated), reads (place) and writes (place, word) that they name, and constants (K, N).

    `one_copy` says of each register whether a warp has one copy of it.
    """

    rows: Numbers
    tests: Numbers
    reads: Numbers
    writes: Numbers
    constants: Words
    one_copy: Truth


class Group(NamedTuple):
    """G warps that execute rows together: their numbers, times, and which lanes are there; `registers` (R, N, 32) are those of all warps.

    `separate`: each side of a divergence has uniform registers of its own. `salt` and `lasting` (N) are what words are drawn by.
    """

    rows: Rows
    time: Words
    executing: Truth
    registers: Words
    salt: Words
    lasting: Truth
    separate: bool


class WarpSpace(NamedTuple):
    """Space for the words of one warp: those that a row reads (5, 32) and writes (4, 32), truths (3, 32), and which lanes execute it.

    `sure` and `maybe` are lanes of which what they write is certain, and that may execute it (32).
    """

    words: Longs
    out: Longs
    truth: Truth
    executing: Truth
    sure: Truth
    maybe: Truth


class Known(NamedTuple):
    """Which words are certain (R, N, 32), in which lanes the path is (G, 32), which lanes have not exited (G, 32); `torn` by row.

    Nothing is followed where `follows` is false.
    """

    follows: bool
    words: Truth
    path: Truth
    alive: Truth
    torn: Truth


class Past(NamedTuple):
    """What is noted of executions (`History`), and which words depend on drawn ones (R, N, 32), if that is followed."""

    first: Numbers
    words: Words
    moved: Words
    lanes: Truth
    steady: Truth
    times: Numbers
    follows: bool
    unknown: Truth


@uncounted_inner
def _stirred(state: np.uint64, word: np.uint64) -> np.uint64:
    mixed = ((state ^ word) * _FACTOR) & MASK
    return mixed ^ (mixed >> np.uint64(15))


@uncounted_inner
def _signed(word: np.uint64) -> np.int64:
    return np.int64(np.int32(np.uint32(word)))


@uncounted_inner
def _number(word: np.uint64, signed: bool) -> np.int64:
    return _signed(word) if signed else np.int64(word)


@uncounted_inner
def _related(relation: int, a: np.int64, b: np.int64, below: bool) -> bool:
    if relation == EQUAL:
        return bool(a == b and below)
    if relation == NOT_EQUAL:
        return bool(a != b or below)
    if relation in (LESS, LESS_EQUAL):
        return bool(a < b or (a == b and below))
    return bool(a > b or (a == b and below))


@uncounted_inner
def _combine(how: int, a: bool, b: bool) -> bool:
    if how == AND:
        return bool(a and b)
    return bool(a or b) if how == OR else bool(a != b)


@uncounted_inner
def _fetch(rows: Numbers, number: int, place: int, table: OperationTable, group: Group, warp: int, words: Longs) -> None:
    """Write the word of each lane at a place of a row, with its sign."""
    source = rows[number, FIRST_WORD + place]
    if source >= 0:
        for lane in range(LANES):
            words[place, lane] = np.uint64(group.registers[source, warp, lane])
    else:
        value = np.uint64(0) if source == ZERO else np.uint64(table.constants[ZERO - 1 - source, warp])
        for lane in range(LANES):
            words[place, lane] = value
    if rows[number, NEGATED] >> place & 1:
        for lane in range(LANES):
            words[place, lane] = (~words[place, lane] + _ONE) & MASK
    elif rows[number, INVERTED] >> place & 1:
        for lane in range(LANES):
            words[place, lane] = ~words[place, lane] & MASK


@uncounted_inner
def _test(rows: Numbers, number: int, place: int, group: Group, warp: int, truth: Truth) -> None:
    """Write the truth of each lane at a place of a row."""
    source = rows[number, FIRST_TRUTH + place]
    negated = rows[number, OTHERWISE] >> place & 1 != 0
    for lane in range(LANES):
        held = True if source < 0 else group.registers[source, warp, lane] != 0
        truth[place, lane] = held != negated


@uncounted_inner
def _add(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:
    options = rows[number, FIRST_NUMBER]
    for lane in range(LANES):
        total, carry = np.uint64(0), np.uint64(0)
        for place in range(rows[number, WORDS]):
            value = words[place, lane]
            minus = options & (MINUS_A << place) != 0
            if options & PARTS and minus:
                value = (value + MASK) & MASK
            elif minus and value == 0:
                carry += _ONE << _WORD
            total += value
        if options & PARTS:
            carry = np.uint64(0)
        carry += total
        more = words[FLAGS, lane] & _ONE if options & FROM_FLAGS else np.uint64(0)
        if options & X and not options & FROM_FLAGS:
            for each in range(rows[number, TRUTHS]):
                more += np.uint64(truth[each, lane])
        total += more
        carry += more
        out[0, lane] = total & MASK
        out[1, lane] = np.uint64(carry >> _WORD > 0)
        out[2, lane] = np.uint64(carry >> _WORD > 1)
        out[3, lane] = np.uint64(carry >> _WORD != 0) | np.uint64(total & MASK == 0) << _ONE


@uncounted_inner
def _multiply_halves(rows: Numbers, number: int, words: Longs, out: Longs) -> None:
    options, half, places = rows[number, FIRST_NUMBER], np.uint64(0xFFFF), np.uint64(16)
    for lane in range(LANES):
        whole, addend = words[1, lane], words[2, lane]
        left = words[0, lane] >> places if options & HIGH_A else words[0, lane]
        right = whole >> places if options & HIGH_B else whole
        product = (left & half) * (right & half)
        if options & PSL:
            product <<= places
        if options & ADD_WHOLE:
            addend += whole << places
        if options & LOW:
            addend &= half
        elif options & HIGH:
            addend >>= places
        product += addend
        if options & MERGE:
            product = (product & half) | whole << places
        out[0, lane] = product & MASK


@uncounted_inner
def _scaled_add(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:
    options, places = rows[number, FIRST_NUMBER], np.uint64(rows[number, FIRST_NUMBER + 1])
    for lane in range(LANES):
        if options & OF_NEXT:
            shifted = (words[0, lane] | words[2, lane] << _WORD) >> (_WORD - places)
        elif options & SIGNED_NEXT:
            shifted = np.uint64(_signed(words[0, lane]) >> (32 - np.int64(places)))
        else:
            shifted = words[0, lane] << places
        total = (shifted & MASK) + words[1, lane]
        carry = np.uint64(0)
        if options & MINUS_SHIFTED and shifted & MASK == 0:
            carry += _ONE << _WORD
        if options & MINUS_ADDEND and words[1, lane] == 0:
            carry += _ONE << _WORD
        if options & CARRIES:
            total += words[FLAGS, lane] & _ONE
        else:
            for each in range(rows[number, TRUTHS]):
                total += np.uint64(truth[each, lane])
        out[0, lane] = total & MASK
        out[1, lane] = np.uint64((total + carry) >> _WORD != 0)
        out[3, lane] = np.uint64(total >> _WORD != 0) | np.uint64(total & MASK == 0) << _ONE


@uncounted_inner
def _compare(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:
    relation, how, options, signed = (
        rows[number, FIRST_NUMBER],
        rows[number, FIRST_NUMBER + 1],
        rows[number, FIRST_NUMBER + 2],
        rows[number, SIGNED] != 0,
    )
    for lane in range(LANES):
        below = relation in (EQUAL, LESS_EQUAL, GREATER_EQUAL)
        if options & LOW_IS_TRUTH:
            below = truth[1, lane]
        elif options & LOW_IS_FLAGS:
            carry, zero = words[FLAGS, lane] & np.uint64(1) != 0, words[FLAGS, lane] & np.uint64(2) != 0
            if relation == EQUAL:
                below = zero
            elif relation == NOT_EQUAL:
                below = not zero
            elif relation == LESS:
                below = not carry
            elif relation == LESS_EQUAL:
                below = not carry or zero
            elif relation == GREATER:
                below = carry and not zero
            else:
                below = carry
        result = _related(relation, _number(words[0, lane], signed), _number(words[1, lane], signed), below)
        first, second = _combine(how, result, truth[0, lane]), _combine(how, not result, truth[0, lane])
        out[0, lane] = (MASK if first else np.uint64(0)) if options & WHOLE_WORD else np.uint64(first)
        out[1, lane] = np.uint64(second)
        out[3, lane] = np.uint64(not first) << _ONE


@uncounted_inner
def _draw(rows: Numbers, number: int, group: Group, place: int, warp: int, out: Longs) -> None:
    time = np.uint64(0) if group.lasting[warp] else np.uint64(group.time[place])
    start = _stirred(_stirred(np.uint64(group.salt[warp]), np.uint64(rows[number, FIRST_NUMBER])), time)
    for lane in range(LANES):
        state = start
        if rows[number, FIRST_NUMBER + 1]:
            for which in range(rows[number, WORDS]):
                state = _stirred(state, np.uint64(group.registers[rows[number, FIRST_WORD + which], warp, lane]))
        else:
            state = _stirred(state, np.uint64(lane))
        together = rows[number, FIRST_NUMBER + 3] != 0
        for which in range(1 if together else rows[number, WRITES]):
            word = state if together else _stirred(state, np.uint64(which))
            if rows[number, FIRST_NUMBER + 2] >> which & 1:
                word >>= np.uint64(31)
            elif word & np.uint64(64):
                word %= np.uint64(24)
            out[which, lane] = word


@uncounted_inner
def _sums(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:  # noqa: C901, PLR0912 - a sum each
    """Write sums and products."""
    code = rows[number, CODE]
    if code == _ADD:
        _add(rows, number, words, truth, out)
    elif code == _SCALED_ADD:
        _scaled_add(rows, number, words, truth, out)
    elif code == _MULTIPLY_HALVES:
        _multiply_halves(rows, number, words, out)
    elif code == _MULTIPLY:
        for lane in range(LANES):
            total = words[0, lane] * words[1, lane] + words[2, lane]
            if rows[number, FIRST_NUMBER] & FROM_FLAGS:
                total += words[FLAGS, lane] & _ONE
            else:
                for each in range(rows[number, TRUTHS]):
                    total += np.uint64(truth[each, lane])
            out[0, lane] = total & MASK
    elif code == _MULTIPLY_WIDE:
        for lane in range(LANES):
            left, right = _number(words[0, lane], rows[number, SIGNED] != 0), _number(words[1, lane], rows[number, SIGNED] != 0)
            whole = np.uint64(left) * np.uint64(right) + (words[2, lane] | words[3, lane] << _WORD)
            out[0, lane], out[1, lane] = whole & MASK, whole >> _WORD
    elif code == _SUM:
        for lane in range(LANES):
            total = np.uint64(rows[number, FIRST_NUMBER])
            for each in range(rows[number, WORDS]):
                total += words[each, lane] * np.uint64(rows[number, FIRST_NUMBER + 1 + each])
            out[0, lane] = total & MASK
    elif code == _QUOTIENT:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] // np.uint64(rows[number, FIRST_NUMBER])
    else:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] % np.uint64(rows[number, FIRST_NUMBER])


@uncounted_inner
def _shifts(rows: Numbers, number: int, words: Longs, out: Longs) -> None:
    """Write what is shifted, and fields of words."""
    code, signed = rows[number, CODE], rows[number, SIGNED] != 0
    if code == _SHIFT_LEFT:
        for lane in range(LANES):
            out[0, lane] = (words[0, lane] << words[1, lane]) & MASK if words[1, lane] < _WORD else np.uint64(0)
    elif code == _SHIFT_RIGHT:
        for lane in range(LANES):
            places = np.int64(min(words[1, lane], np.uint64(63)))
            out[0, lane] = np.uint64(_number(words[0, lane], signed) >> places) & MASK
    elif code == _FUNNEL_RIGHT:
        for lane in range(LANES):
            out[0, lane] = ((words[0, lane] | words[1, lane] << _WORD) >> np.uint64(rows[number, FIRST_NUMBER])) & MASK
    elif code == _FUNNEL_LEFT:
        for lane in range(LANES):
            out[0, lane] = ((words[0, lane] | words[1, lane] << _WORD) << np.uint64(rows[number, FIRST_NUMBER])) >> _WORD
    else:  # FIELD
        first, width = np.uint64(rows[number, FIRST_NUMBER]), np.uint64(rows[number, FIRST_NUMBER + 1])
        sign = _ONE << width >> _ONE
        for lane in range(LANES):
            field = words[0, lane] >> first & ((_ONE << width) - _ONE)
            out[0, lane] = ((field ^ sign) - sign) & MASK if signed else field


@uncounted_inner
def _bits(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:
    """Write what tables of truths say, and bytes that are chosen."""
    code = rows[number, CODE]
    if code == _TABLE:
        for lane in range(LANES):
            result = np.uint64(0)
            for which in range(8):
                if rows[number, FIRST_NUMBER] >> which & 1:
                    left = words[0, lane] if which & 4 else ~words[0, lane]
                    middle = words[1, lane] if which & 2 else ~words[1, lane]
                    right = words[2, lane] if which & 1 else ~words[2, lane]
                    result |= left & middle & right
            out[0, lane] = result & MASK
            out[1, lane] = np.uint64(result & MASK != 0 or (rows[number, FIRST_NUMBER + 1] != 0 and truth[0, lane]))
    elif code == _TRUTHS:
        for lane in range(LANES):
            place = np.int64(truth[0, lane]) << 2 | np.int64(truth[1, lane]) << 1 | np.int64(truth[2, lane])
            out[0, lane], out[1, lane] = (
                np.uint64(rows[number, FIRST_NUMBER] >> place & 1),
                np.uint64(rows[number, FIRST_NUMBER + 1] >> place & 1),
            )
    else:  # BYTES
        for lane in range(LANES):
            pair, result = words[0, lane] | words[2, lane] << _WORD, np.uint64(0)
            for each in range(4):
                choice = words[1, lane] >> np.uint64(4 * each)
                byte = pair >> ((choice & np.uint64(7)) * np.uint64(8)) & np.uint64(255)
                if choice & np.uint64(8):
                    byte = np.uint64(255) if byte > np.uint64(127) else np.uint64(0)
                result |= byte << np.uint64(8 * each)
            out[0, lane] = result


@uncounted_inner
def _choices(rows: Numbers, number: int, words: Longs, truth: Truth, out: Longs) -> None:
    """Write comparisons, and words that are chosen."""
    code, signed = rows[number, CODE], rows[number, SIGNED] != 0
    if code == _COMPARE:
        _compare(rows, number, words, truth, out)
    elif code == _SELECT:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] if truth[0, lane] else words[1, lane]
    elif code == _SELECT_BY_WORD:
        relation = rows[number, FIRST_NUMBER]
        below = relation in (EQUAL, LESS_EQUAL, GREATER_EQUAL)
        for lane in range(LANES):
            first = _related(relation, _number(words[2, lane], signed), np.int64(0), below)
            out[0, lane] = words[0, lane] if first else words[1, lane]
    elif code == _EXTREME:
        for lane in range(LANES):
            left, right = words[0, lane], words[1, lane]
            if rows[number, FIRST_NUMBER] == 3:  # noqa: PLR2004  # a sum and another
                left, right = (left + right) & MASK, words[2, lane]
            lesser = _number(left, signed) <= _number(right, signed)
            out[0, lane] = left if lesser == truth[0, lane] else right
    else:  # MAGNITUDE
        for lane in range(LANES):
            out[0, lane] = np.uint64(abs(_signed(words[0, lane]))) & MASK


@uncounted_inner
def _evaluate(rows: Numbers, number: int, place: int, table: OperationTable, group: Group, words: Longs, truth: Truth, out: Longs) -> None:  # noqa: C901
    """Write the words that a row computes in each lane, in the warp at a place of the group."""
    code, warp = rows[number, CODE], group.rows[place]
    if code == _DRAW:
        _draw(rows, number, group, place, warp, out)
        return
    for each in range(rows[number, WORDS]):
        _fetch(rows, number, each, table, group, warp, words)
    for each in range(rows[number, TRUTHS]):
        _test(rows, number, each, group, warp, truth)
    # Where flags are read, they are named as the last truth.
    last = rows[number, FIRST_TRUTH + rows[number, TRUTHS] - 1] if rows[number, TRUTHS] else ZERO
    if last >= 0:
        for lane in range(LANES):
            words[FLAGS, lane] = np.uint64(group.registers[last, warp, lane])
    if code == _MOVE:
        for each in range(rows[number, WORDS]):
            for lane in range(LANES):
                out[each, lane] = words[each, lane]
    elif code <= _LAST_SUM:
        _sums(rows, number, words, truth, out)
    elif code <= _LAST_SHIFT:
        _shifts(rows, number, words, out)
    elif code <= _LAST_TABLE:
        _bits(rows, number, words, truth, out)
    else:
        _choices(rows, number, words, truth, out)


@uncounted_inner
def _note(rows: Numbers, number: int, table: OperationTable, group: Group, warp: int, past: Past, executing: Truth, out: Longs) -> None:
    """Note what an operation read and computed, and by how much that moved."""
    which = rows[number, NOTE]
    first, alike = past.first[which], True
    for each in range(rows[number, READS] + rows[number, WRITES]):
        for lane in range(LANES):
            if each < rows[number, READS]:
                word = group.registers[table.reads[rows[number, FIRST_READ] + each], warp, lane]
            else:
                word = np.uint32(out[table.writes[rows[number, FIRST_WRITE] + each - rows[number, READS], 1], lane])
            moved = np.uint32(word - past.words[first + each, warp, lane])
            if executing[lane] and moved != past.moved[first + each, warp, lane]:
                alike = False
            past.words[first + each, warp, lane] = word
            past.moved[first + each, warp, lane] = moved
    for lane in range(LANES):
        alike = alike and executing[lane] == past.lanes[which, warp, lane]
        past.lanes[which, warp, lane] = executing[lane]
    past.steady[which, warp] = alike
    past.times[which, warp] += 1


@uncounted_inner
def _follow(rows: Numbers, number: int, table: OperationTable, known: Known, group: Group, place: int, space: WarpSpace) -> None:
    """Say which of the words that an operation writes are certain (`Certainty.operated`)."""
    warp, whole, maybe_wrote, together = group.rows[place], True, False, True
    for lane in range(LANES):
        guard = True
        for each in range(rows[number, TESTS]):
            guard = guard and known.words[table.tests[rows[number, FIRST_TEST] + each, 0], warp, lane]
        held = rows[number, SURE] != 0 and known.path[place, lane] and guard
        for each in range(rows[number, READS]):
            held = held and known.words[table.reads[rows[number, FIRST_READ] + each], warp, lane]
        space.sure[lane] = held
        space.maybe[lane] = space.executing[lane] or (group.executing[place, lane] and not guard)
        maybe_wrote = maybe_wrote or space.maybe[lane]
        together = together and space.executing[lane] == known.alive[place, lane]
        whole = whole and known.path[place, lane] and (held or not group.executing[place, lane])
    if rows[number, BROADCAST] and maybe_wrote and not together:
        known.torn[number] = True
    for each in range(rows[number, WRITES]):
        register = table.writes[rows[number, FIRST_WRITE] + each, 0]
        for lane in range(LANES):
            if rows[number, BROADCAST]:
                if maybe_wrote:
                    known.words[register, warp, lane] = whole
            elif space.maybe[lane]:
                known.words[register, warp, lane] = space.sure[lane]


@uncounted_inner
def _execute_where(rows: Numbers, number: int, table: OperationTable, group: Group, place: int, executing: Truth) -> None:
    """Say which lanes execute a row."""
    warp = group.rows[place]
    for lane in range(LANES):
        executing[lane] = group.executing[place, lane] and rows[number, TESTS] != NEVER
    for each in range(rows[number, FIRST_TEST], rows[number, FIRST_TEST] + rows[number, TESTS]):
        register, negated = table.tests[each, 0], table.tests[each, 1] != 0
        for lane in range(LANES):
            executing[lane] &= (group.registers[register, warp, lane] != 0) != negated


@uncounted
def execute(table: OperationTable, group: Group, known: Known, past: Past, space: WarpSpace) -> None:  # noqa: C901, PLR0912 - compiled as a whole
    """Execute rows, one after the other, for each warp of a group."""
    rows = table.rows
    words, out, truth, executing = space.words, space.out, space.truth, space.executing
    for place in range(len(group.rows)):
        warp = group.rows[place]
        for number in range(len(rows)):
            _execute_where(rows, number, table, group, place, executing)
            _evaluate(rows, number, place, table, group, words, truth, out)
            if rows[number, NOTE] >= 0:
                _note(rows, number, table, group, warp, past, executing, out)
            if past.follows and not rows[number, EXACT]:
                for lane in range(LANES):
                    if executing[lane]:
                        unknown = rows[number, SURE] == 0
                        for each in range(rows[number, READS]):
                            unknown = unknown or past.unknown[table.reads[rows[number, FIRST_READ] + each], warp, lane]
                        for each in range(rows[number, WRITES]):
                            past.unknown[table.writes[rows[number, FIRST_WRITE] + each, 0], warp, lane] = unknown
            if known.follows:
                _follow(rows, number, table, known, group, place, space)
            if rows[number, BROADCAST]:
                _broadcast(rows, number, table, group, warp, executing, out)
            for each in range(rows[number, WRITES]):
                register, which = table.writes[rows[number, FIRST_WRITE] + each, 0], table.writes[rows[number, FIRST_WRITE] + each, 1]
                for lane in range(LANES):
                    if executing[lane]:
                        group.registers[register, warp, lane] = np.uint32(out[which, lane])


@uncounted_inner
def _broadcast(rows: Numbers, number: int, table: OperationTable, group: Group, warp: int, executing: Truth, out: Longs) -> None:
    """Give each lane what the first one computed that executes; where sides have copies of their own, those that read the same only."""
    leader = LANES
    for lane in range(LANES - 1, -1, -1):
        if executing[lane]:
            leader = lane
    if leader == LANES:
        return
    for lane in range(LANES):
        alike = True
        if group.separate:
            for each in range(rows[number, READS]):
                register = table.reads[rows[number, FIRST_READ] + each]
                if table.one_copy[register]:
                    alike = alike and group.registers[register, warp, lane] == group.registers[register, warp, leader]
        else:
            executing[lane] = True
        if alike and lane != leader:
            for each in range(rows[number, WRITES]):
                which = table.writes[rows[number, FIRST_WRITE] + each, 1]
                out[which, lane] = out[which, leader]
