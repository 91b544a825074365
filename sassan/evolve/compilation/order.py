"""Reordering independent PTX instructions: list scheduling within basic blocks by random keys (Bean 1994).

Dependences come from the facts of `isa/`: registers, the carry flag, memory by state space. `order_proof` checks the result.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sassan.errors import SelfCheckError
from sassan.evolve.compilation.order_memory import StateSpaceAccess, access, commute
from sassan.evolve.compilation.order_proof import proved
from sassan.frontend.ptx.lines import FastLines
from sassan.frontend.ptx.read import modules, read_ptx
from sassan.frontend.ptx.syntax import FunctionDeclaration, InstructionStatement, Scope, Statement
from sassan.frontend.ptx.text import module_text
from sassan.isa import ptx
from sassan.isa.facts import Facts, Flow
from sassan.source import Source


@dataclass(frozen=True, slots=True)
class _Dependences:
    """The reads and writes of an instruction, as bit sets of variables, and its memory access."""

    reads: int
    writes: int
    memory: StateSpaceAccess


def reordered(text: str, keys: Sequence[int]) -> str:
    """Return a PTX text in which the independent instructions of each basic block are ordered by keys.

    The i-th instruction of a function has key i modulo the number of keys. Among the ready instructions the one with the least key is next,
    then the first in the original order; equal keys change nothing. Raises InputError for invalid PTX, SelfCheckError `order` if the proof
    of independence fails.
    """
    source = Source("kernel.ptx", text)
    facts = _facts(source)
    parts = list(modules(source, FastLines()))
    out: list[str] = []
    for _, module in parts:
        items = tuple(_function(item, facts, keys) if isinstance(item, FunctionDeclaration) else item for item in module.items)
        out.append(module_text(replace(module, items=items)))
    return "".join(out)


def _facts(source: Source) -> dict[tuple[int, int], Facts | None]:
    """Return the facts of every instruction of the text, by line and column."""
    facts: dict[tuple[int, int], Facts | None] = {}
    for function in read_ptx(source):
        isa = ptx.load(function)
        for instruction in function.instructions:
            if not instruction.virtual:
                facts[instruction.span.line, instruction.span.column] = isa.facts(instruction)
    return facts


def _function(function: FunctionDeclaration, facts: dict[tuple[int, int], Facts | None], keys: Sequence[int]) -> FunctionDeclaration:
    if function.body is None:
        return function
    return replace(function, body=_scope(function.body, facts, keys, [0]))


def _scope(scope: Scope, facts: dict[tuple[int, int], Facts | None], keys: Sequence[int], counter: list[int]) -> Scope:
    """Return the statements of a scope, runs of movable instructions reordered; `counter` numbers the instructions of the function."""
    out: list[Statement] = []
    run: list[tuple[InstructionStatement, _Dependences, int]] = []
    for statement in scope.statements:
        node = None
        if isinstance(statement, InstructionStatement):
            node = _node(statement, facts.get((statement.span.line, statement.span.column)))
            if node is not None:
                run.append((statement, node, keys[counter[0] % len(keys)]))
            counter[0] += 1
        if node is None:
            out.extend(_scheduled(run))
            run = []
            out.append(_scope(statement, facts, keys, counter) if isinstance(statement, Scope) else statement)
    return Scope((*out, *_scheduled(run)))


def _node(instruction: InstructionStatement, known: Facts | None) -> _Dependences | None:
    """Return the dependences of an instruction, None if it must keep its position and no instruction may move across it."""
    memory = access(instruction)
    if memory is None or known is None or known.flow is not Flow.NONE:
        return None
    kept = known.writes if known.guard else 0  # under a guard the old value may stay
    return _Dependences(known.reads | known.guard | kept, known.writes, memory)


def _scheduled(run: Sequence[tuple[InstructionStatement, _Dependences, int]]) -> tuple[InstructionStatement, ...]:
    before = tuple(instruction for instruction, _, _ in run)
    order = _order([node for _, node, _ in run], [key for _, _, key in run])
    if order == list(range(len(before))):
        return before
    after = tuple(before[at] for at in order)
    if not proved(before, after):
        raise SelfCheckError("order", f"an order of {len(before)} PTX instructions failed the proof of their independence")
    return after


def _order(nodes: Sequence[_Dependences], keys: Sequence[int]) -> list[int]:
    """Return positions in the order of a list schedule."""
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


def _needed(nodes: Sequence[_Dependences], late: int, node: _Dependences) -> Iterator[int]:
    for early in range(late):
        other = nodes[early]
        if other.writes & (node.reads | node.writes) or other.reads & node.writes or not commute(other.memory, node.memory):
            yield early
