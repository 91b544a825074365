"""Loops in which a thread does nothing but wait, and loops over the threads of a warp that are elected one after the other.

A wait tries whether a phase of a barrier in shared memory is over (mbarrier), whether the block has registers to give, or the SM columns of
tensor memory, and tries again.
How often it tries depends on others; what it takes beyond one try that fails and one that does not, others take
(docs/proofs/warps-with-roles.md). An election (`elect.sync` in a loop) has one iteration for each thread that enters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from operator import or_

from sassan.domains.lanes import LANES
from sassan.ir import Guard, Immediate, Instruction, Operand, Register, Target
from sassan.isa.registers import bit, span
from sassan.isa.tables import load, unit
from sassan.warpcfg.graph import CfgLoop, Node, WarpCfg

_IDLE_UNITS = frozenset({"alu", "fma", "fmalite", "fmaheavy", "uniform", "cbu", "issue"})
_SLEEP = "NANOSLEEP"
_COLUMNS = ("UTCATOMSWS", "FIND_AND_SET")
_DIFFERS = {"ISETP.NE.AND": True, "ISETP.NE.U32.AND": True, "ISETP.EQ.AND": False, "ISETP.EQ.U32.AND": False}
"""Comparisons, and what they say of a word other than 0."""
_TRIES = (("SYNCS", "PHASECHK"), ("USETMAXREG", "TRY_ALLOC"), _COLUMNS)
"""Whether a phase is over, the block has registers to give, the SM has columns of tensor memory: opcodes, each with its modifier."""


def is_try(instruction: Instruction) -> bool:
    """Say whether an instruction tries whether a wait is over, and says so in its first predicate."""
    name, *modifiers = instruction.opcode.split(".")
    return any(name == trier and word in modifiers for trier, word in _TRIES)


def waits(cfg: WarpCfg) -> Mapping[int, Instruction]:
    """Return the loops of a graph in which threads only wait, by number, each with an instruction that tries whether the wait is over."""
    loops: dict[int, Instruction] = {}
    for index, loop in enumerate(cfg.loops):
        code = [each for node in loop.nodes for each in cfg.nodes[node].code]
        tries = [each for each in code if is_try(each)]
        if not tries:
            continue
        idle = all(_is_idle(each, cfg.function.arch) for each in code if not is_try(each))
        if idle and _is_one(tries, code, cfg.nodes[loop.head], cfg.function.arch) and _goes_on_by_failure(cfg, loop):
            loops[index] = tries[0]
    return loops


def _is_one(tries: Sequence[Instruction], code: Sequence[Instruction], head: Node, arch: str) -> bool:
    """Say whether all tries of a loop are of one event: of the same barrier and phase, whose registers the loop leaves as they are."""
    (first, *others), facts_of = tries, load(arch).facts
    wait_facts = facts_of(replace(first, guard=None))
    known = [(each, facts_of(each)) for each in code]
    if wait_facts is None or any(each.operands[1:] != first.operands[1:] for each in others):
        return False
    if any(facts is None for _, facts in known):
        return False
    written = reduce(or_, (facts.writes for _, facts in known if facts is not None), 0)
    same = [each for each, facts in known if facts is not None and _is_copy(each) and not facts.reads & written]
    changing = [(each, facts.writes & wait_facts.reads) for each, facts in known if facts is not None and facts.writes & wait_facts.reads]
    # What a try writes over its own operand, a copy before it has renewed.
    renewed = reduce(or_, (changed for each, changed in changing if each in same), 0)
    alone = len(tries) == 1
    return all(
        (each in same and _is_before(each, tries, head)) or (alone and each is first and not changed & ~renewed)
        for each, changed in changing
    )


def _is_copy(instruction: Instruction) -> bool:
    """Say whether an instruction copies a register or a number: `MOV R1, R2`, `UMOV UR4, 0x4`, `IMAD.U32 R20, RZ, RZ, UR10`."""
    name, *modifiers = instruction.opcode.split(".")
    operands = instruction.operands
    zeros = name == "IMAD" and set(modifiers) <= {"U32", "MOV"} and all(_is_zero(each) for each in operands[1:3])
    return instruction.guard is None and (name in {"MOV", "UMOV"} or zeros) and isinstance(operands[-1], Register | Immediate)


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.index is None


def _is_before(copy: Instruction, tries: Sequence[Instruction], head: Node) -> bool:
    """Say whether each way through a loop executes a copy before a try: it stands in front of any in the block of the head."""
    code = list(head.instructions)
    return copy in code and not any(each in code and code.index(each) < code.index(copy) for each in tries)


def idle_code(cfg: WarpCfg) -> frozenset[int]:
    """Return the addresses of what threads execute in loops in which they only wait."""
    return frozenset(each.address for loop in waits(cfg) for node in cfg.loops[loop].nodes for each in cfg.nodes[node].code)


_MOVE = "R2UR"
_PREDICATES = span("P", 0, 16)


def elections(cfg: WarpCfg, entering: Callable[[int], int] = lambda _: LANES) -> Mapping[int, tuple[Instruction, int]]:
    """Return the loops that elect each of their threads once, by number: the election, and how many back edges that are at most.

    `entering` says how many threads may be at a node.
    """
    loops: dict[int, tuple[Instruction, int]] = {}
    for index, loop in enumerate(cfg.loops):
        if loop.nodes != (loop.head,):
            continue
        node, arch = cfg.nodes[loop.head], cfg.function.arch
        elected = _election(node, arch) or _move(node, arch)
        if elected is not None:
            loops[index] = elected, 0 if _is_one_word(node, arch) else max(0, entering(loop.head) - 1)
    return loops


def _is_one_word(node: Node, arch: str) -> bool:
    """Say whether threads that enter a loop of moves agree on each word that it moves: one move is for all of them."""
    known = [(each, load(arch).facts(each)) for each in node.instructions]
    moved = [facts for each, facts in known if each.opcode.partition(".")[0] == _MOVE and _predicate(each) is not None]
    words = reduce(or_, (facts.reads & ~_PREDICATES for facts in moved if facts is not None), 0)
    written = reduce(or_, (-1 if facts is None else facts.writes for _, facts in known), 0)
    return bool(words) and not words & (written | ~node.agreement)


def _is_idle(instruction: Instruction, arch: str) -> bool:
    return instruction.opcode.partition(".")[0] == _SLEEP or unit(arch, instruction.opcode) in _IDLE_UNITS


def _goes_on_by_failure(cfg: WarpCfg, loop: CfgLoop) -> bool:
    """Say whether every way round a loop passes a branch that goes on there only because a try has failed."""
    inside = frozenset(loop.nodes)
    over = {node: branch for node in loop.nodes if (branch := _when_over(cfg.nodes[node], cfg.function.arch)) is not None}
    ways: dict[int, list[int]] = {node: [] for node in loop.nodes}
    for src, dst in cfg.thread_edges:
        if inside.issuperset((src, dst)) and not (src in over and (cfg.nodes[dst].start == over[src][0]) != over[src][1]):
            ways[src].append(dst)
    try:
        TopologicalSorter(ways).prepare()
    except CycleError:
        return False
    return True


def _when_over(node: Node, arch: str) -> tuple[int, bool] | None:
    """Return where the branch at the end of a block leads, and whether it is taken where the try before it succeeds.

    None where no try of the block decides that.
    """
    *before, last = node.instructions
    target = next((each for each in last.operands if isinstance(each, Target)), None)
    tested = _tested(last)
    if target is None or tested is None:
        return None
    holds = _where_over(before, tested, arch)
    return None if holds is None else (target.address, holds != tested.negated)


def _tested(branch: Instruction) -> Guard | Register | None:
    """Return the predicate by which a branch goes, of each thread or of the warp; None of branches with other conditions."""
    first = branch.operands[0] if branch.operands else None
    if branch.opcode == "BRA":
        # A branch of the whole warp goes on for the threads that still wait.
        return branch.guard if not branch.condition and len(branch.operands) == 1 else None
    uniform = branch.opcode == "BRA.U" and branch.guard is None and len(branch.operands) > 1
    return first if uniform and isinstance(first, Register) and first.file == "UP" else None


def _where_over(before: Sequence[Instruction], predicate: Guard | Register, arch: str) -> bool | None:
    """Return what a predicate is behind some instructions where the last try of them that matters succeeds; None where that is open."""
    place = _last_writer(before, predicate, arch)
    if place is None or not _is(before[place].operands[0], predicate):
        return None
    writer, earlier = before[place], before[:place]
    if is_try(writer):
        return True if writer.guard is None else _of_second_try(earlier, writer, predicate, arch)
    if writer.guard is not None:
        return None
    return _of_selection(earlier, writer, arch) if writer.opcode in _DIFFERS else _of_predicates(earlier, writer, arch)


def _last_writer(before: Sequence[Instruction], register: Guard | Register, arch: str) -> int | None:
    """Return the place of the last instruction that writes a register; None where none does, or one is not known."""
    facts_of, which = load(arch).facts, bit(register.file, register.index)
    for place in reversed(range(len(before))):
        facts = facts_of(before[place])
        if facts is None or facts.writes & which:
            return place if facts is not None else None
    return None


def _of_predicates(before: Sequence[Instruction], writer: Instruction, arch: str) -> bool | None:
    """Return what `_where_over` does of a table of predicates, of which one is not known."""
    unknown = [each for each in _inputs(writer) if each.index is not None]
    if len(unknown) != 1:
        return None
    over = _where_over(before, unknown[0], arch)
    return None if over is None else _result(writer, {(unknown[0].file, unknown[0].index): over})


def _of_selection(before: Sequence[Instruction], compares: Instruction, arch: str) -> bool | None:
    """Return what `_where_over` does of a comparison with 0 of one of two numbers, which a predicate selects."""
    word = compares.operands[2]
    plain = all(_is_zero(each) for each in (compares.operands[1], *compares.operands[3:]))
    if not isinstance(word, Register) or word.index is None or not plain:
        return None
    place = _last_writer(before, word, arch)
    if place is None or before[place].opcode != "SEL" or before[place].guard is not None:
        return None
    *numbers, by = before[place].operands[1:]
    values = [0 if _is_zero(each) else each.value if isinstance(each, Immediate) else None for each in numbers]
    if None in values or not isinstance(by, Register) or by.index is None:
        return None
    over = _where_over(before[:place], by, arch)
    return None if over is None else (values[over == by.negated] != 0) == _DIFFERS[compares.opcode]


def _of_second_try(before: Sequence[Instruction], second: Instruction, predicate: Guard | Register, arch: str) -> bool | None:
    """Return what `_where_over` does behind a try with a guard: it tries again where the one before it has failed."""
    guard = second.guard
    again = guard is not None and guard.negated and (guard.file, guard.index) == (predicate.file, predicate.index)
    return True if again and _where_over(before, predicate, arch) else None


def _election(node: Node, arch: str) -> Instruction | None:
    """Return the election of a block that branches to its begin until each of its threads has been elected, None where it does not.

    A predicate says who has not been: it guards election and branch, and nothing writes it but the one that was elected, which clears it.
    """
    *code, last = node.instructions
    left, elected = last.guard, next((each for each in code if each.opcode == "ELECT"), None)
    if left is None or left.index is None or left.negated or elected is None or elected.guard != left or not _back(last, node):
        return None
    chosen = elected.operands[0]
    if not isinstance(chosen, Register) or chosen.index is None:
        return None
    begun = code.index(elected)
    writers = [each for each in code if _writes(each, left, arch)]
    of_chosen: dict[tuple[str, int | None], bool] = {(chosen.file, chosen.index): True}
    ends = (
        len(writers) == 1
        and _is(writers[0].operands[0], left)
        and writers[0].guard == Guard(chosen.file, chosen.index, negated=False)
        and _result(writers[0], of_chosen) is False
    )
    # Behind the election and what follows from it, no thread is chosen: the next one chooses among those that are left.
    cleared = [each for each in code if _writes(each, chosen, arch) and each is not elected]
    clears = bool(cleared) and all(each.guard is None and _is(each.operands[0], chosen) and _result(each, {}) is False for each in cleared)
    ordered = ends and clears and begun < code.index(writers[0]) < min(map(code.index, cleared))
    return elected if ordered else None


def _move(node: Node, arch: str) -> Instruction | None:
    """Return the first move of a block that moves words of one thread after the other to uniform registers, None where it does not.

    R2UR with a predicate moves the word of the first of its threads, and says which of them hold another one; with OR, or did so before.
    Threads for which it says so branch to the begin of the block. It is not an instruction that a publication describes: ptxas writes such
    loops for operands that have to be uniform.
    """
    *code, last = node.instructions
    left = last.guard
    if left is None or left.index is None or left.negated or not _back(last, node):
        return None
    moves = [each for each in code if each.opcode.partition(".")[0] == _MOVE and each.guard == left and _predicate(each) is not None]
    writers = [each for each in code if _writes(each, left, arch)]
    if not moves or len(writers) != 1 or code.index(moves[-1]) > code.index(writers[0]):
        return None
    if writers[0].guard != left or not _is(writers[0].operands[0], left):
        return None
    others = _predicate(moves[0])
    assert others is not None
    name = others.file, others.index
    differs: bool | None = None
    """Whether the first thread, whose word was moved, is said to hold another one."""
    for each in code[: code.index(writers[0])]:
        if each in moves and _is(each.operands[0], others):
            differs = False if "OR" not in each.opcode.split(".") else differs
        elif _writes(each, others, arch):
            known = {(left.file, left.index): True} | ({name: differs} if differs is not None else {})
            differs = _result(each, known) if each.guard in {None, left} and _is(each.operands[0], others) else None
    over = None if differs is None else _result(writers[0], {name: differs, (left.file, left.index): True})
    return moves[0] if over is False else None


def _predicate(move: Instruction) -> Register | None:
    """Return the predicate that a move to a uniform register writes, None where it writes none."""
    first = move.operands[0]
    return first if isinstance(first, Register) and first.file == "P" and first.index is not None else None


def _back(last: Instruction, node: Node) -> bool:
    targets = [each.address for each in last.operands if isinstance(each, Target)]
    return targets == [node.start] and last.opcode.startswith("BRA.U.ANY")


def _writes(instruction: Instruction, predicate: Guard | Register, arch: str) -> bool:
    """Say whether an instruction may write a predicate."""
    facts = load(arch).facts(instruction)
    return facts is None or bool(facts.writes & bit(predicate.file, predicate.index))


def _is(operand: Operand, predicate: Guard | Register) -> bool:
    return isinstance(operand, Register) and (operand.file, operand.index) == (predicate.file, predicate.index)


def _inputs(instruction: Instruction) -> tuple[Register, ...]:
    """Return the three inputs of a PLOP3 that begins with its results, () of any other instruction."""
    operands = instruction.operands
    if not instruction.opcode.startswith("PLOP3") or len(operands) != 7:  # noqa: PLR2004 - two results, three inputs, two tables
        return ()
    inputs = tuple(each for each in operands[2:5] if isinstance(each, Register))
    return inputs if len(inputs) == 3 else ()  # noqa: PLR2004


def _result(instruction: Instruction, known: Mapping[tuple[str, int | None], bool]) -> bool | None:
    """Return the first result of a PLOP3 where some predicates are known, None where it is open."""
    inputs = _inputs(instruction)
    table = instruction.operands[-2] if inputs else None
    if not isinstance(table, Immediate) or not isinstance(table.value, int):
        return None
    places = [0]
    for each in inputs:
        value = True if each.index is None else known.get((each.file, each.index))
        values = (False, True) if value is None else (value != each.negated,)
        places = [2 * place + bit for place in places for bit in values]
    results = {bool(table.value >> place & 1) for place in places}
    return results.pop() if len(results) == 1 else None
