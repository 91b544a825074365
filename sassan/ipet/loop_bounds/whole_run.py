"""Loop bounds and accesses of a launch by running all of its warps: where indices, parameters and known contents of memory decide them.

The part of the program that decides where control goes, and which addresses are wanted, is run for every thread of the grid on the concrete
SIMT machine, which follows which words are certain (`simt/certain.py`). Of a loop that is not open, no execution goes round more often than
what was seen (docs/proofs/runs-of-a-launch.md).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.access.limits import AccessName, Transactions
from sassan.arch import described
from sassan.errors import SassanError
from sassan.ipet.loop_bounds.quotients import with_quotients
from sassan.ipet.loop_bounds.recheck import BackEdgeCounter
from sassan.ipet.loop_bounds.seen_accesses import AccessCounter, read, watched
from sassan.ir import Constant, Instruction, Language, Special
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.simt.certain import Certainty, with_side_entries
from sassan.simt.code import ExecutableFunction, LocalAccess, Operation, lower
from sassan.simt.code import number as register_number
from sassan.simt.constant_bank import ConstantBank, constant_bank
from sassan.simt.cross_lane import OPERATIONS as EXCHANGES
from sassan.simt.decoder import TableDecoder
from sassan.simt.integer_work import UnknownError
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.loads import LOADS
from sassan.simt.loop_slice import loop_slice
from sassan.simt.machine import Limits, Machine
from sassan.simt.shared import SharedMemory, behind_barriers, is_followed
from sassan.simt.slicing import control_slice, live_slice
from sassan.simt.state import RunStatus, Session, SideOrder
from sassan.simt.values import Rows, Words
from sassan.timing.rates import code_of
from sassan.values.divisions import NO_DIVISIONS, Divisions
from sassan.warpcfg.apart import threads_apart
from sassan.warpcfg.graph import WarpCfg

_WARPS = 1 << 18
"""Warps of a grid that are run at most."""
_BATCH = 1 << 12
_LONGEST = 1 << 20
"""Blocks of code that a warp executes at most."""
_OF_BLOCKS = frozenset({"SRZ", "SR_LANEID", *(f"SR_{name}.{axis}" for name in ("TID", "NTID", "NCTAID") for axis in "XYZ")})
"""Special registers that are the same in each block."""
_WORK = 6_000_000
"""Operations of warps that are executed at most, each with the cost of starting it: about ten seconds."""
_START = 400
"""Warps whose operations take as long as to start one."""
_SEED = 2027
_STACK_PLACES = frozenset((0x20, 0x28, 0x37C))
"""Where the word of the stack stands in constant bank 0: until Pascal, until Hopper, since Blackwell."""
_STACK_WORD = 0x00FFFC00
"""Any multiple of 16: threads find what they stored by its distance."""
_R1 = register_number("R", 1)
_RANK = "SR_CGACTAID"
"""Which block of its cluster a block is."""


class WholeRun(NamedTuple):
    """The most back edges that a thread takes per entry of each loop, None where that may be more in another execution.

    `accesses`: what one execution of an access takes at most; those of which that is not known are missing. `executions`: how often a
    warp executes each block of the graph at most, by its address; None where other executions of the launch may take other paths.
    `warps` ran: those of one block that stands for all, where they are `alike`. `recorded`: what they did depends on contents of memory
    that are known.
    """

    back_edges: tuple[int | None, ...]
    accesses: Mapping[AccessName, Transactions]
    executions: Mapping[int, int] | None
    warps: int
    recorded: bool
    alike: bool = False

    @property
    def why(self) -> str:
        """Where it comes from, in words."""
        whose = "of one block, whose number is not given" if self.alike else f"of all {self.warps} warps of the launch"
        return f"seen in a run {whose}{' with recorded contents of memory' if self.recorded else ''}"


class _LongError(Exception):
    """The run takes longer than is worth it, or says nothing of what is wanted."""


def whole_run(  # noqa: PLR0913 - a graph, its launch, and what is wanted of it
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launch: LaunchConfiguration,
    wanted: Collection[int] = (),
    accesses: Collection[AccessName] = (),
    *,
    is_long: bool = True,
    alike: bool = False,
    sliced: bool = False,
    divided: Divisions = NO_DIVISIONS,
) -> WholeRun | None:
    """Return what all warps of a launch do in loops and by accesses, of which some are `wanted`; None where that says nothing of these.

    That is so without block and grid, of a larger grid, of PTX, where the machine has no rule for an instruction, and where it takes too
    long: more than some seconds, or half of them unless `is_long`. `alike` runs one block whose number is not given, whatever is wanted:
    what does not depend on that is so in all. `sliced` runs what decides how often the wanted loops iterate, and says nothing else; there
    `divided` are divisions by known numbers.
    """
    if launch.block is None or launch.grid is None or cfg.function.language is Language.PTX or not (wanted or accesses or alike):
        return None
    warps, grid = -(-prod(launch.block) // WARP_SIZE), (1, 1, 1) if alike else launch.grid
    if warps * prod(grid) > _WARPS:
        return None
    try:
        watch = watched(code_of(cfg), accesses)
        if not (watch or wanted or alike):
            return None
        looked_at = read(watch)
        decoder = TableDecoder(facts_of, cfg.calls, stack=True, shared=not sliced)
        code = lower(cfg.function, decoder, [*(node.start for node in cfg.nodes), *looked_at, *behind_barriers(cfg.function)])
        whole = code
        if sliced:
            code = _of_loops(with_quotients(code, divided), cfg, wanted)
        else:
            code = live_slice(control_slice(code, frozenset().union(*looked_at.values())), looked_at)
        work = _WORK if is_long else _WORK // 2
        run = _Run(cfg, code, launch, frozenset(wanted), AccessCounter(code, watch), work, alike=alike, whole=whole)
        spots = _spots(grid, warps)
        while some := list(islice(spots, max(1, _BATCH // warps) * warps)):
            run.batch(some)
    except (SassanError, _LongError):
        return None
    unknown = run.open | (set(range(len(cfg.loops))) - set(wanted) if sliced else set())
    return WholeRun(
        tuple(None if index in unknown else count for index, count in enumerate(run.most)),
        dict(run.accesses.result(run.parted)),
        {node.start: run.executed(node.start) for node in cfg.nodes} if run.settled and not sliced else None,
        warps * prod(grid),
        _reads_memory(code, launch),
        alike,
    )


def _of_loops(code: ExecutableFunction, cfg: WarpCfg, wanted: Collection[int]) -> ExecutableFunction:
    """Return the part of code that decides how often loops iterate. Raises _LongError where there is none."""
    heads = {cfg.nodes[cfg.loops[loop].head].start for loop in wanted}
    numbers = _blocks_of_nodes(code, cfg)

    def blocks(nodes: Iterable[int]) -> frozenset[int]:
        return _blocks_at(nodes, cfg, numbers)

    apart = [(blocks(each.nodes), blocks(each.meets)) for each in threads_apart(cfg)]
    part = loop_slice(code, {number for number, block in enumerate(code.blocks) if block.address in heads}, apart)
    if part is None:
        raise _LongError
    return part


def _blocks_at(nodes: Iterable[int], cfg: WarpCfg, numbers: Mapping[int, set[int]]) -> frozenset[int]:
    """Return the blocks of code that are some nodes of the graph; `numbers` as by `_blocks_of_nodes`."""
    return frozenset(number for each in nodes for number in numbers.get(cfg.nodes[each].start, ()))


def _blocks_of_nodes(code: ExecutableFunction, cfg: WarpCfg) -> Mapping[int, set[int]]:
    """Return the blocks of code that are each node of the graph, by the address where it starts."""
    numbers: dict[int, set[int]] = {}
    node = 0
    starts = sorted(each.start for each in cfg.nodes)
    for number, block in enumerate(code.blocks):
        while node + 1 < len(starts) and starts[node + 1] <= block.address:
            node += 1
        numbers.setdefault(starts[node], set()).add(number)
    return numbers


def _reads_memory(code: ExecutableFunction, launch: LaunchConfiguration) -> bool:
    """Say whether known contents of memory may decide where control goes."""
    loads = (operation.instruction.opcode.partition(".")[0] for block in code.blocks for operation in block.operations)
    return launch.contents is not None and not LOADS.isdisjoint(loads)


def _spots(grid: Shape, warps: int) -> Iterator[Spot]:
    for number in range(prod(grid)):
        place = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        yield from (Spot(place, warp) for warp in range(warps))


class _Run:
    """The warps of a launch that have been run: `most` back edges per loop, and the loops that are `open`."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that a run is of
        self,
        cfg: WarpCfg,
        code: ExecutableFunction,
        launch: LaunchConfiguration,
        wanted: frozenset[int],
        accesses: AccessCounter,
        most: int,
        *,
        alike: bool,
        whole: ExecutableFunction,
    ) -> None:
        self.most = [0] * len(cfg.loops)
        self.accesses = accesses
        self.parted: set[int] = set()
        self.settled = True
        self._executed = np.zeros(len(code.blocks), np.int64)
        self._torn: set[int] = set()
        self._racy: set[int] = set()
        self._has_shared = is_followed(code) and any(
            isinstance(operation.exact, LocalAccess) and operation.exact.shared for block in code.blocks for operation in block.operations
        )
        self._cfg, self._code, self._launch = cfg, code, launch
        self._bank = constant_bank(cfg.function, launch)
        ranked = [register for operation in _operations(code) if _reads_rank(operation) for register in operation.writes]
        self._rank_is_a_name = not _decides(code, ranked, own_window=True)
        self._stack = _stack_place(code, frozenset().union(*read(accesses.accesses).values()))
        self._wanted, self._alike = wanted, alike
        self._certainty: Certainty | None = None
        self._work, self._most_work = 0, most
        numbers = _blocks_of_nodes(code, cfg)
        self._loops = [_blocks_at(loop.nodes, cfg, numbers) for loop in cfg.loops]
        tells = any(operation.instruction.opcode.partition(".")[0] in EXCHANGES for operation in _operations(code))
        self._apart = frozenset[int]().union(*(_blocks_at(each.nodes, cfg, numbers) for each in (threads_apart(cfg) if tells else ())))
        self._by_address = {block.address: number for number, block in enumerate(code.blocks)}
        self._heads = [self._by_address[cfg.nodes[loop.head].start] for loop in cfg.loops]
        self.open = with_side_entries(whole, self._loops, self._heads)

    def batch(self, spots: Sequence[Spot]) -> None:
        """Run warps. Raises _LongError."""
        place, active = warps_at(self._cfg.function, self._launch, spots, np.random.default_rng(_SEED))
        ranked = not self._alike and self._launch.cluster_of(self._cfg.function) is not None
        known = {name: words for name, words in place.special.items() if ranked or name != _RANK}
        special = {name: words for name, words in known.items() if not self._alike or name in _OF_BLOCKS}
        if not ranked and not self._cfg.function.clustered and self._rank_is_a_name:
            # In addresses of shared memory it is no more than a name.
            special[_RANK] = np.zeros_like(place.special[_RANK])
        values = Integers(replace(place, special=special, bank=_Given(self._bank, len(spots), self._stack).word), exchanges=True)
        order = SideOrder.RANDOM if described(self._cfg.function.arch).convergence_barriers else SideOrder.TAKEN_FIRST
        shared = SharedMemory(_blocks(spots), self._racy) if self._has_shared else None
        known_of = (self.open, self._torn, self.parted, shared, self._apart)
        certainty = Certainty(self._code, len(spots), self._loops, self._heads, values.results, *known_of)
        self._certainty = certainty
        before = len(self._torn) + len(self._racy)
        executed = np.zeros((len(self._code.blocks), len(spots)), np.int64)
        counter = _Counter(BackEdgeCounter(self._cfg, self._code, len(spots)), executed, self)
        outcome = Machine(self._code, values, order, Limits(steps=_LONGEST)).run(active, counter, certainty=certainty, counted=False)
        if len(self._torn) + len(self._racy) > before:
            self.batch(spots)  # what was read before a register was found to be torn, or a word to be racy, was not certain, either
            return
        if not (outcome.status == RunStatus.ENDED).all():
            raise _LongError
        self.settled &= certainty.settled
        self._executed = np.maximum(self._executed, executed.max(axis=1))
        for index, most in enumerate(counter.counted.most.max(axis=1).tolist()):
            self.most[index] = max(self.most[index], int(most))

    def executed(self, address: int) -> int:
        """Return how often a warp executed the block at an address, at most."""
        return int(self._executed[self._by_address[address]])

    def spend(self, operations: int, warps: int) -> None:
        """Count work. Raises _LongError where there is too much of it, and where it is for nothing."""
        self._work += (operations + 2) * (warps + _START)
        known = self._certainty.settled if self._alike and self._certainty is not None else False
        if (not known and self._wanted.issubset(self.open) and self.accesses.blocks.issubset(self.parted)) or self._work > self._most_work:
            raise _LongError


def _blocks(spots: Sequence[Spot]) -> Rows:
    """Return the number of the block of each warp; those of a block follow each other."""
    return np.cumsum([spot.warp == 0 for spot in spots]) - 1


def _stack_place(code: ExecutableFunction, addresses: frozenset[int] = frozenset()) -> int | None:
    """Return where the code reads the word of its stack; None where it does not, or where a condition may depend on that word.

    Nor may one of the registers that say `addresses` which are looked at.
    """
    reading = [(operation, offset) for operation in _operations(code) if (offset := _read_place(operation)) is not None]
    places = {offset for _, offset in reading}
    if len(places) != 1 or any(operation.writes != (_R1,) for operation, _ in reading):
        return None
    return None if _decides(code, [_R1], addresses) else places.pop()


def _operations(code: ExecutableFunction) -> list[Operation]:
    return [operation for block in code.blocks for operation in block.operations]


def _decides(
    code: ExecutableFunction, starts: Iterable[int | None], addresses: frozenset[int] = frozenset(), *, own_window: bool = False
) -> bool:
    """Say whether what stands in some registers may decide where control goes, or one of some `addresses`, or be stored.

    As an address of local memory it does not: threads find what they stored by its distance. Nor as one of shared memory where it only
    says that the window is the block's (`own_window`).
    """
    derived, changed = {each for each in starts if each is not None}, True
    while changed:
        changed = False
        for operation in _operations(code):
            local = operation.exact if isinstance(operation.exact, LocalAccess) else None
            read = operation.reads[local.base :] if local is not None else (*operation.reads, *operation.gathered)
            if local is not None and local.store and derived.intersection(read):
                return True
            if local is not None and local.shared and not own_window and derived.intersection(operation.reads[: local.base]):
                return True
            if local is None and derived.intersection(read) and not derived.issuperset(operation.writes):
                derived.update(operation.writes)
                changed = True
    tested = {*addresses, *(test.register for operation in _operations(code) for test in operation.condition.tests)}
    for block in code.blocks:
        if block.control is not None:
            tested |= {*block.control.selector, *(test.register for test in block.control.condition.tests)}
    return bool(derived & tested)


def _reads_rank(operation: Operation) -> bool:
    return any(isinstance(operand, Special) and operand.name == _RANK for operand in operation.instruction.operands)


def _read_place(operation: Operation) -> int | None:
    """Return which place of a stack word an operation reads."""
    constants = (operand for operand in operation.instruction.operands if isinstance(operand, Constant) and operand.bank == 0)
    return next((operand.offset for operand in constants if operand.offset in _STACK_PLACES), None)


class _Counter(NamedTuple):
    counted: BackEdgeCounter
    executed: npt.NDArray[np.int64]
    """How often each warp executed each block."""
    run: _Run

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        self.run.spend(len(session.code.blocks[block].operations), len(rows))
        self.counted.enter(session, block, rows)
        self.executed[block, rows] += 1
        self.run.accesses.enter(session, block, rows)


@dataclass(frozen=True, slots=True)
class _Given:
    """Constant bank 0 of `count` warps, as far as it is given."""

    bank: ConstantBank
    count: int
    stack: int | None
    """Where the word of the stack stands, None where it is not used."""

    def word(self, offset: int) -> Words:
        """Return a word; raises UnknownError where it is not given."""
        known = _STACK_WORD if offset == self.stack else self.bank.word(offset)
        if known is None:
            raise UnknownError
        return np.full(self.count, known, np.uint32)
