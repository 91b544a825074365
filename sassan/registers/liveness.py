"""Live registers: a register is live where a thread may read its value later."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.domains.live import LiveDomain
from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.timing import hazards
from sassan.timing.hazards import accessed
from sassan.timing.steps import steps

_EXTERNAL = "unknown-callee"


@dataclass(frozen=True, slots=True)
class Liveness:
    """Sets of registers (`isa.registers`), by the index of an instruction in its function.

    `before` and `after` hold what is live there, `writes` what the instruction may write. `gaps` name what was not followed: there,
    everything is live.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    writes: tuple[int, ...]
    gaps: tuple[Gap, ...] = ()

    def in_use(self, index: int) -> int:
        """Return the registers that need a place at an instruction: live before it, or written by it."""
        return self.before[index] | self.writes[index]


@dataclass(frozen=True, slots=True)
class _Step:
    """What an instruction may read, what it surely overwrites, what it may write."""

    reads: int
    kills: int
    writes: int


def liveness(function: Function, facts_of: Callable[[Instruction], Facts | None]) -> Liveness:
    """Return the live registers of machine code.

    Raises InputError for an architecture without tables, SelfCheckError.
    """
    facts = [facts_of(instruction) for instruction in function.instructions]
    walk = steps(function, facts)
    table = hazards.load(function.arch)
    every = reduce(or_, (known.reads | known.writes | known.guard for known in facts if known is not None), 0)
    code = [_step(each, known, accessed(each, known, table.profile(each.opcode))[2], every) for each, known in _pairs(function, facts)]
    sources: list[list[int]] = [[] for _ in code]
    for index, following in enumerate(walk.after):
        for other in following:
            sources[other].append(index)

    def entered(index: int, live: int) -> int:
        return live & ~code[index].kills | code[index].reads

    def transfer(index: int, live: int) -> Iterator[tuple[int, int]]:
        before = entered(index, live)
        for source in sources[index]:
            yield source, before

    # Backwards: the state of a node is what is live behind it. Code that is not here may read everything.
    start = {index: every if index in walk.unknown else 0 for index in range(len(code))}
    problem = FixpointProblem(LiveDomain(), transfer, start, lambda index: (-index,))
    states = solve(problem).states
    verify(problem, states, name=lambda index: f"0x{function.instructions[index].address:04x}")
    after = tuple(states[index] for index in range(len(code)))
    before = tuple(entered(index, live) for index, live in enumerate(after))
    gaps = tuple(gap for gap in walk.gaps if gap.code != _EXTERNAL)
    return Liveness(before, after, tuple(each.writes for each in code), gaps)


def _pairs(function: Function, facts: Sequence[Facts | None]) -> Iterator[tuple[Instruction, Facts | None]]:
    return zip(function.instructions, facts, strict=True)


def _step(instruction: Instruction, facts: Facts | None, surely: int, every: int) -> _Step:
    if facts is None:
        return _Step(every, 0, 0)
    reads = facts.reads | facts.guard | facts.condition
    return _Step(reads, surely if instruction.guard is None else 0, facts.writes)
