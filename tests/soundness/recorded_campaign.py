"""Runs of all warps of a launch with known data (docs/proofs/runs-of-a-launch.md) held to executions of the same launch.

Each program runs on the concrete machine with everything that the launch does not say drawn several times, whole and without anything that
the analysis says of certainty. No loop may go round more often, no warp may execute a block more often, and no access may take more
transactions, counted one by one, than the run said.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from listing import assemble
from sassan.access.limits import AccessName, Transactions
from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.errors import SassanError
from sassan.ipet.loop_bounds.recheck import BackEdgeCounter
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.ir import Instruction, Memory
from sassan.isa.tables import load
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import setting
from sassan.simt.code import ExecutableFunction, lower, number
from sassan.simt.decoder import TableDecoder
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import RunStatus, Session, SideOrder, lanes
from sassan.simt.values import Rows
from sassan.warpcfg.graph import WarpCfg
from soundness.recorded_programs import ARCH, KNOWN, UNKNOWN, draw

Named = tuple[Instruction, Reference]
_POINTERS = {KNOWN: 0x200000000000, UNKNOWN: 0x200000010000}
_BLOCKS, _WARPS, DRAWS = 2, 2, 4
SHARE = 50
"""Programs that a worker holds at a time."""


@dataclass
class RecordedTally:
    """What a share of the campaign looked at: loops, blocks and accesses of which a run says the most, and what did more."""

    programs: int = 0
    refused: int = 0
    """Programs without a graph, or of which a run says nothing."""
    loops: int = 0
    blocks: int = 0
    accesses: int = 0
    reached: Counter[str] = field(default_factory=Counter[str])
    """How many of each kind did as much as the run said."""
    findings: list[str] = field(default_factory=list[str])

    def line(self) -> str:
        """Return the figures as text."""
        known = f"{self.programs} programs with known data, {self.refused} without a run; {self.loops} loops, {self.blocks} blocks, "
        reached = ", ".join(f"{count} {kind}" for kind, count in sorted(self.reached.items()))
        return f"{known}{self.accesses} accesses, of which runs reached what was said: {reached}; {len(self.findings)} went beyond it"

    def merge(self, other: "RecordedTally") -> None:
        """Add what another share looked at."""
        for name in ("programs", "refused", "loops", "blocks", "accesses"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reached += other.reached
        self.findings += other.findings


def hold_recorded(first: int, last: int) -> RecordedTally:
    """Hold the programs with these numbers."""
    tally = RecordedTally()
    for program in range(first, last):
        _hold(program, tally)
    return tally


@dataclass
class Observed:
    """What runs did: `executed` (blocks, runs), `most` transactions of each access."""

    code: ExecutableFunction
    at: Mapping[int, list[Named]]
    loops: BackEdgeCounter
    executed: np.ndarray
    most: dict[AccessName, Transactions] = field(default_factory=dict[AccessName, Transactions])

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        self.loops.enter(session, block, rows)
        self.executed[block, rows] += 1
        for instruction, reference in self.at.get(session.code.blocks[block].address, ()):
            taken = [_taken(session, instruction, reference, int(row)) for row in rows]
            most = self.most.get((instruction.address, reference.space), Transactions())
            self.most[instruction.address, reference.space] = Transactions(*map(max, zip(most, *taken, strict=True)))


def _taken(session: Session, instruction: Instruction, reference: Reference, row: int) -> Transactions:
    """Return what one execution takes, its 32 addresses looked at one by one."""
    active = lanes(session.warps.active[[row]])[0]
    held = session.warps.registers[:, row]
    if instruction.guard is not None:
        name = number(instruction.guard.file, instruction.guard.index)
        assert name is not None
        active = active & ((held[session.slots[name]] != 0) != instruction.guard.negated)
    place = instruction.operands[reference.place]
    assert isinstance(place, Memory)
    name = number(place.base[0].file, place.base[0].index) if place.base else None
    wide = reference.space is MemorySpace.GLOBAL
    low = held[session.slots[name]].astype(np.uint64) if name is not None else np.zeros(len(active), np.uint64)
    high = held[session.slots[name + 1]].astype(np.uint64) if name is not None and wide else np.uint64(0)
    where = [int(each) for each in (low | high << np.uint64(32))[active] + np.uint64(place.offset)]
    if reference.space is MemorySpace.SHARED:
        words = where if reference.atomic else set(where)
        banks = Counter(each // 4 % 32 for each in words)
        passes = max(banks.values(), default=0)
        return Transactions(len(where), passes=passes, collisions=max(Counter(where).values(), default=0) if reference.atomic else 0)
    return Transactions(len(where), *(len({each // size for each in where}) for size in (32, 128, 64)))


def _hold(program: int, tally: RecordedTally) -> None:
    text, data = draw(program)
    facts = load(ARCH).facts
    tally.programs += 1
    cfg = assemble(text, ARCH).graph()
    pointers = tuple(setting(f"{place:#x}:8={address}") for place, address in _POINTERS.items())
    contents = Contents((KnownBytes(_POINTERS[KNOWN], data),), data.hex())
    launch = LaunchConfiguration((32 * _WARPS, 1, 1), (_BLOCKS, 1, 1), pointers, contents=contents)
    named = [(each, reference) for each in cfg.function.instructions for reference in references(each)]
    names = [(each.address, reference.space) for each, reference in named]
    seen = None if cfg.gaps else whole_run(cfg, facts, launch, range(len(cfg.loops)), names)
    if seen is None:
        tally.refused += 1
        return
    try:
        observed = observe(
            cfg, launch, named, DRAWS * [Spot((block, 0, 0), warp) for block in range(_BLOCKS) for warp in range(_WARPS)], program
        )
    except SassanError:
        tally.refused += 1
        return
    loops = [(index, bound) for index, bound in enumerate(seen.back_edges) if bound is not None]
    tally.loops += len(loops)
    for index, bound in loops:
        _compare(tally, program, "loops", f"loop {index}", int(observed.loops.most[index].max()), bound)
    for node in cfg.nodes if seen.executions is not None else ():
        assert seen.executions is not None
        tally.blocks += 1
        block = next(number for number, each in enumerate(observed.code.blocks) if each.address == node.start)
        _compare(tally, program, "blocks", f"block {node.start:#x}", int(observed.executed[block].max()), seen.executions[node.start])
    for name, bound in seen.accesses.items():
        tally.accesses += 1
        for what, times, most in zip(Transactions._fields, observed.most.get(name, Transactions()), bound, strict=True):
            _compare(tally, program, "accesses" if what == "lanes" else "", f"access {name[0]:#x}: {what}", times, most)


def observe(  # noqa: PLR0913 - a graph, its launch, and how it is run
    cfg: WarpCfg,
    launch: LaunchConfiguration,
    named: Sequence[Named],
    spots: Sequence[Spot],
    seed: int,
    *,
    values: Callable[[WarpInputs], Integers] = Integers,
) -> Observed:
    """Run warps of a launch, all else drawn; `named` are the accesses whose transactions are counted.

    Raises SassanError where the machine has no rule for an instruction.
    """
    at: dict[int, list[Named]] = {}
    for instruction, reference in named:
        at.setdefault(instruction.address, []).append((instruction, reference))
    decoder = TableDecoder(load(cfg.function.arch).facts, cfg.calls, stack=True)
    code = lower(cfg.function, decoder, [*(node.start for node in cfg.nodes), *at])
    place, active = warps_at(cfg.function, launch, spots, np.random.default_rng(seed))
    observed = Observed(code, at, BackEdgeCounter(cfg, code, len(spots)), np.zeros((len(code.blocks), len(spots)), np.int64))
    outcome = Machine(code, values(place), SideOrder.RANDOM, Limits(steps=20_000)).run(active, observed)
    assert (outcome.status != RunStatus.FAULT).all()
    return observed


def _compare(  # noqa: PLR0913, PLR0917 - what is compared, and where
    tally: RecordedTally, program: int, kind: str, what: str, seen: int, bound: int
) -> None:
    if seen > bound:
        tally.findings.append(f"program {program}, {what}: {seen}, and not at most {bound}")
    elif kind and seen == bound:
        tally.reached[kind] += 1
