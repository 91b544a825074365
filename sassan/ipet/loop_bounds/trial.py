"""Loops that no counter explains, followed iteration by iteration: shifts, doubling, `s *= 3`.

Only what the exits depend on is executed. Exits whose condition cannot come true within the iterations that are tried are omitted, and so
at first are those that depend on what is not followed, such as memory: whoever follows fewer exits finds a bound that is no lower.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.flow import LoopSlice, slices, union
from sassan.ipet.loop_bounds.states import merge_shifted, reduce, trimmed
from sassan.ipet.loop_bounds.summaries import EntryKeys
from sassan.ipet.loop_bounds.values import SymbolicState
from sassan.ipet.loop_bounds.walk import Walk

ITERATIONS = 80
"""How many are tried."""
_LOOK = 8
"""After so many it is asked whether the last one changed anything."""
_FEW = 3
"""States of which an iteration may make several each, and keep them apart."""
_WORK, _WORK_LEAST, _WORK_EACH = 1500, 8_000, 8
"""Most instructions for one loop, and for all loops of a function: at least so many, and so many for each of its instructions."""


@dataclass(slots=True)
class Trials:
    """The loops of one function, as they are followed; `left` instructions may still be executed."""

    walk: Walk
    left: int
    ended: bool = False
    """Whether the last loop was given up because there was nothing left."""

    def bound(self, loop: int, entries: Sequence[SymbolicState], hopeless: int) -> LoopBound | None:
        """Return the bound of a loop that is entered in these states; `hopeless` registers end no loop within so few iterations."""
        self.ended = False
        for part in self._parts(loop, hopeless):
            bound = self._followed(loop, entries, self.walk.sliced(loop, part))
            if bound is not None or self.ended:
                return bound
        return None

    def _parts(self, loop: int, hopeless: int) -> Iterator[LoopSlice]:
        head = self.walk.flows.cfg.loops[loop].head
        parts = [part for part in slices(self.walk.flows, self.walk.order_of(loop)) if not part.before[head] & hopeless]
        clear = [part for part in parts if self._is_clear(part)]
        if clear:
            yield union(clear)
        if len(clear) < len(parts):
            yield union(parts)

    def _is_clear(self, part: LoopSlice) -> bool:
        """Say whether everything that an exit depends on is followed."""
        lines = (line for node in part.before for line in self.walk.flows.writers[node])
        return all(writer.computes is not None for writer in lines if writer.written & part.behind[writer.instruction.address])

    def _followed(self, loop: int, entries: Sequence[SymbolicState], walk: Walk) -> LoopBound | None:
        head, capacity = walk.flows.cfg.loops[loop].head, walk.machine.capacity
        states = reduce([trimmed(walk.only(state, head))._replace(atoms=()) for state in entries], capacity)
        bound, most = None, min(_WORK, self.left)
        for iteration in range(ITERATIONS):
            if walk.machine.steps >= most:
                self.ended = self.left <= _WORK
                break
            before = states
            states = walk.iterate(loop, {head: states})
            if not states:
                bound = LoopBound(iteration, "followed iteration by iteration")
                break
            states = reduce([state._replace(atoms=(), decided={}) for state in states], capacity)
            if len(states) > _FEW:
                states = merge_shifted(states)
            if _repeat(before, states, thoroughly=iteration % _LOOK == _LOOK - 1):
                break
        self.left -= walk.machine.steps
        return bound


def _repeat(before: Sequence[SymbolicState], states: Sequence[SymbolicState], *, thoroughly: bool) -> bool:
    """Say whether an iteration has changed nothing, thoroughly: nothing but the names of unknown words. The next ones will neither."""
    if [state.registers for state in states] == [state.registers for state in before]:
        return True
    return thoroughly and EntryKeys(-1).key(states, ()) == EntryKeys(-1).key(before, ())


def trials_of(walk: Walk) -> Trials:
    """Return what may be tried in a function: more where it is longer."""
    return Trials(walk, max(_WORK_LEAST, _WORK_EACH * len(walk.flows.facts)))
