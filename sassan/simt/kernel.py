"""The compiled execution of micro-operations (`micro_operations.py`): warp by warp, each operation in all of its lanes."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.jit.decorators import inner, unchecked
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
_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_WORD = np.uint64(32)

# The columns of a row.
CODE, WORDS, TRUTHS, FIRST_WORD, FIRST_TRUTH, NEGATED, INVERTED, OTHERWISE, SIGNED, FIRST_NUMBER = 0, 1, 2, 3, 7, 10, 11, 12, 13, 14
BROADCAST, NOTE, FIRST_TEST, TESTS, FIRST_READ, READS, FIRST_WRITE, WRITES, SURE, EXACT = 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
COLUMNS = 29
NEVER = -1
"""The number of tests of a condition that never holds."""

_FLAGS = 4
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


@inner
def _stirred(state: np.uint64, word: np.uint64) -> np.uint64:
    mixed = ((state ^ word) * _FACTOR) & MASK
    return mixed ^ (mixed >> np.uint64(15))


@inner
def _signed(word: np.uint64) -> np.int64:
    return np.int64(np.int32(np.uint32(word)))


@inner
def _number(word: np.uint64, signed: bool) -> np.int64:
    return _signed(word) if signed else np.int64(word)


@inner
def _related(relation: int, a: np.int64, b: np.int64, below: bool) -> bool:
    if relation == EQUAL:
        return bool(a == b and below)
    if relation == NOT_EQUAL:
        return bool(a != b or below)
    if relation in (LESS, LESS_EQUAL):
        return bool(a < b or (a == b and below))
    return bool(a > b or (a == b and below))


@inner
def _combine(how: int, a: bool, b: bool) -> bool:
    if how == AND:
        return bool(a and b)
    return bool(a or b) if how == OR else bool(a != b)


@inner
def _fetch(row: Numbers, place: int, table: OperationTable, group: Group, warp: int, word: Longs) -> None:  # noqa: PLR0913, PLR0917
    """Write the word of each lane at a place of a row, with its sign."""
    source = row[FIRST_WORD + place]
    if source >= 0:
        for lane in range(LANES):
            word[lane] = np.uint64(group.registers[source, warp, lane])
    else:
        value = np.uint64(0) if source == ZERO else np.uint64(table.constants[ZERO - 1 - source, warp])
        for lane in range(LANES):
            word[lane] = value
    if row[NEGATED] >> place & 1:
        for lane in range(LANES):
            word[lane] = (~word[lane] + _ONE) & MASK
    elif row[INVERTED] >> place & 1:
        for lane in range(LANES):
            word[lane] = ~word[lane] & MASK


@inner
def _test(row: Numbers, place: int, group: Group, warp: int, truth: Truth) -> None:
    """Write the truth of each lane at a place of a row."""
    source = row[FIRST_TRUTH + place]
    negated = row[OTHERWISE] >> place & 1 != 0
    for lane in range(LANES):
        held = True if source < 0 else group.registers[source, warp, lane] != 0
        truth[lane] = held != negated


@inner
def _add(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:
    options = row[FIRST_NUMBER]
    for lane in range(LANES):
        total, carry = np.uint64(0), np.uint64(0)
        for place in range(row[WORDS]):
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
        more = words[_FLAGS, lane] & _ONE if options & FROM_FLAGS else np.uint64(0)
        if options & X and not options & FROM_FLAGS:
            for each in range(row[TRUTHS]):
                more += np.uint64(truth[each, lane])
        total += more
        carry += more
        out[0, lane] = total & MASK
        out[1, lane] = np.uint64(carry >> _WORD > 0)
        out[2, lane] = np.uint64(carry >> _WORD > 1)
        out[3, lane] = np.uint64(carry >> _WORD != 0) | np.uint64(total & MASK == 0) << _ONE


@inner
def _multiply_halves(row: Numbers, words: Longs, out: Longs) -> None:
    options, half, places = row[FIRST_NUMBER], np.uint64(0xFFFF), np.uint64(16)
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


@inner
def _scaled_add(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:
    options, places = row[FIRST_NUMBER], np.uint64(row[FIRST_NUMBER + 1])
    for lane in range(LANES):
        if options & OF_NEXT:
            shifted = (words[0, lane] | words[2, lane] << _WORD) >> (_WORD - places)
        elif options & SIGNED_NEXT:
            shifted = np.uint64(_signed(words[0, lane]) >> (32 - np.int64(places)))
        else:
            shifted = words[0, lane] << places
        total = (shifted & MASK) + words[1, lane]
        if options & CARRIES:
            total += words[_FLAGS, lane] & _ONE
        else:
            for each in range(row[TRUTHS]):
                total += np.uint64(truth[each, lane])
        out[0, lane] = total & MASK
        out[1, lane] = np.uint64(total >> _WORD != 0)
        out[3, lane] = np.uint64(total >> _WORD != 0) | np.uint64(total & MASK == 0) << _ONE


@inner
def _compare(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:
    relation, how, options, signed = row[FIRST_NUMBER], row[FIRST_NUMBER + 1], row[FIRST_NUMBER + 2], row[SIGNED] != 0
    for lane in range(LANES):
        below = relation in (EQUAL, LESS_EQUAL, GREATER_EQUAL)
        if options & LOW_IS_TRUTH:
            below = truth[1, lane]
        elif options & LOW_IS_FLAGS:
            carry, zero = words[_FLAGS, lane] & np.uint64(1) != 0, words[_FLAGS, lane] & np.uint64(2) != 0
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


@inner
def _draw(row: Numbers, group: Group, place: int, warp: int, out: Longs) -> None:
    time = np.uint64(0) if group.lasting[warp] else np.uint64(group.time[place])
    start = _stirred(_stirred(np.uint64(group.salt[warp]), np.uint64(row[FIRST_NUMBER])), time)
    for lane in range(LANES):
        state = start
        if row[FIRST_NUMBER + 1]:
            for which in range(row[WORDS]):
                state = _stirred(state, np.uint64(group.registers[row[FIRST_WORD + which], warp, lane]))
        else:
            state = _stirred(state, np.uint64(lane))
        for which in range(row[WRITES]):
            word = _stirred(state, np.uint64(which))
            if row[FIRST_NUMBER + 2] >> which & 1:
                word >>= np.uint64(31)
            elif word & np.uint64(64):
                word %= np.uint64(24)
            out[which, lane] = word


@inner
def _sums(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:  # noqa: C901, PLR0912 - a sum each
    """Write sums and products."""
    code = row[CODE]
    if code == _ADD:
        _add(row, words, truth, out)
    elif code == _SCALED_ADD:
        _scaled_add(row, words, truth, out)
    elif code == _MULTIPLY_HALVES:
        _multiply_halves(row, words, out)
    elif code == _MULTIPLY:
        for lane in range(LANES):
            total = words[0, lane] * words[1, lane] + words[2, lane]
            if row[FIRST_NUMBER] & FROM_FLAGS:
                total += words[_FLAGS, lane] & _ONE
            else:
                for each in range(row[TRUTHS]):
                    total += np.uint64(truth[each, lane])
            out[0, lane] = total & MASK
    elif code == _MULTIPLY_WIDE:
        for lane in range(LANES):
            left, right = _number(words[0, lane], row[SIGNED] != 0), _number(words[1, lane], row[SIGNED] != 0)
            whole = np.uint64(left) * np.uint64(right) + (words[2, lane] | words[3, lane] << _WORD)
            out[0, lane], out[1, lane] = whole & MASK, whole >> _WORD
    elif code == _SUM:
        for lane in range(LANES):
            total = np.uint64(row[FIRST_NUMBER])
            for each in range(row[WORDS]):
                total += words[each, lane] * np.uint64(row[FIRST_NUMBER + 1 + each])
            out[0, lane] = total & MASK
    elif code == _QUOTIENT:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] // np.uint64(row[FIRST_NUMBER])
    else:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] % np.uint64(row[FIRST_NUMBER])


@inner
def _shifts(row: Numbers, words: Longs, out: Longs) -> None:
    """Write what is shifted, and fields of words."""
    code, signed = row[CODE], row[SIGNED] != 0
    if code == _SHIFT_LEFT:
        for lane in range(LANES):
            out[0, lane] = (words[0, lane] << words[1, lane]) & MASK if words[1, lane] < _WORD else np.uint64(0)
    elif code == _SHIFT_RIGHT:
        for lane in range(LANES):
            places = np.int64(min(words[1, lane], np.uint64(63)))
            out[0, lane] = np.uint64(_number(words[0, lane], signed) >> places) & MASK
    elif code == _FUNNEL_RIGHT:
        for lane in range(LANES):
            out[0, lane] = ((words[0, lane] | words[1, lane] << _WORD) >> np.uint64(row[FIRST_NUMBER])) & MASK
    elif code == _FUNNEL_LEFT:
        for lane in range(LANES):
            out[0, lane] = ((words[0, lane] | words[1, lane] << _WORD) << np.uint64(row[FIRST_NUMBER])) >> _WORD
    else:  # FIELD
        first, width = np.uint64(row[FIRST_NUMBER]), np.uint64(row[FIRST_NUMBER + 1])
        sign = _ONE << width >> _ONE
        for lane in range(LANES):
            field = words[0, lane] >> first & ((_ONE << width) - _ONE)
            out[0, lane] = ((field ^ sign) - sign) & MASK if signed else field


@inner
def _bits(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:
    """Write what tables of truths say, and bytes that are chosen."""
    code = row[CODE]
    if code == _TABLE:
        for lane in range(LANES):
            result = np.uint64(0)
            for which in range(8):
                if row[FIRST_NUMBER] >> which & 1:
                    left = words[0, lane] if which & 4 else ~words[0, lane]
                    middle = words[1, lane] if which & 2 else ~words[1, lane]
                    right = words[2, lane] if which & 1 else ~words[2, lane]
                    result |= left & middle & right
            out[0, lane] = result & MASK
            out[1, lane] = np.uint64(result & MASK != 0 or (row[FIRST_NUMBER + 1] != 0 and truth[0, lane]))
    elif code == _TRUTHS:
        for lane in range(LANES):
            place = np.int64(truth[0, lane]) << 2 | np.int64(truth[1, lane]) << 1 | np.int64(truth[2, lane])
            out[0, lane], out[1, lane] = np.uint64(row[FIRST_NUMBER] >> place & 1), np.uint64(row[FIRST_NUMBER + 1] >> place & 1)
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


@inner
def _choices(row: Numbers, words: Longs, truth: Truth, out: Longs) -> None:
    """Write comparisons, and words that are chosen."""
    code, signed = row[CODE], row[SIGNED] != 0
    if code == _COMPARE:
        _compare(row, words, truth, out)
    elif code == _SELECT:
        for lane in range(LANES):
            out[0, lane] = words[0, lane] if truth[0, lane] else words[1, lane]
    elif code == _SELECT_BY_WORD:
        relation = row[FIRST_NUMBER]
        below = relation in (EQUAL, LESS_EQUAL, GREATER_EQUAL)
        for lane in range(LANES):
            first = _related(relation, _number(words[2, lane], signed), np.int64(0), below)
            out[0, lane] = words[0, lane] if first else words[1, lane]
    elif code == _EXTREME:
        for lane in range(LANES):
            left, right = words[0, lane], words[1, lane]
            if row[FIRST_NUMBER] == 3:  # noqa: PLR2004  # a sum and another
                left, right = (left + right) & MASK, words[2, lane]
            lesser = _number(left, signed) <= _number(right, signed)
            out[0, lane] = left if lesser == truth[0, lane] else right
    else:  # MAGNITUDE
        for lane in range(LANES):
            out[0, lane] = np.uint64(abs(_signed(words[0, lane]))) & MASK


@inner
def _evaluate(row: Numbers, place: int, table: OperationTable, group: Group, words: Longs, truth: Truth, out: Longs) -> None:  # noqa: C901, PLR0913, PLR0917
    """Write the words that a row computes in each lane, in the warp at a place of the group."""
    code, warp = row[CODE], group.rows[place]
    if code == _DRAW:
        _draw(row, group, place, warp, out)
        return
    for each in range(row[WORDS]):
        _fetch(row, each, table, group, warp, words[each])
    for each in range(row[TRUTHS]):
        _test(row, each, group, warp, truth[each])
    # Where flags are read, they are named as the last truth.
    last = row[FIRST_TRUTH + row[TRUTHS] - 1] if row[TRUTHS] else ZERO
    if last >= 0:
        for lane in range(LANES):
            words[_FLAGS, lane] = np.uint64(group.registers[last, warp, lane])
    if code == _MOVE:
        for each in range(row[WORDS]):
            for lane in range(LANES):
                out[each, lane] = words[each, lane]
    elif code <= _LAST_SUM:
        _sums(row, words, truth, out)
    elif code <= _LAST_SHIFT:
        _shifts(row, words, out)
    elif code <= _LAST_TABLE:
        _bits(row, words, truth, out)
    else:
        _choices(row, words, truth, out)


@inner
def _note(row: Numbers, table: OperationTable, group: Group, warp: int, past: Past, executing: Truth, out: Longs) -> None:  # noqa: PLR0913, PLR0917
    """Note what an operation read and computed, and by how much that moved."""
    which = row[NOTE]
    first, alike = past.first[which], True
    for each in range(row[READS] + row[WRITES]):
        for lane in range(LANES):
            if each < row[READS]:
                word = group.registers[table.reads[row[FIRST_READ] + each], warp, lane]
            else:
                word = np.uint32(out[table.writes[row[FIRST_WRITE] + each - row[READS], 1], lane])
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


@inner
def _follow(row: Numbers, number: int, table: OperationTable, known: Known, group: Group, place: int, executing: Truth) -> None:  # noqa: PLR0913, PLR0917
    """Say which of the words that an operation writes are certain (`Certainty.operated`)."""
    warp, whole, maybe_wrote, together = group.rows[place], True, False, True
    sure, maybe = np.empty(LANES, np.bool_), np.empty(LANES, np.bool_)
    for lane in range(LANES):
        guard = True
        for each in range(row[TESTS]):
            guard = guard and known.words[table.tests[row[FIRST_TEST] + each, 0], warp, lane]
        held = row[SURE] != 0 and known.path[place, lane] and guard
        for each in range(row[READS]):
            held = held and known.words[table.reads[row[FIRST_READ] + each], warp, lane]
        sure[lane] = held
        maybe[lane] = executing[lane] or (group.executing[place, lane] and not guard)
        maybe_wrote = maybe_wrote or maybe[lane]
        together = together and executing[lane] == known.alive[place, lane]
        whole = whole and known.path[place, lane] and (held or not group.executing[place, lane])
    if row[BROADCAST] and maybe_wrote and not together:
        known.torn[number] = True
    for each in range(row[WRITES]):
        register = table.writes[row[FIRST_WRITE] + each, 0]
        for lane in range(LANES):
            if row[BROADCAST]:
                if maybe_wrote:
                    known.words[register, warp, lane] = whole
            elif maybe[lane]:
                known.words[register, warp, lane] = sure[lane]


@unchecked
def execute(table: OperationTable, group: Group, known: Known, past: Past) -> None:  # noqa: C901, PLR0912 - compiled as a whole
    """Execute rows, one after the other, for each warp of a group."""
    words, out = np.zeros((_FLAGS + 1, LANES), np.uint64), np.zeros((4, LANES), np.uint64)
    truth, executing = np.empty((3, LANES), np.bool_), np.empty(LANES, np.bool_)
    for place in range(len(group.rows)):
        warp = group.rows[place]
        for number in range(len(table.rows)):
            row = table.rows[number]
            leader = -1
            for lane in range(LANES):
                here = group.executing[place, lane] and row[TESTS] != NEVER
                for each in range(row[TESTS]):
                    test = table.tests[row[FIRST_TEST] + each]
                    here = here and (group.registers[test[0], warp, lane] != 0) != (test[1] != 0)
                executing[lane] = here
                if here and leader < 0:
                    leader = lane
            _evaluate(row, place, table, group, words, truth, out)
            if row[NOTE] >= 0:
                _note(row, table, group, warp, past, executing, out)
            if past.follows and not row[EXACT]:
                for lane in range(LANES):
                    if executing[lane]:
                        unknown = row[SURE] == 0
                        for each in range(row[READS]):
                            unknown = unknown or past.unknown[table.reads[row[FIRST_READ] + each], warp, lane]
                        for each in range(row[WRITES]):
                            past.unknown[table.writes[row[FIRST_WRITE] + each, 0], warp, lane] = unknown
            if known.follows:
                _follow(row, number, table, known, group, place, executing)
            if row[BROADCAST] and leader >= 0:
                _broadcast(row, table, group, warp, leader, executing, out)
            for each in range(row[WRITES]):
                register, which = table.writes[row[FIRST_WRITE] + each]
                for lane in range(LANES):
                    if executing[lane]:
                        group.registers[register, warp, lane] = np.uint32(out[which, lane])


@inner
def _broadcast(row: Numbers, table: OperationTable, group: Group, warp: int, leader: int, executing: Truth, out: Longs) -> None:  # noqa: PLR0913, PLR0917
    """Give each lane what the first one computed that executes; where sides have copies of their own, those that read the same only."""
    for lane in range(LANES):
        alike = True
        if group.separate:
            for each in range(row[READS]):
                register = table.reads[row[FIRST_READ] + each]
                if table.one_copy[register]:
                    alike = alike and group.registers[register, warp, lane] == group.registers[register, warp, leader]
        else:
            executing[lane] = True
        if alike and lane != leader:
            for each in range(row[WRITES]):
                which = table.writes[row[FIRST_WRITE] + each, 1]
                out[which, lane] = out[which, leader]
