"""The cost model `table`: instructions run one after the other, each for its latency (timing.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.errors import Gap
from sassan.ir import Instruction
from sassan.isa.units import unit
from sassan.machine import MachineFile, Multiprocessor, machine_of
from sassan.timing.latencies import Latencies
from sassan.timing.model import Prices
from sassan.warpcfg.graph import WarpCfg

ONE_BY_ONE = "an instruction issues when the one before it has ended"
FETCH = "instructions and constants are in their caches; no operand waits for a register bank"


@dataclass(frozen=True, slots=True)
class Rates:
    """What the instructions of one architecture take; `machine` and `latencies` are those of the SM that runs them."""

    machine: Multiprocessor
    latencies: Latencies

    def unit(self, opcode: str) -> str:
        """Return the functional unit of an opcode."""
        return unit(self.machine.arch, opcode)

    def interval(self, opcode: str) -> int | None:
        """Return the cycles until its unit takes another instruction of the warp, None where there is no such unit."""
        return self.machine.interval(self.unit(opcode), opcode)

    def gap(self, one: Instruction) -> Gap | None:
        """Return why the time of an instruction is not known, None where it is."""
        kind = self.latencies.of(one.opcode)
        if kind is None or self.latencies.cycles(kind.name) is None:
            name = kind.name if kind is not None else ""
            hint = f": --latency {name}=N says how many cycles it takes at most" if name else ""
            return Gap(one.address, "no-latency", f"nobody says how long {one.opcode} takes{hint}")
        if self.interval(one.opcode) is None:
            unit_name = self.unit(one.opcode)
            message = f"{one.opcode} runs on unit '{unit_name}', which compute capability {self.machine.capability} does not have"
            return Gap(one.address, "no-unit", message)
        return None

    def cycles(self, one: Instruction) -> int:
        """Return how long an instruction takes alone, 0 where that is not known."""
        kind = self.latencies.of(one.opcode)
        known = self.latencies.cycles(kind.name) if kind is not None else None
        return max(known or 0, self.interval(one.opcode) or 0)

    def assumptions(self, code: tuple[Instruction, ...]) -> tuple[str, ...]:
        """Return what a bound over this code takes for granted."""
        kinds = {kind.name for one in code if (kind := self.latencies.of(one.opcode)) is not None}
        pipes = {pipe.unit for one in code if (pipe := self.machine.pipe(self.unit(one.opcode), one.opcode)) is not None and pipe.unsure}
        doubts = (f"no source confirms how often these units take an instruction: {', '.join(sorted(pipes))}",) if pipes else ()
        return (*self.latencies.assumptions(kinds), *doubts, FETCH)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables as a user wants them: a machine file, and latencies in cycles by name, which go over those of the file."""

    file: MachineFile | None = None
    told: Mapping[str, int] = field(default_factory=dict[str, int])

    def rates(self, arch: str) -> Rates:
        """Return what the instructions of an architecture take.

        Raises InputError where no table knows the architecture, or the file describes another one.
        """
        machine = machine_of(arch, self.file)
        over = self.file.latency if self.file is not None else {}
        return Rates(machine, Latencies(machine.arch, {**over, **self.told}))


@dataclass(frozen=True, slots=True)
class Table:
    """Adds the latencies of a block's instructions, each at least the time that its unit is taken."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `table`."""
        return "table"

    def price(self, cfg: WarpCfg) -> Prices:
        """Return the sum of latencies of each block.

        Raises InputError for an architecture without a table.
        """
        rates = self.tables.rates(cfg.function.arch)
        costs = tuple(sum(map(rates.cycles, node.instructions)) for node in cfg.nodes)
        code = tuple({one.address: one for node in cfg.nodes for one in node.instructions}.values())
        gaps = sorted({gap for one in code if (gap := rates.gap(one)) is not None})
        return Prices(costs, (ONE_BY_ONE, *rates.assumptions(code)), tuple(gaps))
