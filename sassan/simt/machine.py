"""The concrete SIMT machine: many runs of one warp at once (docs/concepts/warp-machine.md).

Runs that stand at the same block execute it together, vectorised over runs and lanes. `tests/simt/plain.py` is the
twin that a test holds this one to.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sassan.isa.facts import Flow
from sassan.simt import convergence
from sassan.simt.certain import Certainty
from sassan.simt.code import RETURN_TAG, ExecutableBlock, ExecutableFunction
from sassan.simt.compiled import of_run
from sassan.simt.control import leave
from sassan.simt.data import compute
from sassan.simt.shared import SharedMemory, barriers, cluster_barriers
from sassan.simt.stack import Suspended
from sassan.simt.state import LOST, STOPPED, RunStatus, Session, SideOrder, begin, lanes, pack
from sassan.simt.trace import Contexts, GroupSteps, RunOutcome, TransitionCounter
from sassan.simt.values import Moment, Rows, Truth, Values, Words


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a run is cut: after `steps` blocks, with more than `depth` entries on its stack, or in more than `contexts` call contexts.

    `steps` may be an array: one number for each run. A run whose local memory is full is cut, too.
    """

    steps: int | Rows = 3000
    depth: int = 64
    contexts: int = 4000


DEFAULT_LIMITS = Limits()


class BlockObserver(Protocol):
    """Sees every visit of a block before it executes."""

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Look at the runs in `rows`, which are about to execute the block."""
        ...


class Machine:
    """Executes `code` with `values`; a generation is a decoder (which built the code) and an order of sides."""

    def __init__(
        self, code: ExecutableFunction, values: Values, order: SideOrder = SideOrder.TAKEN_FIRST, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        """Hold what all runs share; `values` must draw for as many runs as are started."""
        self._code = code
        self._values = values
        self._order = order
        self._limits = limits

    def run(  # noqa: PLR0913 - what is followed besides
        self,
        active: Words,
        observer: BlockObserver | None = None,
        *,
        called: bool = False,
        certainty: Certainty | None = None,
        separate: bool = False,
        shared: SharedMemory | None = None,
        counted: bool = True,
    ) -> RunOutcome:
        """Return what N runs did that start at the entry with these masks, none of them empty.

        `called` starts them inside a call from nowhere: the return of the function ends the warp. `certainty`, of these runs and this
        code, says afterwards what does not depend on drawn words. `separate` gives each side of a divergence uniform registers of its own:
        what the warp does if no two sides use one at a time, as graphs assume, also where the drawn words part threads that stay together.
        `counted` False leaves transitions out of the outcome, which cost a tenth of a run, for who asks how runs ended alone.
        `shared`: without `certainty`, the memory of the blocks of these runs, which find there what others have stored before a barrier.
        """
        session = new_session(self._code, self._values, active, self._order, called=called)
        compiled = of_run(self._code, self._values, session.warps.registers, certainty, separate=separate)
        session = replace(session, certainty=certainty, separate=separate, compiled=compiled, shared=shared)
        session.recorder.counts = counted
        shared = certainty.shared if certainty is not None else shared
        every = self._code.function.instructions
        waits = barriers(every) | cluster_barriers(every) if shared is not None else frozenset[int]()
        warps = session.warps
        if called and not any(_returns(block) for block in self._code.blocks):
            nowhere = Suspended(STOPPED, warps.context, self._code.tags.index(RETURN_TAG), active)
            warps.stacks.push(np.arange(len(active)), nowhere)
        population = np.bincount(warps.block, minlength=len(self._code.blocks))
        while population[number := int(population.argmax())]:
            rows = np.flatnonzero(warps.block == number)
            if certainty is not None:
                certainty.entered(number, rows, lanes(warps.active[rows]), lanes(active[rows] & ~warps.gone[rows]))
            if observer is not None:
                observer.enter(session, number, rows)
            going = self._cut(session, rows)
            if going.size:
                self._visit(session, number, going)
            if shared is not None and certainty is None and self._code.blocks[number].last in waits:
                waiting = rows[warps.block[rows] >= 0]
                warps.block[waiting] = shared.wait(waiting, warps.block[waiting])
            after = warps.block[rows]
            population[number] = 0
            population += np.bincount(after[after >= 0], minlength=len(population))
            if shared is not None:
                freed = shared.release(warps.block, idle=not population.any())
                population += np.bincount(warps.block[freed], minlength=len(population))
        return session.recorder.outcome(warps.status)

    def _visit(self, session: Session, number: int, rows: Rows) -> None:
        warps, block = session.warps, self._code.blocks[number]
        active, before = warps.active[rows], warps.context[rows]
        at = Moment(rows, warps.time[rows], lanes(active))
        taken = compute(session, number, at)
        if session.certainty is not None:
            taken = session.certainty.left(number, block, at, taken)
        live = _push(session, block, rows) if block.pushes else None
        goes = leave(session, number, at, pack(taken))
        if live is not None:
            goes.block[live] = LOST
        lost = goes.block == LOST
        steps, following = GroupSteps(number, before, goes.block, goes.context, goes.move, goes.tag, goes.origin), goes.block
        if is_lost := bool(lost.any()):
            session.recorder.moved(rows[~lost], steps.only(~lost))
            following = np.where(lost, STOPPED, following).astype(np.int32)
        else:
            session.recorder.moved(rows, steps)
        if session.certainty is not None:
            following = session.certainty.arrived(number, rows, at.executing, following)
        warps.block[rows] = following
        warps.context[rows] = goes.context
        warps.active[rows] = goes.active
        warps.time[rows] += np.uint32(1)
        ended = following == STOPPED
        if ended.any():
            stopped = rows[ended]
            warps.status[stopped] = np.where(warps.stacks.depth[stopped] > 0, RunStatus.TRAPPED, RunStatus.ENDED)
        if is_lost:
            warps.status[rows[lost]] = RunStatus.FAULT

    def _cut(self, session: Session, rows: Rows) -> Rows:
        """Stop the runs that are at a limit, and return the others: what they did is the prefix of a path, up to the entry of the block."""
        warps, limits = session.warps, self._limits
        deep = warps.stacks.depth[rows] > limits.depth
        crowded = warps.local.full[rows] | (len(session.contexts) > limits.contexts)
        steps = limits.steps if isinstance(limits.steps, int) else limits.steps[rows]
        over = deep | crowded | (warps.time[rows] >= steps)
        if not over.any():
            return rows
        warps.status[rows[over]] = RunStatus.CUT
        warps.block[rows[over]] = STOPPED
        return rows[~over]


def new_session(code: ExecutableFunction, values: Values, active: Words, order: SideOrder, *, called: bool) -> Session:
    """Return N warps at the entry, and all that a machine needs to run them."""
    contexts = Contexts()
    starts, sites = _behind_calls(code)
    return Session(
        code=code,
        values=values,
        order=order,
        slots={register: index for index, register in enumerate(code.registers)},
        warps=begin(code, values, active),
        contexts=contexts,
        recorder=TransitionCounter(code, contexts, sites, len(active)),
        barriers=tuple(_register(tag) for tag in code.tags),
        starts=starts,
        sites=sites,
        called=called,
    )


def _push(session: Session, block: ExecutableBlock, rows: Rows) -> Truth:
    """Push the tokens of a block, and return which runs empty a barrier register that is in use."""
    warps = session.warps
    active, context = warps.active[rows], warps.context[rows]
    bad = np.zeros(len(rows), dtype=np.bool_)
    for tag, target in block.pushes:
        if target < 0:
            bad |= convergence.clear(session, block, rows, tag, active)
            continue
        warps.stacks.push(rows, Suspended(target, context, tag, active))
        if session.barriers[tag] >= 0:
            warps.barriers[rows, session.barriers[tag]] = active
    return bad


def _register(tag: str) -> int:
    """Return the barrier register that a tag names, -1 for another kind of tag."""
    return int(tag[1:]) if tag[:1] == "B" and tag[1:].isdigit() else -1


def _returns(block: ExecutableBlock) -> bool:
    return block.control is not None and block.control.flow is Flow.RETURN


def _behind_calls(code: ExecutableFunction) -> tuple[dict[int, int], dict[int, tuple[int, ...]]]:
    """Return the blocks behind calls by address, and the calls before each."""
    starts: dict[int, int] = {}
    sites: dict[int, tuple[int, ...]] = {}
    for block in code.blocks:
        if block.control is not None and block.control.flow in {Flow.CALL, Flow.INDIRECT_CALL} and block.follow >= 0:
            address = code.blocks[block.follow].address
            starts[address] = block.follow
            sites[address] = (*sites.get(address, ()), block.last)
    return starts, sites
