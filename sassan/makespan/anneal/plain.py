"""Simulated annealing over warp pseudo-precedence strings in plain Python (Berezovskyi et al. 2013, V and VII).

The compiled chain (kernel.py) is tested against it: same seed, same moves, same results, bit for bit. It also runs small instances, for
which loading the compiler would take longer than the search.
"""

from dataclasses import dataclass, replace
from enum import IntEnum

from sassan.makespan.schedule import Schedule
from sassan.makespan.start import NumberedProblem, Start, construct, start

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class Move(IntEnum):
    """How a neighbour is made; SWAP is the published move, the others are added here (docs/developer/design/makespan.md compares them)."""

    SWAP = 0
    INSERT = 1
    WARP = 2
    BLOCK = 3


class AcceptanceRule(IntEnum):
    """When a candidate whose score is `drop` slots lower is accepted, at temperature T.

    EQUATION_3 is the paper's: with probability min(1, T / drop). LINEAR, with probability max(0, 1 - drop / T), refuses what is far
    below, which Equation 3 at times accepts.
    """

    EQUATION_3 = 0
    LINEAR = 1


@dataclass(frozen=True, slots=True)
class AnnealingPlan:
    """`iterations` candidates per chain while the temperature falls linearly from `temperature`, in slots, to 0.

    A move that occurs several times in `moves` is drawn as many times as often. The score of a string is its makespan plus `lateness`
    times the mean slot of all instructions: 0 is the paper's objective; more distinguishes strings of one makespan, and prefers those in
    which the processor falls behind early.
    """

    iterations: int
    temperature: float = 0.3
    moves: tuple[Move, ...] = (Move.SWAP,)
    rule: AcceptanceRule = AcceptanceRule.EQUATION_3
    lateness: int = 0


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain between two slices of its run; `random` is the state of its generator.

    `iteration` counts candidates drawn; `evaluations` those that differ from the current string and were therefore evaluated;
    `placements` the instructions that these evaluations placed.
    """

    number: int
    start: Start
    random: int
    precedence: tuple[int, ...]
    makespan: int
    best: tuple[int, ...]
    best_makespan: int
    iteration: int = 0
    evaluations: int = 0
    placements: int = 0
    accepted: int = 0


class Random:
    """xorshift64*: a few operations that the compiled version repeats exactly."""

    def __init__(self, state: int) -> None:
        """Take a state that is not 0."""
        self.state = state

    def draw(self) -> int:
        """Return 64 bits."""
        word = self.state
        word ^= word >> 12
        word ^= word << 25 & _WORD
        word ^= word >> 27
        self.state = word
        return word * 0x2545F4914F6CDD1D & _WORD

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1; `count` is below 2**32."""
        return (self.draw() >> 32) * count >> 32

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        return (self.draw() >> 11) * 2.0**-53


def seeded(seed: int, number: int) -> Random:
    """Return the generator of chain `number`: splitmix64 keeps neighbouring seeds apart."""
    word = (seed * 0x632BE59BD9B4E019 + (number + 1) * _GOLDEN) & _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return Random(word ^ word >> 31 or _GOLDEN)


def chain(case: NumberedProblem, number: int, kind: Start, seed: int) -> Chain:
    """Return chain `number` before its first candidate."""
    random = seeded(seed, number)
    row = list(start(case, kind))
    if kind is Start.RANDOM:
        for index in range(len(row) - 1, 0, -1):
            swapped = random.below(index + 1)
            row[index], row[swapped] = row[swapped], row[index]
    precedence = tuple(row)
    makespan = construct(case, precedence).makespan
    return Chain(number, kind, random.state, precedence, makespan, precedence, makespan)


def propose(row: list[int], lengths: tuple[int, ...], move: Move, random: Random) -> list[int]:
    """Return a neighbour of `row`; it may equal `row`. `lengths[w]` is how often warp `w` occurs."""
    match move:
        case Move.SWAP:
            return _swap(row, random)
        case Move.INSERT:
            return _insert(row, random)
        case Move.WARP:
            return _warp(row, lengths, random)
        case Move.BLOCK:
            return _block(row, len(lengths), random)


def _swap(row: list[int], random: Random) -> list[int]:
    first, second = random.below(len(row)), random.below(len(row))
    out = row.copy()
    out[first], out[second] = out[second], out[first]
    return out


def _insert(row: list[int], random: Random) -> list[int]:
    source, target = random.below(len(row)), random.below(len(row))
    out = row.copy()
    out.insert(target, out.pop(source))
    return out


def _warp(row: list[int], lengths: tuple[int, ...], random: Random) -> list[int]:
    """Keep some first instructions of a warp, and run all its others without interruption at a later place."""
    warp = random.below(len(lengths))
    if not lengths[warp]:
        return row
    kept = random.below(lengths[warp])
    places = [index for index, entry in enumerate(row) if entry == warp][kept:]
    rest = row[: places[0]] + [entry for entry in row[places[0] :] if entry != warp]
    target = places[0] + random.below(len(rest) - places[0] + 1)
    return rest[:target] + [warp] * len(places) + rest[target:]


def _block(row: list[int], warps: int, random: Random) -> list[int]:
    """Cut up to three rounds of the warps out, and put them in elsewhere."""
    size = 1 + random.below(min(len(row) - 1, 3 * warps))
    source, target = random.below(len(row) - size + 1), random.below(len(row) - size + 1)
    rest = row[:source] + row[source + size :]
    return rest[:target] + row[source : source + size] + rest[target:]


def score(case: NumberedProblem, plan: AnnealingPlan, schedule: Schedule) -> int:
    """Return the score of a schedule, times the number of instructions."""
    return schedule.makespan * case.total + plan.lateness * sum(sum(row) for row in schedule.slots)


def accepts(plan: AnnealingPlan, drop: float, temperature: float, random: Random) -> bool:
    """Draw whether a candidate whose score is `drop` slots lower is accepted."""
    if plan.rule is AcceptanceRule.EQUATION_3:
        return random.uniform() * drop < temperature
    return random.uniform() * temperature < temperature - drop


def advance(case: NumberedProblem, plan: AnnealingPlan, state: Chain, count: int) -> Chain:
    """Return the chain after at most `count` further candidates: fewer at the end of the plan, or when its best grew."""
    random = Random(state.random)
    row, makespan = list(state.precedence), state.makespan
    value = score(case, plan, construct(case, state.precedence))
    lengths = tuple(len(units) for units in case.units)
    iteration, evaluations, placements, accepted = state.iteration, state.evaluations, state.placements, state.accepted
    end = min(plan.iterations, iteration + count)
    while iteration < end and makespan <= state.best_makespan:
        temperature = plan.temperature * (1.0 - iteration / plan.iterations)
        iteration += 1
        neighbour = propose(row, lengths, plan.moves[random.below(len(plan.moves))], random)
        changed = next((index for index, (old, new) in enumerate(zip(row, neighbour, strict=True)) if old != new), None)
        if changed is None:
            continue
        schedule = construct(case, tuple(neighbour))
        candidate = score(case, plan, schedule)
        evaluations += 1
        placements += len(row) - changed
        if candidate >= value or accepts(plan, (value - candidate) / len(row), temperature, random):
            row, makespan, value = neighbour, schedule.makespan, candidate
            accepted += 1
    precedence = tuple(row)
    better = makespan > state.best_makespan
    return replace(
        state,
        random=random.state,
        precedence=precedence,
        makespan=makespan,
        best=precedence if better else state.best,
        best_makespan=max(makespan, state.best_makespan),
        iteration=iteration,
        evaluations=evaluations,
        placements=placements,
        accepted=accepted,
    )
