"""The makespan problem: strings, one per warp, and how many instructions of each kind run per slot.

The model (docs/concepts/time.md, "The longest makespan of a string"): each warp runs its string in order, at most one
instruction per slot. In every slot a maximal set runs: with n_U warps ready for unit U, min(issue, sum_U min(n_U, capacity_U)) instructions
run. The question is the longest possible
schedule.

Beyond the papers, an instruction may hold one of the places of its unit for an interval of slots, and its warp for a latency of at least
as many; then min(issue, sum_U min(n_U, free_U)) instructions begin in a slot, with free_U of the capacity not held. And a letter B makes
a warp wait, without taking a slot, until all warps of its block have come to theirs, or ended.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.errors import InputError, UsageError
from sassan.strings.kernel_string import KernelString, LetterRun, RepeatedString, of


@dataclass(frozen=True, slots=True)
class Processor:
    """What a streaming multiprocessor runs per slot, as the user gives it.

    `capacity` (sigma_U) is in warp instructions per slot and may be a fraction; a missing letter has no unit. `latency` is in slots
    (1 for a missing letter). `issue` (sigma) limits the instructions that begin in one slot; None: unlimited. `interval`, in slots, is
    how long an instruction holds its unit; for a letter without one, an instruction is as many letters in a row as its latency has slots.
    """

    capacity: Mapping[Letter, Fraction]
    latency: Mapping[Letter, int]
    issue: int | None = None
    interval: Mapping[Letter, int] = field(default_factory=dict[Letter, int])


@dataclass(frozen=True, slots=True)
class Problem:
    """One instance, transformed: every capacity is at least 1, an instruction takes one slot unless its letter has an interval or latency.

    A capacity may still be a fraction above 1 (3/2): bounds round it down, the exact engines refuse it. `interval` and `latency`, in slots,
    hold the letters where they are above 1; no interval exceeds the latency. `blocks` are the sizes of the blocks, in the order of the
    warps; empty where no string has a barrier.
    """

    strings: tuple[KernelString, ...]
    capacity: Mapping[Letter, Fraction]
    issue: int | None = None
    interval: Mapping[Letter, int] = field(default_factory=dict[Letter, int])
    latency: Mapping[Letter, int] = field(default_factory=dict[Letter, int])
    blocks: tuple[int, ...] = ()

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return len(self.strings)

    @property
    def one_slot(self) -> bool:
        """Say whether every instruction takes one slot and no warp waits at a barrier: the model of the papers."""
        return not (self.interval or self.latency or self.blocks)

    @property
    def identical(self) -> bool:
        """Say whether all warps run the same string."""
        return len(self.shares) == 1

    @property
    def shares(self) -> dict[KernelString, int]:
        """Return how many warps run each string, in the order of the first warp of each."""
        return _shares(self.strings)


def problem(strings: tuple[KernelString, ...], processor: Processor, block_warps: int | None = None) -> Problem:
    """Return the instance with fractions below 1 and, for letters without an interval, latencies removed by repeating letters.

    A unit with capacity 1/n becomes one with capacity 1 and each of its letters n letters (Berezovskyi et al. 2011, Figure 1); an
    instruction of x slots becomes x letters (Berezovskyi et al. 2013, III-E); both together multiply. With an interval, a unit with
    capacity 1/n holds each instruction n times as long. `block_warps` warps in a row are a block; None: all warps are one.
    Raises UsageError `no-warps`, `bad-issue`, `bad-latency`, `bad-blocks`; InputError `no-unit` for a letter without a unit.
    """
    if not strings:
        raise UsageError("no-warps", "the instance has no warps", hint="pass -W with 1 or more warps")
    if processor.issue is not None and processor.issue < 1:
        raise UsageError("bad-issue", f"an issue limit of {processor.issue} instructions per slot lets nothing run", hint="pass 1 or more")
    shares = _shares(strings)
    used = {letter for string in shares for letter, count in string.counts().items() if count}
    for letter in sorted(used):
        if processor.capacity.get(letter, Fraction(0)) <= 0:
            raise InputError("no-unit", f"the string contains {letter}, but no unit runs it", hint=f"pass --cap {letter}=1")
    factors = {letter: _factor(letter, processor) for letter in sorted(used) if letter not in processor.interval}
    capacity = {letter: max(Fraction(1), processor.capacity[letter]) for letter in sorted(used)}
    times = {letter: _times(letter, processor) for letter in sorted(used) if letter in processor.interval}
    blocks = _blocks(len(strings), block_warps) if any(string.barriers for string in shares) else ()
    if any(factor > 1 for factor in factors.values()):
        changed = {string: transform(string, factors) for string in shares}
        strings = tuple(changed[string] for string in strings)
    interval = {letter: held for letter, (held, _) in times.items() if held > 1}
    latency = {letter: slots for letter, (_, slots) in times.items() if slots > 1}
    return Problem(strings, capacity, processor.issue, interval, latency, blocks)


def _blocks(warps: int, size: int | None) -> tuple[int, ...]:
    if size is None:
        return (warps,)
    if size < 1:
        raise UsageError("bad-blocks", f"a block of {size} warps is out of range", hint="pass 1 or more")
    return tuple(min(size, warps - first) for first in range(0, warps, size))


def _shares(strings: tuple[KernelString, ...]) -> dict[KernelString, int]:
    # Warps mostly share one object: hashing a long string once per warp would cost more than every bound.
    same = Counter(id(string) for string in strings)
    first = {id(string): string for string in reversed(strings)}
    shares: dict[KernelString, int] = {}
    for key, count in same.items():
        shares[first[key]] = shares.get(first[key], 0) + count
    return shares


def _factor(letter: Letter, processor: Processor) -> int:
    latency = processor.latency.get(letter, 1)
    if latency < 1:
        raise UsageError("bad-latency", f"a latency of {latency} slots for {letter} is out of range", hint="pass 1 or more")
    return latency * _slowness(processor.capacity[letter])


def _slowness(capacity: Fraction) -> int:
    # 1/sigma rounded up: a unit that is modelled slower by a fraction of a slot only lengthens the string.
    return -(-capacity.denominator // capacity.numerator) if capacity < 1 else 1


def _times(letter: Letter, processor: Processor) -> tuple[int, int]:
    """Return how many slots an instruction holds its unit, and its warp."""
    interval = processor.interval[letter]
    latency = processor.latency.get(letter, interval)
    if not 1 <= interval <= latency:
        message = f"{letter} holds its unit for {interval} slots and its warp for {latency}"
        raise UsageError("bad-latency", message, hint="pass an interval of 1 or more, and a latency of at least that")
    held = interval * _slowness(processor.capacity[letter])
    return held, max(held, latency)


def runs_of(string: KernelString) -> Iterator[LetterRun]:
    """Yield the maximal runs of equal letters in order; no more of the string is expanded than the caller takes."""
    last: LetterRun | None = None
    for run in _flat(string):
        if last is not None and last.letter is run.letter:
            last = LetterRun(last.letter, last.count + run.count)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _flat(string: KernelString) -> Iterator[LetterRun]:
    for part in string.parts:
        if isinstance(part, LetterRun):
            yield part
        else:
            for _ in range(part.times):
                yield from _flat(part.body)


def transform(string: KernelString, factors: Mapping[Letter, int]) -> KernelString:
    """Return the string with each letter repeated `factors[letter]` times, without expanding it."""
    return of(
        LetterRun(part.letter, part.count * factors.get(part.letter, 1))
        if isinstance(part, LetterRun)
        else RepeatedString(transform(part.body, factors), part.times)
        for part in string.parts
    )
