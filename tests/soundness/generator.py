"""Random programs, compiled the way ptxas does it for Maxwell: SSY/SYNC around ifs, PBK/BRK and PCNT/CONT in loops, CAL/RET.

Beside the well-behaved shapes there are goto-like ones (loops with two heads, branches with no reconvergence, switch cases that run on
into the next), tokens left pending, guarded token instructions, early exits, and predicates overwritten between a push and its use. What
is kept is the discipline of tokens: a SYNC, BRK, CONT or RET is only written where its token is on the stack.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sassan.ir import Constant, Function, Guard, Immediate, Memory, Operand, Register, Special
from soundness.drafts import Draft, Label, assemble

REGISTERS = 8
PREDICATES = 5
RZ, PT = Register("R", None), Register("P", None)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which tokens are surely on the stack here, and how deep the nesting is."""

    sync: bool = False
    brk: bool = False
    cont: bool = False
    ret: bool = False
    depth: int = 0

    def deeper(self, **tokens: bool) -> "Scope":
        return replace(self, depth=self.depth + 1, **tokens)


@dataclass(slots=True)
class Writer:
    """Writes one program; `budget` is about how many statements are left.

    `functions` are the entry labels of what may be called, `jumped` those that a branch went to.
    """

    dice: random.Random
    budget: int
    drafts: list[Draft] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    functions: list[Label] = field(default_factory=list)
    jumped: set[int] = field(default_factory=set)
    labels: int = 0

    def label(self) -> Label:
        self.labels += 1
        return Label(self.labels)

    def here(self, label: Label) -> None:
        self.places[label.number] = len(self.drafts)

    def emit(self, opcode: str, *operands: Operand | Label, guard: Guard | None = None, condition: str = "") -> None:
        self.drafts.append(Draft(opcode, operands, guard, condition))

    def register(self) -> Register:
        return Register("R", self.dice.randrange(REGISTERS))

    def predicate(self) -> Register:
        return Register("P", self.dice.randrange(PREDICATES))

    def guard(self) -> Guard:
        return Guard("P", self.dice.randrange(PREDICATES), self.dice.random() < 0.5)

    def data(self) -> None:
        """Write one data instruction, a third of them under a guard."""
        opcode, shape = self.dice.choice(DATA)
        guard = self.guard() if self.dice.random() < 0.3 else None
        self.emit(opcode, *(make(self) for make in shape), guard=guard)

    def some_data(self, most: int = 3) -> None:
        for _ in range(self.dice.randint(0, most)):
            self.data()

    def compare(self) -> Guard:
        """Write a comparison of something new or old, and return a guard on it, or on whatever predicate is there."""
        if self.dice.random() < 0.8:
            one = self.predicate()
            self.source()
            self.emit("ISETP.NE.AND", one, PT, self.register(), self.dice.choice([RZ, self.register(), Immediate(7)]), PT)
            return Guard("P", one.index, self.dice.random() < 0.5)
        return self.guard()

    def source(self) -> None:
        """Refresh a register: agreed on or not, or what a loop counts with."""
        opcode, shape = self.dice.choice(SOURCES)
        self.emit(opcode, *(make(self) for make in shape))

    def branch(self, to: Label) -> None:
        """Write a conditional branch: guarded, CC-tested, or both."""
        roll = self.dice.random()
        if roll < 0.8:
            self.emit("BRA", to, guard=self.compare())
            return
        if roll < 0.85:
            self.emit("BRA", _flip(self), to, guard=self.compare() if roll < 0.83 else None)
            return
        self.emit("IADD", Register("R", self.dice.randrange(REGISTERS), modifiers=("CC",)), self.register(), self.register())
        self.emit("BRA", to, guard=self.compare() if roll < 0.92 else None, condition=self.dice.choice(["CC.NEU", "CC.EQ", "CC.LT"]))

    def body(self, scope: Scope, most: int = 3) -> None:
        for _ in range(self.dice.randint(1, most)):
            self.statement(scope)

    def statement(self, scope: Scope) -> None:
        self.budget -= 1
        self.some_data()
        if self.budget <= 0 or scope.depth > 4:
            return
        self.dice.choice(STATEMENTS)(self, scope)

    def leave(self, scope: Scope) -> None:
        """Write a guarded way out of whatever is around, sometimes."""
        ways = ["EXIT"] + ["SYNC"] * scope.sync + ["BRK"] * scope.brk + ["CONT"] * scope.cont + ["RET"] * scope.ret
        self.emit(self.dice.choice(ways), guard=self.compare())

    def if_else(self, scope: Scope) -> None:
        end, other = self.label(), self.label()
        self.emit("SSY", end)
        self.branch(other)
        self.body(scope.deeper(sync=True), 2)
        self.emit("SYNC")
        self.here(other)
        self.body(scope.deeper(sync=True), 2)
        if self.dice.random() < 0.15:
            self.emit("EXIT")
        else:
            self.emit("SYNC")
        self.here(end)

    def if_then(self, scope: Scope) -> None:
        end = self.label()
        self.emit("SSY", end)
        self.emit("SYNC", guard=self.compare())
        self.body(scope.deeper(sync=True), 2)
        self.emit("SYNC")
        self.here(end)

    def skip(self, scope: Scope) -> None:
        """A branch over something with no reconvergence."""
        end = self.label()
        self.branch(end)
        self.body(scope.deeper(), 2)
        self.here(end)

    def while_loop(self, scope: Scope) -> None:
        """PBK and BRK, with or without a PCNT in every turn."""
        out, head, latch = self.label(), self.label(), self.label()
        continues = self.dice.random() < 0.5
        self.emit("PBK", out)
        self.here(head)
        if continues:
            self.emit("PCNT", latch)
        if self.dice.random() < 0.5:
            self.emit("BRK", guard=self.compare())
        self.body(scope.deeper(brk=True, cont=continues, sync=False), 2)
        if continues:
            self.emit("CONT")
            self.here(latch)
        self.emit("BRK", guard=self.compare())
        self.emit("BRA", head)
        self.here(out)

    def do_while(self, scope: Scope) -> None:
        """A loop around which a SSY waits, or with no token at all."""
        head, end = self.label(), self.label()
        waits = self.dice.random() < 0.7
        if waits:
            self.emit("SSY", end)
        self.here(head)
        self.body(scope.deeper(sync=waits or scope.sync), 2)
        self.branch(head)
        if waits:
            self.emit("SYNC")
        self.here(end)

    def two_heads(self, scope: Scope) -> None:
        """A goto loop that is entered at two places."""
        one, two = self.label(), self.label()
        inner = scope.deeper()
        self.branch(two)
        self.here(one)
        self.body(inner, 1)
        self.here(two)
        self.body(inner, 1)
        self.branch(one)
        if self.dice.random() < 0.4:
            self.branch(two)

    def switch(self, scope: Scope) -> None:
        """A jump table; cases end in SYNC or run on into the next one."""
        end = self.label()
        waits = self.dice.random() < 0.8
        if waits:
            self.emit("SSY", end)
        cases = [self.label() for _ in range(self.dice.randint(2, 4))]
        self.source()
        guard = self.guard() if self.dice.random() < 0.15 else None
        table = tuple(self.dice.choice(cases) for _ in range(len(cases) + 1)) if self.dice.random() < 0.3 else tuple(cases)
        self.drafts.append(Draft("BRX", (self.register(), Immediate(-8)), guard, "", table))
        for one in cases:
            self.here(one)
            self.body(scope.deeper(sync=waits or scope.sync), 1)
            if waits and self.dice.random() < 0.7:
                self.emit("SYNC")
        if waits:
            self.emit("SYNC")
        self.here(end)

    def call(self, scope: Scope) -> None:
        """A call, or now and then PRET and a branch: once per callee, since a branch leaves no mark in the call string."""
        del scope
        if not self.functions:
            return
        callee = self.dice.choice(self.functions)
        if callee.number in self.jumped or self.dice.random() < 0.8:
            self.emit("CAL", callee)
            return
        self.jumped.add(callee.number)
        back = self.label()
        self.emit("PRET", back)
        self.emit("BRA", callee)
        self.here(back)

    def pending(self, scope: Scope) -> None:
        """A token that nobody leaves to: dropped when its threads leave to one below, or exit."""
        if not scope.sync:
            return
        end, never = self.label(), self.label()
        self.emit("SSY", end)
        self.emit(self.dice.choice(["PBK", "PCNT"]), never)
        self.some_data()
        self.branch(never)
        self.some_data()
        self.here(never)
        self.emit("SYNC")
        self.here(end)

    def function(self) -> None:
        """Write a device function; it may call those written before."""
        start = self.label()
        self.here(start)
        self.body(Scope(ret=True, depth=2), 2)
        self.emit("RET")
        self.functions.append(start)


Make = Callable[[Writer], Operand]
Shape = tuple[Make, ...]


def _memory(writer: Writer) -> Operand:
    return Memory((writer.register(),), 4 * writer.dice.randrange(4))


def _constant(writer: Writer) -> Operand:
    return Constant(0, (), 4 * writer.dice.randrange(80, 90))


def _indexed(writer: Writer) -> Operand:
    return Constant(3, (writer.register(),), 0)


def _carry(writer: Writer) -> Operand:
    return Register("R", writer.dice.randrange(REGISTERS), modifiers=("CC",))


def _fixed(operand: Operand) -> Make:
    return lambda _: operand


def _flip(writer: Writer) -> Operand:
    return replace(writer.predicate(), negated=writer.dice.random() < 0.5)


_R, _P = Writer.register, Writer.predicate
_PT, _IMM = _fixed(PT), _fixed(Immediate(3))

SOURCES: tuple[tuple[str, Shape], ...] = (
    ("MOV", (_R, _constant)),
    ("S2R", (_R, _fixed(Special("SR_TID.X")))),
    ("S2R", (_R, _fixed(Special("SR_CTAID.X")))),
    ("LDS", (_R, _memory)),
    ("IADD", (_R, _R, _IMM)),
    ("IADD", (_R, _R, _R)),
    ("VOTE.ANY", (_R, _PT, _flip)),
    ("LDC", (_R, _indexed)),
)

DATA: tuple[tuple[str, Shape], ...] = (
    *SOURCES,
    ("MOV", (_R, _R)),
    ("MOV32I", (_R, _IMM)),
    ("LOP.AND", (_R, _R, _R)),
    ("XMAD", (_R, _R, _R, _R)),
    ("XMAD.MRG", (_R, _R, _R, _R)),
    ("IADD", (_carry, _R, _R)),
    ("IADD.X", (_R, _R, _R)),
    ("SEL", (_R, _R, _R, _flip)),
    ("ISETP.GT.AND", (_P, _PT, _R, _R, _flip)),
    ("ISETP.LT.AND", (_P, _P, _R, _IMM, _flip)),
    ("PSETP.AND.AND", (_P, _PT, _flip, _flip, _PT)),
    ("LDL", (_R, _memory)),
    ("LDG", (_R, _memory)),
    ("STS", (_memory, _R)),
    ("ATOMS.ADD", (_R, _memory, _R)),
    ("VOTE.ALL", (_R, _P, _flip)),
    ("SHFL.IDX", (_PT, _R, _R, _R, _fixed(Immediate(0x1F)))),
    ("SHFL.BFLY", (_P, _R, _R, _IMM, _fixed(Immediate(0x1F)))),
    ("MUFU.RCP", (_R, _R)),
    ("F2I.S32.F32.TRUNC", (_R, _R)),
)

Statement = Callable[[Writer, Scope], None]
STATEMENTS: tuple[Statement, ...] = (
    Writer.if_else,
    Writer.if_else,
    Writer.if_then,
    Writer.if_then,
    Writer.skip,
    Writer.while_loop,
    Writer.while_loop,
    Writer.do_while,
    Writer.do_while,
    Writer.two_heads,
    Writer.switch,
    Writer.call,
    Writer.call,
    Writer.leave,
    Writer.leave,
    Writer.pending,
)


def program(seed: int, arch: str = "sm_61") -> Function:
    """Return the program of this seed."""
    dice = random.Random(seed)
    writer = Writer(dice, dice.choice([*range(2, 15), 30, 60]))
    kernel = writer.label()
    for _ in range(dice.choice([0, 0, 1, 2])):
        writer.function()
    writer.here(kernel)
    writer.body(Scope(), 4)
    writer.emit("EXIT")
    return assemble(f"random_{seed}", arch, writer.drafts, writer.places, kernel)
