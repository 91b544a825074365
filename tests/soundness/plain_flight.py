"""The steps of the check of control codes over the states of their domain: the plain counterpart of `timing/in_flight.py`.

Every instruction makes a new state, in which each cycle and each barrier is counted on.
"""

from collections.abc import Hashable, Iterator, Mapping

from sassan.domains.pending import NO_COVER, Accesses, Covers, Pending, PendingAccess, PendingKind, PendingResult, Results
from sassan.ir import Guard
from sassan.isa.registers import bit
from sassan.timing.findings import EARLY, MISSING, SHORT, MissingWait
from sassan.timing.hazards import FILES, FOREVER, GUARD, RAW, WAR, WAW, Hazards, Profile
from sassan.timing.in_flight import FindingSink, observations, opposite
from sassan.timing.scheduled import ScheduledOp

BARRIERS = 7
_NO_COVERS: Covers = (NO_COVER,) * BARRIERS


class PlainFlight:
    """What is in flight, instruction by instruction along a block."""

    def __init__(self, code: tuple[ScheduledOp, ...], hazards: Hazards, pending: Pending) -> None:
        self._code = code
        self._hazards = hazards
        self._pending = pending

    def pending(self) -> Pending:
        return self._pending

    def step(self, index: int, report: FindingSink | None) -> None:
        self._pending = self._step(index, self._pending, report)

    def _step(self, index: int, pending: Pending, report: FindingSink | None) -> Pending:
        op = self._code[index]
        still = self._waited(op, pending.accesses, report)
        least = self._outlasted(op, pending.accesses)
        pending = Pending({key: result for key, result in pending.results.items() if result.elapsed < least}, still)
        if report is not None:
            for finding in (*self._late_results(op, pending.results), *self._unwaited(op, still)):
                report(finding)
        return Pending(self._results(index, op, pending.results), self._accesses(index, op, still))

    # ---- waits ----

    def _waited(self, op: ScheduledOp, still: Accesses, report: FindingSink | None) -> dict[tuple[int, PendingKind], PendingAccess]:
        """Return the accesses that may not have ended when `op` issues."""
        mask, remainders = op.control.wait_mask, op.remainders
        if not mask and not remainders and not op.profile.drains:
            return dict(still)
        out = {key: pending for key, pending in still.items() if not _ends(pending.covers, mask, remainders)}
        if report is not None and mask:
            for (producer, access), pending in still.items():
                barrier = self._barrier(producer, access)
                at_once = self._code[producer].profile.at_once
                if barrier >= 0 and mask >> barrier & 1 and pending.elapsed < self._hazards.visible and not at_once:
                    where = self._code[producer].address
                    report(MissingWait(op.address, where, EARLY, "", 0, barrier, pending.elapsed, self._hazards.visible))
        # What has written its result has read its operands; a block barrier is passed when earlier accesses have been performed.
        for key in [key for key in out if key[1] is PendingKind.READ]:
            write = (key[0], PendingKind.WRITE)
            if (write in still and write not in out) or (op.profile.drains and self._code[key[0]].profile.sources):
                del out[key]
        return out

    def _outlasted(self, op: ScheduledOp, still: Accesses) -> int:
        """Return the elapsed cycles from which on a result is there, as `op` waits for an access of a queue."""
        return min(
            (
                pending.elapsed
                for (producer, access), pending in still.items()
                if self._hazards.outlasts and access is PendingKind.WRITE and self._code[producer].profile.results
                if (barrier := self._barrier(producer, access)) >= 0 and op.control.wait_mask >> barrier & 1
            ),
            default=FOREVER,
        )

    def _barrier(self, producer: int, access: PendingKind) -> int:
        """Return the barrier that an access clears when it ends, -1 for none."""
        control = self._code[producer].control
        barrier = control.write_barrier if access is PendingKind.WRITE else control.read_barrier
        return -1 if barrier is None else barrier

    # ---- findings ----

    def _late_results(self, op: ScheduledOp, results: Results) -> Iterator[MissingWait]:
        """Yield the consumptions of results that are not there yet."""
        touched = op.reads | op.guard | op.writes
        for (producer, part), result in results.items():
            if result.registers & touched and not opposite(result.condition, op.under):
                source = self._code[producer]
                for dependence, file, registers in _touches(op, result.registers):
                    need = self._hazards.distance(dependence, file, source.results[part][0], op.profile.producer)
                    if result.elapsed < need.cycles:
                        few = observations(need, source, op)
                        yield MissingWait(op.address, source.address, SHORT, dependence, registers, -1, result.elapsed, need.cycles, few)

    def _unwaited(self, op: ScheduledOp, still: Accesses) -> Iterator[MissingWait]:
        """Yield the consumptions of accesses that may not have ended."""
        for (producer, access), pending in still.items():
            if opposite(pending.condition, op.under):
                continue
            source = self._code[producer]
            if access is PendingKind.WRITE and source.profile.lasts is not None and pending.elapsed >= source.profile.lasts:
                continue
            barrier = self._barrier(producer, access)
            read, written = pending.registers & (op.reads | op.guard), pending.registers & op.writes
            if access is PendingKind.READ:
                if written and not _same(source.profile.sources, op.profile.sources):
                    yield MissingWait(op.address, source.address, MISSING, WAR, written, barrier)
                continue
            if read:
                yield MissingWait(op.address, source.address, MISSING, RAW, read, barrier)
            if written & ~read and not _same(source.profile.results, op.profile.results):
                yield MissingWait(op.address, source.address, MISSING, WAW, written & ~read, barrier)

    # ---- what is in flight behind the instruction ----

    def _results(self, index: int, op: ScheduledOp, results: Results) -> dict[tuple[int, int], PendingResult]:
        gone = 0 if op.under else op.writes
        out: dict[tuple[int, int], PendingResult] = {}
        for (producer, part), result in results.items():
            registers, elapsed = result.registers & ~gone, result.elapsed + op.control.stall
            if registers and elapsed < self._hazards.longest(self._code[producer].results[part][0]):
                out[producer, part] = PendingResult(registers, elapsed, _kept(result.condition, op))
        for part, (_, registers) in enumerate(op.results):
            out[index, part] = PendingResult(registers, op.control.stall, _kept(op.under, op))
        return out

    def _accesses(self, index: int, op: ScheduledOp, still: Accesses) -> dict[tuple[int, PendingKind], PendingAccess]:
        gone = 0 if op.under else op.writes
        out: dict[tuple[int, PendingKind], PendingAccess] = {}
        for (producer, access), pending in still.items():
            # A consumption is reported once: behind it, the register is taken for read or written.
            registers = pending.registers & ~gone & ~(op.reads | op.guard if access is not PendingKind.READ else 0)
            if registers or pending.elapsed + op.control.stall < self._hazards.visible:
                covers = self._covered(self._code[producer].profile, access, pending.covers, op)
                out[producer, access] = PendingAccess(
                    registers, min(pending.elapsed + op.control.stall, FOREVER), covers, _kept(pending.condition, op)
                )
        write, read = op.control.write_barrier, op.control.read_barrier
        if (op.writes & ~op.early and op.variable) or write is not None:
            out[index, PendingKind.WRITE] = PendingAccess(op.writes & ~op.early, op.control.stall, _set(write), _kept(op.under, op))
        if op.early:
            out[index, PendingKind.EARLY] = PendingAccess(op.early, op.control.stall, _set(read, write), _kept(op.under, op))
        if op.late or read is not None:
            out[index, PendingKind.READ] = PendingAccess(op.late, op.control.stall, _set(read, write), _kept(op.under, op))
        return out

    def _covered(self, source: Profile, access: PendingKind, covers: Covers, op: ScheduledOp) -> Covers:
        """Return the covers of an access after `op`, which counts where it sets a barrier, and covers what ends before it does."""
        if not op.control.sets:
            return covers
        out = list(covers)
        for barrier, kind in ((op.control.write_barrier, PendingKind.WRITE), (op.control.read_barrier, PendingKind.READ)):
            if barrier is None:
                continue
            if out[barrier] != NO_COVER:
                out[barrier] += 1
            elif access is not PendingKind.READ:
                ordered = kind is PendingKind.WRITE and _same(source.results, op.profile.results)
                out[barrier] = 0 if ordered else NO_COVER
            elif _same(source.sources, op.profile.sources):
                out[barrier] = 0
        return tuple(out)


def _kept(guard: Hashable, op: ScheduledOp) -> Guard | None:
    """Return the guard while its predicate has the value that it had."""
    return guard if isinstance(guard, Guard) and not op.writes & bit(guard.file, guard.index) else None


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


def _touches(op: ScheduledOp, registers: int) -> Iterator[tuple[str, str, int]]:
    """Yield dependence, file and registers of each use of a result by `op`."""
    for file, members in FILES.items():
        touched = registers & members
        if touched & op.guard:
            yield RAW, GUARD, touched & op.guard
        if touched & op.reads:
            yield RAW, file, touched & op.reads
        if touched & op.writes:
            yield WAW, file, touched & op.writes
