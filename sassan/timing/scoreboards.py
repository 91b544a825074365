"""The check of control codes: every consumer must wait for its producers.

A consumer must wait for the barrier of a producer of variable latency, or stand far enough behind one of fixed latency. The check follows
every path of a thread (`steps`) and keeps the worst where paths join: the shortest time, the fewest waits.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace

from sassan.analysis.fixpoint import Problem, solve, verify
from sassan.arch import described
from sassan.domains.pending import NO_COVER, Access, Accesses, Covers, Pending, PendingAccess, PendingDomain, PendingResult, Results
from sassan.errors import Gap
from sassan.ir import Function, Guard, Immediate, Instruction, Register, Word
from sassan.isa.control import BARRIERS, Control, decode
from sassan.isa.facts import Facts
from sassan.isa.registers import bit
from sassan.timing.findings import EARLY, MISSING, SHORT, Finding, Report
from sassan.timing.hazards import FILES, GUARD, RAW, WAR, WAW, Hazards, Profile, parts, touched
from sassan.timing.steps import steps

FindingSink = Callable[[Finding], None]

FOREVER = 64
"""Cycles are counted up to this many."""
FENCE = 30
"""Cycles after which the next instruction behind a memory fence issues, at the least: more than any fixed latency."""
_NO_COVERS: Covers = (NO_COVER,) * BARRIERS


def check(function: Function, facts_of: Callable[[Instruction], Facts | None], hazards: Hazards) -> Report:
    """Return every consumer that does not wait for its producer; without control codes, only the gap that says so."""
    if any(instruction.control is None for instruction in function.instructions):
        message = "the listing has no encodings, so control codes are unknown"
        return Report((), (Gap(function.entry, "no-control-codes", message),))
    facts = [facts_of(instruction) for instruction in function.instructions]
    unknown = [
        Gap(instruction.address, "unknown-opcode", f"no entry for '{instruction.opcode}' in the {function.arch} table")
        for instruction, known in zip(function.instructions, facts, strict=True)
        if known is None
    ]
    walk = steps(function, facts)
    code = tuple(_op(instruction, known, hazards) for instruction, known in zip(function.instructions, facts, strict=True))
    findings = _Check(code, walk.after, walk.unknown, hazards).run(walk.roots)
    inherited = described(function.arch).assumptions("code", "hazards", "distances")
    return Report(tuple(sorted(findings)), tuple(sorted({*unknown, *walk.gaps})), inherited)


@dataclass(frozen=True, slots=True)
class Op:
    """An instruction as the check sees it; `remainders` are what DEPBAR waits for, by barrier."""

    address: int
    reads: int
    guard: int
    writes: int
    under: Guard | None
    """The guard itself."""
    control: Control
    profile: Profile
    results: tuple[tuple[str, int], ...]
    """What it writes after a fixed time, by class."""
    variable: bool
    late: int
    """Registers that are read after the issue."""
    remainders: Mapping[int, int]


def issued(instruction: Instruction) -> Control:
    """Return the control code of an instruction; a fence lasts longer than any result of fixed latency takes, whatever its code says.

    ptxas counts on it: it lets a branch read a predicate 11 cycles of stalls behind its comparison where a MEMBAR stands between, else 12.
    """
    assert instruction.control is not None, "code without control codes is not checked"
    control = decode(instruction.control)
    return replace(control, stall=max(control.stall, FENCE)) if instruction.opcode.startswith("MEMBAR") else control


def _op(instruction: Instruction, facts: Facts | None, hazards: Hazards) -> Op:
    control, profile = issued(instruction), hazards.profile(instruction.opcode)
    variable = profile.variable or control.write_barrier is not None
    reads, guard, writes = touched(instruction, facts, profile)
    late = reads & FILES["R"] if profile.variable or control.read_barrier is not None else 0
    results = () if variable or not writes else parts(profile.producer, writes)
    return Op(
        instruction.address, reads, guard, writes, instruction.guard, control, profile, results, variable, late, _remainders(instruction)
    )


def _remainders(instruction: Instruction) -> Mapping[int, int]:
    """Return what `DEPBAR.LE SB5, 0x3, {2,1}` waits for: barrier 5 at most 3, barriers 1 and 2 none."""
    out: dict[int, int] = {}
    if instruction.opcode.partition(".")[0] != "DEPBAR":
        return out
    counted: int | None = None
    for operand in instruction.operands:
        match operand:
            case Register(file="SB", index=int(index)):
                counted = index
                out[index] = 0
            case Immediate(value=int(value)) if counted is not None:
                out[counted] = value
            case Word(text=text):
                out |= {int(digit): 0 for digit in re.findall(r"[0-5]", text)}
            case _:
                pass
    return out


class _Check:
    """One function; the code is small steps over frozen states, so that a state can be joined and compared."""

    def __init__(self, code: tuple[Op, ...], after: tuple[tuple[int, ...], ...], unknown: frozenset[int], hazards: Hazards) -> None:
        self._code = code
        self._after = after
        self._unknown = unknown
        self._hazards = hazards

    def run(self, roots: tuple[int, ...]) -> set[Finding]:
        """Return the findings on all paths from the roots. Raises SelfCheckError when the fixpoint fails its verification."""
        findings: set[Finding] = set()
        heads = self._heads(roots)
        domain, start = PendingDomain(), dict.fromkeys(roots, PendingDomain.bottom)
        problem = Problem(domain, lambda head, pending: self._block(head, pending, heads, None), start, rank=lambda head: (head,))
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
        index = head
        while True:
            pending = self._step(index, pending, report)
            after = self._after[index]
            if len(after) != 1 or after[0] in heads:
                return ((following, pending) for following in after)
            index = after[0]

    def _step(self, index: int, pending: Pending, report: FindingSink | None) -> Pending:
        op = self._code[index]
        still = self._waited(op, pending.accesses, report)
        if report is not None:
            for finding in (*self._late_results(op, pending.results), *self._unwaited(op, still)):
                report(finding)
        if index in self._unknown:
            return PendingDomain.bottom
        return Pending(self._results(index, op, pending.results), self._accesses(index, op, still))

    # ---- waits ----

    def _waited(self, op: Op, still: Accesses, report: FindingSink | None) -> dict[tuple[int, Access], PendingAccess]:
        """Return the accesses that may not have ended when `op` issues."""
        mask, remainders = op.control.wait_mask, op.remainders
        if not mask and not remainders and not op.profile.drains:
            return dict(still)
        out = {key: pending for key, pending in still.items() if not _ends(pending.covers, mask, remainders)}
        if report is not None and mask:
            for (producer, access), pending in still.items():
                barrier = self._barrier(producer, access)
                if barrier >= 0 and mask >> barrier & 1 and pending.elapsed < self._hazards.visible:
                    where = self._code[producer].address
                    report(Finding(op.address, where, EARLY, "", 0, barrier, pending.elapsed, self._hazards.visible))
        # What has written its result has read its operands; a block barrier is passed when earlier accesses have been performed.
        for key in [key for key in out if key[1] is Access.READ]:
            write = (key[0], Access.WRITE)
            if (write in still and write not in out) or (op.profile.drains and self._code[key[0]].profile.sources):
                del out[key]
        return out

    def _barrier(self, producer: int, access: Access) -> int:
        """Return the barrier that an access clears when it ends, -1 for none."""
        control = self._code[producer].control
        barrier = control.write_barrier if access is Access.WRITE else control.read_barrier
        return -1 if barrier is None else barrier

    # ---- findings ----

    def _late_results(self, op: Op, results: Results) -> Iterator[Finding]:
        """Yield the consumptions of results that are not there yet."""
        touched = op.reads | op.guard | op.writes
        for (producer, part), result in results.items():
            if result.registers & touched and not opposite(result.condition, op.under):
                source = self._code[producer]
                for dependence, file, registers in _touches(op, result.registers):
                    need = self._hazards.distance(dependence, file, source.results[part][0], op.profile.producer)
                    if result.elapsed < need:
                        yield Finding(op.address, source.address, SHORT, dependence, registers, have=result.elapsed, need=need)

    def _unwaited(self, op: Op, still: Accesses) -> Iterator[Finding]:
        """Yield the consumptions of accesses that may not have ended."""
        for (producer, access), pending in still.items():
            if opposite(pending.condition, op.under):
                continue
            source = self._code[producer]
            barrier = self._barrier(producer, access)
            read, written = pending.registers & (op.reads | op.guard), pending.registers & op.writes
            if access is Access.READ:
                if written and not _same(source.profile.sources, op.profile.sources):
                    yield Finding(op.address, source.address, MISSING, WAR, written, barrier)
                continue
            if read:
                yield Finding(op.address, source.address, MISSING, RAW, read, barrier)
            if written & ~read and not _same(source.profile.results, op.profile.results):
                yield Finding(op.address, source.address, MISSING, WAW, written & ~read, barrier)

    # ---- what is in flight behind the instruction ----

    def _results(self, index: int, op: Op, results: Results) -> dict[tuple[int, int], PendingResult]:
        gone = 0 if op.under else op.writes
        out: dict[tuple[int, int], PendingResult] = {}
        for (producer, part), result in results.items():
            registers, elapsed = result.registers & ~gone, result.elapsed + op.control.stall
            if registers and elapsed < self._hazards.longest(self._code[producer].results[part][0]):
                out[producer, part] = PendingResult(registers, elapsed, _kept(result.condition, op))
        for part, (_, registers) in enumerate(op.results):
            out[index, part] = PendingResult(registers, op.control.stall, _kept(op.under, op))
        return out

    def _accesses(self, index: int, op: Op, still: Accesses) -> dict[tuple[int, Access], PendingAccess]:
        gone = 0 if op.under else op.writes
        out: dict[tuple[int, Access], PendingAccess] = {}
        for (producer, access), pending in still.items():
            # A consumption is reported once: behind it, the register is taken for read or written.
            registers = pending.registers & ~gone & ~(op.reads | op.guard if access is Access.WRITE else 0)
            if registers or pending.elapsed + op.control.stall < self._hazards.visible:
                covers = self._covered(self._code[producer].profile, access, pending.covers, op)
                out[producer, access] = PendingAccess(
                    registers, min(pending.elapsed + op.control.stall, FOREVER), covers, _kept(pending.condition, op)
                )
        write, read = op.control.write_barrier, op.control.read_barrier
        if (op.writes and op.variable) or write is not None:
            out[index, Access.WRITE] = PendingAccess(op.writes, op.control.stall, _set(write), _kept(op.under, op))
        if op.late or read is not None:
            out[index, Access.READ] = PendingAccess(op.late, op.control.stall, _set(read, write), _kept(op.under, op))
        return out

    def _covered(self, source: Profile, access: Access, covers: Covers, op: Op) -> Covers:
        """Return the covers of an access after `op`, which counts where it sets a barrier, and covers what ends before it does."""
        if not op.control.sets:
            return covers
        out = list(covers)
        for barrier, kind in ((op.control.write_barrier, Access.WRITE), (op.control.read_barrier, Access.READ)):
            if barrier is None:
                continue
            if out[barrier] != NO_COVER:
                out[barrier] += 1
            elif access is Access.WRITE:
                ordered = kind is Access.WRITE and _same(source.results, op.profile.results)
                out[barrier] = 0 if ordered else NO_COVER
            elif _same(source.sources, op.profile.sources):
                out[barrier] = 0
        return tuple(out)


def _kept(guard: Hashable, op: Op) -> Guard | None:
    """Return the guard while its predicate has the value that it had."""
    return guard if isinstance(guard, Guard) and not op.writes & bit(guard.file, guard.index) else None


def opposite(guard: Hashable, other: Hashable) -> bool:
    """Say whether no thread runs under both guards."""
    if not isinstance(guard, Guard) or not isinstance(other, Guard):
        return False
    return (guard.file, guard.index) == (other.file, other.index) and guard.negated != other.negated


def _same(queue: str, other: str) -> bool:
    return queue != "" and queue == other


def _set(*barriers: int | None) -> Covers:
    return (
        tuple(0 if barrier in barriers else NO_COVER for barrier in range(BARRIERS))
        if any(barrier is not None for barrier in barriers)
        else _NO_COVERS
    )


def _ends(covers: Covers, mask: int, remainders: Mapping[int, int]) -> bool:
    """Say whether waiting for these barriers ends an access."""
    if any(mask >> barrier & 1 and later != NO_COVER for barrier, later in enumerate(covers)):
        return True
    return any(covers[barrier] >= most for barrier, most in remainders.items())


def _touches(op: Op, registers: int) -> Iterator[tuple[str, str, int]]:
    """Yield dependence, file and registers of each use of a result by `op`."""
    for file, members in FILES.items():
        touched = registers & members
        if touched & op.guard:
            yield RAW, GUARD, touched & op.guard
        if touched & op.reads:
            yield RAW, file, touched & op.reads
        if touched & op.writes:
            yield WAW, file, touched & op.writes
