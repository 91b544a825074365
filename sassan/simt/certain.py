"""Which words of a run follow from what is given alone, so that every execution of the launch has them too.

A word is certain if what computes it has a rule and reads certain words. A lane that takes a branch on a word that is not certain might
take the other side: until it comes to where both sides meet, it writes nothing certain, and what it might have written on either side is
not certain, either. Loops whose head is on such a path are `open`: other executions may go round more often.

Two kinds of branches need not end there. One side of the first leaves a loop, which ends sooner then; one side of the second comes to where
both meet without a loop. Neither side is taken: each execution does what the run does, or less of it, up to where both sides meet.

docs/proofs/runs-of-a-launch.md
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.isa.facts import Flow
from sassan.simt.branch_sides import NEVER, Detour, Sides, all_sides, detour_of, following, sides_of, taken_to_leave
from sassan.simt.code import Condition, ExecutableBlock, ExecutableFunction, LocalAccess, Operation, Unity
from sassan.simt.cross_lane import OPERATIONS as EXCHANGES
from sassan.simt.lane_groups import blocks_ending_with, is_alike, is_divided, is_grouped, is_of_one_lane
from sassan.simt.loads import descriptors
from sassan.simt.memory import LocalMemory, has_unfollowed_stores
from sassan.simt.shared import SharedMemory, barriers, shared_addresses
from sassan.simt.stack import Ints
from sassan.simt.values import LANES, ONE_COPY, Moment, Rows, Truth, Words

_FREE = -1
"""A lane whose path is certain; `NEVER`: it never will be again."""
_MERGING = frozenset({"WARPSYNC", "BAR"})
_TOGETHER = 62
"""So many branches by which a lane may have left loops are distinguished, as bits of a word."""


@dataclass(slots=True)
class Certainty:
    """The certain words of N runs of a code: `words` (registers, N, 32) in the order of `ExecutableFunction.registers`.

    `loops` are the blocks of each loop, `heads` its head; `results` returns the words that an operation writes, and in which lanes none of
    them is drawn.
    Afterwards, `open` are the numbers of loops of which executions may go round more often than was seen.
    """

    code: ExecutableFunction
    runs: int
    loops: Sequence[frozenset[int]]
    heads: Sequence[int]
    results: Callable[[Operation, tuple[Words, ...], Moment], tuple[tuple[Words, ...], Truth | bool]]
    open: set[int] = field(default_factory=set[int])
    torn: set[int] = field(default_factory=set[int])
    """Registers with one copy for the warp that some of its lanes write without the others: nothing in them is certain behind the block
    of code that writes it. A run that finds another one has to be repeated with it."""
    parted: set[int] = field(default_factory=set[int])
    """Blocks that other executions may enter with other lanes: those on the sides of a branch on uncertain words."""
    shared: SharedMemory | None = None
    """The memory of the blocks of the runs, None where nothing of it is certain."""
    apart: frozenset[int] = frozenset()
    """Blocks at which the threads of a warp may be apart: they vote in other groups than in the run if a branch parts them there."""
    words: Truth = field(init=False)
    _apart_since: Truth = field(init=False)
    """Warps that took such a branch, and of which not all lanes have been at one place since."""
    _until: npt.NDArray[np.int32] = field(init=False)
    _left: dict[int, Truth] = field(default_factory=dict[int, Truth])
    """Lanes that may have left a loop by a branch, whose other side is long, and are still inside."""
    _short: dict[int, Truth] = field(default_factory=dict[int, Truth])
    """Lanes that may have gone the short side of a branch, and are not yet where both sides meet."""
    _unsure: set[int] = field(default_factory=set[int])
    """Branches that were taken, or not, by words that are not certain."""
    _sides: dict[frozenset[int], Sides] = field(default_factory=dict[frozenset[int], Sides])
    _detours: dict[int, Detour | None] = field(default_factory=dict[int, Detour | None])
    _ways_out: dict[int, bool | None] = field(default_factory=dict[int, bool | None])
    _barriers: frozenset[int] = field(init=False)
    """Addresses of the instructions at which a run waits for those of its block."""
    _alive: Truth = field(init=False)
    _local: LocalMemory = field(init=False)
    _lost: Truth = field(init=False)
    _where: Mapping[int, int] = field(init=False)
    _after: Sequence[frozenset[int]] | None = field(init=False)
    _block: int = field(default=-1, init=False)
    """The block that is executed."""
    _divided: frozenset[int] = field(init=False)
    """Blocks that end with a branch that is taken where not all threads of the warp are there."""
    _split: Truth = field(init=False)
    """Warps that ever took a branch on uncertain words: that their lanes are together says nothing of other executions."""
    _waiting: set[int] = field(default_factory=set[int])
    """Blocks in which lanes may wait at a barrier that others have left on uncertain words."""
    _grouped: bool = field(init=False)
    """Whether lanes may come together in groups, each of which executes votes, shuffles and reductions by itself."""
    _merging: frozenset[int] = field(init=False)
    """Blocks with an instruction that may bring lanes together which the graph, and so the run, keeps apart."""

    def __post_init__(self) -> None:
        """Start with nothing certain."""
        self.words = np.zeros((len(self.code.registers), self.runs, LANES), np.bool_)
        self._until = np.full((self.runs, LANES), _FREE, np.int32)
        self._alive = np.zeros((self.runs, LANES), np.bool_)
        self._apart_since = np.zeros(self.runs, np.bool_)
        self._local = LocalMemory(self.runs)
        self._lost = np.full(self.runs, has_unfollowed_stores(self.code), np.bool_)
        self._where = {register: place for place, register in enumerate(self.code.registers)}
        self._after = following(self.code)
        self._grouped = any(map(is_grouped, self.code.function.instructions))
        self._barriers = barriers(self.code.function.instructions)
        self._divided = blocks_ending_with(self.code, is_divided)
        self._split = np.zeros(self.runs, np.bool_)
        together = [each.address for each in self.code.function.instructions if each.opcode.partition(".")[0] in _MERGING]
        self._merging = frozenset(
            number
            for number, block in enumerate(self.code.blocks)
            if any(block.address <= address <= block.last for address in together)
            and not (block.control is not None and block.control.flow is Flow.WARP_BARRIER)
        )

    @property
    def settled(self) -> bool:
        """Say whether no branch depended on words that are not certain: every execution takes the paths of the run."""
        return not self._unsure

    def entered(self, block: int, rows: Rows, active: Truth, alive: Truth) -> None:
        """Note that lanes are about to execute a block: those that come to where both sides of a branch meet are certain again.

        `alive` are the lanes that have not exited.
        """
        self._alive[rows], self._block = alive, block
        outside = {branch: active & lanes[rows] for branch, lanes in self._left.items() if block not in self._loop_of(branch)}
        self._apart(rows, outside)
        for branch, lanes in self._short.items():
            sides = self._sides_of(frozenset({branch}))
            if sides.meet == block and (here := active & lanes[rows]).any():
                lanes[rows] &= ~here
                self._spoil(sides, rows, here)
        until = self._until[rows]
        self._until[rows] = np.where(active & (until == block), _FREE, until)
        whole = ((active == alive) & (self._until[rows] == _FREE) & ~self._absent(rows)) | ~alive
        if block not in self._waiting:
            self._apart_since[rows] &= ~whole.all(axis=1)
        if self._apart_since[rows].any():
            self.parted.add(block)

    def paths(self, rows: Rows) -> tuple[Truth, Truth]:
        """Return in which lanes the path of warps is certain, and which lanes have not exited."""
        return np.asarray(self._until[rows] == _FREE), self._alive[rows]

    def operated(self, operation: Operation, inputs: tuple[Words, ...], at: Moment, executing: Truth, computed: Truth | bool) -> None:
        """Note what an operation wrote, of which `computed` says where a rule said it; `at` says who might have executed it."""
        rows = at.rows
        guard = self._tested(operation.condition, rows)
        path = self._until[rows] == _FREE
        known = np.logical_and(computed, path & guard)
        gathered = set(operation.gathered)
        hints = descriptors(operation.instruction)
        for register in (*operation.gathered, *(register for register in operation.reads if register not in hints)):
            words = self.words[self._where[register], rows]
            known = known & (~(executing & ~words).any(axis=1, keepdims=True) if register in gathered else words)
        if isinstance(operation.exact, LocalAccess) and operation.exact.shared:
            self._share(operation, operation.exact, inputs, at, executing, guard, known)
        elif isinstance(operation.exact, LocalAccess):
            known = self._through_memory(operation, operation.exact, inputs, at, executing, guard & path, known)
        crosses = operation.instruction.opcode.partition(".")[0] in EXCHANGES
        if crosses:
            # All lanes that have not exited take part, each on a path that is certain: what one of them finds follows from what all hold.
            alive = self._alive[rows]
            whole = ((executing == alive) & ((known & (self._until[rows] == _FREE)) | ~alive) & ~(alive & self._absent(rows))).all(axis=1)
            whole &= not self._grouped
            whole &= ~(self._split[rows] & (self._block in self.apart))
            known = np.broadcast_to(whole[:, None], known.shape)
        elif operation.broadcast or gathered:
            # Which lanes execute it says what all of them get.
            whole = ~(at.executing & ~known).any(axis=1) & (self._until[rows] == _FREE).all(axis=1)
            whole &= not is_of_one_lane(operation)
            if not ONE_COPY.issuperset((*operation.gathered, *operation.reads)):
                whole &= ~(at.executing & self._absent(rows)).any(axis=1) & is_alike(operation, inputs, executing)
            known = np.broadcast_to(whole[:, None], known.shape)
        maybe = executing | (at.executing & ~guard)
        written = np.broadcast_to(maybe.any(axis=1, keepdims=True), maybe.shape) if operation.broadcast else maybe
        if operation.broadcast and (maybe.any(axis=1) & (executing != self._alive[rows]).any(axis=1)).any():
            # Which side of a branch writes last is open, and so is what other lanes read meanwhile.
            self.torn.update(operation.writes)
        for register in operation.writes:
            place = self._where[register]
            self.words[place, rows] = np.where(written, known, self.words[place, rows])

    def _through_memory(  # noqa: PLR0913, PLR0917 - all of an operation
        self, operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], at: Moment, executing: Truth, sure: Truth, known: Truth
    ) -> Truth:
        """Note a store to local memory, or return in which lanes what is loaded of it is certain."""
        rows = at.rows
        address = np.full(executing.shape, how.offset & 0xFFFFFFFF, np.uint32)
        for word in inputs[: how.base]:
            address = address + word
        if not how.store:
            certain = self._certain_base(operation, how, rows) & sure & ~self._lost[rows, None]
            for place in range(len(operation.writes)):
                certain &= self._local.load(rows, address + np.uint32(4 * place), np.zeros(executing.shape, np.uint32)) != 0
            return certain
        word = (known & how.whole).astype(np.uint32)
        for place in range(len(inputs) - how.base + how.zeros):
            self._local.store(rows, executing, address + np.uint32(4 * place), word)
        # A part of a word changes one that is found at another address.
        sure = sure & self._certain_base(operation, how, rows) & how.whole
        self._lost[rows] |= (at.executing & ~sure).any(axis=1)
        return known

    def loaded(
        self, operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], at: Moment
    ) -> tuple[tuple[Words, ...], Truth] | None:
        """Return the certain words that a load finds in shared memory, and in which lanes all are; None where nothing of it is followed."""
        if self.shared is None or not how.whole:
            return None
        reading = at.executing & self._certain_base(operation, how, at.rows) & (self._until[at.rows] == _FREE)
        address, sure, words = shared_addresses(how, inputs, at.executing), reading, list[Words]()
        for place in range(len(operation.writes)):
            seen, known = self.shared.load(at.rows, reading, address + np.uint32(4 * place))
            words.append(seen)
            sure = sure & known
        return tuple(words), sure

    def _share(  # noqa: PLR0913, PLR0917 - all of an operation
        self, operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], at: Moment, executing: Truth, guard: Truth, known: Truth
    ) -> None:
        """Note a store to shared memory."""
        if self.shared is None or not how.store:
            return
        rows = at.rows
        maybe = executing | (at.executing & ~guard)
        followed = self._certain_base(operation, how, rows) & (self._until[rows] == _FREE)
        self.shared.lose(rows[(maybe & ~followed).any(axis=1)])
        address, sure = shared_addresses(how, inputs, executing), known & how.whole & executing & ~self._absent(rows)
        address = address if how.whole else address & np.uint32(0xFFFFFFFC)
        data = (*inputs[how.base :], *[np.zeros_like(address)] * how.zeros)
        for place, word in enumerate(data):
            self.shared.store(rows, maybe & followed, address + np.uint32(4 * place), word, sure)

    def arrived(self, number: int, rows: Rows, executing: Truth, following: Ints) -> Ints:
        """Return where runs go on that have executed a block: at a barrier they wait for those of their block."""
        if self.shared is None or self.code.blocks[number].last not in self._barriers:
            return following
        together = (executing == self._alive[rows]) & ((self._until[rows] == _FREE) | ~executing) & ~(executing & self._absent(rows))
        self.shared.lose(rows[~together.all(axis=1)])
        return self.shared.wait(rows, following)

    def _certain_base(self, operation: Operation, how: LocalAccess, rows: Rows) -> Truth:
        out = np.ones((len(rows), LANES), np.bool_)
        for register in operation.reads[: how.base]:
            out &= self.words[self._where[register], rows]
        return out

    def left(self, number: int, block: ExecutableBlock, at: Moment, taken: Truth) -> Truth:
        """Note who leaves a block by words that are not certain, and return who is to take its control instruction."""
        # Lanes that are elsewhere take nothing here, whatever is decided for those that may have gone another way.
        taken = self._decided(number, block, at, taken) & at.executing
        if block.control is not None and block.control.flow in {Flow.EXIT, Flow.TRAP}:
            self._gone(at.rows, taken)
        for register in self.torn & self._where.keys():
            # Within a block of code no other side has used it, as every graph assumes.
            self.words[self._where[register], at.rows] = False
        return taken

    def _gone(self, rows: Rows, lanes: Truth) -> None:
        """Let lanes that end have been on the other sides of what they took by uncertain words: they come to no meeting any more."""
        self._apart(rows, {branch: lanes & some[rows] for branch, some in self._left.items()})
        for branch, some in self._short.items():
            if (here := lanes & some[rows]).any():
                some[rows] &= ~here
                self._spoil(self._sides_of(frozenset({branch})), rows, here)

    def _decided(self, number: int, block: ExecutableBlock, at: Moment, taken: Truth) -> Truth:
        control, rows = block.control, at.rows
        self._apart_since[rows] |= (number in self._merging) & (at.executing != self._alive[rows]).any(axis=1)
        if control is None:
            return taken
        moved = control.moves.register if control.moves is not None else None
        if moved is not None and moved in self._where:
            self.words[self._where[moved], rows] = False  # which threads are in a barrier depends on who came first
        sure = self._tested(control.condition, rows)
        for register in control.selector:
            sure &= self.words[self._where[register], rows]
        if control.flow is Flow.INDIRECT_BRANCH:
            sure = np.zeros_like(sure)  # its target is drawn
        if control.unity is not Unity.EACH:
            shared = all(test.register in ONE_COPY for test in control.condition.tests)
            sure = np.broadcast_to(~(at.executing & ~sure).any(axis=1, keepdims=True), sure.shape)
            sure = sure & (control.unity is not Unity.OPEN) & shared & (self._until[rows] == _FREE).all(axis=1)[:, None]
        if number in self._divided:
            # All threads of the warp are here, and in every execution.
            whole = at.executing.all(axis=1) & ~self._split[rows]
            sure, taken = sure | whole[:, None], taken & ~whole[:, None]
        unsure = at.executing & ~sure & (self._until[rows] == _FREE)
        if not unsure.any():
            return self._hurried(number, rows, taken)
        self._unsure.add(number)
        self.parted |= self._sides_of(frozenset({number})).blocks
        self._apart_since[rows] |= unsure.any(axis=1)
        self._split[rows] |= unsure.any(axis=1)
        # Who waits at the barrier of a BREAK stays open where all lanes are together again.
        self._waiting.update(range(len(self.code.blocks)) if control.flow is Flow.BREAK else ())
        self.parted |= self._waiting
        detour = self._detour_of(number)
        if detour is None or (detour.loop and not self._has_other(number, detour.loop)):
            left = {branch: unsure & lanes[rows] for branch, lanes in self._left.items() if number in self._loop_of(branch)}
            self._apart(rows, {**left, number: unsure})
            return self._hurried(number, rows, taken)
        lanes = (self._short if detour.short else self._left).setdefault(number, np.zeros((self.runs, LANES), np.bool_))
        lanes[rows] |= unsure
        return np.where(unsure, detour.taken, self._hurried(number, rows, taken))

    def _hurried(self, number: int, rows: Rows, taken: Truth) -> Truth:
        """Let lanes that may be on either side of a branch leave loops: nothing is said of these; drawn words end them late."""
        astray = self._until[rows] != _FREE
        if not astray.any():
            return taken
        if number not in self._ways_out:
            self._ways_out[number] = None if self._after is None else taken_to_leave(self.code.blocks[number], number, self.loops)
        out = self._ways_out[number]
        return taken if out is None else np.where(astray, out, taken)

    def _has_other(self, number: int, loop: frozenset[int]) -> bool:
        """Say whether a way out of a loop may be certain."""
        assert self._after is not None
        return any(each not in loop for other in loop - self._unsure - {number} for each in self._after[other])

    def _absent(self, rows: Rows) -> Truth:
        """Return which lanes might not be where they are."""
        out = np.zeros((len(rows), LANES), np.bool_)
        for lanes in (*self._left.values(), *self._short.values()):
            out |= lanes[rows]
        return out

    def _apart(self, rows: Rows, lanes: Mapping[int, Truth]) -> None:
        """Let lanes be on any side of each branch that they took by uncertain words; they have left no loop by these any more."""
        some = {branch: where for branch, where in lanes.items() if where.any()}
        for branch, where in some.items():
            if branch in self._left:
                self._left[branch][rows] &= ~where
        if len(some) > _TOGETHER:
            self._open(all_sides(self.code), rows, np.logical_or.reduce(list(some.values())))
            return
        patterns = np.zeros((len(rows), LANES), np.int64)
        for place, where in enumerate(some.values()):
            patterns |= where.astype(np.int64) << place
        for pattern in np.unique(patterns[patterns != 0]).tolist():
            branches = frozenset(branch for place, branch in enumerate(some) if pattern >> place & 1)
            self._open(self._sides_of(branches), rows, np.asarray(patterns == pattern))

    def _open(self, sides: Sides, rows: Rows, lanes: Truth) -> None:
        """Let these lanes be on any side of some branches."""
        until = self._until[rows]
        # A lane that might be elsewhere already, before it leaves a loop that it might have left already, is followed no further.
        astray = bool((lanes & (until != _FREE)).any())
        self.parted.update(range(len(self.code.blocks)) if astray else sides.blocks)
        self._until[rows] = np.where(lanes, np.where(until == _FREE, sides.meet, NEVER), until)
        self.open.update(index for index, head in enumerate(self.heads) if astray or head in sides.blocks or self._is_around(sides, index))
        self._spoil(all_sides(self.code) if astray else sides, rows, lanes)

    def _is_around(self, sides: Sides, loop: int) -> bool:
        """Say whether branches inside a loop meet at its head: one of their sides may be a back edge, and the other enter it anew."""
        return self.heads[loop] == sides.meet and not self.loops[loop].isdisjoint(sides.branches)

    def _spoil(self, sides: Sides, rows: Rows, lanes: Truth) -> None:
        """Forget what these lanes may have written on any side of some branches."""
        whole = np.broadcast_to(lanes.any(axis=1, keepdims=True), lanes.shape)
        for register in sides.registers & self._where.keys():
            self.words[self._where[register], rows] &= ~(whole if register in ONE_COPY else lanes)
        if sides.stores:
            self._lost[rows] |= whole[:, 0]
        if sides.shared and self.shared is not None:
            self.shared.lose(rows[whole[:, 0]])

    def has_split(self, rows: Rows) -> Truth:
        """Return which warps took a branch on uncertain words."""
        return self._split[rows]

    def certain_in(self, registers: Iterable[int], rows: Rows) -> Truth:
        """Return in which lanes all of some registers are certain."""
        out = np.asarray(self._until[rows] == _FREE)
        for register in registers:
            out &= self.words[self._where[register], rows]
        return out

    def _tested(self, condition: Condition, rows: Rows) -> Truth:
        """Return in which lanes it is certain whether a condition holds."""
        out = np.ones((len(rows), LANES), np.bool_)
        for test in () if condition.never else condition.tests:
            out &= self.words[self._where[test.register], rows] & (test.flags is None)
        return out

    def _sides_of(self, branches: frozenset[int]) -> Sides:
        if branches not in self._sides:
            self._sides[branches] = sides_of(self.code, self._after, branches)
        return self._sides[branches]

    def _detour_of(self, branch: int) -> Detour | None:
        if branch not in self._detours:
            meet = self._sides_of(frozenset({branch})).meet
            self._detours[branch] = (
                None if self._after is None else detour_of(self.code.blocks[branch], branch, self._after, meet, self.loops, self.heads)
            )
        return self._detours[branch]

    def _loop_of(self, branch: int) -> frozenset[int]:
        detour = self._detour_of(branch)
        return detour.loop if detour is not None else frozenset()


def with_side_entries(code: ExecutableFunction, loops: Sequence[frozenset[int]], heads: Sequence[int]) -> set[int]:
    """Return the numbers of the loops that threads may enter elsewhere than at their heads: which way they come may decide a back edge."""
    after = following(code)
    return {
        index
        for index, (loop, head) in enumerate(zip(loops, heads, strict=True))
        if after is not None
        and any(each in loop and each != head for block in range(len(after)) if block not in loop for each in after[block])
    }
