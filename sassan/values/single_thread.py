"""Which instructions at most one thread of a warp executes at a time: behind `if (threadIdx.x == 0)`, or those of an elected lane.

`i == n` holds in one active thread at most where these agree on n, and on i up to lanes, and each lane adds another number to i. ELECT says
so of one of them. Where no thread waits elsewhere, that is so in the whole warp, until the predicate is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from sassan.domains.lanes import LANES, SIZE, LaneWord, const, flat, from_words
from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit
from sassan.values.warp_values import PointValues, WarpValues
from sassan.warpcfg.graph import ActivationPoint, Edge, EdgeKind, WarpCfg
from sassan.warpcfg.steps import MEET, RELEASED, WARP

Literal = tuple[int, bool]
"""A predicate by its bit number, with what it is in one thread at most; or a register that holds the number of the lane, with True."""
_REGISTERS = range(256)
Literals = frozenset[Literal]
_GOES_ON = frozenset({EdgeKind.FALLTHROUGH, EdgeKind.TAKEN, EdgeKind.DIVERGE})
"""The kinds of edges behind which no thread is active that was not before."""
_PLAIN = frozenset({"reuse"})
_EQUAL, _TESTS = {"EQ": True, "NE": False}, "ISETP"
_OPERANDS = 5
_MEETING = frozenset({MEET, RELEASED, WARP})
"""The tags of points where threads of several places wait together."""
_LANE = from_words(tuple(range(LANES)))


def single_thread_instructions(values: WarpValues) -> frozenset[tuple[int, int]]:
    """Return the instructions (node, address) that at most one active thread executes each time."""
    cfg = values.cfg
    if not any(_is_elected(each) or _relation(each) is not None for node in cfg.nodes for each in node.instructions):
        return frozenset()
    search = _Search(values)
    search.run()
    pushers = _pushers(cfg)
    into: dict[int, list[tuple[frozenset[int], bool]]] = {}
    for edge in cfg.edges:
        if edge.dst is not None:
            # One thread does not part: nothing waits at a side that it alone would make, and at a token of its own it meets no other.
            behind = frozenset({edge.src}) if edge.kind in _GOES_ON else pushers.get(edge.popped, frozenset({-1}))
            into.setdefault(edge.dst, []).append((behind, search.is_side(edge)))
    left = into.keys() - {cfg.entry}
    while (kept := {index for index in left if all(side or behind <= left for behind, side in into[index])}) != left:
        left = kept
    return frozenset(search.guarded | {(index, each.address) for index in left for each in cfg.nodes[index].instructions})


def _pushers(cfg: WarpCfg) -> Mapping[ActivationPoint | None, frozenset[int]]:
    """Return the nodes that push each side and each token of a convergence barrier, or of those until Pascal."""
    out: dict[ActivationPoint | None, set[int]] = {}
    for index, node in enumerate(cfg.nodes):
        for point in node.pushes:
            if point.tag not in _MEETING:
                out.setdefault(point, set()).add(index)
    for edge in cfg.edges:
        if edge.pushed is not None and edge.pushed.tag not in _MEETING:
            out.setdefault(edge.pushed, set()).add(edge.src)
    return {point: frozenset(nodes) for point, nodes in out.items()}


def single_thread_nodes(values: WarpValues) -> frozenset[int]:
    """Return the nodes that at most one active thread executes each time."""
    known = single_thread_instructions(values)
    nodes = {index for index, _ in known}
    return frozenset(index for index in nodes if all((index, each.address) in known for each in values.cfg.nodes[index].instructions))


@dataclass(slots=True)
class _Search:
    """The literals that hold in one thread at most: `starts` in the whole warp where a node begins, `active` of active ones there.

    `ends` are those of active ones at its end, `guarded` the instructions (node, address) whose guard is one.
    """

    values: WarpValues
    starts: dict[int, Literals] = field(default_factory=dict[int, Literals])
    active: dict[int, Literals] = field(default_factory=dict[int, Literals])
    ends: dict[int, Literals] = field(default_factory=dict[int, Literals])
    guarded: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def run(self) -> None:
        """Find them: the greatest sets that every step between nodes keeps."""
        cfg = self.values.cfg
        after: dict[int, list[tuple[int, bool]]] = {}
        for edge in cfg.edges:
            if edge.dst is not None:
                after.setdefault(edge.src, []).append((edge.dst, edge.kind in _GOES_ON))
        self.starts[cfg.entry] = self.active[cfg.entry] = frozenset()
        todo = [cfg.entry]
        while todo:
            index = todo.pop()
            whole = self.through(index)
            for dst, goes_on in after.get(index, ()):
                changed = _lower(self.starts, dst, whole)
                if _lower(self.active, dst, self.ends[index] if goes_on else whole) or changed:
                    todo.append(dst)

    def through(self, index: int) -> Literals:
        """Return what holds in one thread of the warp at most behind a node; note what does of the active ones."""
        cfg = self.values.cfg
        here, whole = set(self.starts[index] | self.active[index]), set(self.starts[index])
        self.guarded = {place for place in self.guarded if place[0] != index}
        for instruction, point in self.values.along(index):
            facts, guard = self.values.facts[instruction.address], instruction.guard
            if guard is not None and guard.index is not None and (_bit(guard.file, guard.index), not guard.negated) in here:
                self.guarded.add((index, instruction.address))
            literals = set(_literals_behind(instruction, point, here, self.values.threads))
            here, whole = ({literal for literal in each if not facts.writes >> literal[0] & 1} for each in (here, whole))
            here |= literals
            if not cfg.waiting_points[index]:
                # All threads are here, and write it: in none it is left from another time.
                whole |= literals
        self.ends[index] = frozenset(here)
        return frozenset(whole)

    def is_side(self, edge: Edge) -> bool:
        """Say whether an edge leads to a side of a branch that one thread at most takes."""
        cfg = self.values.cfg
        if edge.dst is None:
            return False
        start = cfg.nodes[edge.dst].start
        if edge.kind in _GOES_ON:
            return self.parts(edge.src, start)
        if edge.kind is not EdgeKind.REACTIVATE or edge.popped is None or edge.popped.tag:
            return False
        # Who waits at a side took it at once, where all threads came to the branch: none comes there again while one waits.
        branches = {each.src for each in cfg.edges if each.pushed == edge.popped}
        return bool(branches) and all(not cfg.waiting_points[index] and self.parts(index, start) for index in branches)

    def parts(self, index: int, start: int) -> bool:
        """Say whether one thread at most goes from the end of a node to a block, of those that are active there."""
        last = self.values.cfg.nodes[index].instructions[-1]
        return _decides(last, self.values.facts[last.address], start) in self.ends.get(index, frozenset())


def _lower(known: dict[int, Literals], node: int, literals: Literals) -> bool:
    """Keep of what is known at a node only these, too; say whether that is less, or the first."""
    new = known[node] & literals if node in known else literals
    changed = node not in known or new != known[node]
    known[node] = new
    return changed


def _decides(last: Instruction, facts: Facts, start: int) -> Literal | None:
    """Return what holds in the threads that go from a branch or an exit to a block, None where that is not known."""
    guard = last.guard
    if guard is None or guard.index is None or not facts.guard_alone or last.condition or facts.target == last.following:
        return None
    if facts.flow is Flow.BRANCH and start == facts.target:
        return _bit(guard.file, guard.index), not guard.negated
    if facts.flow in {Flow.BRANCH, Flow.EXIT} and start == last.following:
        return _bit(guard.file, guard.index), guard.negated
    return None


def _is_elected(instruction: Instruction) -> bool:
    """Say whether an instruction chooses one of the active threads, and says by its first predicate which."""
    target = instruction.operands[0] if instruction.operands else None
    return instruction.opcode == "ELECT" and instruction.guard is None and isinstance(target, Register) and target.file == "P"


def _both(instruction: Instruction, known: AbstractSet[Literal]) -> bool:
    """Say whether a comparison holds only where a predicate does that holds in one thread at most."""
    match instruction.operands[-1]:
        case Register(file=file, index=int() as index, negated=False):
            return instruction.opcode.endswith(".AND") and (_bit(file, index), True) in known
        case _:
            return False


def _relation(instruction: Instruction) -> bool | None:
    """Return of a comparison whether its predicate holds (True) or fails where two words are equal, and maybe not even then; else None."""
    name, *modifiers = instruction.opcode.split(".")
    if name != _TESTS or len(instruction.operands) != _OPERANDS or instruction.guard is not None or "EX" in modifiers:
        return None
    equal, third = _EQUAL.get(modifiers[0]), instruction.operands[-1]
    always = isinstance(third, Register) and third.index is None and not third.negated
    if equal is None or modifiers[-1] not in {"AND", "OR"} or (not always and (modifiers[-1] == "AND") != equal):
        return None
    return None if always and modifiers[-1] == "OR" else equal


def _literals_behind(
    instruction: Instruction, point: PointValues, known: AbstractSet[Literal], threads: Sequence[int]
) -> Iterator[Literal]:
    """Yield what holds behind a comparison in one active thread at most, or which register holds the number of the lane."""
    equal, target = _relation(instruction), instruction.operands[0] if instruction.operands else None
    if not isinstance(target, Register) or target.index is None or instruction.guard is not None:
        return
    if _is_elected(instruction) or (equal and _both(instruction, known)):
        yield _bit(target.file, target.index), True
    elif equal is not None:
        a, b = (_word(operand, point, known) for operand in instruction.operands[2:4])
        if a is not None and b is not None and _apart(a, b, threads):
            yield _bit(target.file, target.index), equal
    elif instruction.opcode == "S2R" and instruction.operands[1:] == (Special("SR_LANEID"),):
        yield _bit(target.file, target.index), True


def _word(operand: Operand, point: PointValues, known: AbstractSet[Literal]) -> LaneWord | None:
    """Return what an operand holds, None where threads may differ in more than their lanes."""
    match operand:
        case Register(file="R", index=None, negated=False):
            return const(0)
        case Register(file="R" | "UR" as file, index=int() as index) if _is_plain(operand):
            name = _bit(file, index)
            if (name, True) in known:
                return _LANE
            # The threads that are active read one word of the warp.
            return flat(point.words.held.get(name, LaneWord())) if file == "UR" else point.word(name)
        case Immediate(value=int() as value, modifiers=()):
            return const(value)
        case Constant(base=base, modifiers=(), negated=False, absolute=False) if all(each.index is None for each in base):
            return LaneWord()
        case _:
            return None


def _is_plain(register: Register) -> bool:
    return not (register.negated or register.absolute or register.inverted) and _PLAIN.issuperset(register.modifiers)


def _apart(a: LaneWord, b: LaneWord, threads: Sequence[int]) -> bool:
    """Say whether each lane with a thread adds another number to one word than to the other; `threads` are those of each warp."""
    tables = [word.lanes for word in (a, b) if word.lanes is not None]
    if a.rows is not None or b.rows is not None or not tables or len({len(table) for table in tables}) > 1:
        return False
    none = (0,) * len(tables[0])
    table = [(left - right) % SIZE for left, right in zip(a.lanes or none, b.lanes or none, strict=True)]
    return all(
        len(set(table[LANES * warp : LANES * warp + threads[warp % len(threads)]])) == threads[warp % len(threads)]
        for warp in range(len(table) // LANES)
    )


def _bit(file: str, index: int) -> int:
    return bit(file, index).bit_length() - 1
