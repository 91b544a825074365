"""Random programs over integers: numbers of threads and lanes, constants and parameters, compared and branched on.

Ifs with a token or a barrier, ifs without, loops, writes under guards, and exits on the way.
"""

from collections.abc import Callable
from random import Random

from listing import assemble
from sassan.ir import Function

REGISTERS = ("R0", "R2", "R3", "R4", "R5", "R6")
PREDICATES = ("P0", "P1", "P2")
SPECIAL = ("SR_TID.X", "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_CTAID.X", "SR_NTID.X")
NUMBERS = (0, 1, 3, 4, 7, 31, 32, 64, 96, 0xFFF0, 0x7FFE0, -1, -4, -32)
OLD, NEW = "sm_61", "sm_80"
PARAMETERS = {OLD: (0x140, 0x144, 0x148), NEW: (0x160, 0x164, 0x168)}
RELATIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")


class _Writer:
    def __init__(self, arch: str, seed: int) -> None:
        self.dice = Random(f"words {arch} {seed}")
        self.arch, self.old = arch, arch == OLD
        self.lines: list[str] = []
        self.labels = 0

    def register(self) -> str:
        return self.dice.choice(REGISTERS)

    def shared(self) -> str:
        return self.dice.choice(("UR4", "UR5"))

    def places(self) -> int:
        return self.dice.choice((1, 2, 4, 5, 5, 16, 27, 31))

    def number(self) -> str:
        value = self.dice.choice(NUMBERS)
        return f"-{-value:#x}" if value < 0 else f"{value:#x}"

    def source(self) -> str:
        kind = self.dice.random()
        if kind < 0.45:
            return self.register()
        return self.number() if kind < 0.85 else f"c[0x0][{self.dice.choice(PARAMETERS[self.arch]):#x}]"

    def guard(self, share: float) -> str:
        return f"@{self.dice.choice(('', '!'))}{self.dice.choice(PREDICATES)} " if self.dice.random() < share else ""

    def sign(self) -> str:
        return self.dice.choice(("", "!"))

    def begin(self) -> None:
        """Write something to each register and predicate."""
        for register in REGISTERS:
            first = f"S2R {register}, {self.dice.choice(SPECIAL)}"
            masked = f"LOP32I.AND {register}, {register}, 0x1f" if self.old else f"LOP3.LUT {register}, {register}, 0x1f, RZ, 0xc0, !PT"
            shifted = f"SHR.U32 {register}, {register}, 0x5" if self.old else f"SHF.R.U32.HI {register}, RZ, 0x5, {register}"
            starts = ([first], [first, masked], [first, shifted], [f"MOV {register}, {self.source()}"])
            self.lines += self.dice.choice(starts)
        for predicate in PREDICATES:
            how = self.dice.choice(("LT", "GE", "EQ", "NE"))
            self.lines.append(f"ISETP.{how}.AND {predicate}, PT, {self.register()}, {self.source()}, PT")

    def statement(self, depth: int) -> None:
        choice = self.dice.random()
        if choice < 0.12 and depth:
            self.region(depth)
        elif choice < 0.17 and depth:
            self.loop(depth)
        elif choice < 0.21 and depth:
            self.skip(depth)
        elif choice < 0.25 and depth:
            self.parted(depth)
        elif choice < 0.37:
            self.compare()
        elif choice < 0.39 and depth:
            self.lines.append(f"@{self.dice.choice(PREDICATES)} EXIT")
        else:
            self.lines.append(self.guard(0.25) + self.dice.choice(_OLD if self.old else _NEW)(self))

    def body(self, depth: int, most: int = 5) -> None:
        for _ in range(self.dice.randint(1, most)):
            self.statement(depth - 1)

    def compare(self) -> None:
        how = self.dice.choice(RELATIONS) + self.dice.choice(("", ".U32")) + self.dice.choice((".AND", ".AND", ".OR"))
        third = self.dice.choice(("PT", "PT", "!PT", *PREDICATES))
        self.lines.append(f"{self.guard(0.1)}ISETP.{how} {self.dice.choice(PREDICATES)}, PT, {self.register()}, {self.source()}, {third}")

    def label(self) -> str:
        self.labels += 1
        return f"b{self.labels}x"

    def parted(self, depth: int) -> None:
        """Write an if by the lane whose sides write one register, which decides something later."""
        predicate, lane, written = self.dice.choice(PREDICATES), *self.dice.sample(REGISTERS, 2)
        how = self.dice.choice(("LT", "GE", "EQ", "NE"))
        self.lines.append(f"S2R {lane}, {self.dice.choice(('SR_LANEID', 'SR_TID.X'))}")
        self.lines.append(f"ISETP.{how}.AND {predicate}, PT, {lane}, {self.dice.choice((1, 4, 7, 16)):#x}, PT")
        self.lines.append(f"MOV {written}, {self.number()}")
        self.dice.choice((self.region, self.skip))(depth, predicate, f"MOV {written}, {self.dice.choice((lane, self.number()))}")
        self.lines.append(f"ISETP.LT.AND {self.dice.choice(PREDICATES)}, PT, {written}, {self.number()}, PT")

    def region(self, depth: int, predicate: str = "", first: str = "NOP") -> None:
        """Write an if behind which threads meet, by a predicate; one side begins with an instruction."""
        end, other = self.label(), self.label()
        predicate = predicate or self.dice.choice(PREDICATES)
        if self.old:
            self.lines += [f"SSY {end}", f"@{self.sign()}{predicate} BRA {other}", first]
            self.body(depth)
            self.lines += ["SYNC", f"{other}:"]
            self.body(depth, 2)
            self.lines += ["SYNC", f"{end}:"]
            return
        barrier, meeting = f"B{depth}", self.label()
        self.lines += [f"BSSY {barrier}, {end}", f"@{self.sign()}{predicate} BRA {other}", first]
        self.body(depth)
        self.lines += [f"BRA {meeting}", f"{other}:"]
        self.body(depth, 3)
        self.lines += [f"{meeting}:", f"BSYNC {barrier}", f"{end}:"]

    def skip(self, depth: int, predicate: str = "", first: str = "NOP") -> None:
        """Write an if without a place to meet, by a predicate; what it skips begins with an instruction."""
        end = self.label()
        self.lines += [f"@{self.sign()}{predicate or self.dice.choice(PREDICATES)} BRA {end}", first]
        self.body(depth)
        self.lines.append(f"{end}:")

    def loop(self, depth: int) -> None:
        head = self.label()
        self.lines.append(f"{head}:")
        self.body(depth)
        self.compare()
        self.lines.append(f"@{self.dice.choice(PREDICATES)} BRA {head}")


_COMMON: tuple[Callable[[_Writer], str], ...] = (
    lambda w: f"S2R {w.register()}, {w.dice.choice(SPECIAL)}",
    lambda w: f"S2R {w.register()}, {w.dice.choice(SPECIAL)}",
    lambda w: f"MOV {w.register()}, {w.source()}",
    lambda w: f"SEL {w.register()}, {w.register()}, {w.source()}, {w.dice.choice(('', '!'))}{w.dice.choice(PREDICATES)}",
    lambda w: f"SEL {w.register()}, {w.register()}, {w.source()}, {w.dice.choice(PREDICATES)}",
    lambda w: f"POPC {w.register()}, {w.register()}",
)
_NEW = (
    *_COMMON,
    lambda w: f"IADD3 {w.register()}, {w.register()}, {w.source()}, RZ",
    lambda w: f"IADD3 {w.register()}, {w.register()}, -{w.register()}, RZ",
    lambda w: f"IADD3 {w.register()}, {w.register()}, {w.register()}, {w.register()}",
    lambda w: f"IMAD {w.register()}, {w.register()}, {w.source()}, {w.register()}",
    lambda w: f"IMAD {w.register()}, {w.register()}, {w.number()}, RZ",
    lambda w: f"IMAD.WIDE R2, {w.register()}, {w.number()}, R4",
    lambda w: f"LOP3.LUT {w.register()}, {w.register()}, {w.source()}, RZ, {w.dice.choice((0xC0, 0xC0, 0xFC, 0x3C)):#x}, !PT",
    lambda w: f"LOP3.LUT {w.register()}, {w.register()}, {w.source()}, {w.register()}, {w.dice.randrange(256):#x}, !PT",
    lambda w: f"LOP3.LUT {w.register()}, {w.register()}, 0x1f, RZ, 0xc0, !PT",
    lambda w: f"SHF.R.U32.HI {w.register()}, RZ, {w.places():#x}, {w.register()}",
    lambda w: f"SHF.R.S32.HI {w.register()}, RZ, {w.places():#x}, {w.register()}",
    lambda w: f"SHF.L.U32 {w.register()}, {w.register()}, {w.places():#x}, RZ",
    lambda w: f"LEA {w.register()}, {w.register()}, {w.register()}, {w.places():#x}",
    lambda w: f"LEA.HI {w.register()}, {w.register()}, {w.register()}, RZ, {w.places():#x}",
    lambda w: f"IMNMX {w.register()}, {w.register()}, {w.source()}, PT",
    lambda w: f"PLOP3.LUT {w.dice.choice(PREDICATES)}, PT, P0, P1, P2, {w.dice.randrange(256):#x}, 0x0",
    lambda w: f"IABS {w.register()}, {w.register()}",
    lambda w: f"LDG.E {w.register()}, [{w.dice.choice(('R2', 'R4'))}.64]",
    lambda w: f"S2UR {w.shared()}, SR_CTAID.X",
    lambda w: f"UMOV {w.shared()}, {w.number()}",
    lambda w: f"UIADD3 {w.shared()}, {w.shared()}, {w.number()}, URZ",
    lambda w: f"MOV {w.register()}, {w.shared()}",
    lambda w: f"IADD3 {w.register()}, {w.register()}, {w.shared()}, RZ",
)
_OLD = (
    *_COMMON,
    lambda w: f"IADD {w.register()}, {w.register()}, {w.source()}",
    lambda w: f"IADD {w.register()}, {w.register()}, -{w.register()}",
    lambda w: f"IADD32I {w.register()}, {w.register()}, {w.number()}",
    lambda w: f"IADD3 {w.register()}, {w.register()}, {w.register()}, {w.register()}",
    lambda w: f"XMAD {w.register()}, {w.register()}, {w.register()}, {w.register()}",
    lambda w: f"XMAD.PSL {w.register()}, {w.register()}.H1, {w.register()}, {w.register()}",
    lambda w: f"LOP.{w.dice.choice(('AND', 'OR', 'XOR'))} {w.register()}, {w.register()}, {w.source()}",
    lambda w: f"LOP32I.AND {w.register()}, {w.register()}, {w.dice.choice((0x1F, 0xFFFFFFE0, 0x7)):#x}",
    lambda w: f"LOP3.LUT {w.register()}, {w.register()}, {w.register()}, {w.register()}, {w.dice.randrange(256):#x}",
    lambda w: f"SHR.U32 {w.register()}, {w.register()}, {w.places():#x}",
    lambda w: f"SHR {w.register()}, {w.register()}, {w.places():#x}",
    lambda w: f"SHL {w.register()}, {w.register()}, {w.places():#x}",
    lambda w: f"ISCADD {w.register()}, {w.register()}, {w.source()}, {w.places():#x}",
    lambda w: f"BFE.U32 {w.register()}, {w.register()}, {w.dice.choice((0x505, 0x500, 0x1B05)):#x}",
    lambda w: f"LDG.E {w.register()}, [{w.dice.choice(('R2', 'R4'))}]",
)


def program(arch: str, seed: int) -> Function:
    """Return the program of a seed for `sm_61` or `sm_80`."""
    writer = _Writer(arch, seed)
    writer.begin()
    for _ in range(writer.dice.randint(3, 9)):
        writer.statement(3)
    return assemble("\n".join([*writer.lines, "EXIT"]), arch).function


DIVIDED = """
    S2R R0, SR_LANEID
    UMOV UR4, 0x1
    ISETP.LT.AND P0, PT, R0, 0x10, PT
    BSSY B0, end
    @P0 BRA other
    UMOV UR4, 0x2
    BRA meeting
other:
    MOV R2, UR4
    ISETP.EQ.AND P1, PT, R2, 0x1, PT
    @P1 BRA meeting
    NOP
meeting:
    BSYNC B0
end:
    EXIT
"""
"""One side of an if reads a register of the warp that the other one writes."""

REWRITTEN = """
    S2R R0, SR_LANEID
    MOV R2, RZ
    ISETP.LT.AND P0, PT, R0, 0x10, PT
    @P1 BRA behind
behind:
    @P0 MOV R2, 0x5
    ISETP.GE.AND P0, PT, R0, 0x8, PT
    @P0 IADD3 R3, R2, 0x1, RZ
    EXIT
"""
"""A guard is written anew: what its threads hold is not what those of the guard before it hold."""

MET = """
S2R R0, SR_TID.X
ISETP.LT.U32.AND P0, PT, R0, 0x10, PT
ISETP.LT.U32.AND P1, PT, R0, 0x8, PT
@!P0 BRA up
MOV R2, 0x4
@!P1 BRA met
MOV R2, 0x8
BRA met
up:
MOV R2, 0x10
met:
LOP3.LUT R3, R0, 0x1, RZ, 0xc0, !PT
ISETP.EQ.U32.AND P2, PT, R3, RZ, PT
@P2 BRA even
MOV R4, 0x1
BRA end
even:
MOV R4, 0x2
end:
IADD3 R5, R4, R2, RZ
ISETP.EQ.AND P3, PT, R5, 0x7, PT
@P3 EXIT
EXIT
"""
"""Lanes that part three ways, meet, part two ways, and meet again."""
