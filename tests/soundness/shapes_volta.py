"""The data instructions of the random programs since Volta: opcodes, and what makes their operands."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sassan.ir import Constant, Guard, Immediate, Memory, Operand, Register, Special, Word

PREDICATES = 5
RZ, PT, URZ, UPT = Register("R", None), Register("P", None), Register("UR", None), Register("UP", None)
STACK = Register("R", 1)
FRAME = 16
WHOLE = Immediate(0xFFFFFFFF)
OLDER = ("sm_70", "sm_75", "sm_80")
ARCHS = (*OLDER, "sm_90", "sm_100", "sm_120")


@dataclass(slots=True)
class Pool:
    """Registers to choose from."""

    dice: random.Random

    def register(self) -> Register:
        return Register("R", self.dice.randint(2, 9))

    def predicate(self) -> Register:
        return Register("P", self.dice.randrange(PREDICATES))

    def uniform(self) -> Register:
        return Register("UR", self.dice.randint(4, 7))

    def guard(self) -> Guard:
        return Guard("P", self.dice.randrange(PREDICATES), self.dice.random() < 0.5)


Make = Callable[[Pool], Operand]
Shape = tuple[Make, ...]


def _memory(pool: Pool) -> Operand:
    return Memory((pool.register(),), 4 * pool.dice.randrange(4))


def _local(pool: Pool) -> Operand:
    return Memory((STACK,), 4 * pool.dice.randrange(2))


def _constant(pool: Pool) -> Operand:
    return Constant(0, (), 4 * pool.dice.randrange(80, 90))


def _indexed(pool: Pool) -> Operand:
    return Constant(3, (pool.register(),), 0)


def _fixed(operand: Operand) -> Make:
    return lambda _: operand


def flip(pool: Pool) -> Operand:
    return replace(pool.predicate(), negated=pool.dice.random() < 0.5)


_R, _P, uniform = Pool.register, Pool.predicate, Pool.uniform
_PT, _RZ, _IMM, _LUT, _NOT = _fixed(PT), _fixed(RZ), _fixed(Immediate(3)), _fixed(Immediate(0xC0)), _fixed(replace(PT, negated=True))

SOURCES: tuple[tuple[str, Shape], ...] = (
    ("MOV", (_R, _constant)),
    ("S2R", (_R, _fixed(Special("SR_TID.X")))),
    ("S2R", (_R, _fixed(Special("SR_CTAID.X")))),
    ("LDS", (_R, _memory)),
    ("IADD3", (_R, _R, _IMM, _RZ)),
    ("IADD3", (_R, _R, _R, _RZ)),
    ("VOTE.ANY", (_R, _PT, flip)),
    ("LDC", (_R, _indexed)),
    ("IMAD.U32", (_R, _RZ, _RZ, uniform)),
    ("MOV", (_R, uniform)),
)

UNIFORM = frozenset({"R2UR", "S2UR", "REDUX", "VOTEU.ANY"})

DATA: tuple[tuple[str, Shape], ...] = (
    *SOURCES,
    ("MOV", (_R, _R)),
    ("IMAD.MOV.U32", (_R, _RZ, _RZ, _R)),
    ("MOV", (_R, _IMM)),
    ("LOP3.LUT", (_R, _R, _R, _RZ, _LUT, _NOT)),
    ("LOP3.LUT", (_P, _RZ, _R, _R, _RZ, _LUT, _NOT)),
    ("IMAD", (_R, _R, _R, _R)),
    ("IMAD.IADD", (_R, _R, _fixed(Immediate(1)), _R)),
    ("IADD3", (_R, _P, _R, _R, _RZ)),
    ("IADD3.X", (_R, _R, _R, _RZ, _P, _NOT)),
    ("SEL", (_R, _R, _R, flip)),
    ("ISETP.GT.AND", (_P, _PT, _R, _R, flip)),
    ("ISETP.LT.AND", (_P, _P, _R, _IMM, flip)),
    ("PLOP3.LUT", (_P, _PT, flip, flip, _PT, _fixed(Immediate(0x80)), _fixed(Immediate(0)))),
    ("LDL", (_R, _local)),
    ("STL", (_local, _R)),
    ("LDG.E", (_R, _memory)),
    ("STS", (_memory, _R)),
    ("ATOMS.ADD", (_R, _memory, _R)),
    ("VOTE.ALL", (_P, flip)),
    ("SHFL.IDX", (_PT, _R, _R, _R, _fixed(Immediate(0x1F)))),
    ("SHFL.BFLY", (_P, _R, _R, _IMM, _fixed(Immediate(0x1F)))),
    ("MATCH.ANY", (_R, _R)),
    ("MUFU.RCP", (_R, _R)),
    ("P2R", (_R, _fixed(Word("PR")), _RZ, _fixed(Immediate(0x2)))),
    ("R2UR", (uniform, _R)),
    ("REDUX.SUM", (uniform, _R)),
    ("VOTEU.ANY", (uniform, _fixed(UPT), _P)),
    ("S2UR", (uniform, _fixed(Special("SR_CTAID.X")))),
    ("ULDC", (uniform, _constant)),
    ("UIADD3", (uniform, uniform, _IMM, _fixed(URZ))),
)
