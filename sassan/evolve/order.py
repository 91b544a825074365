"""Independent PTX instructions in another order: list scheduling inside basic blocks, by keys (random keys, Bean 1994).

What depends on what is read off the facts of `isa/`: registers, the carry flag, memory by state space. `order_proof` checks the result.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sassan.errors import SelfCheckError
from sassan.evolve.order_memory import Access, access, apart
from sassan.evolve.order_proof import proved
from sassan.frontend.ptx.lines import FastLines
from sassan.frontend.ptx.read import modules, read_ptx
from sassan.frontend.ptx.syntax import Function, Instruction, Scope, Statement
from sassan.frontend.ptx.text import module_text
from sassan.isa import ptx
from sassan.isa.facts import Facts, Flow
from sassan.source import Source


@dataclass(frozen=True, slots=True)
class _Node:
    """What an instruction needs and changes: sets of variables as bits, and what it does to memory."""

    reads: int
    writes: int
    memory: Access


def reordered(text: str, keys: Sequence[int]) -> str:
    """Return a PTX text in which independent instructions of each basic block stand in the order of the keys.

    The keys go around: the i-th instruction of a function has key i modulo their number. Of the instructions whose sources are there, the
    one with the least key is next, then the one that stood first; equal keys change nothing. Raises InputError for what is no PTX,
    SelfCheckError `order` where the proof of independence fails.
    """
    source = Source("kernel.ptx", text)
    facts = _facts(source)
    parts = list(modules(source, FastLines()))
    out: list[str] = []
    for _, module in parts:
        items = tuple(_function(item, facts, keys) if isinstance(item, Function) else item for item in module.items)
        out.append(module_text(replace(module, items=items)))
    return "".join(out)


def _facts(source: Source) -> dict[tuple[int, int], Facts | None]:
    """Return the facts of every instruction of the text, by line and column."""
    found: dict[tuple[int, int], Facts | None] = {}
    for function in read_ptx(source):
        isa = ptx.load(function)
        for one in function.instructions:
            if not one.virtual:
                found[one.span.line, one.span.column] = isa.facts(one)
    return found


def _function(one: Function, facts: dict[tuple[int, int], Facts | None], keys: Sequence[int]) -> Function:
    if one.body is None:
        return one
    return replace(one, body=_scope(one.body, facts, keys, [0]))


def _scope(scope: Scope, facts: dict[tuple[int, int], Facts | None], keys: Sequence[int], counter: list[int]) -> Scope:
    """Return the statements of a scope, runs of movable instructions reordered; `counter` numbers the instructions of the function."""
    out: list[Statement] = []
    run: list[tuple[Instruction, _Node, int]] = []
    for one in scope.statements:
        node = None
        if isinstance(one, Instruction):
            node = _node(one, facts.get((one.span.line, one.span.column)))
            if node is not None:
                run.append((one, node, keys[counter[0] % len(keys)]))
            counter[0] += 1
        if node is None:
            out.extend(_scheduled(run))
            run = []
            out.append(_scope(one, facts, keys, counter) if isinstance(one, Scope) else one)
    return Scope((*out, *_scheduled(run)))


def _node(one: Instruction, known: Facts | None) -> _Node | None:
    """Return what an instruction needs and changes, None where it keeps its place and nothing passes it."""
    memory = access(one)
    if memory is None or known is None or known.flow is not Flow.NONE:
        return None
    kept = known.writes if known.guard else 0  # under a guard the old value may stay
    return _Node(known.reads | known.guard | kept, known.writes, memory)


def _scheduled(run: Sequence[tuple[Instruction, _Node, int]]) -> tuple[Instruction, ...]:
    before = tuple(one for one, _, _ in run)
    order = _order([node for _, node, _ in run], [key for _, _, key in run])
    if order == list(range(len(before))):
        return before
    after = tuple(before[at] for at in order)
    if not proved(before, after):
        raise SelfCheckError("order", f"an order of {len(before)} PTX instructions failed the proof of their independence")
    return after


def _order(nodes: Sequence[_Node], keys: Sequence[int]) -> list[int]:
    """Return places in the order of a list schedule."""
    waiting = [0] * len(nodes)
    after: list[list[int]] = [[] for _ in nodes]
    for late, node in enumerate(nodes):
        for early in _needed(nodes, late, node):
            after[early].append(late)
            waiting[late] += 1
    ready = [(keys[at], at) for at, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    out: list[int] = []
    while ready:
        _, at = heapq.heappop(ready)
        out.append(at)
        for late in after[at]:
            waiting[late] -= 1
            if not waiting[late]:
                heapq.heappush(ready, (keys[late], late))
    return out


def _needed(nodes: Sequence[_Node], late: int, node: _Node) -> Iterator[int]:
    for early in range(late):
        other = nodes[early]
        if other.writes & (node.reads | node.writes) or other.reads & node.writes or not apart(other.memory, node.memory):
            yield early
