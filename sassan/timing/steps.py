"""What one thread may run next, instruction by instruction: branches, its own tokens, calls and returns.

The check of control codes walks along this relation. It needs no warp-level exploration: a single thread never diverges. Pending tokens
are kept as a stack per path, so that a token's target is that of the path. A return goes behind every call of its function. BSYNC goes on
to the next instruction, where its token leads (docs/concepts/warp-machine.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import conditional

_MOST_STATES = 200_000
_RET = "RET"


@dataclass(frozen=True, slots=True)
class InstructionGraph:
    """`after[k]` are the instructions that a thread may run after instruction k, by index; `roots` where a thread may start.

    After an instruction of `unknown` the thread ran code that is not here (a call through a register, or out of the section).
    """

    after: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]
    unknown: frozenset[int]
    gaps: tuple[Gap, ...]


def steps(function: Function, facts: Sequence[Facts | None]) -> InstructionGraph:
    """Return the steps of a thread; what could not be followed is in the gaps."""
    return _Walk(function, facts).run()


class _Place(NamedTuple):
    """A thread before instruction `number`, in the function that begins at `entry`.

    `tokens` are those pushed in that function and still pending, innermost last: tag, index of the target, index of the push.
    """

    number: int
    entry: int
    tokens: tuple[tuple[str, int, int], ...] = ()

    def at(self, index: int) -> "_Place":
        """Return the thread before another instruction of the function."""
        return _Place(index, self.entry, self.tokens)


class _Walk:
    def __init__(self, function: Function, facts: Sequence[Facts | None]) -> None:
        self._code = function.instructions
        self._facts = facts
        self._at = {instruction.address: index for index, instruction in enumerate(self._code)}
        self._entry = self._at.get(function.entry, 0)
        # A function that is called by name takes its operands in registers of its own choice: pointers lead to others.
        named = {each.target for each in facts if each is not None and each.flow is Flow.CALL}
        self._symbols = {address for address, _ in function.symbols}
        self._callees = tuple(self._at[callee] for callee in function.callees or () if callee in self._at and callee not in named)
        self._after: list[set[int]] = [set() for _ in self._code]
        self._seen: set[_Place] = set()
        self._todo: list[_Place] = []
        self._reached = [False] * len(self._code)
        self._unknown: set[int] = set()
        self._jumps: dict[_Place, bool] = {}
        """Where a thread goes to an unknown place, and whether by a call."""
        self._behind: dict[int, set[int]] = {}
        """Per function, the instructions behind its calls."""
        self._returns: dict[int, set[int]] = {}
        """Per function, the instructions that return from it."""
        self._gaps: set[Gap] = set()
        self._dead = False

    def run(self) -> InstructionGraph:
        """Walk from the entry, then from every instruction that nothing reaches: there alone a jump to an unknown place can lead."""
        roots = [self._entry]
        self._walk(_Place(self._entry, self._entry))
        while (root := next((index for index, reached in enumerate(self._reached) if not reached), None)) is not None:
            roots.append(root)
            self._enter(roots[1:])
            if not self._reached[root]:
                self._dead = True
                self._walk(_Place(root, root))
        for entry, returns in self._returns.items():
            for index in returns:
                self._after[index] |= self._behind.get(entry, set())
        after = tuple(tuple(sorted(following)) for following in self._after)
        return InstructionGraph(after, tuple(roots), frozenset(self._unknown), tuple(sorted(self._gaps)))

    def _enter(self, roots: Sequence[int]) -> None:
        """Let every jump to an unknown place lead to every root but the entry."""
        known = 0
        while len(self._jumps) > known:
            known = len(self._jumps)
            for place, is_call in tuple(self._jumps.items()):
                for root in roots:
                    if is_call:
                        self._call_of(place, root)
                    else:
                        self._go(place, root)
                self._walk()

    def _walk(self, *places: _Place) -> None:
        self._todo += places
        while self._todo:
            place = self._todo.pop()
            if place in self._seen:
                continue
            if len(self._seen) >= _MOST_STATES:
                self._gap(self._code[place.number], "too-many-contexts", f"more than {_MOST_STATES} stacks of pending tokens")
                self._todo.clear()
                self._reached = [True] * len(self._code)
                return
            self._seen.add(place)
            self._run(place)

    def _run(self, place: _Place) -> None:
        """Follow straight code to the next control instruction, and remember where that leads."""
        index = place.number
        while True:
            self._reached[index] = True
            facts = self._facts[index]
            if facts is not None and facts.flow is not Flow.NONE:
                self._control(place.at(index), facts)
                return
            following = self._at.get(self._code[index].following)
            if following is None:
                return
            self._after[index].add(following)
            index = following

    def _control(self, place: _Place, facts: Facts) -> None:
        instruction = self._code[place.number]
        match facts.flow:
            case Flow.BRANCH | Flow.INDIRECT_BRANCH:
                self._branch(place, facts)
            case Flow.PUSH:
                self._push(place, facts)
            case Flow.CALL | Flow.INDIRECT_CALL:
                self._call(place, facts)
            case Flow.POP | Flow.RETURN:
                self._pop(place, facts)
            case Flow.EXIT:
                if conditional(instruction, facts):
                    self._next(place)
            case Flow.UNSUPPORTED:
                self._gap(instruction, "unsupported-control", f"{instruction.opcode} is taken to go on to the next instruction")
                self._next(place)
            case _:
                self._next(place)

    def _go(self, place: _Place, to: int) -> None:
        self._after[place.number].add(to)
        self._todo.append(place.at(to))

    def _next(self, place: _Place) -> None:
        following = self._at.get(self._code[place.number].following)
        if following is not None:
            self._go(place, following)

    def _branch(self, place: _Place, facts: Facts) -> None:
        instruction = self._code[place.number]
        wanted = [*instruction.targets] if facts.target is None else [facts.target, *instruction.targets]
        wanted = wanted or [self._code[callee].address for callee in self._callees]
        if not wanted:
            self._gap(instruction, "indirect-branch", f"{instruction.opcode} may lead to whatever nothing else reaches")
            self._jumps[place] = False
        for address in wanted:
            if address in self._at:
                self._go(place, self._at[address])
        if conditional(instruction, facts):
            self._next(place)

    def _push(self, place: _Place, facts: Facts) -> None:
        """Push each site once: a loop that pushes goes on with the tokens as they were."""
        tokens = place.tokens
        if facts.target in self._at and not _is_barrier(facts.tag):
            kept = next((depth for depth, (_, _, site) in enumerate(tokens) if site == place.number), len(tokens))
            tokens = (*tokens[:kept], (facts.tag, self._at[facts.target], place.number))
        self._next(place._replace(tokens=tokens))

    def _call(self, place: _Place, facts: Facts) -> None:
        instruction = self._code[place.number]
        if facts.target in self._at and not facts.tag and self._is_jump(facts.target):
            self._go(place, self._at[facts.target])
            self._next(place)
            return
        for callee in self._called(instruction, facts):
            self._call_of(place, callee)
        if not self._called(instruction, facts):
            self._gap(instruction, "unknown-callee", f"{instruction.opcode} leads to code that is not here")
            self._unknown.add(place.number)
            self._jumps[place] = True
            self._next(place)
        elif conditional(instruction, facts):
            self._next(place)

    def _is_jump(self, target: int) -> bool:
        """Say whether a call leads into a function, not to its begin: since Volta it leaves a loop so, and nothing returns behind it."""
        return len(self._symbols) > 1 and target not in self._symbols

    def _called(self, instruction: Instruction, facts: Facts) -> tuple[int, ...]:
        if facts.target is None:
            return tuple(self._at[target] for target in instruction.targets if target in self._at) or self._callees
        return (self._at[facts.target],) if facts.target in self._at else ()

    def _call_of(self, place: _Place, callee: int) -> None:
        """Enter a function, and go on behind the call: what returns from it is known when the walk has ended."""
        self._after[place.number].add(callee)
        self._todo.append(_Place(callee, callee))
        back = self._at.get(self._code[place.number].following)
        if back is not None:
            self._behind.setdefault(callee, set()).add(back)
            self._todo.append(place.at(back))

    def _pop(self, place: _Place, facts: Facts) -> None:
        instruction = self._code[place.number]
        tag = _RET if facts.flow is Flow.RETURN else facts.tag
        if _is_barrier(tag):
            self._next(place)
            return
        depth = next((depth for depth in range(len(place.tokens) - 1, -1, -1) if place.tokens[depth][0] == tag), None)
        if depth is not None:
            self._go(place._replace(tokens=place.tokens[:depth]), place.tokens[depth][1])
        elif tag == _RET:
            self._returns.setdefault(place.entry, set()).add(place.number)
        elif not self._dead:
            self._gap(instruction, "unmatched-token", f"no pending token for {instruction.opcode}")
        if conditional(instruction, facts):
            self._next(place)

    def _gap(self, instruction: Instruction, code: str, message: str) -> None:
        self._gaps.add(Gap(instruction.address, code, message))


def _is_barrier(tag: str) -> bool:
    """Say whether a tag names a convergence barrier: B0 to B15."""
    return tag.startswith("B") and tag[1:].isdigit()
