"""Where calls and returns lead since Volta, which keeps return addresses in ordinary registers (warp-cfg.md, section 1).

A fixpoint on single threads over (call string, block): it follows code addresses through moves, sums and stack slots, and checks that
barrier registers are used as the stack of tokens takes them to be. The warp-level exploration asks it where a CALL or a RET goes.
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.domains.lattice import bits
from sassan.errors import Gap
from sassan.ir import CodeAddress, Function, Instruction, Target
from sassan.isa.facts import Facts, Flow
from sassan.isa.moves import RestoreBarrier, SaveBarrier
from sassan.warpcfg.blocks import Block, Blocks, conditional
from sassan.warpcfg.externals import callee
from sassan.warpcfg.graph import Context, Kind
from sassan.warpcfg.recursion import recursive_calls
from sassan.warpcfg.steps import Key
from sassan.warpcfg.thread_operations import STACK_POINTER, Operation, address_register, operations
from sassan.warpcfg.thread_values import (
    Entry,
    Env,
    FramePointer,
    Problem,
    Value,
    Values,
    enter,
    join,
    kill,
    leave,
    leq,
    move,
    restore,
    save,
)

MAX_NODES = 200_000


class Lead(NamedTuple):
    """One way on from a call or a return: `to` None leaves the function that is analyzed."""

    kind: Kind
    to: Key | None


@dataclass(frozen=True, slots=True)
class Leads:
    """Per call and return, the ways on; empty where nobody knows (a gap says so). `through_pointer`: a call had no known target."""

    of: Mapping[Key, tuple[Lead, ...]] = field(default_factory=dict[Key, tuple[Lead, ...]])
    gaps: frozenset[Gap] = frozenset()
    through_pointer: bool = False


def find_leads(function: Function, blocks: Blocks, successors: list[list[int]], call_depth: int | None) -> Leads:
    """Return where every call and return of a function leads."""
    search = _Search(function, blocks, call_depth, frozenset())
    search.run()
    recursive = recursive_calls(blocks, successors, blocks.at[function.entry], search.targets)
    recursive |= search.again
    if recursive:
        search = _Search(function, blocks, call_depth, recursive)
        search.run()
    return search.leads()


class _Search:
    def __init__(self, function: Function, blocks: Blocks, call_depth: int | None, recursive: frozenset[int]) -> None:
        self._function, self._blocks, self._depth, self._recursive = function, blocks, call_depth, recursive
        self._ops, self._wanted = operations(blocks)
        self._bases = tuple(sorted({0, *(address for address, _ in function.symbols)}))
        self._states: dict[Key, Env] = {}
        self._callers: dict[Context, set[tuple[Context, int]]] = {}
        self._entered: dict[Context, set[int]] = {}
        self._leads: dict[Key, tuple[Lead, ...]] = {}
        self._pointer = False
        self.targets: dict[int, set[int]] = {}
        """Per call site, the addresses of the blocks that it calls."""
        self.again: frozenset[int] = frozenset()
        """Call sites that were met inside themselves."""
        self._gaps: set[Gap] = set()

    def run(self) -> None:
        """Find the fixpoint, then go over it once more for what to tell, unless nothing was called and nothing is wrong."""
        start: Key = ((), self._blocks.at[self._function.entry])
        registers: dict[int, Values] = {number: frozenset({Entry(number)}) for number in bits(self._wanted)}
        registers[STACK_POINTER] = frozenset({FramePointer(0)})
        self._states[start] = Env(registers)
        todo = [start]
        while todo and len(self._states) <= MAX_NODES:
            self._spread(todo)
            if not self._gaps and not self._callers:
                return
            self._gaps.clear()
            # A call that was met late is one more place to return to, even where the callee knew all that the caller knows.
            todo = sorted({to for key in sorted(self._states) for to, env in self._visit(key) if self._is_news(to, env)})

    def _is_news(self, to: Key, env: Env) -> bool:
        """Join what a thread knows to what was known there, and say whether that is more."""
        old = self._states.get(to)
        if old is not None and leq(env, old):
            return False
        self._states[to] = env if old is None else join(old, env)
        return True

    def leads(self) -> Leads:
        """Return what was found; behind a call that is stepped over, what a thread knows is no news of its own."""
        unknown = {gap for gap in self._gaps if gap.code in {"recursion", "indirect-call"}}
        return Leads(self._leads, frozenset(unknown or self._gaps), self._pointer)

    def _spread(self, todo: list[Key]) -> None:
        queued = set(todo)
        while todo:
            key = heapq.heappop(todo)
            queued.discard(key)
            for to, env in self._visit(key):
                if self._is_news(to, env) and to not in queued:
                    queued.add(to)
                    heapq.heappush(todo, to)
            if len(self._states) > MAX_NODES:
                return

    def _visit(self, key: Key) -> list[tuple[Key, Env]]:
        context, index = key
        block = self._blocks.blocks[index]
        env = self._states[key]
        for op in self._ops[index]:
            env = self._apply(op, env)
        return list(self._ways(context, block, env))

    def _apply(self, op: Operation, env: Env) -> Env:
        out, problem = _barrier(op, kill(env, op.kills))
        if problem is not None:
            self._gaps.add(Gap(op.one.address, problem.code, problem.message))
        for one in op.moves:
            out = move(out, one)
        return join(env, out) if op.guarded else out

    def _ways(self, context: Context, block: Block, env: Env) -> Iterator[tuple[Key, Env]]:
        last, end = block.last, block.end
        flow = last.flow if last is not None else Flow.NONE
        if last is not None and flow in {Flow.CALL, Flow.INDIRECT_CALL, Flow.RETURN}:
            yield from self._calls(context, block, last, env)
            return
        targets = [*end.targets] if last is None or last.target is None else [last.target, *end.targets]
        if flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            for target in targets:
                yield from self._go(context, target, _late(block, env, taken=True))
        ends = flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.EXIT} and not conditional(end, last)
        if not ends:
            yield from self._go(context, end.following, _late(block, env, taken=False))

    def _go(self, context: Context, address: int, env: Env) -> Iterator[tuple[Key, Env]]:
        index = self._blocks.at.get(address)
        if index is not None:
            yield (context, index), env

    def _calls(self, context: Context, block: Block, last: Facts, env: Env) -> Iterator[tuple[Key, Env]]:
        key: Key = (context, block.index)
        leads: list[Lead] = []
        if last.flow is Flow.RETURN:
            leads += self._returns(context, block.end, env)
        elif block.end.address in self._recursive:
            self._report(
                block.end, "recursion", f"{block.end.opcode} calls a function that is already running: no bound on the depth is known"
            )
        else:
            leads += self._callees(context, block.end, last, env)
        self._leads[key] = tuple(leads)
        for lead in leads:
            if lead.to is not None:
                yield lead.to, env
        stepped_over = not leads and last.flow is not Flow.RETURN
        if conditional(block.end, last) or stepped_over:
            yield from self._go(context, block.end.following, Env() if stepped_over else env)

    def _callees(self, context: Context, one: Instruction, last: Facts, env: Env) -> Iterator[Lead]:
        if last.flow is Flow.CALL:
            addresses = [] if last.target is None else [last.target]
            if last.target is None and not callee(one):
                self._report(one, "indirect-call", f"{one.opcode} calls code that is not in the input")
        else:
            addresses = self._pointed(one, env)
        inside = self._inside(context, one, addresses, env)
        for address in addresses:
            index = self._blocks.at.get(address)
            if index is None:
                continue  # the gap `bad-target`, reported where the blocks are cut
            if inside is not None:
                self.targets.setdefault(one.address, set()).add(address)
            yield Lead(Kind.TAKEN, (context, index)) if inside is None else Lead(Kind.CALL, (inside, index))

    def _pointed(self, one: Instruction, env: Env) -> list[int]:
        addresses = self._addresses(one, env)
        if addresses is not None:
            return addresses
        if self._function.callees is None:
            self._report(one, "indirect-call", f"{one.opcode} calls a function that the input does not name")
            return []
        self._pointer = True
        return list(self._function.callees)

    def _inside(self, context: Context, one: Instruction, addresses: list[int], env: Env) -> Context | None:
        """Return the call string of the callee, None where no register holds the next address: a far jump is no call."""
        back = {one.following - base for base in self._bases} | {CodeAddress(one.following, high=False)}
        if not any(back & values for values in env.registers.values()):
            return None
        if one.address in context or self._is_running(context, addresses):
            self.again |= {one.address}
            self._report(one, "recursion", f"{one.opcode} calls a function that is already running: no bound on the depth is known")
            return None
        inner = (*context, one.address)
        if self._depth is not None:
            inner = inner[max(0, len(inner) - self._depth) :]
        self._callers.setdefault(inner, set()).add((context, one.following))
        self._entered.setdefault(inner, set()).update(addresses)
        return inner

    def _is_running(self, context: Context, addresses: list[int]) -> bool:
        """Say whether a call string surely holds a call of one of these functions; what calls through pointers hide is found later."""
        entered = (self._entered.get(context[: depth + 1], set()) for depth in range(len(context)))
        return any(len(one) == 1 and not one.isdisjoint(addresses) for one in entered)

    def _returns(self, context: Context, one: Instruction, env: Env) -> Iterator[Lead]:
        addresses = self._addresses(one, env)
        if addresses is None and self._returns_to_caller(one, env):
            yield Lead(Kind.EXIT, None)
            return
        if addresses is None:
            self._report(one, "unresolved-return", f"{one.opcode} returns to an address that could not be followed back to a call")
            return
        for address in addresses:
            index = self._blocks.at.get(address)
            if index is None:
                self._report(one, "bad-target", f"{one.opcode} returns to 0x{address:04x}, where no instruction starts")
                continue
            callers = sorted(outer for outer, following in self._callers.get(context, ()) if following == address)
            for outer in callers:
                yield Lead(Kind.RETURN, (outer, index))
            if not callers:
                yield Lead(Kind.TAKEN, (context, index))

    def _returns_to_caller(self, one: Instruction, env: Env) -> bool:
        """Say whether a return uses the address with which the function that is analyzed was itself entered."""
        low = address_register(one)
        return low is not None and all(env.registers.get(half) == frozenset[Value]({Entry(half)}) for half in (low, low + 1))

    def _addresses(self, one: Instruction, env: Env) -> list[int] | None:
        """Return the code addresses that the register pair of a call or return may hold, None when it is not known."""
        low = address_register(one)
        if low is None:
            return None
        values, highs = env.registers.get(low), env.registers.get(low + 1)
        if not values or not highs:
            return None
        base = next((operand.address for operand in one.operands if isinstance(operand, Target)), None)
        out: set[int] = set()
        for value in values:
            if isinstance(value, CodeAddress) and not value.high and CodeAddress(value.address, high=True) in highs and base is None:
                out.add(value.address)
            elif isinstance(value, int) and base is not None and highs == frozenset[Value]({0}):
                out.add(base + value)
            else:
                return None
        return sorted(out)

    def _report(self, one: Instruction, code: str, message: str) -> None:
        self._gaps.add(Gap(one.address, code, message))


def _barrier(op: Operation, env: Env) -> tuple[Env, Problem | None]:
    if op.flow is Flow.PUSH:
        return enter(env, op.barrier)
    if op.flow in {Flow.POP, Flow.BREAK}:
        return leave(env, op.barrier)
    for one in op.moves:
        if isinstance(one, SaveBarrier):
            return save(env, one)
        if isinstance(one, RestoreBarrier):
            return restore(env, one)
    return env, None


def _late(block: Block, env: Env, *, taken: bool) -> Env:
    """Return the environment on one side of a branch that decides who ran a guarded BREAK."""
    assert block.last is not None or not block.late
    sure = taken or (block.last is not None and block.last.guard_alone)
    for one in block.late:
        if taken == one.takers or not sure:
            left, _ = leave(env, int(one.tag[1:]))
            env = left if sure else join(env, left)
    return env
