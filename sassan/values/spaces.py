"""Queries of the memory that a generic address lies in, where the address is made of arguments of the kernel: these point to global memory.

`QSPC.E.S P0, RZ, [R2]` asks whether R3:R2 is an address of shared memory; ptxas asks before it emulates an atomic operation. The address
is followed backwards over the steps of a thread. Where both words come from parameters, numbers and indices alone, the answer is false:
the host has no address of shared or local memory that it could pass. What is published of that is the CUDA C++ Programming Guide (address
operator): the address of a variable of the device, of shared or of constant memory, if the device takes it, is used in device code only.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sassan.domains.bits import bits
from sassan.ir import Constant, Immediate, Instruction, Language, Memory, Operand, Register, Special
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit
from sassan.machine.parameters import BankLayout, bank_layout
from sassan.warpcfg.graph import WarpCfg

_QUERY = "QSPC"
_SPACES = frozenset({"S", "L", "SHARED", "LOCAL"})
_INDICES = frozenset(
    ("SRZ", "SR_LANEID", *(f"SR_{name}.{axis}" for name in ("TID", "CTAID", "NTID", "NCTAID") for axis in "XYZ")),
)
_EXTENT = 12
"""Bytes of a shape in the constant bank."""


def outside(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> frozenset[int]:
    """Return the addresses of the queries for shared or local memory that no thread answers with yes."""
    function = cfg.function
    has_query = any(map(_is_query, function.instructions))
    where = bank_layout(function) if has_query and not cfg.gaps and function.language is Language.SASS else None
    if where is None:
        return frozenset()
    facts = {each.address: facts_of(each) for each in function.instructions}
    before: defaultdict[int, list[int]] = defaultdict(list)
    for edge in cfg.thread_edges:
        before[edge.dst].append(edge.src)
    walk = _Backwards(cfg, facts, before, where)
    places = [(node, place) for node, each in enumerate(cfg.nodes) for place, query in enumerate(each.instructions) if _is_query(query)]
    open_ones = {walk.query(*place).address for place in places if not walk.is_argument(*place)}
    return frozenset(walk.query(*place).address for place in places) - open_ones


def _is_query(instruction: Instruction) -> bool:
    name, *modifiers = instruction.opcode.split(".")
    return name == _QUERY and "E" in modifiers and not _SPACES.isdisjoint(modifiers)


@dataclass(frozen=True, slots=True)
class _Backwards:
    """The steps of a thread, backwards."""

    cfg: WarpCfg
    facts: Mapping[int, Facts | None]
    before: Mapping[int, Sequence[int]]
    where: BankLayout

    def query(self, node: int, place: int) -> Instruction:
        """Return the instruction at a place of a node."""
        return self.cfg.nodes[node].instructions[place]

    def is_argument(self, node: int, place: int) -> bool:
        """Say whether the address of a query is made of parameters, numbers and indices, its high word of a parameter at least."""
        query = self.query(node, place)
        predicate, to, *_ = query.operands
        places = [operand for operand in query.operands if isinstance(operand, Memory)]
        bases = [register for operand in places for register in operand.base]
        plain = isinstance(predicate, Register) and isinstance(to, Register) and to.index is None
        if not plain or len(bases) != 1 or bases[0].index is None:
            return False
        low = bit(bases[0].file, bases[0].index).bit_length() - 1
        words = [self._made_of(node, place, low + half) for half in (0, 1)]
        return None not in words and bool(words[1])

    def _made_of(self, node: int, place: int, register: int) -> bool | None:
        """Return whether a register is made of a parameter, None where it is made of anything else than these, numbers and indices."""
        seen: set[tuple[int, int, int]] = set()
        stack, argument = [(node, place, register)], False
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            writer, before = self._writer(*at)
            if before is None:
                return None
            stack += before
            if writer is None:
                continue
            instruction, index = writer
            facts = self.facts[instruction.address]
            kinds = [self._kind(operand) for operand in instruction.operands]
            if facts is None or facts.computes is None or facts.flow is not Flow.NONE or None in kinds:
                return None
            argument = argument or True in kinds
            stack += [(at[0], index, name) for name in bits(facts.reads)]
        return argument

    def _writer(self, node: int, place: int, register: int) -> tuple[tuple[Instruction, int] | None, list[tuple[int, int, int]] | None]:
        """Return who wrote a register last in a node, and where else to look; None for that where it may be unwritten."""
        instructions = self.cfg.nodes[node].instructions
        for index in reversed(range(place)):
            facts = self.facts[instructions[index].address]
            if facts is None or facts.writes >> register & 1:
                # A guarded instruction may leave what was there.
                return (instructions[index], index), [(node, index, register)] if instructions[index].guard is not None else []
        if node == self.cfg.entry:
            return None, None
        return None, [(src, len(self.cfg.nodes[src].instructions), register) for src in self.before[node]]

    def _kind(self, operand: Operand) -> bool | None:
        """Return whether an operand is a parameter, None where it is neither that, nor a number, an index or a register."""
        match operand:
            case Register() | Immediate():
                return False
            case Special(name=name):
                return False if name in _INDICES else None
            case Constant(bank=0, base=(), offset=offset) if offset >= self.where.parameters:
                return True
            case Constant(bank=0, base=(), offset=offset):
                extents = any(start <= offset < start + _EXTENT for start in (self.where.block, self.where.grid))
                return False if extents else None
            case _:
                return None
