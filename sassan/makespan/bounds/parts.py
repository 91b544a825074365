"""The bound of warps that wait for each other at barriers, whatever strings they run: a warp is followed from barrier to barrier."""

from collections.abc import Mapping
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.makespan.bounds.waiting import weights
from sassan.makespan.problem import Problem
from sassan.strings.kernel_string import KernelString, LetterRun

_MOST = 100_000
"""Barriers of all different strings up to which each part between two of them is looked at."""


def followed_parts(problem: Problem) -> int:
    """Return the bound: the weight of all instructions, and for each part between barriers the largest gain of a warp that is followed.

    Proof: docs/proofs/makespan-strings.md, "Barriers of different strings".
    """
    shares = problem.shares
    counts = {string: string.counts() for string in shares}
    if sum(string.barriers for string in shares) > _MOST:
        # At each moment some instruction is between its begin and its end.
        slots = {string: sum(count * problem.latency.get(letter, 1) for letter, count in counts[string].items()) for string in shares}
        return sum(slots[string] * count for string, count in shares.items())
    weight = weights(problem)
    gain = {letter: problem.latency.get(letter, 1) - each for letter, each in weight.items()}
    parts = {string: _parts(string, gain) for string in shares}
    total = sum((count * counts[string][letter] * weight[letter] for string, count in shares.items() for letter in weight), Fraction())
    first, best = 0, Fraction()
    for size in problem.blocks or (1,) * problem.warps:
        best = max(best, _most([parts[string] for string in dict.fromkeys(problem.strings[first : first + size])]))
        first += size
    return int(total + best)


def _most(strings: list[list[Fraction]]) -> Fraction:
    """Return the sum over the parts of the largest gain of a string that has this part."""
    return sum((max(row[number] for row in strings if number < len(row)) for number in range(max(map(len, strings)))), Fraction())


def _parts(string: KernelString, gain: Mapping[Letter, Fraction]) -> list[Fraction]:
    """Return the gain of each part between barriers; what has no barrier is not expanded."""
    if not string.barriers:
        return [sum((count * gain[letter] for letter, count in string.counts().items() if count), Fraction())]
    row = [Fraction()]
    for part in string.parts:
        if isinstance(part, LetterRun):
            if part.letter is Letter.BARRIER:
                row += [Fraction()] * part.count
            else:
                row[-1] += part.count * gain[part.letter]
            continue
        body = _parts(part.body, gain)
        for _ in range(part.times if len(body) > 1 else 1):
            row[-1] += body[0] * (1 if len(body) > 1 else part.times)
            row += body[1:]
    return row
