"""The warps of an SM in cycles: a schedule that the model of their bound allows, to stand beside it as the lower end.

All warps take the worst path of one warp, every latency is the longest of the cost model, and a few rules say which warp goes first
(`sassan.makespan.cycles`): what they take is a time that the bound must not be below.
"""

from collections.abc import Iterator
from dataclasses import replace

from sassan.app.result import AnalysisResult, Scheduled
from sassan.arch import described
from sassan.errors import SelfCheckError
from sassan.ipet.sm.barriers import waits_for_block
from sassan.ir import Instruction
from sassan.machine.matrices import register_cycles
from sassan.machine.pipes import SM
from sassan.makespan.cycles.code import Core, ResidentCode, TimedStep
from sassan.strings.blocks import path_blocks
from sassan.strings.fold import Repeat, Sequence
from sassan.timing.control_ops import op_of
from sassan.timing.rates import Rates
from sassan.timing.table import TableCostModel

MOST = 1_000_000
"""Instructions of all warps up to which a schedule is made: a second or two."""


def with_schedule(result: AnalysisResult, most: int = MOST) -> AnalysisResult:
    """Return a result with the longest schedule found of the warps that its bound is for, of up to `most` instructions.

    Raises SelfCheckError `crossed-bounds` where that takes longer than the bound.
    """
    code, why = code_of(result, most)
    if code is None:
        return replace(result, scheduled=Scheduled(None, why=why))
    from sassan.makespan.cycles.schedules import longest  # noqa: PLC0415 - imports the compiler, which takes most of a second

    schedule = longest(code)
    bound = result.makespan.bound.value if result.makespan is not None else None
    if bound is not None and schedule.cycles > bound:
        message = f"{result.function.name}: a schedule of {schedule.cycles} cycles ({schedule.rule}), a bound of {bound}"
        raise SelfCheckError("crossed-bounds", message)
    return replace(result, scheduled=Scheduled(schedule.cycles, schedule.rule))


def code_of(result: AnalysisResult, most: int = MOST) -> tuple[ResidentCode | None, str]:
    """Return what the warps of a result run, or None and why that is not known."""
    costs, bounds, path = result.settings.costs, result.makespan, result.wcet.path
    if bounds is None or bounds.bound.value is None or path is None:
        return None, "there is no bound of the warps, or no worst path"
    if costs.tables is None:
        return None, "schedules in cycles need --model table or control"
    barriers = any(waits_for_block(instruction, result.isa.facts) for node in result.cfg.nodes for instruction in node.code)
    blocks, sizes = path_blocks(result.cfg, path), [len(node.code) for node in result.cfg.nodes]
    warps = bounds.residents.warps
    if (total := warps * _length(blocks, sizes)) > most:
        return None, f"the warps issue {total} instructions, and schedules are made of up to {most}"
    builder = _Builder(costs.tables.rates(result.function.arch, result.problem.traffic.cycles), result)
    steps = [builder.step(instruction) for node in result.cfg.nodes for instruction in node.code]
    first = [sum(sizes[:node]) for node in range(len(sizes))]
    taken = tuple(first[node] + index for node in _expanded(blocks) for index in range(sizes[node]))
    core = Core(tuple(builder.places), builder.rates.machine.issue)
    return ResidentCode(tuple(steps), taken, core, warps, bounds.residents.block if barriers else warps), ""


class _Builder:
    """Makes steps of instructions, and numbers their units: those of all schedulers together, or one that all warps share."""

    def __init__(self, rates: Rates, result: AnalysisResult) -> None:
        self.rates, self._result = rates, result
        self._together = described(result.function.arch).control_words
        self._numbers: dict[tuple[str, bool], int] = {}
        self.places: list[int] = []

    def step(self, instruction: Instruction) -> TimedStep:
        """Return one instruction as the cost model sees it."""
        rates, opcode = self.rates, instruction.opcode
        interval, occupied = rates.interval(opcode) + register_cycles(instruction, alone=False), rates.occupied(instruction)
        pipeline = rates.busy.get(instruction.address, 0)
        unit, opens = self._unit(instruction), waits_for_block(instruction, self._result.isa.facts)
        if isinstance(self._result.settings.costs, TableCostModel):
            whole = max(rates.lasting(instruction), occupied)
            return TimedStep(
                whole, 0, (), drains=False, ends=whole, unit=unit, interval=interval, own=occupied, pipeline=pipeline, opens=opens
            )
        op = op_of(instruction, rates, together=self._together)
        return TimedStep(op.most, op.waits, op.sets, op.drains, op.ends, unit, interval, occupied, pipeline, opens)

    def _unit(self, instruction: Instruction) -> int:
        machine, name = self.rates.machine, self.rates.unit(instruction.opcode)
        pipe = machine.pipe(name, instruction.opcode)
        shared = pipe is not None and pipe.scope == SM
        if (name, shared) not in self._numbers:
            self._numbers[name, shared] = len(self.places)
            self.places.append(1 if shared else machine.schedulers)
        return self._numbers[name, shared]


def _length(blocks: Sequence, sizes: list[int]) -> int:
    return sum(item.times * _length(item.body, sizes) if isinstance(item, Repeat) else sizes[item] for item in blocks)


def _expanded(blocks: Sequence) -> Iterator[int]:
    for item in blocks:
        if isinstance(item, Repeat):
            for _ in range(item.times):
                yield from _expanded(item.body)
        else:
            yield item
