"""Random programs, compiled the way ptxas does it since Volta: BSSY/BSYNC around ifs and loops, BREAK on the way out, calls by register.

Beside the well-behaved shapes there are goto-like ones, as in `generator.py`. What is kept is the discipline of barriers: a BSYNC stands
right before where its barrier resumes, and who leaves a region otherwise leaves its barrier first. Registers: R2 to R9 are data, R1 is
the stack pointer, R10 to R19 keep barriers, and from R20 on there are return addresses.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sassan.ir import Function, Guard, Immediate, Memory, Operand, Register, Target
from soundness.drafts import Address, Draft, Label, assemble
from soundness.shapes_volta import ARCHS, DATA, FRAME, OLDER, PT, RZ, SOURCES, STACK, UNIFORM, UPT, URZ, WHOLE, Pool, flip, uniform


@dataclass(frozen=True, slots=True)
class Region:
    """A barrier that the threads here are in: its register, and where its BSYNC stands."""

    register: int
    sync: Label


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a statement stands: the barriers around it, innermost last; `lowest` is the first register that is free."""

    regions: tuple[Region, ...] = ()
    lowest: int = 0
    depth: int = 0
    ret: int | None = None
    """The register of the return address, in a function."""
    early: bool = False
    """The function may return from here."""
    merges: bool = False
    """No barrier and no call is around: a WARPSYNC may stand here."""
    saves: bool = False
    """A barrier of the caller is kept in a register: who exits here would never give it back to those who wait for it."""

    def deeper(self, region: Region | None = None) -> "Scope":
        if region is None:
            return replace(self, depth=self.depth + 1)
        return replace(self, depth=self.depth + 1, regions=(*self.regions, region), lowest=region.register + 1, merges=False)


@dataclass(slots=True)
class Writer(Pool):
    """Writes one program; `budget` is about how many statements are left.

    `functions` are (entry, return register, whether threads may exit in it) of what may be called.
    """

    arch: str
    budget: int
    drafts: list[Draft] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    functions: list[tuple[Label, int, bool]] = field(default_factory=list)
    exits: bool = False
    labels: int = 0

    def label(self) -> Label:
        self.labels += 1
        return Label(self.labels)

    def here(self, label: Label) -> None:
        self.places[label.number] = len(self.drafts)

    def emit(self, opcode: str, *operands: Operand | Label | Address, guard: Guard | None = None, targets: tuple[Label, ...] = ()) -> None:
        self.drafts.append(Draft(opcode, operands, guard, "", targets))

    def data(self, *, spare: int | None = None) -> None:
        """Write one data instruction, a third of them under a guard; predicate `spare` is left alone."""
        opcode, shape = self.dice.choice(DATA)
        if opcode.startswith("REDUX") and self.arch in OLDER[:2]:
            return
        if self.arch == "sm_70" and uniform in shape:
            return
        operands = tuple(make(self) for make in shape)
        if spare is not None and any(isinstance(one, Register) and (one.file, one.index) == ("P", spare) for one in operands[:2]):
            return
        guard = self.guard() if self.dice.random() < 0.3 and not opcode.startswith("U") and opcode not in UNIFORM else None
        self.emit(opcode, *operands, guard=guard)

    def some_data(self, most: int = 3, *, spare: int | None = None) -> None:
        for _ in range(self.dice.randint(0, most)):
            self.data(spare=spare)

    def source(self) -> None:
        opcode, shape = self.dice.choice(SOURCES[:-2] if self.arch == "sm_70" else SOURCES)
        self.emit(opcode, *(make(self) for make in shape))

    def compare(self) -> Guard:
        """Write a comparison of something new or old, and return a guard on it, or on whatever predicate is there."""
        if self.dice.random() < 0.8:
            one = self.predicate()
            self.source()
            other = self.dice.choice([RZ, self.register(), Immediate(7), *([] if self.arch == "sm_70" else [self.uniform()])])
            self.emit("ISETP.NE.AND", one, PT, self.register(), other, PT)
            return Guard("P", one.index, self.dice.random() < 0.5)
        return self.guard()

    def branch(self, to: Label) -> None:
        """Write a conditional branch: on one predicate or two, uniform, or one that is open."""
        roll = self.dice.random()
        if roll < 0.75:
            self.emit("BRA", to, guard=self.compare())
        elif roll < 0.83:
            self.emit("BRA", flip(self), to, guard=self.compare() if roll < 0.81 else None)
        elif roll < 0.92 and self.arch != "sm_70":
            self.emit("UISETP.NE.AND", Register("UP", 0), UPT, self.uniform(), URZ, UPT)
            self.emit("BRA.U", Register("UP", 0, negated=roll < 0.87), to)
        elif roll < 0.96:
            self.emit("BRA.DIV", URZ, to)
        else:
            self.emit("BRA.CONV", URZ, to, guard=self.guard())

    def body(self, scope: Scope, most: int = 3) -> None:
        for _ in range(self.dice.randint(1, most)):
            self.statement(scope)

    def statement(self, scope: Scope) -> None:
        self.budget -= 1
        self.some_data()
        if self.budget <= 0 or scope.depth > 4:
            return
        self.dice.choice(STATEMENTS)(self, scope)

    def open(self, scope: Scope) -> tuple[Region, Label]:
        """Write the BSSY of a region, and return the region and where it resumes."""
        region, end = Region(scope.lowest, self.label()), self.label()
        barrier = Register("B", region.register)
        if self.arch in OLDER[:2]:
            self.emit("BMOV.32.CLEAR", RZ, barrier)
        self.emit("BSSY" if self.arch in OLDER else "BSSY.RECONVERGENT", barrier, end)
        return region, end

    def close(self, region: Region, end: Label) -> None:
        self.here(region.sync)
        self.emit("BSYNC", Register("B", region.register))
        self.here(end)

    def if_else(self, scope: Scope) -> None:
        region, end = self.open(scope)
        other = self.label()
        self.branch(other)
        self.body(scope.deeper(region), 2)
        self.emit("BRA", region.sync)
        self.here(other)
        self.body(scope.deeper(region), 2)
        if self.dice.random() < 0.15 and not scope.saves:
            self.exits = True
            self.emit("EXIT")
        self.close(region, end)

    def if_then(self, scope: Scope) -> None:
        region, end = self.open(scope)
        self.branch(region.sync)
        self.body(scope.deeper(region), 2)
        self.close(region, end)

    def skip(self, scope: Scope) -> None:
        """A branch over something with no reconvergence."""
        end = self.label()
        self.branch(end)
        self.body(scope.deeper(), 2)
        self.here(end)

    def while_loop(self, scope: Scope) -> None:
        """A loop with exits at its head and in its middle, all threads meet behind it."""
        region, end = self.open(scope)
        head = self.label()
        self.here(head)
        if self.dice.random() < 0.5:
            self.branch(region.sync)
        self.body(scope.deeper(region), 2)
        self.branch(region.sync)
        self.emit("BRA", head)
        self.close(region, end)

    def do_while(self, scope: Scope) -> None:
        """A loop with a barrier around it, or in every turn, or with none at all."""
        head = self.label()
        kind = self.dice.randrange(3)
        region, end = self.open(scope) if kind == 0 else (None, None)
        self.here(head)
        if kind == 1:
            self.if_then(scope.deeper())
        self.body(scope.deeper(region), 2)
        self.branch(head)
        if region is not None and end is not None:
            self.close(region, end)

    def merging_loop(self, scope: Scope) -> None:
        """A loop whose threads meet nowhere but at a WARPSYNC behind it, or in it."""
        if not scope.merges:
            return self.skip(scope)
        head, out = self.label(), self.label()
        inside = self.dice.random() < 0.3
        self.here(head)
        if inside:
            self.merge()
        self.branch(out)
        self.body(scope.deeper(), 2)
        self.branch(head)
        self.here(out)
        return self.merge()

    def merge(self) -> None:
        if self.arch in OLDER:
            self.emit("WARPSYNC", WHOLE)
        else:
            self.emit("WARPSYNC.ALL")

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
        """A jump table; cases meet at a barrier or run on into the next one."""
        region, end = self.open(scope)
        cases = [self.label() for _ in range(self.dice.randint(2, 4))]
        self.source()
        guard = self.guard() if self.dice.random() < 0.15 else None
        table = tuple(self.dice.choice(cases) for _ in range(len(cases) + 1)) if self.dice.random() < 0.3 else tuple(cases)
        self.emit("BRX", self.register(), Immediate(-0x10), guard=guard, targets=table)
        for one in cases:
            self.here(one)
            self.body(scope.deeper(region), 1)
            if self.dice.random() < 0.7:
                self.emit("BRA", region.sync)
        self.close(region, end)

    def passers(self) -> None:
        """A region that some threads break out of and stay in: they pass its BSYNC, and end while the others wait."""
        scope = Scope(lowest=14)
        region, end = self.open(scope)
        if self.dice.random() < 0.5:
            self.branch(region.sync)
        self.some_data(1)
        self.emit("BREAK", Register("B", region.register), guard=self.compare())
        inner = Scope((region,), 0, 3)
        if self.dice.random() < 0.7:
            self.statement(inner)
        self.close(region, end)
        # Who passed is ahead of those who still are in the regions above: other registers than theirs.
        self.statement(Scope(lowest=2, depth=3))

    def leave(self, scope: Scope) -> None:
        """Write a guarded way out: of the warp, or of some barriers to the BSYNC of one further out."""
        guard = self.compare()
        if not scope.regions or (self.dice.random() < 0.25 and not scope.saves):
            self.exits = True
            self.emit(self.dice.choice(["EXIT", "EXIT", "KILL"]), guard=guard)
            return
        place = self.dice.randrange(len(scope.regions))
        plain = self.dice.random() < 0.3
        around = self.label()
        if plain:
            self.emit("BRA", around, guard=guard)
        for region in reversed(scope.regions[place + 1 :]):
            self.emit("BREAK", Register("B", region.register), guard=None if plain else guard)
            self.some_data(1, spare=guard.index)
        self.emit("BRA", scope.regions[place].sync, guard=None if plain else guard)
        self.here(around)

    def give_back(self, scope: Scope) -> None:
        """Return early, some threads: only where no barrier of the function is waited for."""
        if scope.ret is None or not scope.early or scope.regions:
            return self.leave(scope)
        return self.emit("RET.REL.NODEC", Register("R", scope.ret), Target(0), guard=self.compare())

    def call(self, scope: Scope) -> None:
        """A call, a tenth of them by some threads only."""
        if not self.functions or self.dice.random() < 0.2:
            return
        callee, register, exits = self.dice.choice(self.functions)
        if register == scope.ret or (exits and scope.saves):
            return
        self.exits = self.exits or exits
        back = self.label()
        guard = self.compare() if self.dice.random() < 0.15 else None
        zeros = (RZ, RZ) if self.dice.random() < 0.5 else ()
        self.emit("IMAD.MOV.U32" if zeros else "MOV", Register("R", register), *zeros, Address(back.number))
        self.emit("MOV", Register("R", register + 1), Immediate(0))
        self.emit("CALL.REL.NOINC", callee, guard=guard)
        self.here(back)

    def function(self) -> None:
        """Write a device function, which may call those written before; its registers are its own, or it saves those of its caller."""
        number = len(self.functions)
        ret, start, lowest = 20 + 2 * number, self.label(), 5 + 3 * number
        spills, saves = self.dice.random() < 0.4, self.dice.random() < 0.5
        self.exits = False
        self.here(start)
        if spills:
            self.emit("IADD3", STACK, STACK, Immediate(-FRAME), RZ)
            self.emit("STL", Memory((STACK,), 8), Register("R", ret))
            self.emit("STL", Memory((STACK,), 12), Register("R", ret + 1))
        if saves:
            self.saved(Scope(lowest=self.dice.randrange(5), depth=2, ret=ret), Register("R", 10 + number), lowest)
        else:
            self.body(Scope(lowest=lowest, depth=2, ret=ret, early=not spills), 2)
        if spills:
            self.emit("LDL", Register("R", ret), Memory((STACK,), 8))
            self.emit("LDL", Register("R", ret + 1), Memory((STACK,), 12))
            self.emit("IADD3", STACK, STACK, Immediate(FRAME), RZ)
        self.emit("RET.REL.NODEC", Register("R", ret), Target(0))
        self.functions.append((start, ret, self.exits))

    def saved(self, scope: Scope, keep: Register, lowest: int) -> None:
        """Write a region in a register that may be the caller's: what it holds is kept in a data register meanwhile."""
        kept = Register("B", scope.lowest)
        self.emit("BMOV.32.CLEAR", keep, kept)
        region, end = self.open(scope)
        self.branch(region.sync)
        self.body(replace(scope.deeper(region), lowest=lowest, saves=True), 2)
        self.close(region, end)
        self.emit("BMOV.32", kept, keep)


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
    Writer.merging_loop,
    Writer.merging_loop,
    Writer.merging_loop,
    Writer.two_heads,
    Writer.switch,
    Writer.call,
    Writer.call,
    Writer.call,
    Writer.call,
    Writer.leave,
    Writer.leave,
    Writer.leave,
    Writer.give_back,
)


def program(seed: int, arch: str | None = None) -> Function:
    """Return the program of this seed."""
    dice = random.Random(seed)
    arch = arch or ARCHS[seed % len(ARCHS)]
    writer = Writer(dice, arch, dice.choice([*range(2, 15), 30, 60]))
    kernel = writer.label()
    for _ in range(dice.choice([0, 0, 1, 2, 3])):
        writer.function()
    writer.here(kernel)
    writer.body(Scope(merges=True), 4)
    if dice.random() < 0.2:
        writer.passers()
    writer.emit("EXIT")
    return assemble(f"volta_{seed}", arch, writer.drafts, writer.places, kernel)
