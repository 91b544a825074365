"""Changes of the code that an estimate takes: instructions that are no longer executed, others in their place, other control codes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from sassan.app.estimating import Prepared
from sassan.estimate.launch import EstimatedKernel
from sassan.estimate.path import Weighted, nested
from sassan.ir import Instruction
from sassan.isa.control import ControlCode, decode, encode
from sassan.isa.facts import Facts
from sassan.strings.fold import Repeat
from sassan.strings.fold import Sequence as Folded
from sassan.warpcfg.graph import WarpCfg

FactsOf = Callable[[Instruction], Facts | None]
Code = Sequence[Instruction]


def editable(prepared: Prepared) -> bool:
    """Say whether instructions may change: not where the estimate follows each warp of a block by places in its code."""
    return prepared.kernel.traced is None


def control_of(instruction: Instruction) -> ControlCode:
    """Return the control code of an instruction of a launch that has an estimate: all have one."""
    assert instruction.control is not None
    return decode(instruction.control)


def with_control(instruction: Instruction, control: ControlCode) -> Instruction:
    """Return an instruction with another control code."""
    return replace(instruction, control=encode(control))


def with_code(prepared: Prepared, code: Mapping[int, Code]) -> Prepared:
    """Return a launch with other instructions in some nodes, by their numbers; a node has one at least."""
    kernel = prepared.kernel
    nodes = tuple(
        replace(node, instructions=tuple(code[number])) if code.get(number) else node for number, node in enumerate(kernel.cfg.nodes)
    )
    return replace(prepared, kernel=replace(kernel, cfg=replace(kernel.cfg, nodes=nodes)))


def edited(prepared: Prepared, edit: Callable[[Instruction], Instruction | None]) -> Prepared:
    """Return a launch with each instruction as an edit returns it; None: it is no longer executed.

    What an omitted instruction waited for, the next one of its node waits for: gains do not come of data that arrive sooner.
    """
    return with_code(prepared, {number: shortened(node.code, edit) for number, node in enumerate(prepared.kernel.cfg.nodes)})


def shortened(code: Code, edit: Callable[[Instruction], Instruction | None]) -> Code:
    """Return the instructions as an edit returns them, the waits of omitted ones at the next."""
    out: list[Instruction] = []
    waits = 0
    for each in code:
        changed = edit(each)
        if changed is None:
            waits |= control_of(each).wait_mask
            continue
        if waits:
            control = control_of(changed)
            changed, waits = with_control(changed, replace(control, wait_mask=control.wait_mask | waits)), 0
        out.append(changed)
    return out or code[:1]


def without(prepared: Prepared, addresses: Collection[int]) -> Prepared:
    """Return a launch in which instructions are no longer executed."""
    return edited(prepared, lambda each: None if each.address in addresses else each)


def with_executions(prepared: Prepared, executions: Sequence[float]) -> Prepared:
    """Return a launch whose warps visit each node so often on average."""
    kernel = prepared.kernel
    return replace(prepared, kernel=replace(kernel, path=nested(kernel.cfg, executions), longer=()))


def with_work(prepared: Prepared, factor: float) -> Prepared:
    """Return a launch whose warps make each visit so many times as often."""
    kernel = prepared.kernel
    longer = tuple(replace(each, path=_weighted(kernel.cfg, each.path, factor)) for each in kernel.longer)
    return replace(prepared, kernel=replace(kernel, path=_weighted(kernel.cfg, kernel.path, factor), longer=longer))


def _weighted(cfg: WarpCfg, path: Weighted, factor: float) -> Weighted:
    folded, weights = path
    return folded, {node: factor * weights.get(node, 1.0) for node in range(len(cfg.nodes))}


def with_iterations(prepared: Prepared, node: int, factor: int) -> Prepared:
    """Return a launch in which a loop of one node has one iteration for each `factor` of them; longer paths likewise."""
    kernel = prepared.kernel
    longer = tuple(replace(each, path=_fewer(each.path, node, factor)) for each in kernel.longer)
    return replace(prepared, kernel=replace(kernel, path=_fewer(kernel.path, node, factor), longer=longer))


def _fewer(path: Weighted, node: int, factor: int) -> Weighted:
    """Return a path in which a loop of one node iterates a part as often; where that is not a whole number, an iteration weighs more."""
    folded, weights = path
    kept = [1.0]

    def items(several: Folded) -> Iterator[int | Repeat]:
        for item in several:
            if isinstance(item, Repeat) and item.body == (node,):
                times = max(1, round(item.times / factor))
                kept.append(item.times / factor / times)
                yield Repeat(item.body, times)
            else:
                yield Repeat(tuple(items(item.body)), item.times) if isinstance(item, Repeat) else item

    changed = tuple(items(folded))
    return changed, {**weights, node: weights.get(node, 1.0) * kept[-1]}


def innermost(cfg: WarpCfg) -> Mapping[int, int]:
    """Return the innermost loop around each node that is in one, by numbers."""
    out: dict[int, int] = {}
    for number, loop in sorted(enumerate(cfg.loops), key=lambda pair: -len(pair[1].nodes)):
        out.update(dict.fromkeys(loop.nodes, number))
    return out


def instructions_of(kernel: EstimatedKernel) -> Mapping[int, Instruction]:
    """Return the instructions by address."""
    return {each.address: each for node in kernel.cfg.nodes for each in node.code}


def writes_of(facts_of: FactsOf, instruction: Instruction) -> int:
    """Return the registers that an instruction may write, all where that is not known."""
    facts = facts_of(instruction)
    return -1 if facts is None else facts.writes


def reads_of(facts_of: FactsOf, instruction: Instruction) -> int:
    """Return the registers that an instruction may read, its guard among them; all where that is not known."""
    facts = facts_of(instruction)
    return -1 if facts is None else facts.reads | facts.guard | facts.condition
