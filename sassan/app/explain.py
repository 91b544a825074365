"""Where the bounds of a function come from: the WCET by reason, block and instruction, the bound of the grid by term and access."""

from collections import Counter
from dataclasses import asdict, dataclass
from fractions import Fraction

from sassan.app.memory import line_of
from sassan.app.result import AnalysisResult
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, AMOUNT, COUNT, LINE, STRING, array, one
from sassan.ipet.sm.gpu import access_time, demand, kept
from sassan.ipet.sm.optima import block_sum, executions, of_block, out_of
from sassan.ir import SourceLine
from sassan.timing.reasons import parts

CALLS = "calls of functions outside the input"


@dataclass(frozen=True, slots=True)
class BlockPart:
    """What a block adds to the WCET: `count` executions at `cost`; `reason` is that of most of its cycles."""

    address: int
    source: SourceLine | None
    count: int
    cost: int
    reason: str

    @property
    def cycles(self) -> int:
        """The cycles of all executions."""
        return self.count * self.cost


@dataclass(frozen=True, slots=True)
class CodePart:
    """An instruction."""

    address: int
    opcode: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class InstructionPart(CodePart):
    """The cycles of the WCET that an instruction adds for one reason, in all executions."""

    reason: str
    cycles: int


@dataclass(frozen=True, slots=True)
class AccessPart(CodePart):
    """What an access adds to the memory term: at most `executions` by a warp, with `sectors` each at most; `cycles` of all warps."""

    executions: int
    sectors: int
    cycles: Fraction


@dataclass(frozen=True, slots=True)
class Explanation:
    """`reasons` add up to the WCET, `terms` to the bound of the grid, each from the largest on; `accesses` to its memory term.

    `buffers` are cycles in which DRAM gives and takes the buffers once, a part of the memory term where L2 keeps them.
    """

    reasons: tuple[tuple[str, int], ...]
    blocks: tuple[BlockPart, ...]
    instructions: tuple[InstructionPart, ...]
    terms: tuple[tuple[str, Fraction], ...] = ()
    accesses: tuple[AccessPart, ...] = ()
    buffers: Fraction = Fraction(0)


_of_reason, _of_block, _of_part = Declare[tuple[str, int]](), Declare[BlockPart](), Declare[CodePart]()
_of_instruction = Declare[InstructionPart]()
_of_term, _of_access, _of = Declare[tuple[str, Fraction]](), Declare[AccessPart](), Declare[Explanation]()


class ReasonFields(Record[tuple[str, int]]):
    """The cycles of the WCET that are spent for one reason."""

    reason = _of_reason(STRING, "what is waited for, or done", lambda pair: pair[0], head="WCET")
    cycles = _of_reason(COUNT, "of the WCET, in cycles of the cost model", lambda pair: pair[1])


class BlockPartFields(Record[BlockPart]):
    """What a block adds to the WCET."""

    address = _of_block(ADDRESS, "its first instruction", head="address")
    source = _of_block(LINE, "the line that it was made from", head="line")
    count = _of_block(COUNT, "executions on the worst path", head="count")
    cost = _of_block(COUNT, "of one execution, in cycles of the cost model", head="cost")
    cycles = _of_block(COUNT, "of all executions")
    reason = _of_block(STRING, "that of most of its cycles", head="mostly")


class CodePartFields(Record[CodePart]):
    """An instruction."""

    address = _of_part(ADDRESS, "of the instruction", head="address")
    source = _of_part(LINE, "the line that it was made from", head="line")
    opcode = _of_part(STRING, "of the instruction", head="instruction", widest=24)


class InstructionPartFields(CodePartFields):
    """What an instruction adds to the WCET for one reason."""

    reason = _of_instruction(STRING, "what it waits for, or does", head="reason")
    cycles = _of_instruction(COUNT, "of all executions, in cycles of the cost model")


class TermFields(Record[tuple[str, Fraction]]):
    """A part of the bound of the grid."""

    term = _of_term(STRING, "which part it is", lambda pair: pair[0], head="grid")
    cycles = _of_term(AMOUNT, "of the bound", lambda pair: float(pair[1]))


class AccessPartFields(CodePartFields):
    """What an access adds to the memory term of the grid."""

    executions = _of_access(COUNT, "by one warp, at most", head="per warp")
    sectors = _of_access(COUNT, "of one execution, at most", head="sectors")
    cycles = _of_access(AMOUNT, "of all warps", lambda part: float(part.cycles))


class ExplanationFields(Record[Explanation]):
    """The parts of the bounds, each from the largest on."""

    wcet = _of(array(one(ReasonFields)), "reasons, which add up to the WCET", lambda known: known.reasons)
    blocks = _of(array(one(BlockPartFields)), "blocks on the worst path")
    instructions = _of(array(one(InstructionPartFields)), "instructions on the worst path")
    grid = _of(array(one(TermFields)), "terms, which add up to the bound of the grid", lambda known: known.terms)
    memory = _of(array(one(AccessPartFields)), "accesses, which add up to the memory term", lambda known: known.accesses)
    buffers = _of(AMOUNT, "cycles in which DRAM transfers the buffers once", lambda known: float(known.buffers))


def explain(result: AnalysisResult) -> Explanation | None:
    """Return where the bounds of a function come from, None where it has no WCET.

    Raises MissingToolError, UsageError (solver).
    """
    if result.wcet.value is None or not result.wcet.bound:
        return None
    cfg, problem, function = result.cfg, result.problem, result.function
    foreign = {node: cost for address, cost in result.bounds.external if cost for node in _ending(result, address)}
    costs = [cost - foreign.get(index, 0) for index, cost in enumerate(problem.costs)]
    of_nodes = parts(result.settings.costs, cfg, costs, problem.traffic.cycles)
    reasons, by_instruction, blocks = Counter[str](), Counter[tuple[int, str]](), list[BlockPart]()
    for index, (node, count) in enumerate(zip(cfg.nodes, out_of(cfg, result.wcet.counts), strict=True)):
        by_reason = Counter({CALLS: foreign[index]} if index in foreign else {})
        for part in of_nodes[index]:
            by_reason[part.reason] += part.cycles
            if part.address is not None:
                by_instruction[part.address, part.reason] += part.cycles * count
        for reason, cycles in by_reason.items():
            reasons[reason] += cycles * count
        main = max(by_reason, key=lambda reason: by_reason[reason], default="")
        if count and problem.costs[index]:
            blocks.append(BlockPart(node.start, line_of(function, node.start), count, problem.costs[index], main))
    opcodes = {instruction.address: instruction.opcode for instruction in function.instructions}
    instructions = [
        InstructionPart(at, opcodes.get(at, ""), line_of(function, at), why, cycles)
        for (at, why), cycles in by_instruction.items()
        if cycles
    ]
    return Explanation(
        tuple(sorted(((why, cycles) for why, cycles in reasons.items() if cycles), key=lambda pair: (-pair[1], pair[0]))),
        tuple(sorted(blocks, key=lambda block: (-block.cycles, block.address))),
        tuple(sorted(instructions, key=lambda part: (-part.cycles, part.address, part.reason))),
        _terms(result),
        *_memory(result),
    )


def _ending(result: AnalysisResult, address: int) -> list[int]:
    return [index for index, node in enumerate(result.cfg.nodes) if node.end == address]


def _terms(result: AnalysisResult) -> tuple[tuple[str, Fraction], ...]:
    terms = result.makespan.terms if result.makespan is not None else None
    return tuple(sorted(asdict(terms).items(), key=lambda pair: -pair[1])) if terms is not None else ()


def _memory(result: AnalysisResult) -> tuple[tuple[AccessPart, ...], Fraction]:
    """Return what the memory term consists of, on the path that takes most of it."""
    makespan, problem = result.makespan, result.problem
    grid = makespan.residents.grid if makespan is not None else None
    if makespan is None or makespan.terms is None or grid is None or grid.memory is None:
        return (), Fraction(0)
    memory, code = grid.memory, [node.code for node in problem.cfg.nodes]
    parts = [(system, kept(code, moved, memory, grid.resident), warps) for system, moved, warps in of_block(problem, grid.block_warps)]
    uncached = block_sum(
        problem, grid.block_warps, lambda _, moved: demand(code, kept(code, moved, memory, grid.resident), memory).uncached
    )
    if uncached is None:
        return (), Fraction(0)
    cached = makespan.terms.memory < grid.blocks * uncached
    cycles, most = dict[int, Fraction](), Counter[int]()
    for system, moved, warps in parts:
        each = demand(code, moved, memory)
        counts = executions(system, each.cached if cached else each.uncached)
        if counts is None:
            return (), Fraction(0)
        total = Counter[int]()
        for node, count in zip(problem.cfg.nodes, counts, strict=True):
            total.update({instruction.address: count for instruction in node.code if instruction.address in moved})
        most |= total
        for at, count in total.items():
            taken_here = grid.blocks * warps * count * access_time(moved[at], memory, cached=cached)
            cycles[at] = cycles.get(at, Fraction(0)) + taken_here
    opcodes = {instruction.address: instruction.opcode for instruction in result.function.instructions}
    accesses = [
        AccessPart(at, opcodes[at], line_of(result.function, at), count, problem.traffic.moved[at].sectors, cycles[at])
        for at, count in most.items()
        if cycles[at]
    ]
    buffers = Fraction(2 * (grid.allocated or 0)) / memory.dram if cached else Fraction(0)
    return tuple(sorted(accesses, key=lambda access: (-access.cycles, access.address))), buffers
