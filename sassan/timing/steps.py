"""What one thread may run next, instruction by instruction: branches, its own tokens, calls and returns.

The check of control codes walks along this relation. It needs no warp-level exploration: a single thread never diverges.
Pending tokens and calls are kept as a stack per path, so that a token's target and a return are those of the path. BSYNC goes on to
the next instruction, where its token leads (warp-cfg.md, section 1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import conditional

_Stack = tuple[tuple[str, int, int], ...]
"""Pending tokens and calls, innermost last: tag, index of the target, index of the instruction that pushed it."""

_RETURN = "RETURN"
_MOST_STATES = 200_000


@dataclass(frozen=True, slots=True)
class Steps:
    """`after[k]` are the instructions that a thread may run after instruction k, by index; `roots` where a thread may start.

    After an instruction of `unknown` the thread ran code that is not here (a call through a register, or out of the section).
    """

    after: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]
    unknown: frozenset[int]
    gaps: tuple[Gap, ...]


def steps(function: Function, facts: Sequence[Facts | None]) -> Steps:
    """Return the steps of a thread; what could not be followed is in the gaps."""
    return _Walk(function, facts).run()


class _Walk:
    def __init__(self, function: Function, facts: Sequence[Facts | None]) -> None:
        self._code = function.instructions
        self._facts = facts
        self._at = {one.address: index for index, one in enumerate(self._code)}
        self._entry = self._at.get(function.entry, 0)
        self._callees = tuple(self._at[one] for one in function.callees or () if one in self._at)
        self._after: list[set[int]] = [set() for _ in self._code]
        self._seen: set[tuple[int, _Stack]] = set()
        self._reached = [False] * len(self._code)
        self._unknown: set[int] = set()
        self._jumps: dict[tuple[int, _Stack], None] = {}
        self._gaps: set[Gap] = set()
        self._dead = False

    def run(self) -> Steps:
        """Walk from the entry, then from every instruction that nothing reaches: there alone a jump to an unknown place can lead."""
        roots = [self._entry]
        self._walk([(self._entry, ())])
        while (root := next((index for index, reached in enumerate(self._reached) if not reached), None)) is not None:
            roots.append(root)
            self._enter(roots)
            if not self._reached[root]:
                self._dead = True
                self._walk([(root, ())])
        after = tuple(tuple(sorted(one)) for one in self._after)
        return Steps(after, tuple(roots), frozenset(self._unknown), tuple(sorted(self._gaps)))

    def _enter(self, roots: Sequence[int]) -> None:
        """Let every jump to an unknown place lead to every root but the entry."""
        known = 0
        while len(self._jumps) > known:
            known = len(self._jumps)
            for index, stack in tuple(self._jumps):
                self._after[index].update(roots[1:])
                self._walk([(root, stack) for root in roots[1:]])

    def _walk(self, todo: list[tuple[int, _Stack]]) -> None:
        while todo:
            state = todo.pop()
            if state in self._seen:
                continue
            if len(self._seen) >= _MOST_STATES:
                self._gap(self._code[state[0]], "too-many-contexts", f"more than {_MOST_STATES} stacks of pending tokens")
                self._reached[state[0]] = True
                continue
            self._seen.add(state)
            todo.extend(self._run(*state))

    def _run(self, index: int, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        """Yield where a straight run from `index` ends, with the stack there; remember every step."""
        while True:
            self._reached[index] = True
            facts = self._facts[index]
            if facts is None or facts.flow is Flow.NONE:
                following = self._at.get(self._code[index].following)
                if following is None:
                    return
                self._after[index].add(following)
                index = following
                continue
            for to, below in self._control(index, facts, stack):
                self._after[index].add(to)
                yield to, below
            return

    def _control(self, index: int, facts: Facts, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        one = self._code[index]
        match facts.flow:
            case Flow.BRANCH | Flow.INDIRECT_BRANCH:
                yield from self._branch(one, facts, stack)
            case Flow.PUSH:
                yield from self._next(one, self._pushed(index, facts, stack))
            case Flow.CALL | Flow.INDIRECT_CALL:
                yield from self._call(index, facts, stack)
            case Flow.POP | Flow.RETURN:
                yield from self._pop(index, facts, stack)
            case Flow.EXIT:
                if conditional(one, facts):
                    yield from self._next(one, stack)
            case Flow.UNSUPPORTED:
                self._gap(one, "unsupported-control", f"{one.opcode} is not followed")
                self._unknown.add(index)
                yield from self._next(one, stack)
            case _:
                yield from self._next(one, stack)

    def _next(self, one: Instruction, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        if one.following in self._at:
            yield self._at[one.following], stack

    def _branch(self, one: Instruction, facts: Facts, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        wanted = [*one.targets] if facts.target is None else [facts.target, *one.targets]
        wanted = wanted or [self._code[callee].address for callee in self._callees]
        if not wanted:
            self._gap(one, "indirect-branch", f"{one.opcode} may lead to whatever nothing else reaches")
            self._jumps[self._at[one.address], stack] = None
        yield from ((self._at[address], stack) for address in wanted if address in self._at)
        if conditional(one, facts):
            yield from self._next(one, stack)

    def _pushed(self, index: int, facts: Facts, stack: _Stack) -> _Stack:
        """Return the stack with the token; a token of a convergence barrier is where its BSYNC goes anyway."""
        if facts.target not in self._at or _is_barrier(facts.tag):
            return stack
        return self._push(stack, facts.tag, self._at[facts.target], index)

    def _push(self, stack: _Stack, tag: str, target: int, site: int) -> _Stack:
        """Push once per site: a loop or a recursion that pushes again goes on with the stack as it was."""
        for depth, (_, _, other) in enumerate(stack):
            if other == site:
                return stack[: depth + 1]
        return (*stack, (tag, target, site))

    def _call(self, index: int, facts: Facts, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        one = self._code[index]
        back = self._at.get(one.following)
        below = stack if back is None else self._push(stack, facts.tag or _RETURN, back, index)
        if facts.target in self._at:
            yield self._at[facts.target], below
        elif facts.target is None and self._callees:
            yield from ((callee, below) for callee in self._callees)
        else:
            self._gap(one, "unknown-callee", f"{one.opcode} leads to code that is not here")
            self._unknown.add(index)
            self._jumps[index, below] = None
            yield from self._next(one, stack)
            return
        if conditional(one, facts):
            yield from self._next(one, stack)

    def _pop(self, index: int, facts: Facts, stack: _Stack) -> Iterator[tuple[int, _Stack]]:
        one, tag = self._code[index], _RETURN if facts.flow is Flow.RETURN else facts.tag
        if _is_barrier(tag):
            yield from self._next(one, stack)
            return
        place = next((depth for depth in range(len(stack) - 1, -1, -1) if stack[depth][0] == tag), None)
        if place is not None:
            yield stack[place][1], stack[:place]
        elif tag not in {_RETURN, "RET"} and not self._dead:
            self._gap(one, "unmatched-token", f"no pending token for {one.opcode}")
        if conditional(one, facts):
            yield from self._next(one, stack)

    def _gap(self, one: Instruction, code: str, message: str) -> None:
        self._gaps.add(Gap(one.address, code, message))


def _is_barrier(tag: str) -> bool:
    """Say whether a tag names a convergence barrier: B0 to B15."""
    return tag.startswith("B") and tag[1:].isdigit()
