"""Remedies of loops: loads that are asked for an iteration ahead, and iterations without their overhead."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sassan.access.opcodes import MemorySpace, space
from sassan.app.advise.changes import counts_of
from sassan.app.advise.code import (
    Code,
    FactsOf,
    control_of,
    editable,
    innermost,
    reads_of,
    with_code,
    with_control,
    with_iterations,
    writes_of,
)
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.ir import Immediate, Instruction
from sassan.isa.control import BARRIERS
from sassan.isa.facts import Flow
from sassan.plurals import count_of
from sassan.warpcfg.graph import WarpCfg

_FACTORS = (2, 4, 8)
"""Iterations of which one is made."""
_LONGEST = 400
"""Instructions of an unrolled loop, at most."""
_UPDATES = ("IADD3", "IMAD", "UIADD3", "IADD", "LEA", "VIADD", "IMAD.IADD")
_TWICE = 2.0


def prefetched(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of loops that wait for what they load in the same iteration: each load is made an iteration ahead."""
    if not editable(launched.prepared):
        return
    cfg, facts_of = launched.prepared.kernel.cfg, launched.result.isa.facts
    code, places = dict[int, Code](), list[int]()
    inside = innermost(cfg)
    for number, loop in enumerate(cfg.loops):
        direct = [node for node in loop.nodes if inside[node] == number]
        loads = _loads(cfg, facts_of, loop.nodes, direct)
        if loads and _iterates(launched, loop.head):
            code |= _ahead(cfg, loop.nodes, direct, loads)
            places += sorted(loads)
    if places:
        why = f"a loop waits for {count_of(len(places), 'load')} of global memory in the iteration that uses the data"
        sure = "likely: the same loads one iteration ahead, in registers (or a second buffer) that are not counted"
        changed = with_code(launched.prepared, code)
        yield Remedy(AdviceCode.PIPELINE, tuple(places), why, changed, sure, EXAMPLES[AdviceCode.PIPELINE])


def _iterates(launched: LaunchedKernel, head: int) -> bool:
    kernel = launched.prepared.kernel
    return counts_of(kernel)[head] >= _TWICE


def _loads(cfg: WarpCfg, facts_of: FactsOf, nodes: tuple[int, ...], direct: list[int]) -> frozenset[int]:
    """Return the loads of global memory of a loop whose addresses no load of the loop decides: those can be made ahead."""
    decided = _decided([each for node in nodes for each in cfg.nodes[node].code], facts_of)
    loads = (each for node in direct for each in cfg.nodes[node].code if each.opcode.startswith("LDG."))
    return frozenset(each.address for each in loads if each.address not in decided and control_of(each).write_barrier is not None)


def _decided(code: Code, facts_of: FactsOf) -> frozenset[int]:
    """Return the instructions of a loop that read what the loop loads, or what is computed of it, in this iteration or an earlier one."""
    out, held, before = set[int](), 0, -1
    while held != before:
        before = held
        for each in code:
            reads, writes = reads_of(facts_of, each), writes_of(facts_of, each)
            if reads & held:
                out.add(each.address)
            loads = space(each.opcode) is not None and each.opcode.startswith("LD") and not _constant(each)
            if loads or reads & held:
                held |= writes
            elif each.guard is None:
                held &= ~writes
    return frozenset(out)


def _awaited(code: Code, facts_of: FactsOf) -> int:
    """Return the registers that straight code reads before it writes them."""
    out = written = 0
    for each in code:
        out |= reads_of(facts_of, each) & ~written
        written |= writes_of(facts_of, each) if each.guard is None else 0
    return out


def _constant(each: Instruction) -> bool:
    return space(each.opcode) is MemorySpace.CONSTANT


def _ahead(cfg: WarpCfg, nodes: tuple[int, ...], direct: list[int], loads: frozenset[int]) -> Mapping[int, Code]:
    """Return the code of a loop in which the first of these loads waits for those of the iteration before, and nothing else does.

    They get the barrier that the fewest others of the loop set, and those the one that is next.
    """
    every = [each for node in nodes for each in cfg.nodes[node].code]
    others = Counter(barrier for each in every if each.address not in loads for barrier in control_of(each).sets)
    barrier = min(range(BARRIERS), key=lambda number: (others[number], number))
    instead = min((number for number in range(BARRIERS) if number != barrier), key=lambda number: (others[number], number))
    out: dict[int, Code] = {}
    first = True
    for node in nodes:
        code = list(cfg.nodes[node].code)
        for place, each in enumerate(code):
            control = control_of(each)
            waits = _moved(control.wait_mask, barrier, instead if others[barrier] else None)
            read = instead if control.read_barrier == barrier else control.read_barrier
            written = instead if control.write_barrier == barrier else control.write_barrier
            if each.address in loads and node in direct:
                waits, written, first = waits | first << barrier, barrier, False
            code[place] = with_control(each, replace(control, wait_mask=waits, read_barrier=read, write_barrier=written))
        out[node] = code
    return out


def _moved(mask: int, barrier: int, instead: int | None) -> int:
    """Return a mask of waits in which a barrier is another one, or none."""
    if not mask >> barrier & 1:
        return mask
    return mask & ~(1 << barrier) | (0 if instead is None else 1 << instead)


def unrolled(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield remedies of short loops: several iterations as one, their loads first, with one counter and one branch."""
    kernel = launched.prepared.kernel
    if not editable(launched.prepared):
        return
    cfg, facts_of = kernel.cfg, launched.result.isa.facts
    for loop in cfg.loops:
        code = cfg.nodes[loop.head].code
        if len(loop.nodes) != 1 or not _iterates(launched, loop.head):
            continue
        overhead = _overhead(code, facts_of)
        if any((facts := facts_of(each)) is None or facts.flow is Flow.BLOCK_BARRIER for each in code):
            continue
        counts = counts_of(kernel)
        for factor in _FACTORS:
            if counts[loop.head] >= factor and factor * len(code) <= _LONGEST:
                changed = with_iterations(
                    with_code(launched.prepared, {loop.head: _several(code, overhead, factor, facts_of)}), loop.head, factor
                )
                why = (
                    f"{len(overhead)} of the {len(code)} instructions of a loop only count and branch, and its iterations follow each other"
                )
                sure = f"likely: {factor} iterations as one, with one counter; more registers hold what is loaded, and are not counted"
                places = tuple(each.address for each in code if each.address in overhead)
                example = EXAMPLES[AdviceCode.UNROLL].format(factor=factor)
                yield Remedy(AdviceCode.UNROLL, places or (code[-1].address,), why, changed, sure, example)


def _overhead(code: Code, facts_of: FactsOf) -> frozenset[int]:
    """Return what a loop does only to iterate: its branch, the comparison for it, and registers that grow by a number."""
    out = set[int]()
    wanted = 0
    for each in reversed(code):
        facts = facts_of(each)
        if facts is None:
            return frozenset()
        if facts.flow is Flow.BRANCH:
            wanted |= facts.guard | facts.condition
            out.add(each.address)
        elif ("SETP" in each.opcode and facts.writes & wanted) or (
            each.opcode.startswith(_UPDATES) and _grows(each, facts.reads, facts.writes)
        ):
            out.add(each.address)
    return frozenset(out)


def _grows(each: Instruction, reads: int, writes: int) -> bool:
    """Say whether an instruction adds a number to a register (or a carry to its high word)."""
    numbers = any(isinstance(operand, Immediate) for operand in each.operands)
    return bool(reads & writes) and (numbers or ".X" in each.opcode)


def _several(code: Code, overhead: frozenset[int], factor: int, facts_of: FactsOf) -> Code:
    """Return the code of several iterations: what comes before the first wait for a load of each of them, then the rest of each.

    Where what comes before depends on the rest (a list that is followed), one iteration comes after the other.
    """
    body = [each for each in code if each.address not in overhead]
    rest = [each for each in code if each.address in overhead]
    loaded, cut = 0, len(body)
    for place, each in enumerate(body):
        control = control_of(each)
        if control.wait_mask & loaded:
            cut = place
            break
        if each.opcode.startswith("LD") and control.write_barrier is not None:
            loaded |= 1 << control.write_barrier
    written = 0
    for each in body:
        written |= writes_of(facts_of, each)
    if _awaited(body[:cut], facts_of) & written:
        return [*body * factor, *rest]
    return [*body[:cut] * factor, *body[cut:] * factor, *rest]
