"""The check of control codes: every consumer must wait for its producers.

A consumer must wait for the barrier of a producer of variable latency, or stand far enough behind one of fixed latency. The check follows
every path of a thread (`steps`) and keeps the worst where paths join: the shortest time, the fewest waits.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.arch import described
from sassan.domains.pending import Pending, PendingDomain
from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.timing.findings import MissingWait, Report
from sassan.timing.hazards import Hazards
from sassan.timing.in_flight import FindingSink, Flight
from sassan.timing.scheduled import ScheduledOp, scheduled
from sassan.timing.steps import InstructionGraph, steps
from sassan.warpcfg.blocks import contradiction


def check(function: Function, facts_of: Callable[[Instruction], Facts | None], hazards: Hazards) -> Report:
    """Return every consumer that does not wait for its producer; without control codes, only the gap that says so."""
    if any(instruction.control is None for instruction in function.instructions):
        message = "the listing has no encodings, so control codes are unknown"
        return Report((), (Gap(function.entry, "no-control-codes", message),))
    if gaps := contradiction(function):
        return Report((), gaps)
    facts = [facts_of(instruction) for instruction in function.instructions]
    unknown = [
        Gap(instruction.address, "unknown-opcode", f"no entry for '{instruction.opcode}' in the {function.arch} table")
        for instruction, known in zip(function.instructions, facts, strict=True)
        if known is None
    ]
    walk = steps(function, facts)
    code = tuple(scheduled(instruction, known, hazards) for instruction, known in zip(function.instructions, facts, strict=True))
    findings = unwaited(code, walk, hazards)
    inherited = described(function.arch).assumptions("code", "hazards", "distances")
    relied, notes = ([each for each in sorted(findings, key=_place) if (each.observations is None) is firm] for firm in (True, False))
    return Report(tuple(relied), tuple(sorted({*unknown, *walk.gaps})), inherited, tuple(notes))


def unwaited(code: tuple[ScheduledOp, ...], walk: InstructionGraph, hazards: Hazards) -> set[MissingWait]:
    """Return every consumer that does not wait for its producer. Raises SelfCheckError when the fixpoint fails its verification."""
    return _Check(code, walk.after, walk.unknown, hazards).run(walk.roots)


def _place(finding: MissingWait) -> tuple[object, ...]:
    return finding.address, finding.producer, finding.code, finding.dependence, finding.registers, finding.have


class _Check:
    """One function; the code is small steps over frozen states, so that a state can be joined and compared."""

    def __init__(
        self, code: tuple[ScheduledOp, ...], after: tuple[tuple[int, ...], ...], unknown: frozenset[int], hazards: Hazards
    ) -> None:
        self._code = code
        self._after = after
        self._unknown = unknown
        self._hazards = hazards

    def run(self, roots: tuple[int, ...]) -> set[MissingWait]:
        """Return the findings on all paths from the roots."""
        findings: set[MissingWait] = set()
        heads = self._heads(roots)
        domain, start = PendingDomain(), dict.fromkeys(roots, PendingDomain.bottom)
        problem = FixpointProblem(domain, lambda head, pending: self._block(head, pending, heads, None), start, rank=lambda head: (head,))
        states = solve(problem).states

        def reported(head: int, pending: Pending) -> Iterator[tuple[int, Pending]]:
            return self._block(head, pending, heads, findings.add)

        verify(replace(problem, transfer=reported), states)
        return findings

    def _heads(self, roots: tuple[int, ...]) -> frozenset[int]:
        """Return where blocks begin: behind every instruction with several or far successors, and where several paths join."""
        before = [0] * len(self._code)
        out = set(roots)
        for index, after in enumerate(self._after):
            for to in after:
                before[to] += 1
                if len(after) > 1 or to != index + 1 or before[to] > 1:
                    out.add(to)
        return frozenset(out)

    def _block(self, head: int, pending: Pending, heads: frozenset[int], report: FindingSink | None) -> Iterator[tuple[int, Pending]]:
        """Yield what may run behind the block that begins at `head`, with what is in flight there."""
        flight = Flight(self._code, self._hazards, pending)
        index = head
        while True:
            flight.step(index, report)
            after = self._after[index]
            if index in self._unknown:
                flight = Flight(self._code, self._hazards, PendingDomain.bottom)
            if len(after) != 1 or after[0] in heads:
                behind = flight.pending()
                return ((following, behind) for following in after)
            index = after[0]
