"""Boxes that several blocks ask the copy engine for at about the same time: L2 answers some of these requests together.

The blocks that run at the same time go through their tiles in step: what each asks for by its n-th copy is compared with what the others
ask for by theirs.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

import numpy as np

from sassan.estimate.roles.barrier_operations import BarrierOperation, barrier_operation
from sassan.estimate.roles.copies import Copied
from sassan.estimate.roles.tensor_operands import descriptor
from sassan.estimate.roles.traces import WarpTrace, decided, place_of, run_alone
from sassan.estimate.watch import EnoughError
from sassan.ir import Instruction, Memory, Register
from sassan.isa.facts import Facts
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration
from sassan.simt.code import ExecutableFunction
from sassan.simt.launch_warps import Spot
from sassan.simt.shared import is_followed, reads_shared
from sassan.simt.state import Session, lanes
from sassan.simt.values import Rows
from sassan.warpcfg.graph import WarpCfg

_WORK = 8_000
"""Operations that are executed at most, each of one warp of every block that runs: about a second."""
_STEPS, _BEGINNING = 1_000, 50
"""Blocks of code that a warp executes at most, and one that copies nothing."""
_BLOCKS = 64
"""Blocks that are run at most."""
_COPIES = 64
"""Copies of each warp that are compared, by each instruction."""
_BOX = 7
"""Words of the operand that says where the box lies: its shared address, its barrier, and five coordinates."""


class Simultaneous(NamedTuple):
    """Of the requests by one copy at the same time, the part that is `different`, and the part of the `blocks` that make any."""

    different: float
    blocks: float


def simultaneous(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration, traces: Sequence[WarpTrace], at_once: int
) -> Mapping[int, Simultaneous]:
    """Return what the requests of blocks for boxes have in common, by the address of the copy.

    `traces` are those of the warps of a block, and `at_once` is how many blocks run at the same time. A copy by no tensor map is missing.
    """
    assert launch.grid is not None
    copies = {
        each.address: each
        for node in cfg.nodes
        for each in node.code
        if barrier_operation(each) is BarrierOperation.COPY and descriptor(each) is not None
    }
    copying = [warp for warp, trace in enumerate(traces) if any(met.address in copies for met in trace.executions)]
    if not copying:
        return {}
    code = decided(cfg, facts_of, {address: frozenset(_numbers(each)) for address, each in copies.items()})
    if code is None:
        return {}
    blocks, at_once = prod(launch.grid), min(at_once, _BLOCKS)
    first = max(0, min(blocks // 2 // at_once * at_once, blocks - at_once))
    numbers = range(first, min(first + at_once, blocks))
    # What others store in shared memory before the first barrier may say where the boxes lie.
    warps = range(len(traces)) if reads_shared(code) and is_followed(code, beside=True) else copying
    spots = [Spot(place_of(number, launch.grid), warp) for number in numbers for warp in warps]
    requests = _Requests(code, copies, np.repeat(np.arange(len(numbers)), len(warps)))
    steps = np.where(np.isin([spot.warp for spot in spots], copying), _STEPS, _BEGINNING)
    with contextlib.suppress(EnoughError):
        run_alone(cfg, launch, code, spots, requests, steps=steps)
    return {
        address: Simultaneous(len(boxes) / requests.counts[address], len(requests.blocks[address]) / len(numbers))
        for address, boxes in requests.boxes.items()
    }


def among_blocks(copies: Mapping[int, Copied], of_blocks: Mapping[int, Simultaneous], shared: frozenset[int]) -> Mapping[int, Copied]:
    """Return copies with what is known of their requests; of those for several blocks (`shared`), not every block makes one."""
    return {
        address: each
        if (known := of_blocks.get(address)) is None
        else each._replace(requested=each.requested * (known.blocks if address in shared else 1.0), different=known.different)
        for address, each in copies.items()
    }


@dataclass(slots=True)
class _Requests:
    """An observer that notes which boxes the n-th copies of warps ask for, by the address of the copy, and `counts` the requests."""

    code: ExecutableFunction
    copies: Mapping[int, Instruction]
    numbers: Rows
    """The block of each run."""
    boxes: dict[int, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    blocks: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The blocks that ask for boxes."""
    _turns: dict[int, Rows] = field(default_factory=dict[int, Rows])
    _work: int = 0

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Note the copy that the warps are about to execute."""
        self._work += 2 + len(self.code.blocks[block].operations)
        copy = self.copies.get(self.code.blocks[block].address)
        if copy is not None:
            self._note(session, copy, rows)
        if self._work > _WORK:
            raise EnoughError

    def _note(self, session: Session, copy: Instruction, rows: Rows) -> None:
        active, guard = lanes(session.warps.active[rows]), copy.guard
        if guard is not None:
            number = bit(guard.file, guard.index).bit_length() - 1
            active &= (session.warps.registers[session.slots[number], rows] != 0) != guard.negated if number >= 0 else not guard.negated
        copying = active.any(axis=1)
        if not copying.any():
            return
        rows, lane = rows[copying], active[copying].argmax(axis=1)
        turns = self._turns.setdefault(copy.address, np.zeros(len(self.numbers), np.int64))
        words = [turns[rows], *(session.warps.registers[session.slots[number], rows, lane] for number in _words(copy))]
        turns[rows] += 1
        compared = np.stack(words, axis=1)[turns[rows] <= _COPIES]
        self.boxes[copy.address].update(each.tobytes() for each in compared)
        self.counts[copy.address] += len(compared)
        self.blocks[copy.address].update(self.numbers[rows].tolist())


def _numbers(copy: Instruction) -> tuple[int, ...]:
    """Return the registers (bit numbers) that say whether a copy is executed, and of what."""
    guard = () if copy.guard is None else (bit(copy.guard.file, copy.guard.index).bit_length() - 1,)
    return tuple(number for number in (*guard, *_words(copy)) if number >= 0)


def _words(copy: Instruction) -> tuple[int, ...]:
    """Return the registers (bit numbers) with the address of the map, and with the coordinates in it, behind the barrier."""
    box = next(operand for operand in copy.operands if isinstance(operand, Memory)).base[0]
    tensor = descriptor(copy)
    assert tensor is not None
    rank = next((int(each[0]) for each in copy.opcode.split(".") if each in {"1D", "2D", "3D", "4D", "5D"}), _BOX - 2)
    registers = (*_following(tensor.base[0], range(2)), *_following(box, range(2, 2 + rank)))
    return tuple(number for each in registers if (number := bit(each.file, each.index).bit_length() - 1) >= 0)


def _following(first: Register, steps: range) -> list[Register]:
    return [Register(first.file, None if first.index is None else first.index + step) for step in steps]
