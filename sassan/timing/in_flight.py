"""What is in flight from one instruction of a block to the next: the steps of the check of control codes.

The state of `domains/pending.py` counts the cycles since each issue. Within a block the moment of the issue is kept instead, so that an
instruction changes only what it accesses; `tests/soundness/plain_flight.py` steps over the states of the domain and must agree.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from sassan.domains.pending import NO_COVER, Pending, PendingAccess, PendingKind, PendingResult
from sassan.ir import Guard
from sassan.isa.registers import bit
from sassan.timing.findings import EARLY, MISSING, SHORT, MissingWait
from sassan.timing.hazards import ENOUGH, FILES, FOREVER, GUARD, RAW, WAR, WAW, Distance, Hazards, is_note
from sassan.timing.scheduled import ScheduledOp

FindingSink = Callable[[MissingWait], None]

_BARRIERS = 7
"""Numbers of barriers that a control code can hold: six exist, what sets the seventh waits for nothing."""
_PREDICATES = FILES["P"] | FILES["UP"]


class _Result(NamedTuple):
    registers: int
    issued: int
    gone: int
    """When it is there for all."""
    condition: Hashable


class _InFlight:
    """An access: `covers` is a set of barriers, and `since` says when each of them began to cover it, in the number of its setters."""

    __slots__ = ("condition", "covers", "issued", "kind", "op", "registers", "since")

    def __init__(self, op: ScheduledOp, kind: PendingKind, registers: int, issued: int, condition: Hashable) -> None:
        self.op, self.kind, self.registers, self.issued, self.condition = op, kind, registers, issued, condition
        self.covers = 0
        self.since = [0] * _BARRIERS

    @property
    def barrier(self) -> int | None:
        """The barrier that it clears when it ends, None for none."""
        return self.op.control.write_barrier if self.kind is PendingKind.WRITE else self.op.control.read_barrier

    @property
    def is_queued(self) -> bool:
        """Whether it is the result of an access that ends in the order of a queue."""
        return self.kind is PendingKind.WRITE and self.op.profile.results != ""

    def has_lasted(self, now: int) -> bool:
        """Say whether it has ended by the time that it takes at the most."""
        lasts = self.op.profile.lasts
        return lasts is not None and self.kind is PendingKind.WRITE and now - self.issued >= lasts

    def ends(self, op: ScheduledOp, setters: Sequence[int]) -> bool:
        """Say whether waiting as `op` does ends it."""
        if self.covers & op.control.wait_mask:
            return True
        return any(self.covers >> barrier & 1 and setters[barrier] - self.since[barrier] >= most for barrier, most in op.remainders.items())


class Flight:
    """What is in flight, instruction by instruction along a block."""

    def __init__(self, code: Sequence[ScheduledOp], hazards: Hazards, pending: Pending) -> None:
        """Begin with what is in flight at the head of the block."""
        self._code = code
        self._hazards = hazards
        self._now = 0
        self._results: dict[tuple[int, int], _Result] = {}
        for (producer, part), result in pending.results.items():
            gone = hazards.longest(code[producer].results[part][0]) - result.elapsed
            self._results[producer, part] = _Result(result.registers, -result.elapsed, gone, result.condition)
        self._setters = [0] * _BARRIERS
        """How many instructions of the block have set each barrier."""
        self._accesses: dict[tuple[int, PendingKind], _InFlight] = {}
        for (producer, kind), access in pending.accesses.items():
            entry = _InFlight(code[producer], kind, access.registers, -access.elapsed, access.condition)
            entry.covers = sum(1 << barrier for barrier, later in enumerate(access.covers) if later != NO_COVER)
            entry.since = [-later for later in access.covers]
            self._accesses[producer, kind] = entry
        self._emptied = [key for key, access in self._accesses.items() if not access.registers]
        """Accesses of which nothing is left but their barriers."""
        self._note_registers()

    def _note_registers(self) -> None:
        """Note what registers are in flight at all."""
        self._fixed = self._open = 0
        for result in self._results.values():
            self._fixed |= result.registers
        for access in self._accesses.values():
            self._open |= access.registers

    def pending(self) -> Pending:
        """Return what is in flight now."""
        now = self._now
        results = {
            key: PendingResult(result.registers, now - result.issued, result.condition)
            for key, result in self._results.items()
            if now < result.gone
        }
        setters = self._setters
        accesses = {
            key: PendingAccess(
                access.registers,
                min(now - access.issued, FOREVER),
                tuple(setters[barrier] - since if access.covers >> barrier & 1 else NO_COVER for barrier, since in enumerate(access.since)),
                access.condition,
            )
            for key, access in self._accesses.items()
        }
        return Pending(results, accesses)

    def step(self, index: int, report: FindingSink | None) -> None:
        """Issue an instruction; `report` takes what it does not wait for."""
        op = self._code[index]
        if op.waits and self._accesses:
            self._wait(op, report)
        if op.accessed & self._fixed:
            self._note_results(op, report)
        if op.accessed & self._open:
            self._note_accesses(op, report)
        control = op.control
        if control.write_barrier is not None or control.read_barrier is not None:
            self._set(op)
        if op.writes & _PREDICATES:
            self._forget(op.writes)
        self._begin(index, op)
        self._now += control.stall
        if self._emptied:
            self._drop_emptied()

    # ---- what ends ----

    def _wait(self, op: ScheduledOp, report: FindingSink | None) -> None:
        """Remove the accesses that have ended when `op` issues."""
        accesses, setters, mask = self._accesses, self._setters, op.control.wait_mask
        if report is not None and mask:
            for access in accesses.values():
                barrier, elapsed = access.barrier, self._now - access.issued
                late = elapsed >= self._hazards.visible or access.op.profile.at_once
                if not late and barrier is not None and mask >> barrier & 1:
                    report(MissingWait(op.address, access.op.address, EARLY, "", 0, barrier, elapsed, self._hazards.visible))
        if self._hazards.outlasts and mask:
            waited = [
                access.issued
                for access in accesses.values()
                if access.is_queued and access.barrier is not None and mask >> access.barrier & 1
            ]
            if waited:
                self._results = {key: result for key, result in self._results.items() if result.issued > max(waited)}
        ended = [key for key, access in accesses.items() if access.ends(op, setters)]
        # What has written its result has read its operands; a block barrier is passed when earlier accesses have been performed.
        ended += [(producer, PendingKind.READ) for producer, kind in ended if kind is PendingKind.WRITE]
        if op.profile.drains:
            ended += [key for key, access in accesses.items() if key[1] is PendingKind.READ and access.op.profile.sources]
        for key in ended:
            accesses.pop(key, None)

    def _drop_emptied(self) -> None:
        left: list[tuple[int, PendingKind]] = []
        for key in self._emptied:
            access = self._accesses.get(key)
            if access is not None and not access.registers:
                if self._now - access.issued < self._hazards.visible:
                    left.append(key)
                else:
                    del self._accesses[key]
        self._emptied = left

    # ---- what is accessed ----

    def _note_results(self, op: ScheduledOp, report: FindingSink | None) -> None:
        """Report what is consumed before it is there; of what is overwritten only the rest stays in flight."""
        now, accessed, kept, fixed = self._now, op.accessed, 0 if op.under else op.writes, 0
        late: list[tuple[int, int]] = []
        for key, result in self._results.items():
            registers = result.registers
            if now >= result.gone:
                late.append(key)
                continue
            if registers & accessed:
                if report is not None:
                    self._report_result(op, key, result, report)
                registers &= ~kept
                if not registers:
                    late.append(key)
                    continue
                if registers != result.registers:
                    self._results[key] = result._replace(registers=registers)
            fixed |= registers
        for key in late:
            del self._results[key]
        self._fixed = fixed

    def _report_result(self, op: ScheduledOp, key: tuple[int, int], result: _Result, report: FindingSink) -> None:
        if opposite(result.condition, op.under):
            return
        source, part = self._code[key[0]], key[1]
        for dependence, file, registers in _uses(op, result.registers):
            elapsed, kind = self._now - result.issued, source.results[part][0]
            need = self._hazards.distance(dependence, file, kind, op.profile.producer)
            if elapsed < need.cycles:
                few = observations(need, source, op)
                report(MissingWait(op.address, source.address, SHORT, dependence, registers, -1, elapsed, need.cycles, few))

    def _note_accesses(self, op: ScheduledOp, report: FindingSink | None) -> None:
        """Report what does not wait for an access. A consumption is reported once: behind it, the register is taken for read or written."""
        overwritten, consumed = 0 if op.under else op.writes, op.reads | op.guard
        open_ = 0
        for key, access in self._accesses.items():
            if access.registers & op.accessed:
                if report is not None and not opposite(access.condition, op.under) and not access.has_lasted(self._now):
                    for finding in _unwaited(op, access):
                        report(finding)
                access.registers &= ~(overwritten if access.kind is PendingKind.READ else overwritten | consumed)
                if not access.registers:
                    self._emptied.append(key)
            open_ |= access.registers
        self._open = open_

    # ---- what begins ----

    def _set(self, op: ScheduledOp) -> None:
        """Let the barriers that `op` sets cover what ends before it does."""
        write, read = op.control.write_barrier, op.control.read_barrier
        results, sources = op.profile.results, op.profile.sources
        for barrier, kind in ((write, PendingKind.WRITE), (read, PendingKind.READ)):
            if barrier is None:
                continue
            self._setters[barrier] += 1
            ordered = results if kind is PendingKind.WRITE else ""
            if not ordered and not sources:
                continue
            for access in self._accesses.values():
                if access.covers >> barrier & 1:
                    continue
                profile = access.op.profile
                if _same(*((sources, profile.sources) if access.kind is PendingKind.READ else (ordered, profile.results))):
                    access.covers |= 1 << barrier
                    access.since[barrier] = self._setters[barrier]

    def _forget(self, writes: int) -> None:
        """Forget the conditions whose predicate is written."""
        for key, result in self._results.items():
            if isinstance(result.condition, Guard) and writes & _guard_bit(result.condition):
                self._results[key] = result._replace(condition=None)
        for access in self._accesses.values():
            if isinstance(access.condition, Guard) and writes & _guard_bit(access.condition):
                access.condition = None

    def _begin(self, index: int, op: ScheduledOp) -> None:
        under = op.under
        if under is not None and op.writes & _guard_bit(under):
            under = None
        now = self._now
        for part, (kind, registers) in enumerate(op.results):
            self._results[index, part] = _Result(registers, now, now + self._hazards.longest(kind), under)
            self._fixed |= registers
        write, read = op.control.write_barrier, op.control.read_barrier
        written = op.writes & ~op.early
        if write is not None or (op.variable and written):
            self._begin_access(index, PendingKind.WRITE, _InFlight(op, PendingKind.WRITE, written, now, under), write, None)
        if op.early:
            self._begin_access(index, PendingKind.EARLY, _InFlight(op, PendingKind.EARLY, op.early, now, under), read, write)
        if read is not None or op.late:
            self._begin_access(index, PendingKind.READ, _InFlight(op, PendingKind.READ, op.late, now, under), read, write)

    def _begin_access(self, index: int, kind: PendingKind, access: _InFlight, *barriers: int | None) -> None:
        for barrier in barriers:
            if barrier is not None:
                access.covers |= 1 << barrier
                access.since[barrier] = self._setters[barrier]
        self._accesses[index, kind] = access
        self._open |= access.registers
        if not access.registers:
            self._emptied.append((index, kind))


def _unwaited(op: ScheduledOp, access: _InFlight) -> Iterator[MissingWait]:
    """Yield the consumptions of an access that may not have ended."""
    source = access.op
    barrier = -1 if access.barrier is None else access.barrier
    read, written = access.registers & (op.reads | op.guard), access.registers & op.writes
    if access.kind is PendingKind.READ:
        if written and not _same(source.profile.sources, op.profile.sources):
            yield MissingWait(op.address, source.address, MISSING, WAR, written, barrier)
        return
    if read:
        yield MissingWait(op.address, source.address, MISSING, RAW, read, barrier)
    if written & ~read and not _same(source.profile.results, op.profile.results):
        yield MissingWait(op.address, source.address, MISSING, WAW, written & ~read, barrier)


def observations(distance: Distance, producer: ScheduledOp, consumer: ScheduledOp) -> int | None:
    """Return how few observations a distance between these two rests on, at the most; None: enough."""
    return min(distance.seen, ENOUGH - 1) if is_note(distance, producer.opcode, consumer.opcode) else None


def opposite(guard: Hashable, other: Hashable) -> bool:
    """Say whether no thread runs under both guards."""
    if not isinstance(guard, Guard) or not isinstance(other, Guard):
        return False
    return (guard.file, guard.index) == (other.file, other.index) and guard.negated != other.negated


def _guard_bit(guard: Guard) -> int:
    return bit(guard.file, guard.index)


def _same(queue: str, other: str) -> bool:
    return queue != "" and queue == other


def _uses(op: ScheduledOp, registers: int) -> Iterator[tuple[str, str, int]]:
    """Yield dependence, file and registers of each use of a result by `op`."""
    for file, members in FILES.items():
        accessed = registers & members
        if accessed & op.guard:
            yield RAW, GUARD, accessed & op.guard
        if accessed & op.reads:
            yield RAW, file, accessed & op.reads
        if accessed & op.writes:
            yield WAW, file, accessed & op.writes
