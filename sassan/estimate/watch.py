"""What is looked at while warps of a launch run: visits of nodes, entries of loops, and the addresses of accesses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.access.opcodes import Reference, references
from sassan.estimate.leaps import Leaps
from sassan.ir import Constant, Instruction, Memory, Register
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit
from sassan.simt.code import ExecutableFunction
from sassan.simt.state import RunStatus, Session, lanes
from sassan.simt.values import LANES, Rows, Words
from sassan.warpcfg.graph import WarpCfg

_WORK = 15_000
"""Operations that are executed at most, of as many warps as stand at the same place: about a second or two."""
_TILES = 100_000
"""Operations that are executed at most where warps go through tiles, one after the other: iterations that are not alike."""
_LEAPS = 1_500
"""Operations after which iterations of loops that are alike are leapt over."""
_GUESSES = 2 / 3
"""The part of the operations after which those are, too, that need not be."""
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
Truth = npt.NDArray[np.bool_]
Key = tuple[int, int]
"""An access: the address of its instruction, and the operand that holds the address."""


class EnoughError(Exception):
    """Warps have been run for as long as is worth it."""


@dataclass(frozen=True, slots=True)
class Executions:
    """Executions of one access, each of one warp: its number, its step, the addresses of its lanes (N, 32), and who accesses."""

    warps: Rows
    steps: Words
    addresses: Words
    active: Truth


def joined(parts: Sequence[Executions]) -> Executions:
    """Return executions of one access as one."""
    if len(parts) == 1:
        return parts[0]
    return Executions(
        np.concatenate([each.warps for each in parts]),
        np.concatenate([each.steps for each in parts]),
        np.concatenate([each.addresses for each in parts]),
        np.concatenate([each.active for each in parts]),
    )


@dataclass(frozen=True, slots=True)
class Watched:
    """Accesses in groups by the address of the first, where those of all are known; `registers` (bit numbers) say them."""

    groups: Mapping[int, tuple[Instruction, ...]]
    registers: frozenset[int]

    @property
    def accesses(self) -> tuple[Instruction, ...]:
        """Return all accesses."""
        return tuple(each for several in self.groups.values() for each in several)

    @property
    def reads(self) -> Mapping[int, frozenset[int]]:
        """Return the registers that say the accesses of each group, by the address of its first."""
        return {first: frozenset[int]().union(*map(_read, several)) for first, several in self.groups.items()}


@dataclass(slots=True)
class Watch:
    """An observer. Blocks begin at nodes and at the first instruction of each group of `watched`; `runs` is how many warps run.

    Afterwards, `visits` (nodes, runs), `entries` (loops, runs) and `turns` of each lane (visits of the head: loops, runs, 32) are counted,
    and `last` (runs) are the nodes visited last. `ended` are the warps that came to their end before an EnoughError.
    """

    cfg: WarpCfg
    code: ExecutableFunction
    watched: Watched
    runs: int
    leaps: Leaps
    visits: npt.NDArray[np.int64] = field(init=False)
    entries: npt.NDArray[np.int64] = field(init=False)
    turns: npt.NDArray[np.int64] = field(init=False)
    last: Rows = field(init=False)
    seen: dict[Key, list[Executions]] = field(default_factory=dict[Key, list[Executions]])
    ended: Truth = field(init=False)
    most: int = field(init=False)
    """Operations that are executed at most."""
    _work: int = 0
    _met: npt.NDArray[np.int64] = field(init=False)
    _nodes: dict[tuple[tuple[int, ...], int], int] = field(init=False)
    _heads: dict[int, list[int]] = field(init=False)
    _within: Truth = field(init=False)
    """Which loops a node is in: (loops, nodes)."""
    _inside: Words = field(init=False)
    """Which lanes of each warp are in a loop, as bits: (loops, runs)."""
    _at: dict[int, list[tuple[Instruction, tuple[Reference, ...]]]] = field(init=False)

    def __post_init__(self) -> None:
        """Start with nothing counted."""
        nodes, loops = self.cfg.nodes, self.cfg.loops
        self.most, self.ended = _WORK, np.zeros(self.runs, np.bool_)
        self.visits = np.zeros((len(nodes), self.runs), np.int64)
        self.entries = np.zeros((len(loops), self.runs), np.int64)
        self.turns = np.zeros((len(loops), self.runs, LANES), np.int64)
        self._met = np.zeros((len(loops), self.runs), np.int64)
        self.last = np.full(self.runs, len(nodes), np.intp)
        self._nodes = {(node.context, node.start): index for index, node in enumerate(nodes)}
        self._heads = {}
        self._within = np.zeros((len(loops), len(nodes)), np.bool_)
        self._inside = np.zeros((len(loops), self.runs), np.uint32)
        for index, loop in enumerate(loops):
            self._within[index, list(loop.nodes)] = True
            self._heads.setdefault(loop.head, []).append(index)
        self._at = {first: [(each, references(each)) for each in several] for first, several in self.watched.groups.items()}

    def only_count(self, seen: dict[Key, list[Executions]], *, tiles: bool) -> None:
        """Look at no access: what others `seen` did stands for them; `tiles`: warps go through tiles."""
        self.seen = seen
        self._at = {}
        self.most = _TILES if tiles else _WORK

    @property
    def tiles(self) -> bool:
        """Say whether warps were cut that had come to an outermost loop around others."""
        around = {each.parent for each in self.cfg.loops}
        tiles = [each.head for number, each in enumerate(self.cfg.loops) if each.parent is None and number in around]
        return bool(((self.visits[tiles] > 0) & ~self.ended).any())

    @property
    def leapt(self) -> Truth:
        """Return which warps leapt over iterations."""
        return self.leaps.leapt

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Count a visit of the warps that are about to execute a block."""
        self._work += 2 + len(self.code.blocks[block].operations)
        if self._work > self.most:
            self.ended = np.asarray(session.warps.status == RunStatus.ENDED)
            raise EnoughError
        address = self.code.blocks[block].address
        contexts = session.warps.context[rows]
        for context in np.unique(contexts).tolist() if len(session.contexts) > 1 else (0,):
            node = self._nodes.get((session.contexts.strings[context], address))
            if node is not None:
                context_rows = rows[contexts == context]
                active, inside = session.warps.active[context_rows], self._inside[:, context_rows]
                for loop in self._heads.get(node, ()):
                    # Where others leave the loop, or the warp, those that stay in it do not enter it again.
                    entering = inside[loop] & active == 0
                    self.entries[loop, context_rows] += entering
                    met = self._met[loop][context_rows] = np.where(entering, 0, self._met[loop][context_rows] + 1)
                    times = np.ones(len(context_rows), np.int64)
                    if self._work > _LEAPS:
                        guess = self._work > _GUESSES * self.most
                        times += self.leaps.at_head(session, loop, context_rows, met, self.visits, self.entries, guess=guess)
                        self._met[loop][context_rows] += times - 1
                    self.turns[loop, context_rows] += lanes(active) * times[:, None]
                self._inside[:, context_rows] = np.where(self._within[:, node, None], inside | active, inside & ~active)
                self.visits[node, context_rows] += 1
                self.last[context_rows] = node
        accesses = self._at.get(address)
        if accesses is not None:
            self._access(session, accesses, rows)

    def _access(self, session: Session, accesses: Sequence[tuple[Instruction, tuple[Reference, ...]]], rows: Rows) -> None:
        warps = session.warps
        executing, steps = lanes(warps.active[rows]), warps.time[rows]
        for instruction, several in accesses:
            active, guard = executing, instruction.guard
            if guard is not None:
                register = bit(guard.file, guard.index).bit_length() - 1
                holds = warps.registers[session.slots[register], rows] != 0 if register >= 0 else np.ones_like(active)
                active = active & (holds != guard.negated)
            for reference in several:
                addresses = lane_addresses(session, instruction.operands[reference.place], rows)
                self.seen.setdefault((instruction.address, reference.place), []).append(
                    Executions(rows, steps, addresses[:, : reference.lanes], active[:, : reference.lanes])
                )


def lane_addresses(session: Session, operand: object, rows: Rows) -> Words:
    """Return the low words of the addresses of all lanes."""
    assert isinstance(operand, Memory | Constant)
    total = np.full((len(rows), 32), operand.offset & 0xFFFFFFFF, np.uint32)
    for register in operand.base:
        name = bit(register.file, register.index).bit_length() - 1
        if name >= 0:
            scale = next((_SCALES[each] for each in register.modifiers if each in _SCALES), 1)
            words = session.warps.registers[session.slots[name], rows] * np.uint32(scale)
            total = total - words if register.negated else total + words
    return total


def watched(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> Watched:
    """Return the accesses that have addresses of lanes. What follows the first of a group does not change what its others read."""
    groups: dict[int, tuple[Instruction, ...]] = {}
    wanted: set[int] = set()
    for code in {node.start: node.code for node in cfg.nodes}.values():
        for several in _groups(code, facts_of):
            groups[several[0].address] = several
            wanted.update(*map(_read, several))
    return Watched(groups, frozenset(wanted))


def _groups(code: Sequence[Instruction], facts_of: Callable[[Instruction], Facts | None]) -> Iterator[tuple[Instruction, ...]]:
    """Yield the accesses of a straight piece of code, those together that read what none of them and nothing between them writes."""
    group: list[Instruction] = []
    written = 0
    for each in code:
        if any(reference.bytes and reference.place >= 0 for reference in references(each)):
            if group and any(written >> register & 1 for register in _read(each)):
                yield tuple(group)
                group = []
            if not group:
                written = 0
            group.append(each)
        facts = facts_of(each)
        written = -1 if facts is None or facts.flow is not Flow.NONE else written | facts.writes
    if group:
        yield tuple(group)


def _read(access: Instruction) -> frozenset[int]:
    """Return the registers (bit numbers) that say who accesses what."""
    held = [operand for operand in access.operands if isinstance(operand, Memory | Constant)]
    bases = [register for operand in held for register in operand.base]
    if access.guard is not None:
        bases.append(Register(access.guard.file, access.guard.index))
    return frozenset(bit(register.file, register.index).bit_length() - 1 for register in bases) - {-1}
