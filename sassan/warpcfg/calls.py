"""Where calls and returns lead since Volta, which keeps return addresses in ordinary registers (docs/concepts/warp-machine.md).

A fixpoint on single threads over (call string, block): it follows code addresses through moves, sums and stack slots, and checks that
barrier registers are used as the stack of tokens takes them to be. The warp-level exploration asks it where a CALL or a RET goes.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.analysis.fixpoint import FixpointProblem, Rank, solve, verify
from sassan.domains.bits import bits
from sassan.domains.thread_values import EntryValue, ExternalAddress, FramePointer, ThreadValues, Values, store_anywhere
from sassan.errors import Gap
from sassan.ir import CodeAddress, Function, Instruction, Target
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import BasicBlock, Blocks, conditional
from sassan.warpcfg.externals import SAVED, callee
from sassan.warpcfg.graph import Context, EdgeKind, External
from sassan.warpcfg.recursion import recursive_calls
from sassan.warpcfg.steps import Key
from sassan.warpcfg.thread_operations import STACK_POINTER, address_register, operations
from sassan.warpcfg.thread_steps import DOMAIN, ThreadEnvironment, apply, late_breaks, spares
from sassan.warpcfg.work import WorkCounter, too_large

_WORD_BYTES = 4


class CallTarget(NamedTuple):
    """Where a call or a return may lead: `to` None leaves the function that is analyzed."""

    kind: EdgeKind
    to: Key | None


@dataclass(frozen=True, slots=True)
class CallTargets:
    """The targets of every call and return; empty where they are unknown (a gap says so).

    `externals`: the calls of functions that the input does not hold, whose addresses the compiler keeps, by the names of these functions.
    `through_pointer`: a call had no known target. `spared`: there were stores at unknown addresses while functions had saved something.
    """

    of: Mapping[Key, tuple[CallTarget, ...]] = field(default_factory=dict[Key, tuple[CallTarget, ...]])
    gaps: frozenset[Gap] = frozenset()
    externals: tuple[External, ...] = ()
    through_pointer: bool = False
    spared: bool = False


@dataclass(frozen=True, slots=True)
class CallSearch:
    """What is searched: a function with its blocks, their static `successors`, the `rank` of a node, and the length of call strings."""

    function: Function
    blocks: Blocks
    successors: list[list[int]]
    rank: Rank[Key]
    call_depth: int | None


def find_call_targets(scope: CallSearch) -> CallTargets:
    """Return where every call and return of a function leads. Raises SelfCheckError when the fixpoint fails its verification."""
    search = _Search(scope, frozenset())
    search.run()
    recursive = recursive_calls(scope.blocks, scope.successors, scope.blocks.at[scope.function.entry], search.targets)
    recursive |= search.again
    if recursive:
        search = _Search(scope, recursive)
        search.run()
    return search.call_targets()


@dataclass(slots=True)
class _Entries:
    """How a call string is entered: by which calls (their call string and next address), at which addresses; and who reads this."""

    callers: set[tuple[Context, int]] = field(default_factory=set[tuple[Context, int]])
    addresses: set[int] = field(default_factory=set[int])
    readers: set[Key] = field(default_factory=set[Key])


class _Search:
    def __init__(self, scope: CallSearch, recursive: frozenset[int]) -> None:
        self._scope, self._function, self._blocks, self._recursive = scope, scope.function, scope.blocks, recursive
        self._operations, self._wanted = operations(scope.blocks)
        self._bases = tuple(sorted({0, *(address for address, _ in scope.function.symbols)}))
        saved = frozenset(
            each
            for block in scope.blocks.blocks
            if block.last is not None and block.last.flow in {Flow.CALL, Flow.INDIRECT_CALL}
            for each in self._next(block.end)
        )
        self._environment = ThreadEnvironment(saved, _pointers(scope.function))
        self._spared = False
        self._externals: dict[Key, str] = {}
        self._entries: dict[Context, _Entries] = {}
        self._outdated: set[Key] = set()
        self._call_targets: dict[Key, tuple[CallTarget, ...]] = {}
        self._pointer = False
        self._work = WorkCounter(len(scope.blocks.blocks))
        self.targets: dict[int, set[int]] = {}
        """Per call site, the addresses of the blocks that it calls."""
        self.again: frozenset[int] = frozenset()
        """Call sites that were met inside themselves."""
        self._gaps: set[Gap] = set()

    def run(self) -> None:
        """Find the fixpoint and verify it; the gaps are those of the verified states."""
        start: Key = ((), self._blocks.at[self._function.entry])
        registers: dict[int, Values] = {number: frozenset({EntryValue(number)}) for number in bits(self._wanted)}
        registers[STACK_POINTER] = frozenset({FramePointer(0)})
        starts: dict[Key, ThreadValues] = {start: ThreadValues(registers)}
        problem = FixpointProblem(DOMAIN, self._visit, starts, self._scope.rank, self._work.spent, revisit=self._take_outdated)
        solution = solve(problem)
        if solution.complete:
            self._gaps.clear()
            verify(problem, solution.states)
        else:
            self._gaps = {too_large(self._function.entry, solution.states, 0)}

    def _take_outdated(self) -> Iterable[Key]:
        """Return the nodes that read how a call string is entered, where that has grown."""
        if not self._outdated:
            return ()
        outdated, self._outdated = sorted(self._outdated), set()
        return outdated

    def _read_entries(self, inner: Context, reader: Key) -> _Entries:
        entries = self._entries.setdefault(inner, _Entries())
        entries.readers.add(reader)
        return entries

    def _add_entry(self, inner: Context, caller: tuple[Context, int], addresses: list[int]) -> None:
        entries = self._entries.setdefault(inner, _Entries())
        if caller not in entries.callers or not entries.addresses.issuperset(addresses):
            entries.callers.add(caller)
            entries.addresses.update(addresses)
            self._outdated |= entries.readers

    def call_targets(self) -> CallTargets:
        """Return the targets; behind a call that is stepped over, what a thread knows is no news of its own."""
        unknown = {gap for gap in self._gaps if gap.code in {"recursion", "indirect-call"}}
        names = {(self._blocks.blocks[index].end.address, name) for (_, index), name in self._externals.items()}
        externals = tuple(External(address, name) for address, name in sorted(names))
        return CallTargets(self._call_targets, frozenset(unknown or self._gaps), externals, self._pointer, self._spared)

    def _visit(self, key: Key, thread: ThreadValues) -> Iterator[tuple[Key, ThreadValues]]:
        context, index = key
        self._work.spend(0, len(context))
        for operation in self._operations[index]:
            self._spared = self._spared or spares(operation, thread)
            thread, misuse = apply(operation, thread, self._environment)
            if misuse is not None:
                self._report(operation.one, misuse.code, misuse.message)
        return self._successors(context, self._blocks.blocks[index], thread)

    def _successors(self, context: Context, block: BasicBlock, thread: ThreadValues) -> Iterator[tuple[Key, ThreadValues]]:
        last, end = block.last, block.end
        flow = last.flow if last is not None else Flow.NONE
        if last is not None and flow in {Flow.CALL, Flow.INDIRECT_CALL, Flow.RETURN}:
            yield from self._calls(context, block, last, thread)
            return
        targets = [*end.targets] if last is None or last.target is None else [last.target, *end.targets]
        if flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            for target in targets:
                yield from self._go(context, target, late_breaks(block, thread, taken=True))
        ends = flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.EXIT} and not conditional(end, last)
        if not ends and not self._blocks.stops(block):
            yield from self._go(context, end.following, late_breaks(block, thread, taken=False))

    def _go(self, context: Context, address: int, thread: ThreadValues) -> Iterator[tuple[Key, ThreadValues]]:
        index = self._blocks.at.get(address)
        if index is not None:
            yield (context, index), thread

    def _calls(self, context: Context, block: BasicBlock, last: Facts, thread: ThreadValues) -> Iterator[tuple[Key, ThreadValues]]:
        key: Key = (context, block.index)
        targets: list[CallTarget] = []
        if last.flow is Flow.RETURN:
            targets += self._returns(key, block.end, thread)
        elif block.end.address in self._recursive:
            self._report(
                block.end, "recursion", f"{block.end.opcode} calls a function that is already running: no bound on the depth is known"
            )
        else:
            targets += self._callees(key, block.end, last, thread)
        self._call_targets[key] = tuple(targets)
        for target in targets:
            if target.to is not None:
                yield target.to, thread
        stepped_over = not targets and last.flow is not Flow.RETURN
        if stepped_over:
            thread = self._behind_external(thread) if self._is_external(key, block.end) else ThreadValues()
        if conditional(block.end, last) or stepped_over:
            yield from self._go(context, block.end.following, thread)

    def _is_external(self, key: Key, instruction: Instruction) -> bool:
        return bool(self._externals.get(key) or callee(instruction))

    def _behind_external(self, thread: ThreadValues) -> ThreadValues:
        """Return what is known behind a call of a function that the input does not hold: it leaves some registers as they were."""
        registers = {register: values for register, values in thread.registers.items() if register == STACK_POINTER or register in SAVED}
        return store_anywhere(ThreadValues(registers, thread.slots, thread.barriers), self._environment.saved)

    def _callees(self, key: Key, instruction: Instruction, last: Facts, thread: ThreadValues) -> Iterator[CallTarget]:
        if last.flow is Flow.CALL:
            addresses = [] if last.target is None else [last.target]
            if last.target is None and not callee(instruction):
                self._report(instruction, "indirect-call", f"{instruction.opcode} calls code that is not in the input")
        else:
            addresses = self._pointed(key, instruction, thread)
        inside = self._inside(key, instruction, addresses, thread)
        for address in addresses:
            index = self._blocks.at.get(address)
            if index is None:
                continue  # the gap `bad-target`, reported where the blocks are cut
            if inside is not None:
                self.targets.setdefault(instruction.address, set()).add(address)
            yield CallTarget(EdgeKind.TAKEN, (key[0], index)) if inside is None else CallTarget(EdgeKind.CALL, (inside, index))

    def _pointed(self, key: Key, instruction: Instruction, thread: ThreadValues) -> list[int]:
        self._externals.pop(key, None)
        if not instruction.targets and (name := self._external(instruction, thread)):
            self._externals[key] = name
            return []
        addresses = list(instruction.targets) or self._addresses(instruction, thread)
        if addresses is not None:
            return addresses
        if self._function.callees is None:
            self._report(instruction, "indirect-call", f"{instruction.opcode} calls a function that the input does not name")
            return []
        self._pointer = True
        return list(self._function.callees)

    def _external(self, instruction: Instruction, thread: ThreadValues) -> str:
        """Return the name of the function outside the input that a call through a pointer enters, '' where it may enter another one."""
        low = address_register(instruction)
        if low is None or instruction.guard is not None:
            return ""
        halves = [thread.registers.get(low + high, frozenset[Hashable]()) for high in (0, 1)]
        names = {value.name for value in halves[0] if isinstance(value, ExternalAddress)}
        name = next(iter(names), "")
        expected = [frozenset({ExternalAddress(name, high)}) for high in (False, True)]
        return name if halves == expected else ""

    def _inside(self, key: Key, instruction: Instruction, addresses: list[int], thread: ThreadValues) -> Context | None:
        """Return the call string of the callee, None where no register holds the next address: a far jump is not a call."""
        back = self._next(instruction)
        if not any(back & values for values in thread.registers.values()):
            return None
        context = key[0]
        if instruction.address in context or self._is_running(key, addresses):
            self.again |= {instruction.address}
            self._report(
                instruction, "recursion", f"{instruction.opcode} calls a function that is already running: no bound on the depth is known"
            )
            return None
        inner = (*context, instruction.address)
        depth = self._scope.call_depth
        if depth is not None:
            inner = inner[max(0, len(inner) - depth) :]
        self._add_entry(inner, (context, instruction.following), addresses)
        return inner

    def _next(self, call: Instruction) -> set[Hashable]:
        """Return what a register may hold that has the address behind a call."""
        halves = {CodeAddress(call.following, high=high) for high in (False, True)}
        return {*(call.following - base for base in self._bases), *halves}

    def _is_running(self, key: Key, addresses: list[int]) -> bool:
        """Say whether a call string surely holds a call of one of these functions; what calls through pointers hide is found later."""
        context = key[0]
        entered = [self._read_entries(context[: depth + 1], key).addresses for depth in range(len(context))]
        return any(len(functions) == 1 and not functions.isdisjoint(addresses) for functions in entered)

    def _returns(self, key: Key, instruction: Instruction, thread: ThreadValues) -> Iterator[CallTarget]:
        addresses = self._addresses(instruction, thread)
        if addresses is None and self._returns_to_caller(instruction, thread):
            yield CallTarget(EdgeKind.EXIT, None)
            return
        if addresses is None:
            self._report(
                instruction, "unresolved-return", f"{instruction.opcode} returns to an address that could not be followed back to a call"
            )
            return
        for address in addresses:
            index = self._blocks.at.get(address)
            if index is None:
                self._report(instruction, "bad-target", f"{instruction.opcode} returns to 0x{address:04x}, where no instruction starts")
                continue
            callers = sorted(outer for outer, following in self._read_entries(key[0], key).callers if following == address)
            for outer in callers:
                yield CallTarget(EdgeKind.RETURN, (outer, index))
            if not callers:
                yield CallTarget(EdgeKind.TAKEN, (key[0], index))

    def _returns_to_caller(self, instruction: Instruction, thread: ThreadValues) -> bool:
        """Say whether a return uses the address with which the function that is analyzed was itself entered."""
        low = address_register(instruction)
        return low is not None and all(thread.registers.get(half) == frozenset({EntryValue(half)}) for half in (low, low + 1))

    def _addresses(self, instruction: Instruction, thread: ThreadValues) -> list[int] | None:
        """Return the code addresses that the register pair of a call or return may hold, None when it is not known."""
        low = address_register(instruction)
        if low is None:
            return None
        values, highs = thread.registers.get(low), thread.registers.get(low + 1)
        if not values or not highs:
            return None
        base = next((operand.address for operand in instruction.operands if isinstance(operand, Target)), None)
        out: set[int] = set()
        for value in values:
            if isinstance(value, CodeAddress) and not value.high and CodeAddress(value.address, high=True) in highs and base is None:
                out.add(value.address)
            elif isinstance(value, int) and base is not None and highs == frozenset({0}):
                out.add(base + value)
            else:
                return None
        return sorted(out)

    def _report(self, instruction: Instruction, code: str, message: str) -> None:
        self._gaps.add(Gap(instruction.address, code, message))


def _pointers(function: Function) -> dict[int, Hashable]:
    """Return the words of the compiler's constant bank that are halves of addresses of functions, by their places."""
    entries = {name: address for address, name in function.symbols}
    out: dict[int, Hashable] = {}
    for pointer in function.compiler.pointers if function.compiler is not None else ():
        for high in (False, True):
            place, address = pointer.offset + _WORD_BYTES * high, entries.get(pointer.name)
            if pointer.external:
                out[place] = ExternalAddress(pointer.name, high=high)
            elif address is not None:
                out[place] = CodeAddress(address, high=high)
    return out
