"""Loops in which a thread only looks at words of memory until another thread has changed them: look-back, a barrier of a grid, a flag.

Such a loop reads words at addresses that it leaves as they are, and does nothing else that any thread sees. Let all words that it waits
for have been written, at a time T, for good. What the loop decides its exits by, it works out anew in each iteration, from these words and
from what it leaves as it is; but for registers that it carries from one iteration to the next. Let register a carry into b if the value of
b at the end of an iteration depends on that of a at its begin, as data or by a branch inside. If no chain of such registers is a circle,
and the longest has d registers, then behind T all of them are what they stay after d iterations that begin behind T; so if the loop does
not end with the next one, it never does. With the iteration that runs at T, and one more for a store that is on its way to L2, that are
d + 2 back edges at most behind T. docs/proofs/warps-with-roles.md says what a launch takes in which threads wait so.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from operator import or_
from typing import NamedTuple

from sassan.analysis.demand import Use, demand
from sassan.domains.bits import bits
from sassan.ir import Instruction, Language
from sassan.isa.facts import Facts, Flow
from sassan.isa.tables import unit
from sassan.warpcfg.graph import CfgLoop, WarpCfg

_SHARED = "LDS"
_LOADS = frozenset({"LD", "LDG", _SHARED})
_IDLE_UNITS = frozenset({"alu", "fma", "fmalite", "fmaheavy", "fp16", "uniform", "cbu", "issue"})
_IDLE = frozenset({"NANOSLEEP", "MEMBAR", "ERRBAR"})
_CHANGING = ("CLOCK", "TIMER")
_ELSEWHERE = frozenset({Flow.EXIT, Flow.TRAP, Flow.BLOCK_BARRIER, Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL})
_LATE = 2
"""Back edges behind the time when all words are written: that of the iteration that runs, and one for a store on its way."""
_RESETS = ("CCTL", "IVALL")
"""What makes a thread read from L2 what it reads next, behind a load that acquires."""


class Look(NamedTuple):
    """A loop that waits for words of memory: a load of them, how many back edges it takes once they are there.

    `outside`: other blocks may have to write them.
    """

    load: Instruction
    back_edges: int
    outside: bool


def looks(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> Mapping[int, Look]:
    """Return the loops of a graph in which threads only look at words of memory, by number; none of PTX, or of a graph with gaps."""
    if cfg.function.language is not Language.SASS or cfg.gaps:
        return {}
    around = {loop.parent for loop in cfg.loops}
    pairs = ((index, _look(cfg, loop, facts_of)) for index, loop in enumerate(cfg.loops) if index not in around)
    return {index: look for index, look in pairs if look is not None}


def _look(cfg: WarpCfg, loop: CfgLoop, facts_of: Callable[[Instruction], Facts | None]) -> Look | None:
    lines = {node: [(each, facts_of(each)) for each in cfg.nodes[node].instructions] for node in loop.nodes}
    code = [each for node in loop.nodes for each, _ in lines[node]]
    loads = [each for each in code if _base(each) in _LOADS]
    if not loads or not all(each in loads or _is_idle(each, cfg.function.arch) for each in code):
        return None
    known = {node: [(each, facts) for each, facts in line if facts is not None] for node, line in lines.items()}
    if any(len(known[node]) < len(lines[node]) for node in loop.nodes):
        return None
    depth = _depth(cfg, loop, known)
    outside = any(_base(each) != _SHARED for each in loads)
    return None if depth is None else Look(loads[0], depth + _LATE, outside)


def _depth(cfg: WarpCfg, loop: CfgLoop, lines: Mapping[int, Sequence[tuple[Instruction, Facts]]]) -> int | None:
    """Return how many registers the longest chain has that a loop carries from one iteration to the next; None where one is a circle.

    None, too, where a load reads at an address that the loop works out from what it carries.
    """
    inside = frozenset(loop.nodes)
    before: dict[int, list[int]] = {node: [] for node in loop.nodes}
    after: dict[int, list[int]] = {node: [] for node in loop.nodes}
    leaves = set[int]()
    for edge in cfg.thread_edges:
        if edge.src in inside and edge.dst in inside:
            before[edge.dst].append(edge.src)
            after[edge.src].append(edge.dst)
        elif edge.src in inside:
            leaves.add(edge.src)
    order = [loop.head, *(node for node in loop.nodes if node != loop.head)]
    uses = {node: [_use(facts, each) for each, facts in lines[node]] for node in order}
    written = reduce(or_, (facts.writes for line in lines.values() for _, facts in line), 0)
    decides = {node: _decides(lines[node][-1][1]) for node in order if lines[node]}
    back = list(before[loop.head])

    def behind(ends: Mapping[int, int], roots: Mapping[int, Sequence[Use]] = uses) -> int:
        return demand(roots, before, order, ends).before.get(loop.head, 0) & written

    inner = behind({node: decides.get(node, 0) for node in order if len(after[node]) > 1})
    leaving = behind({node: decides.get(node, 0) for node in order if node in leaves or len(after[node]) > 1})
    places = {
        node: [
            use._replace(roots=use.reads) if _base(each) in _LOADS else use for use, (each, _) in zip(uses[node], lines[node], strict=True)
        ]
        for node in order
    }
    if behind({}, places) or any(facts.flow in _ELSEWHERE for line in lines.values() for _, facts in line):
        return None
    pending, carried = leaving, dict[int, int]()
    while pending:
        register = (pending & -pending).bit_length() - 1
        pending &= pending - 1
        if register not in carried:
            carried[register] = behind(dict.fromkeys(back, 1 << register)) | inner
            pending |= carried[register]
    return _longest(carried)


def _longest(carried: Mapping[int, int]) -> int | None:
    """Return the number of registers in the longest chain, None where there is a circle."""
    into = {register: list(bits(others)) for register, others in carried.items()}
    try:
        order = list(TopologicalSorter(into).static_order())
    except CycleError:
        return None
    lengths: dict[int, int] = {}
    for register in order:
        lengths[register] = 1 + max((lengths[other] for other in into.get(register, ())), default=0)
    return max(lengths.values(), default=0)


def _use(facts: Facts, instruction: Instruction) -> Use:
    surely = 0 if instruction.guard is not None else facts.writes
    return Use(facts.writes, ~surely, facts.reads | facts.guard)


def _decides(facts: Facts) -> int:
    return facts.condition | facts.guard


def _is_idle(instruction: Instruction, arch: str) -> bool:
    """Say whether no thread sees that an instruction is executed, and its result is one of its operands alone."""
    name, *modifiers = instruction.opcode.split(".")
    if any(part in str(operand) for operand in instruction.operands for part in _CHANGING):
        return False
    return name in _IDLE or (name == _RESETS[0] and _RESETS[1] in modifiers) or unit(arch, instruction.opcode) in _IDLE_UNITS


def _base(instruction: Instruction) -> str:
    return instruction.opcode.partition(".")[0]
