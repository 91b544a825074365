"""What runs did: how often each took each transition between blocks, and where token instructions sent their threads."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sassan.isa.facts import Flow
from sassan.simt.code import MOVES, RELEASED_TAG, SIDE, WARPSYNC_TAG, ExecutableFunction, TransitionKind
from sassan.simt.stack import Ints
from sassan.simt.values import Rows, Truth

AGAIN = 1
"""The `tag` of a divergence whose side executes the instruction again."""
_BITS = 62
"""A transition out of a block is a number of so many bits: target 15, origin 15, contexts 12 + 12, tag 5, move 3."""
CallString = tuple[int, ...]
Counts = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, order=True)
class StackEntry:
    """A stack entry as an observer names it: where its threads resume, in which call context, under which tag ('' is a side).

    `origin` is the address of the branch that a side still has to take, -1 for every other entry.
    """

    context: CallString
    address: int
    tag: str
    origin: int = -1


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of a warp: from the block at `source` (its last instruction is `last`) to the one at `target`; None ends the warp."""

    context: CallString
    source: int
    last: int
    into: CallString
    target: int | None
    move: TransitionKind
    pushed: StackEntry | None = None
    popped: StackEntry | None = None

    def __str__(self) -> str:
        """Return `0068 -> 01a8 taken`, call strings appended."""
        place = "end" if self.target is None else f"{self.target:04x}"
        return f"{self.last:04x}{_call(self.context)} -> {place}{_call(self.into)} {self.move.value}"


def _order(step: Transition) -> tuple[CallString, int, int, CallString, str, str]:
    target = -1 if step.target is None else step.target
    return (step.context, step.source, target, step.into, step.move.value, "" if step.popped is None else step.popped.tag)


def _call(context: CallString) -> str:
    return "".join(f"_c{site:04x}" for site in context)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Of N runs: `counts` (N, T) says how often each took each of T transitions; `status` (N) how each stands (`state.Status`).

    `leaves` are (address of a token instruction, where its threads resume); `faults` are (address, runs, what went wrong).
    """

    transitions: tuple[Transition, ...]
    counts: Counts
    status: npt.NDArray[np.int8]
    leaves: frozenset[tuple[int, int]]
    faults: tuple[tuple[int, int, str], ...]


class Contexts:
    """Call strings by number; 0 is the kernel itself."""

    def __init__(self) -> None:
        """Start with the kernel alone."""
        self.strings: list[CallString] = [()]
        self._numbers: dict[tuple[int, int], int] = {}
        self._places: dict[CallString, int] = {(): 0}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.strings)

    def inside(self, contexts: Ints, site: int) -> Ints:
        """Return the contexts that a call at `site` enters."""
        distinct, back = np.unique(contexts, return_inverse=True)
        return np.array([self._enter(int(context), site) for context in distinct], dtype=np.int32)[back]

    def after(self, context: int, address: int, sites: dict[int, tuple[int, ...]]) -> int:
        """Return the context in which threads go on that return to `address` out of `context`, -1 where nothing called from before it.

        `sites` are the calls before each address; the innermost call that stands there is the one that returns.
        """
        string = self.strings[context]
        for depth in range(len(string) - 1, -1, -1):
            if string[depth] in sites.get(address, ()):
                return self._places[string[:depth]]
        return -1

    def _enter(self, context: int, site: int) -> int:
        number = self._numbers.get((context, site))
        if number is None:
            number = self._numbers[context, site] = len(self.strings)
            self.strings.append((*self.strings[context], site))
            self._places[self.strings[number]] = number
        return number


@dataclass(frozen=True, slots=True)
class GroupSteps:
    """The steps of a group out of one block: arrays over the group; `tag` and `origin` as in `state.Next`, or empty."""

    source: int
    context: Ints
    target: Ints
    into: Ints
    move: Ints
    tag: Ints
    origin: Ints

    def only(self, where: Truth) -> "GroupSteps":
        """Return the steps of the part of the group where it holds."""
        tag, origin = (self.tag[where], self.origin[where]) if self.tag.size else (self.tag, self.origin)
        return GroupSteps(self.source, self.context[where], self.target[where], self.into[where], self.move[where], tag, origin)


class TransitionCounter:
    """Counts transitions per run while a machine runs."""

    def __init__(self, code: ExecutableFunction, contexts: Contexts, sites: dict[int, tuple[int, ...]], runs: int) -> None:
        """Start with nothing counted; `sites` are the calls before each address."""
        self.counts = True
        """Whether transitions are counted, and where threads resume, or faults alone."""
        self._code = code
        self._contexts = contexts
        self._sites = sites
        self._numbers: dict[int, int] = {}
        self._counts = np.zeros((64, runs), dtype=np.int32)
        self._leaves: set[tuple[int, int]] = set()
        self._faults: Counter[tuple[int, str]] = Counter()

    def moved(self, rows: Rows, steps: GroupSteps) -> None:
        """Count one transition of every run in `rows`."""
        if not self.counts:
            return
        tag = steps.tag.astype(np.int64) if steps.tag.size else 0
        origin = steps.origin.astype(np.int64) + 1 if steps.origin.size else 0
        keys = (((steps.target.astype(np.int64) + 1) << 15 | origin) << 12 | steps.context) << 12 | steps.into
        keys = (keys << 5 | tag) << 3 | steps.move
        if (keys == keys[:1]).all():
            if rows.size:
                number = self._number(steps.source << _BITS | int(keys[0]))
                self._counts[number, rows] += 1
            return
        distinct, back = np.unique(keys, return_inverse=True)
        numbers = np.array([self._number(steps.source << _BITS | int(step_key)) for step_key in distinct])
        self._counts[numbers[back], rows] += 1

    def fault(self, address: int, message: str, runs: int) -> None:
        """Note that so many runs did at an instruction what they must not."""
        if runs:
            self._faults[address, message] += runs

    def left(self, address: int, blocks: Ints) -> None:
        """Note where the threads of a token instruction resume, as block numbers."""
        if self.counts:
            self._leaves.update((address, self._code.blocks[block].address) for block in np.unique(blocks).tolist() if block >= 0)

    def outcome(self, status: npt.NDArray[np.int8]) -> RunOutcome:
        """Return all that was counted, transitions in a fixed order."""
        named = sorted(((self._transition(code), number) for code, number in self._numbers.items()), key=lambda pair: _order(pair[0]))
        order = [number for _, number in named]
        return RunOutcome(
            transitions=tuple(transition for transition, _ in named),
            counts=self._counts[order].T.copy(),
            status=status.copy(),
            leaves=frozenset(self._leaves),
            faults=self.faults(),
        )

    def faults(self) -> tuple[tuple[int, int, str], ...]:
        """Return (address, runs, what went wrong), in order."""
        return tuple((address, runs, message) for (address, message), runs in sorted(self._faults.items()))

    def _number(self, code: int) -> int:
        number = self._numbers.get(code)
        if number is None:
            number = self._numbers[code] = len(self._numbers)
            if number >= len(self._counts):
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        return number

    def _transition(self, code: int) -> Transition:
        move, tag, into, context = MOVES[code & 7], code >> 3 & 31, code >> 8 & 4095, code >> 20 & 4095
        origin, target, source = (code >> 32 & 32767) - 1, (code >> 47 & 32767) - 1, code >> _BITS
        block, here, there = self._code.blocks[source], self._contexts.strings[context], self._contexts.strings[into]
        address = None if target < 0 else self._code.blocks[target].address
        popped = None
        by_register = block.control is not None and block.control.flow is Flow.RETURN
        pops = (
            {TransitionKind.REACTIVATE, TransitionKind.RECONVERGE}
            if by_register
            else {TransitionKind.REACTIVATE, TransitionKind.RECONVERGE, TransitionKind.RETURN}
        )
        if move in pops and address is not None:
            name = self._code.tags[tag]
            branch = self._code.blocks[origin].last if origin >= 0 else -1
            popped = StackEntry(there, address, WARPSYNC_TAG if name == RELEASED_TAG else name, branch)
        pushed = self._pushed(source, context, again=tag == AGAIN, taken=origin) if move is TransitionKind.DIVERGE else None
        return Transition(here, block.address, block.last, there if address is not None else (), address, move, pushed, popped)

    def _pushed(self, source: int, context: int, *, again: bool, taken: int) -> StackEntry:
        """Return the side that a divergence suspends: at its own block (`again`), or at the block `taken`, -1 for the one that follows."""
        block, here = self._code.blocks[source], self._contexts.strings[context]
        flow = block.control.flow if block.control is not None else Flow.NONE
        if again:
            return StackEntry(here, block.address, SIDE)
        if taken < 0:
            return StackEntry(here, self._code.blocks[block.follow].address, SIDE)
        address = self._code.blocks[taken].address
        if flow is Flow.RETURN:
            here = self._contexts.strings[self._contexts.after(context, address, self._sites)]
        elif flow in {Flow.CALL, Flow.INDIRECT_CALL}:
            here = (*here, block.last)
        return StackEntry(here, address, SIDE, block.last)
