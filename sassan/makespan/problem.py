"""The makespan problem: strings, one per warp, and how many instructions of each kind run per slot.

The model (docs/concepts/time.md, "The longest makespan of a string"): each warp runs its string in order, at most one
instruction per slot. In every slot a maximal set runs: with n_U warps ready for unit U, min(issue, sum_U min(n_U, capacity_U)) instructions
run. The question is the longest possible
schedule.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.errors import InputError, UsageError
from sassan.strings.kernel_string import Group, KernelString, LetterRun, of


@dataclass(frozen=True, slots=True)
class Processor:
    """What a streaming multiprocessor runs per slot, as the user gives it.

    `capacity` (sigma_U) is in warp instructions per slot and may be a fraction; a missing letter has no unit. `latency` is in slots
    (1 for a missing letter). `issue` (sigma) limits the instructions of one slot; None: unlimited.
    """

    capacity: Mapping[Letter, Fraction]
    latency: Mapping[Letter, int]
    issue: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One instance, transformed: every capacity is at least 1 and every instruction takes one slot.

    A capacity may still be a fraction above 1 (3/2): bounds round it down, the exact engines refuse it.
    """

    strings: tuple[KernelString, ...]
    capacity: Mapping[Letter, Fraction]
    issue: int | None = None

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return len(self.strings)

    @property
    def identical(self) -> bool:
        """Say whether all warps run the same string."""
        return len(self.shares) == 1

    @property
    def shares(self) -> dict[KernelString, int]:
        """Return how many warps run each string, in the order of the first warp of each."""
        return _shares(self.strings)


def problem(strings: tuple[KernelString, ...], processor: Processor) -> Problem:
    """Return the instance with fractions below 1 and latencies removed by repeating letters.

    A unit with capacity 1/n becomes one with capacity 1 and each of its letters n letters (Berezovskyi et al. 2011, Figure 1); an
    instruction of x slots becomes x letters (Berezovskyi et al. 2013, III-E); both together multiply.
    Raises UsageError `no-warps`, `bad-issue`, `bad-latency`; InputError `no-unit` for a letter without a unit.
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
    factors = {letter: _factor(letter, processor) for letter in sorted(used)}
    capacity = {letter: max(Fraction(1), processor.capacity[letter]) for letter in sorted(used)}
    if all(factor == 1 for factor in factors.values()):
        return Problem(strings, capacity, processor.issue)
    changed = {string: transform(string, factors) for string in shares}
    return Problem(tuple(changed[string] for string in strings), capacity, processor.issue)


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
    capacity = processor.capacity[letter]
    # 1/sigma rounded up: a unit that is modelled slower by a fraction of a slot only lengthens the string.
    return latency * (-(-capacity.denominator // capacity.numerator) if capacity < 1 else 1)


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
        else Group(transform(part.body, factors), part.times)
        for part in string.parts
    )
