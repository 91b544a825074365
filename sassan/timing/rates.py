"""What the instructions of one architecture take, from the tables of the machine and of latencies and from what a user says over them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from sassan.assumptions import published
from sassan.errors import Gap
from sassan.ir import Function, Instruction, Language
from sassan.isa.control import BARRIERS, decode
from sassan.isa.tables import unit
from sassan.machine import MachineFile, Multiprocessor, machine_of
from sassan.machine.matrices import register_cycles
from sassan.machine.pipes import TENSOR
from sassan.timing.latencies import Class, Latencies, waiting_longer
from sassan.timing.sleeps import ASSUMED, is_sleep, sleeping
from sassan.warpcfg.graph import WarpCfg

FETCH = "instructions and constant operands are in their caches (a load of constants may miss); no operand waits for a register bank"
ALONE = "one warp alone: a block barrier awaits no other warp"
CLUSTER = "one warp alone: a cluster barrier awaits no other block"
NO_LATENCY = "no-latency"
"""The gap of an instruction whose latency no table has."""
_BARRIER = "barrier"
_ISSUES = {TENSOR: 4, "tma": 32}
"""Cycles for which an instruction that the engine behind a unit carries out keeps its warp, at most."""
_CLUSTER = "UCGABAR"


def slower_products(names: Sequence[str]) -> str:
    """Return what a bound takes for granted of doubles and matrix products, where the rates of some products are below those of the SM."""
    listed = ", ".join(names)
    return f"the GPU is none of those whose doubles or matrix products are slower than others of its SM ({listed}): name it with --gpu"


_Facts = tuple[str, Class | None, int, int]


@dataclass(frozen=True, slots=True)
class Rates:
    """`machine` is the SM that runs the code, `latencies` are those of its architecture."""

    machine: Multiprocessor
    latencies: Latencies
    busy: Mapping[int, int] = field(default_factory=dict[int, int])
    """For how many cycles single accesses, by address, keep their unit at least: by bank conflicts, lines and sectors."""
    apart: bool = False
    """Whether what engines do is charged by itself (docs/proofs/warps-with-roles.md): their instructions take an issue."""
    idle: frozenset[int] = frozenset()
    """Addresses of instructions that a warp executes only while it waits for others: how long it sleeps there is a part of the wait."""
    _known: dict[str, _Facts] = field(default_factory=dict[str, _Facts], compare=False, repr=False)
    """Unit, class, interval and cycles of each opcode that was looked up: a kernel has many instructions and few opcodes."""

    def _of(self, opcode: str) -> _Facts:
        known = self._known.get(opcode)
        if known is None:
            name = unit(self.machine.arch, opcode)
            kind, interval = self.latencies.of(opcode), self.machine.interval(name, opcode) or 0
            cycles = (self.latencies.cycles_of(kind, opcode) or 0) if kind is not None else 0
            if cycles and name == TENSOR:
                # A product has not ended before its unit takes the next one; that of an engine, before its unit has done it.
                cycles = cycles + interval if kind is not None and kind.engine else max(cycles, interval)
            if cycles and self.apart and _does(kind, name):
                cycles, interval = min(cycles, _ISSUES[name]), min(interval, _ISSUES[name])
            known = self._known[opcode] = name, kind, interval, cycles
        return known

    def is_engine(self, opcode: str) -> bool:
        """Say whether an engine does the work of such an instruction, which its warp does not wait for."""
        return _does(self.kind(opcode), self.unit(opcode))

    def unit(self, opcode: str) -> str:
        """Return the functional unit of an opcode."""
        return self._of(opcode)[0]

    def kind(self, opcode: str) -> Class | None:
        """Return the class of latencies of an opcode, None where there is none."""
        return self._of(opcode)[1]

    def cycles(self, opcode: str) -> int:
        """Return the cycles after which an instruction has ended, 0 where that is not known."""
        return self._of(opcode)[3]

    def reading(self, opcode: str) -> int:
        """Return the cycles after which an instruction has read its operands, 0 where that is not known."""
        kind = self.kind(opcode)
        return (self.latencies.reading(kind) or 0) if kind is not None else 0

    def interval(self, opcode: str) -> int:
        """Return the cycles until its unit takes another instruction of the warp, 0 where there is no such unit."""
        return self._of(opcode)[2]

    def occupied(self, instruction: Instruction) -> int:
        """Return for how long an instruction keeps its unit, 0 where there is no such unit."""
        interval = self.interval(instruction.opcode)
        if self.apart and self.is_engine(instruction.opcode):
            return interval
        return max(interval + register_cycles(instruction, alone=True), self.busy.get(instruction.address, 0))

    def lasting(self, instruction: Instruction) -> int:
        """Return the cycles after which an instruction has ended: its latency, and what its last transaction comes later than its first."""
        interval = self.interval(instruction.opcode)
        return self.latency(instruction) + self.occupied(instruction) - interval

    def latency(self, instruction: Instruction) -> int:
        """Return the cycles after which the last transaction of an instruction has ended, 0 where that is not known."""
        # What sleeps until a barrier wakes it waits for others, which is charged to them.
        return self.cycles(instruction.opcode) or (0 if instruction.address in self.idle else sleeping(instruction))

    def gaps(self, code: Iterable[Instruction]) -> tuple[Gap, ...]:
        """Return every instruction whose time is not known, and why."""
        return tuple(gap for instruction in code if (gap := self._gap(instruction)) is not None)

    def _gap(self, instruction: Instruction) -> Gap | None:
        if not self.latency(instruction) and instruction.address not in self.idle:
            kind = self.kind(instruction.opcode)
            hint = f": --latency {kind.name}=N gives the most cycles that it takes" if kind is not None else ""
            return Gap(instruction.address, NO_LATENCY, f"the latency of {instruction.opcode} is unknown{hint}")
        if not self.interval(instruction.opcode):
            unit = self.unit(instruction.opcode)
            message = f"{instruction.opcode} needs unit '{unit}', which compute capability {self.machine.capability} does not have"
            return Gap(instruction.address, "no-unit", message if unit else f"the functional unit of {instruction.opcode} is unknown")
        if instruction.control is not None and (wrong := [each for each in decode(instruction.control).sets if each >= BARRIERS]):
            return Gap(instruction.address, "no-barrier", f"the control code sets barrier {wrong[0]}: a warp has {BARRIERS}, from 0 on")
        return None

    def assumptions(self, code: Iterable[Instruction]) -> tuple[str, ...]:
        """Return what a bound over this code takes for granted."""
        code = tuple(code)
        opcodes = {instruction.opcode for instruction in code}
        kinds = {kind.name for opcode in opcodes if (kind := self.kind(opcode)) is not None}
        pipes = {pipe.unit for opcode in opcodes if (pipe := self.machine.pipe(self.unit(opcode), opcode)) is not None and pipe.unsure}
        doubts = (f"no source confirms how often these units take an instruction: {', '.join(sorted(pipes))}",) if pipes else ()
        lanes = {pipe.lanes for opcode in opcodes if (pipe := self.machine.pipe(self.unit(opcode), opcode)) is not None}
        slower = (slower_products(self.machine.slower),) if self.machine.slower and lanes & {"fp64", TENSOR} else ()
        waits = (*((ALONE,) if _BARRIER in kinds else ()), *((CLUSTER,) if any(opcode.startswith(_CLUSTER) for opcode in opcodes) else ()))
        sleeps = (published(ASSUMED),) if any(is_sleep(each) and not self.cycles(each.opcode) for each in code) else ()
        return (*self.latencies.assumptions(opcodes), *self.machine.inherited("units"), *doubts, *slower, *waits, *sleeps, FETCH)


def _does(kind: Class | None, unit: str) -> bool:
    return kind is not None and kind.engine and unit in _ISSUES


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables as a user wants them: latencies in cycles of the product go over those of the SM, those of the machine file over both.

    Where others have their share of DRAM, latencies of it are `waiting` times as long; those that the user says of each (`given`) are not.
    """

    file: MachineFile | None = None
    given: Mapping[str, int] = field(default_factory=dict[str, int])
    product: tuple[tuple[str, int], ...] = ()
    waiting: Fraction = Fraction(1)
    apart: bool = False
    """Whether what engines do is charged by itself (`Rates`)."""

    def rates(self, arch: str, busy: Mapping[int, int] = MappingProxyType({}), idle: frozenset[int] = frozenset()) -> Rates:
        """Return what the instructions of an architecture take; `busy` are the cycles for which accesses keep their unit, by address.

        `idle` are the addresses of those that a warp executes only while it waits.

        Raises InputError where no table knows the architecture, or the file describes another one.
        """
        machine = machine_of(arch, self.file)
        over = {**dict(self.product), **(self.file.latency if self.file is not None else {})}
        if self.waiting > 1:
            over |= waiting_longer(machine.arch, self.waiting, over)
        return Rates(machine, Latencies(machine.arch, {**over, **self.given}), busy, self.apart, idle)


def code_of(cfg: WarpCfg) -> tuple[Instruction, ...]:
    """Return every instruction of a graph once, by address."""
    instructions = {instruction.address: instruction for node in cfg.nodes for instruction in node.code}
    return tuple(instructions[address] for address in sorted(instructions))


def not_machine_code(function: Function) -> tuple[Gap, ...]:
    """Return the gap of a text that no GPU runs: PTX is scheduled when it is compiled."""
    if function.language is Language.SASS:
        return ()
    return (Gap(function.entry, "no-machine-code", "PTX has no latencies of its own; compile it, or use --model unit"),)
