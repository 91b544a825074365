"""Which blocks no thread of the launch executes: a branch or an exit whose guard is known goes one way, for all lanes or each."""

from collections.abc import Iterator

from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit
from sassan.values.warp_values import PointValues, WarpValues

_ONE_WAY = frozenset({Flow.BRANCH, Flow.EXIT})


def unreached(values: WarpValues) -> tuple[int, ...]:
    """Return the addresses of the blocks that no thread reaches, in whatever call, by the steps of threads that are left."""
    cfg = values.cfg
    excluded = {(node, start) for node in range(len(cfg.nodes)) for start in _not_taken(values, node)}
    after: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges:
        if (step.src, cfg.nodes[step.dst].start) not in excluded:
            after[step.src].append(step.dst)
    reached, todo = {cfg.entry}, [cfg.entry]
    while todo:
        for node in after[todo.pop()]:
            if node not in reached:
                reached.add(node)
                todo.append(node)
    starts = {cfg.nodes[node].start for node in reached if values.lanes(node)}
    return tuple(sorted({node.start for node in cfg.nodes} - starts))


def _not_taken(values: WarpValues, node: int) -> Iterator[int]:
    """Yield where the last instruction of a block does not lead, though it could in another launch."""
    instruction, point = list(values.along(node))[-1]
    facts = values.facts[instruction.address]
    taken = _taken(instruction, facts, point)
    if taken is None or facts.target == instruction.following:
        return
    if taken:
        yield instruction.following
    elif facts.target is not None:
        yield facts.target


def _taken(instruction: Instruction, facts: Facts, point: PointValues) -> bool | None:
    """Return whether every thread takes a branch or an exit, or none does, by a guard that is known; None: it is not known."""
    guard = instruction.guard
    if guard is None or guard.index is None or facts.flow not in _ONE_WAY or not facts.guard_alone or instruction.condition:
        return None
    word = point.word(bit(guard.file, guard.index).bit_length() - 1)
    constant = word.constant if word is not None else None
    return None if constant is None else bool(constant) != guard.negated
