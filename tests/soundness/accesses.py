"""Accesses of memory drawn as lane words, and what the 32 addresses of a warp cost when they are counted one by one, in numpy.

What `sassan/access` says of a word must hold of every value that the word stands for, for a full warp and for any part of it.
"""

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace, Reference
from sassan.access.warp_costs import ALIGNMENT, counted
from sassan.domains.lanes import LANES, SIZE, LaneWord, word

Addresses = NDArray[np.int64]
"""Of shape (draws, lanes), each below 2^32."""
Active = NDArray[np.bool_]
"""Of the same shape."""

_SPACES = (MemorySpace.GLOBAL, MemorySpace.GENERIC, MemorySpace.SHARED, MemorySpace.LOCAL, MemorySpace.CONSTANT)
_STRIDES = (1, 2, 4, 8, 12, 16, 20, 32, 33, 36, 64, 128, 132, 256, 1024, 4096, -4, -8)


@dataclass(frozen=True)
class Drawn:
    """An access of a lane word."""

    reference: Reference
    word: LaneWord


def draw(source: random.Random) -> Drawn:
    """Return an access of any space and width, with lanes as programs have them and as they do not."""
    space = source.choice(_SPACES)
    matrices = space is MemorySpace.SHARED and source.random() < 0.2
    size = 16 if matrices else source.choice((1, 2, 4, 4, 8, 16, *((32,) if space is MemorySpace.GLOBAL else ())))
    atomic = space in {MemorySpace.GLOBAL, MemorySpace.GENERIC, MemorySpace.SHARED} and not matrices and source.random() < 0.3
    lanes = source.choice((8, 16, 32)) if matrices else LANES
    # Mostly multiples of the size, as programs have them.
    unit = source.choice((size, size, size, 1, 4))
    modulus = 1 << source.choice((32, 32, source.randint(0, 9), source.randint(0, 31)))
    base = "p" if space is MemorySpace.GLOBAL and modulus > 1 and source.random() < 0.5 else ""
    warps = source.choice((1, 1, 1, 2))
    table = tuple(unit * each % SIZE for _ in range(warps) for each in _lanes(source))
    rows = source.choice((*[None] * 8, tuple(lane // 16 for lane in range(LANES)), tuple(lane % 8 for lane in range(LANES))))
    held = word(source.randrange(0, SIZE, unit), modulus, table, base=base, rows=rows and rows * warps)
    return Drawn(Reference(space, size, 0, atomic, lanes), held)


def _lanes(source: random.Random) -> list[int]:
    stride, pitch, width = source.choice(_STRIDES), source.choice(_STRIDES), source.choice((2, 4, 8, 16))
    match source.randrange(6):
        case 0:
            return [0] * LANES
        case 1:
            return [lane * stride for lane in range(LANES)]
        case 2:
            return [lane % width * stride + lane // width * pitch for lane in range(LANES)]
        case 3:
            return [(lane ^ lane // width) * stride for lane in range(LANES)]
        case 4:
            return [source.randrange(64) for _ in range(LANES)]
        case _:
            return [source.randrange(SIZE) for _ in range(LANES)]


def values(drawn: Drawn, draws: int, source: np.random.Generator) -> Addresses:
    """Return addresses that the word stands for, of any warp: a part that the lanes of a row have in common, drawn anew for every warp."""
    held, count = drawn.word, drawn.reference.lanes
    rows = np.array(held.rows or (0,) * len(held.words), dtype=np.int64).reshape(-1, LANES)[:, :count]
    table = np.array(held.words, dtype=np.int64).reshape(-1, LANES)[:, :count]
    if held.rows is not None and held.lanes is None:
        table = np.full(rows.shape, held.offset, dtype=np.int64)
    warp = source.integers(0, len(rows), draws)
    # Some rows at one place, others next to each other.
    steps = source.integers(0, source.choice([1, 4, SIZE // held.modulus]), (draws, LANES)) % (SIZE // held.modulus)
    first = source.integers(0, SIZE // held.modulus, (draws, 1))
    common = np.take_along_axis((first + steps) % (SIZE // held.modulus), rows[warp], axis=1) * held.modulus
    if held.base:
        common = common + source.integers(0, SIZE // ALIGNMENT, (draws, 1)) * ALIGNMENT
    return (common + table[warp]) % SIZE


def hold(words: int, draws: int, seed: int) -> list[str]:
    """Return what is wrong with drawn accesses, each with so many addresses for a full warp and for a part of one."""
    source = random.Random(seed)
    return [text for number in range(words) if (text := finding(draw(source), draws, seed + number))]


def finding(drawn: Drawn, draws: int, seed: int) -> str:
    """Return what is wrong with what is said of an access, '' where all of it holds."""
    reference, source = drawn.reference, np.random.default_rng(seed)
    said = counted(Access(0, "", reference.space, reference.bytes, AccessPattern.UNKNOWN), reference, drawn.word)
    addresses = values(drawn, draws, source)
    everybody = np.ones(addresses.shape, dtype=np.bool_)
    for active in (everybody, source.random(addresses.shape) < source.random((draws, 1))):
        # A misaligned address traps, and so does a warp without any address.
        runs = np.flatnonzero(active.any(axis=1) & ~((addresses % reference.bytes != 0) & active).any(axis=1))
        if runs.size and (wrong := _wrong(said, reference, addresses[runs], active[runs], whole=active is everybody)):
            return f"{drawn}: {wrong}: {said}"
    return ""


def _wrong(said: Access, reference: Reference, addresses: Addresses, active: Active, *, whole: bool) -> str:
    size = reference.bytes
    expected = {
        "sectors": _sectors(addresses, active, size)
        if reference.space is not MemorySpace.LOCAL
        else _local_sectors(addresses, active, size),
        "lines": _different(addresses // 128, active),
        "passes": _different(addresses, active)
        if reference.space is MemorySpace.CONSTANT
        else _passes(addresses, active, size, single=reference.atomic),
    }
    for name, count in (("sectors", said.sectors), ("lines", said.lines), ("passes", said.passes)):
        if count is not None and (expected[name].max() > count.most or (whole and expected[name].min() < count.least)):
            return f"{expected[name].min()} to {expected[name].max()} {name}"
    together = (addresses[:, :, None] == addresses[:, None, :]) & active[:, None, :] & active[:, :, None]
    most = int(together.sum(axis=2).max())
    if said.collisions is not None and most > said.collisions:
        return f"{most} lanes at one address"
    touched = _different(_parts(addresses, size, 1), np.repeat(active, size, axis=1))
    if said.lines is not None and whole and (expected["sectors"] + -touched // 32).max() > (said.waste or 0):
        return "more waste"
    return ""


def _different(numbers: Addresses, active: Active) -> Addresses:
    """Return how many different numbers there are in each row."""
    ordered = np.sort(np.where(active, numbers, -1), axis=1)
    return (np.diff(ordered, axis=1) != 0).sum(axis=1) + (ordered[:, 0] >= 0)


def _parts(addresses: Addresses, size: int, part: int) -> Addresses:
    """Return the number of each byte, word or sector that is touched, lane by lane."""
    return ((addresses[:, :, None] + np.arange(size)) // part).reshape(len(addresses), -1)


def _sectors(addresses: Addresses, active: Active, size: int) -> Addresses:
    return _different(_parts(addresses, size, 32), np.repeat(active, size, axis=1))


def _local_sectors(addresses: Addresses, active: Active, size: int) -> Addresses:
    """Word w of lane l of local memory lies at word 32 w + l."""
    lane = np.repeat(np.arange(addresses.shape[1]), size)
    return _different((_parts(addresses, size, 4) * 32 + lane) // 8, np.repeat(active, size, axis=1))


def _passes(addresses: Addresses, active: Active, size: int, *, single: bool) -> Addresses:
    """Return the passes of halves and quarters of a warp, where each bank gives one word in each; `single`: to one lane."""
    together = 32 if size <= 4 else 128 // size
    total = np.zeros(len(addresses), dtype=np.int64)
    for first in range(0, addresses.shape[1], together):
        # Aligned, so that every fourth byte begins a word.
        words = _parts(addresses[:, first : first + together], size, 4)[:, :: min(size, 4)]
        lanes = np.repeat(active[:, first : first + together], max(size // 4, 1), axis=1)
        served = [lanes & (words % 32 == bank) for bank in range(32)]
        banks = [in_bank.sum(axis=1) if single else _different(words, in_bank) for in_bank in served]
        total += np.max(banks, axis=0)
    return total
