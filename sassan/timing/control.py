"""The cost model `control`: when the instructions of one warp issue, by their control codes (timing.md; README.md has the proof).

Of two instructions of a warp, the second issues as soon as

    the stall of the first has passed since its issue,
    every barrier that it waits for is clear: the latest end of all instructions that set it,
    its unit takes an instruction: ceil(32 / lanes) after the last one of the warp on it.

A block costs the longest time from where the warp may enter it to where it may enter the next, whatever ran before. What may be open at
its entry comes over the edges of the graph (`control_residuals`). Since Volta a block that runs while another side of a divergence is
pending may take turns with it: there each wait is charged the longest latency of any setter (`in_turns`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sassan.errors import Gap
from sassan.ir import Instruction
from sassan.isa.control import BARRIERS, has_control_words
from sassan.timing.control_ops import Op, op_of
from sassan.timing.control_residuals import Residual, anything, residuals
from sassan.timing.model import Prices
from sassan.timing.rates import Tables, code_of, not_machine_code
from sassan.warpcfg.graph import WarpCfg

SCHEDULED = "instructions issue in order, as soon as their control codes and the intervals of their units allow"
TURNS = "where sides of a divergence take turns, the warp never idles while one of them may issue"


@dataclass(frozen=True, slots=True)
class Control:
    """Bounds the time of a block by the control codes of its instructions."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `control`."""
        return "control"

    def price(self, cfg: WarpCfg) -> Prices:
        """Return the longest time of each block.

        Raises InputError for an architecture without a table.
        """
        nothing = (0,) * len(cfg.nodes)
        if gaps := not_machine_code(cfg.function):
            return Prices(nothing, (), gaps)
        rates, code = self.tables.rates(cfg.function.arch), code_of(cfg)
        together = has_control_words(cfg.function.arch)
        turns = frozenset[int]() if together else turning(cfg)
        assumptions = (SCHEDULED, *((TURNS,) if turns else ()), *rates.assumptions(code))
        if gaps := (*_uncoded(code), *rates.gaps(code)):
            return Prices(nothing, assumptions, tuple(sorted(gaps)))
        ops = {one.address: op_of(one, rates, together=together) for one in code}
        blocks = [tuple(ops[one.address] for one in node.code) for node in cfg.nodes]
        return Prices(_costs(cfg, blocks, turns), assumptions)


def _uncoded(code: Iterable[Instruction]) -> tuple[Gap, ...]:
    """Return a gap at the first instruction without a control code."""
    first = next((one for one in code if one.control is None), None)
    if first is None:
        return ()
    message = "the input has no encodings, so control codes are unknown: give a cubin, cuobjdump -sass or nvdisasm -hex"
    return (Gap(first.address, "no-control-codes", message),)


def turning(cfg: WarpCfg) -> frozenset[int]:
    """Return the blocks that run while another side of a divergence may: some stack holds one there, or nobody says what stacks hold."""
    if not cfg.stack_points:
        return frozenset(range(len(cfg.nodes)))
    return frozenset(index for index, points in enumerate(cfg.stack_points) if any(not point.tag for point in points))


def _costs(cfg: WarpCfg, blocks: Sequence[Sequence[Op]], turns: frozenset[int]) -> tuple[int, ...]:
    worst = anything([op for block in blocks for op in block])
    successors: list[list[int]] = [[] for _ in blocks]
    last = [False] * len(blocks)
    for edge in cfg.edges:
        if edge.dst is None:
            last[edge.src] = True
        else:
            successors[edge.src].append(edge.dst)
    # A graph with gaps may lack edges: then anything may be open anywhere.
    known = not cfg.gaps
    entered = residuals(blocks, successors, cfg.entry, dict.fromkeys(turns, worst)) if known else [worst] * len(blocks)
    return tuple(
        in_turns(block, worst, last=last[index]) if index in turns else in_order(block, entered[index], last=last[index])
        for index, block in enumerate(blocks)
    )


def in_order(block: Sequence[Op], entered: Residual, *, last: bool) -> int:
    """Return the longest time of a block that runs without turns; `last`: the warp may end behind it, when all has ended."""
    clear, free, end, now = list(entered.barriers), dict(entered.units), entered.all, 0
    for op in block:
        issue = max(now, free.get(op.unit, 0), end if op.drains else 0, *_waited(op, clear))
        for barrier, cycles in op.sets:
            clear[barrier] = max(clear[barrier], issue + cycles)
        free[op.unit] = issue + op.interval
        end = max(end, issue + op.ends)
        now = issue + op.most
    return max(now, end) if last else now


def in_turns(block: Sequence[Op], worst: Residual, *, last: bool) -> int:
    """Return the longest time that is charged to a block whose instructions take turns with those of other sides.

    Since the issue before it, of whatever side, an instruction is kept back by the rest of its predecessor's delay, or by setters and units
    for at most as long as any instruction of the function can; the delay of the last one is charged to the block, too.
    """
    total = before = 0
    for op in block:
        kept = max(worst.units[op.unit], worst.all if op.drains else 0, *_waited(op, worst.barriers))
        total += max(before, kept)
        before = op.most
    return total + (max(before, worst.all) if last else before)


def _waited(op: Op, clear: Sequence[int]) -> Iterable[int]:
    return (clear[barrier] for barrier in range(BARRIERS) if op.waits >> barrier & 1)
