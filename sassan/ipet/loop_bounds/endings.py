"""What a loop without a bound waits for: loops that memory, other threads or luck end, by what their exits depend on.

A name is not a bound, and proves nothing: it says which number a person has to know.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import or_

from sassan.analysis.demand import demand
from sassan.ipet.loop_bounds.execute import Writer
from sassan.ipet.loop_bounds.flow import Flows, leaving, slices, union
from sassan.ir import Instruction, Operand, Special


class Ending(StrEnum):
    """What ends a loop that has no bound, as a person would say it; `{}` is the instruction that decides."""

    WAIT = "it waits until another thread changes the word that {} reads: its bound is how often it looks"
    PHASE = "it waits for a barrier in shared memory, tested by {}: its bound is how often it looks"
    REGISTERS = "it waits for registers that other warps give back, asked for by {}: its bound is how often it asks"
    SWAP = "it compares and swaps until that succeeds, by {}: its bound is how often other threads come first"
    CHAIN = "it follows what memory holds from word to word, read by {}: its bound is the longest such chain"
    VOTE = "it goes on until threads agree, by {}: its bound is the number of rounds"
    DRAW = "it draws work from a counter in memory, by {}: its bound is how often one thread draws"
    CONVERGENCE = "it goes on until a comparison of floating-point numbers ends it, by {}: its bound is the number of steps"
    CLOCK = "it goes on until a clock has gone far enough, read by {}: its bound is how often it looks"
    MARK = "it ends at a word in memory, read by {}: its bound is the longest way to one"


@dataclass(frozen=True, slots=True)
class LoopEnding:
    """What ends a loop, and the instruction that decides."""

    ending: Ending
    opcode: str
    address: int

    def __str__(self) -> str:
        """Return a sentence without its stop."""
        return self.ending.format(f"{self.opcode} at 0x{self.address:04x}")


_LOADS = frozenset({"LD", "LDG", "LDS", "LDL", "ULDG"})
_ATOMICS = frozenset({"ATOM", "ATOMG", "ATOMS"})
_FLOATS = frozenset({"FSETP", "DSETP", "HSETP2", "FSET", "UFSETP"})
_CLOCKS = ("SR_CLOCK", "SR_GLOBALTIMER")
_VOTES = frozenset({"VOTE", "VOTEU", "B2R", "MATCH", "REDUX", "CREDUX"})


def ended(flows: Flows, loop: int) -> LoopEnding | None:
    """Return what ends a loop; None where its exits depend on no memory that the loop itself reads, nor on other threads."""
    inside = frozenset(flows.cfg.loops[loop].nodes)
    nodes = [node for node in flows.order if node in inside]
    if not leaving(flows, nodes):
        return None
    part = union(slices(flows, nodes))
    line = [writer for node in nodes for writer in flows.writers[node]]
    deciding = [writer for writer in line if writer.written & part.behind.get(writer.instruction.address, 0)]
    draws = _first(line, _ATOMICS)
    clocks = (each.instruction for each in deciding if any(map(_is_clock, each.instruction.operands)))
    for ending, instruction in (
        (Ending.SWAP, next((each.instruction for each in deciding if _base(each) in _ATOMICS and "CAS" in _modifiers(each)), None)),
        (Ending.PHASE, _first(deciding, frozenset({"SYNCS"}))),
        (Ending.REGISTERS, _first(deciding, frozenset({"USETMAXREG"}))),
        (Ending.VOTE, _first(deciding, _VOTES)),
        (Ending.DRAW, _first(deciding, _ATOMICS)),
        (Ending.DRAW, draws if _first(deciding, frozenset({"LDS"})) is not None else None),
        (Ending.CLOCK, next(clocks, None)),
    ):
        if instruction is not None:
            return _of(ending, instruction)
    # A limit that is read again in each iteration is not a wait.
    counts = part.before[flows.cfg.loops[loop].head] & reduce(or_, (writer.written for writer in line), 0)
    loads = [(each, _behind(flows, nodes, each)) for each in deciding if _base(each) in _LOADS]
    for ending, reads in (
        (Ending.CHAIN, [each for each, before in loads if each.instruction.address in before]),
        (Ending.WAIT, [each for each, before in loads if not before and not counts]),
        (Ending.MARK, [each for each, before in loads if before]),
    ):
        if reads:
            return _of(ending, reads[0].instruction)
    compared = _first(deciding, _FLOATS)
    return None if compared is None or loads else _of(Ending.CONVERGENCE, compared)


def _of(ending: Ending, instruction: Instruction) -> LoopEnding:
    return LoopEnding(ending, instruction.opcode.partition(".")[0], instruction.address)


def _base(writer: Writer) -> str:
    return writer.instruction.opcode.partition(".")[0].upper()


def _modifiers(writer: Writer) -> Sequence[str]:
    return writer.instruction.opcode.upper().split(".")[1:]


def _is_clock(operand: Operand) -> bool:
    return isinstance(operand, Special) and operand.name.startswith(_CLOCKS)


def _first(line: Sequence[Writer], opcodes: frozenset[str]) -> Instruction | None:
    return next((each.instruction for each in line if _base(each) in opcodes), None)


def _behind(flows: Flows, nodes: Sequence[int], load: Writer) -> frozenset[int]:
    """Return the addresses of the instructions of a loop, its nodes in the order of the walk, that what a load reads comes from."""
    uses = {
        node: [
            use._replace(roots=use.reads) if writer.instruction is load.instruction else use
            for writer, use in zip(line, known, strict=True)
        ]
        for node, line, known in ((node, flows.writers[node], flows.uses[node]) for node in nodes)
    }
    behind = demand(uses, flows.predecessors, nodes, {}).behind
    return frozenset(
        writer.instruction.address
        for node in nodes
        for writer, live in zip(flows.writers[node], behind.get(node, (0,) * len(flows.writers[node])), strict=True)
        if writer.written & live
    )
