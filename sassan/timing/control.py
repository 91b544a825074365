"""The cost model `control`: when the instructions of one warp issue, by their control codes (docs/proofs/control-costs.md).

Of two instructions of a warp, the second issues as soon as

    the stall of the first has passed since its issue,
    every barrier that it waits for is clear: the latest end of all instructions that set it,
    its unit takes an instruction: ceil(32 / lanes) after the last one of the warp on it,
    the results of matrix products that it reads or overwrites are there (`products`): a stall count is not a wait for them.

A block costs the longest time from where the warp may enter it to where it may enter the next, whatever ran before. What may be open at
its entry comes over the edges of the graph (`control_residuals`). Since Volta a block that runs while another side of a divergence is
pending may be interleaved with it: there each wait is charged the longest latency of any setter that the other side may run meanwhile.
What is open when the warp ends is charged once, to the first block.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from sassan.arch import described
from sassan.domains.residuals import Residual
from sassan.errors import Gap
from sassan.ir import Instruction
from sassan.isa.control import BARRIERS, decode
from sassan.timing.control_ops import Ops, TimedOp
from sassan.timing.control_residuals import DOMAIN, NOTHING, BlockFlow, after, anything, beside, interleaved_blocks, opened_beside
from sassan.timing.model import NO_ACCESSES, BlockCosts, Quantity, barriers_of
from sassan.timing.products import lateness
from sassan.timing.rates import Rates, Tables, code_of, not_machine_code
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import idle_code

SCHEDULED = "instructions issue in order, as soon as their control codes and the intervals of their units allow"
INTERLEAVED = "where sides of a divergence are interleaved, the warp never idles while one of them may issue"


@dataclass(frozen=True, slots=True)
class ControlCostModel:
    """Bounds the time of a block by the control codes of its instructions."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `control`."""
        return "control"

    @property
    def quantity(self) -> Quantity:
        """Return cycles."""
        return Quantity.CYCLES

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the longest time of each block.

        Raises InputError for an architecture without a table.
        """
        nothing = (0,) * len(cfg.nodes)
        if gaps := not_machine_code(cfg.function):
            return BlockCosts(nothing, (), gaps)
        rates, code = self.tables.rates(cfg.function.arch, busy, idle_code(cfg)), code_of(cfg)
        together = described(cfg.function.arch).control_words
        interleaving = frozenset[int]() if together else interleaved_blocks(cfg)
        reading = rates.latencies.reading_assumptions() if any(map(_read_barrier, code)) else ()
        assumptions = (SCHEDULED, *((INTERLEAVED,) if interleaving else ()), *rates.assumptions(code), *reading)
        if gaps := (*_uncoded(code), *rates.gaps(code)):
            return BlockCosts(nothing, assumptions, tuple(sorted(gaps)))
        blocks = block_ops(cfg, rates)
        block_times = times(cfg, blocks, interleaving)
        costs, ahead = _costs(cfg, block_times)
        cuts = [barriers_of(node.code) if index not in interleaving and not cfg.gaps else () for index, node in enumerate(cfg.nodes)]
        pieces = [_pieces(*piece) for piece in zip(blocks, cuts, block_times.entered, strict=True)]
        for index, node_pieces in enumerate(pieces):
            if node_pieces:
                node_pieces[0] += block_times.rest * (index == cfg.entry)
                node_pieces[-1] += ahead[index]
        return BlockCosts(costs, assumptions, pieces=tuple(map(tuple, pieces)))


def block_ops(cfg: WarpCfg, rates: Rates) -> list[tuple[TimedOp, ...]]:
    """Return the instructions of each block as the scheduler sees them, each of which has a control code and a time."""
    together = described(cfg.function.arch).control_words
    op = Ops(rates, together=together).of
    ops = {instruction.address: op(instruction) for instruction in code_of(cfg)}
    blocks = [tuple(ops[instruction.address] for instruction in node.code) for node in cfg.nodes]
    steps = _steps(cfg, frozenset() if together else interleaved_blocks(cfg))
    late = lateness(cfg, blocks, steps, rates)
    return [tuple(_later(op, late.get((index, place), 0)) for place, op in enumerate(block)) for index, block in enumerate(blocks)]


def _later(op: TimedOp, cycles: int) -> TimedOp:
    return replace(op, late=cycles) if cycles else op


def _read_barrier(instruction: Instruction) -> bool:
    return instruction.control is not None and decode(instruction.control).read_barrier is not None


def _uncoded(code: Iterable[Instruction]) -> tuple[Gap, ...]:
    """Return a gap at the first instruction without a control code."""
    first = next((instruction for instruction in code if instruction.control is None), None)
    if first is None:
        return ()
    message = "the input has no encodings, so control codes are unknown: give a cubin, cuobjdump -sass or nvdisasm -hex"
    return (Gap(first.address, "no-control-codes", message),)


@dataclass(frozen=True, slots=True)
class Times:
    """The longest time of each block: `longest`, whatever ran before; `behind`, by the edge over which it is entered, where that is known.

    `rest` is how much longer than its last block a warp may last, until everything that it issued has ended and its units are free.
    `entered` is what may be open where each block begins.
    """

    longest: tuple[int, ...]
    behind: Mapping[tuple[int, int], int]
    rest: int
    entered: tuple[Residual, ...]


def times(cfg: WarpCfg, blocks: Sequence[Sequence[TimedOp]], interleaving: frozenset[int]) -> Times:
    """Return how long the blocks of a graph may take; `interleaving` are those that may be interleaved with a pending side."""
    steps = _steps(cfg, interleaving)
    flow = BlockFlow(blocks, steps)
    # A graph with gaps may lack edges: then anything may be open anywhere.
    entered = [anything(op for block in blocks for op in block)] * len(blocks) if cfg.gaps else flow.residuals(cfg.entry)
    others = beside(cfg, steps, interleaving)
    opened = {other: opened_beside(blocks[other]) for other in frozenset[int]().union(*others.values())}
    kept = [reduce(DOMAIN.join, (opened[other] for other in sorted(others.get(index, ()))), NOTHING) for index in range(len(blocks))]
    timed = [in_order(block, entered[index], kept[index]) for index, block in enumerate(blocks)]
    behind = {
        (src, dst): in_order(blocks[dst], flow.left(src, entered[src]), kept[dst])[0]
        for src in range(len(blocks))
        for dst in (steps[src] if not cfg.gaps else ())
    }
    rest = max((timed[edge.src][1] for edge in cfg.edges if edge.dst is None), default=0)
    return Times(tuple(time for time, _ in timed), behind, rest, tuple(entered))


def _pieces(block: Sequence[TimedOp], cuts: Sequence[int], entered: Residual) -> list[int]:
    """Return the longest times of a block between its barriers, behind each of which nothing is open; [] where it holds none."""
    if not cuts or not all(block[cut].drains for cut in cuts):
        return []
    pieces: list[int] = []
    first, still = 0, entered
    for cut in cuts:
        pieces.append(in_order(block[first : cut + 1], still)[0])
        first, still = cut + 1, after(NOTHING, (block[cut],))
    return [*pieces, in_order(block[first:], still)[0]]


def _costs(cfg: WarpCfg, block_times: Times) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return one cost per block, of which every execution pays the sum, and how much of it is for what follows.

    Where a block has one successor, each of its executions enters that one: it pays what the successor takes longer behind it than behind
    blocks that lead elsewhere too. So a load before a loop is not waited for in every iteration.
    """
    costs, ahead = list(block_times.longest), [0] * len(cfg.nodes)
    successors: list[set[int | None]] = [set() for _ in cfg.nodes]
    for src, dst in block_times.behind:
        successors[src].add(dst)
    for edge in cfg.edges:
        successors[edge.src].add(edge.dst)
    into: dict[int, dict[int, int]] = {}
    for (src, dst), time in sorted(block_times.behind.items()):
        into.setdefault(dst, {})[src] = time
    for dst, by_source in into.items():
        if dst == cfg.entry:
            continue
        forked = [time for src, time in by_source.items() if len(successors[src]) > 1]
        base = max(forked, default=min(by_source.values()))
        costs[dst] += base - block_times.longest[dst]
        for src, time in by_source.items():
            if len(successors[src]) == 1:
                ahead[src] += max(time - base, 0)
    costs[cfg.entry] += block_times.rest
    return tuple(cost + more for cost, more in zip(costs, ahead, strict=True)), tuple(ahead)


def _steps(cfg: WarpCfg, interleaving: frozenset[int]) -> list[list[int]]:
    """Return what may run behind each block: warp edges, and the steps of threads to, in and from sides that need not wait to run."""
    pairs = {(edge.src, edge.dst) for edge in cfg.edges if edge.dst is not None}
    pairs |= {(edge.src, edge.dst) for edge in cfg.thread_edges if edge.dst in interleaving or edge.src in interleaving}
    steps: list[list[int]] = [[] for _ in cfg.nodes]
    for src, dst in sorted(pairs):
        steps[src].append(dst)
    return steps


def in_order(block: Sequence[TimedOp], entered: Residual, others: Residual = NOTHING) -> tuple[int, int]:
    """Return the longest time of a block, and how much longer what was issued may take to end.

    `others` is how long sides that run beside it may keep back an instruction from when the one before it issued.
    """
    clear, free, end, now, last = list(entered.barriers), dict(entered.units), entered.all, 0, 0
    for op in block:
        issue = max(now + op.late, free.get(op.unit, 0), end if op.drains else 0)
        if op.waits:
            issue = max((issue, *_waited(op, clear)))
        if others is not NOTHING:
            issue = max(issue, last + _kept(op, others))
        last = issue
        for barrier, cycles in op.sets:
            clear[barrier] = max(clear[barrier], issue + cycles)
        free[op.unit] = issue + op.interval
        end = max(end, issue + op.ends)
        now = issue + op.most
    return now, max(end - now, 0)


def _kept(op: TimedOp, still: Residual) -> int:
    """Return for how long what is open keeps an instruction back."""
    return max(still.units.get(op.unit, 0), still.all if op.drains else 0, *_waited(op, still.barriers))


def _waited(op: TimedOp, clear: Sequence[int]) -> Iterable[int]:
    return (clear[barrier] for barrier in range(BARRIERS) if op.waits >> barrier & 1)
