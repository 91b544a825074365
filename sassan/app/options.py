"""What a user asks of an analysis, as given, and the rules of what goes together: from options to settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sassan.access.limits import spread
from sassan.app import quantities
from sassan.app.reading import read_facts, read_gpu, read_machine, read_measurements
from sassan.app.settings import Settings
from sassan.errors import UsageError
from sassan.ipet.wcet import Setup
from sassan.launches import Launches
from sassan.launches import read as read_launches
from sassan.machine import MachineFile, load
from sassan.machine.launch import LaunchConfiguration, shape
from sassan.machine.multiprocessor import of_product
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import setting
from sassan.products import Product
from sassan.timing import CostModel, UnitCostModel, latencies, models
from sassan.timing.control import ControlCostModel
from sassan.timing.cycles import CycleCostModel
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel
from sassan.warpcfg import Options

UNSOLVED = "none"
"""The name of no solver: the integer program is written and not solved."""
ASSUME_NONE = "assume-none"
"""The choice not to use recorded contents of memory."""
_BASE = "base"
"""The clock that profilers keep."""
MEASURED = "measured"
"""The name of the model that reads measured block times."""
_IN_LAUNCHES = ("block", "grid", "parameters", "shared", "warps")
"""What every recorded launch says itself."""
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "partition": (" or ", "warps", "block"),
    "registers": ("", "block"),
    "shared": ("", "block"),
    "sms": (" and ", "block", "grid"),
    "clock": ("", "gpu"),
    "dram_share": ("", "gpu"),
    "co_runners": ("", "gpu"),
    "data": ("", "launches"),
    "run_before": ("", "launches"),
}
"""Without which others an option has no effect, behind the word that joins these."""

Spelling = Callable[[str], str]
"""How the user writes the name of an option."""
_COMMAND_LINE: Mapping[str, str] = {"block": "--block-dim", "parameters": "--param", "warps": "-W"}


def command_line(name: str) -> str:
    """How an option is spelled on the command line: `--loop-bound`."""
    return _COMMAND_LINE.get(name, f"--{name.replace('_', '-')}")


def library(name: str) -> str:
    """How a choice is spelled by a caller of the library: `loop_bound`."""
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """What a user asks of an analysis: names, paths and numbers as given, no file read; None and () for what is not given.

    `block` and `grid` are extents as text (`16,16`), `parameters` and `latency` texts such as `n=64`. `facts`, `machine`, `measurements`
    and `launches` are paths; a machine may also be the name of an architecture. `gpu` is a product, or the path of a file that describes
    one.
    """

    facts: str | None = None
    loop_bound: int | None = None
    block: str | None = None
    grid: str | None = None
    parameters: tuple[str, ...] = ()
    registers: int | None = None
    shared: int | None = None
    sms: int | None = None
    gpu: str | None = None
    clock: str | None = None
    """The clock of the SMs, which they keep: `1410 MHz`, or `base`; None: the boost clock of the product."""
    dram_share: str | None = None
    """What others leave the GPU of the bandwidth of DRAM: `60%`."""
    co_runners: str | None = None
    """What others move in DRAM at most: `20 GB/s`."""
    warps: int | None = None
    partition: bool = False
    launches: str | None = None
    data: str | None = None
    """`assume-none`: what the host wrote into memory is not used though it is recorded."""
    run_before: bool = False
    """Whether recorded launches are run, so that memory is known which earlier ones wrote."""
    model: str | None = None
    """The cost model; None: cycles where a GPU is named, else instructions (`unit`)."""
    machine: str | None = None
    latency: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()
    """Of atomic instructions: `0x1230=64`, how many units of L2 work on their operations."""
    measurements: str | None = None
    letters: str = "timing"
    order: str = "arch"
    call_depth: int | None = None
    ablate: tuple[str, ...] = ()
    paper_experiment: bool = False
    solver: str | None = None
    occupancy: bool = True
    """Whether the warps that a launch makes resident on an SM are bounded."""

    def settings(self, spelled: Spelling = command_line) -> Settings:
        """The settings that these options ask for; `spelled` says how the user writes their names.

        Raises UsageError for options that contradict each other or a launch that is impossible, InputError for a file that is refused.
        """
        self._check(spelled)
        gpu = self._product(spelled)
        machine = self._machine(gpu, spelled)
        solver = self.solver if self.solver and self.solver != UNSOLVED else Setup().solver
        return Settings(
            exploration=Options(ablate=frozenset(self.ablate), order=self.order, call_depth=self.call_depth),
            facts=read_facts(self.facts) if self.facts is not None else None,
            loop_bound=self.loop_bound,
            distinct=tuple(spread(text, spelled("distinct")) for text in self.distinct),
            launch=LaunchConfiguration(
                block=shape(self.block, spelled("block")) if self.block is not None else None,
                grid=shape(self.grid, spelled("grid")) if self.grid is not None else None,
                parameters=tuple(setting(text) for text in self.parameters),
            ),
            letters=self.letters,
            costs=self._costs(machine, gpu),
            machine=machine,
            gpu=gpu,
            resources=Resources(self.registers, self.shared, self.sms or (gpu.sms if gpu is not None else 1)) if self.occupancy else None,
            warps=self.warps,
            partition=self.partition,
            setup=Setup(solver=solver, paper=self.paper_experiment),
            solve=self.solver != UNSOLVED,
        )

    def recording(self) -> Launches | None:
        """The recorded launches, None where no file of them is given.

        Raises InputError.
        """
        if self.launches is None:
            return None
        recording = read_launches(self.launches)
        return replace(recording, data={}) if self.data == ASSUME_NONE else recording

    @property
    def _model(self) -> str:
        return self.model or (models.CYCLES if self.gpu is not None else UnitCostModel().name)

    def without_effect(self) -> tuple[str, ...]:
        """The options that have no effect, since others are not given."""
        shaped = self.block is not None or self.launches is not None
        rules = {
            "partition": self.partition and self.warps is None and not shaped,
            "registers": self.registers is not None and not shaped,
            "shared": self.shared is not None and not shaped,
            "data": self.data is not None and self.launches is None,
            "run_before": self.run_before and self.launches is None,
            "clock": self.clock is not None and self.gpu is None,
            "dram_share": self.dram_share is not None and self.gpu is None,
            "co_runners": self.co_runners is not None and self.gpu is None,
            "sms": self.sms is not None and self.launches is None and (self.block is None or self.grid is None),
            "latency": bool(self.latency) and self._model not in (models.CYCLES, *models.WITH_LATENCIES),
        }
        return tuple(name for name, idle in rules.items() if idle)

    def _check(self, spelled: Spelling) -> None:
        """Refuse options that contradict each other, or that have no effect without others.

        Raises UsageError.
        """
        given = next((name for name in _IN_LAUNCHES if getattr(self, name) not in (None, ())), None)
        if self.launches is not None and given is not None:
            message = f"{spelled('launches')} and {spelled(given)} exclude each other"
            raise UsageError("usage", message, hint="every recorded launch has its own block, grid and arguments")
        if self.run_before and self.data == ASSUME_NONE:
            message = f"{spelled('run_before')} and {spelled('data')} {ASSUME_NONE} exclude each other"
            raise UsageError("usage", message, hint="the one knows what earlier kernels wrote, the other holds for any contents of memory")
        idle = self.without_effect()
        for name in (name for name in idle if name in _NEEDS):
            joined, *others = _NEEDS[name]
            raise _needs(spelled, name, *others, joined=joined)
        if self.dram_share is not None and self.co_runners is not None:
            message = f"{spelled('dram_share')} and {spelled('co_runners')} exclude each other"
            raise UsageError("usage", message, hint="both say what others take of DRAM: the part that they leave, or what they move")
        if self.gpu is not None and self.sms is not None:
            message = f"{spelled('gpu')} and {spelled('sms')} exclude each other"
            raise UsageError("usage", message, hint="a product has a number of SMs")
        if "latency" in idle:
            hint = " or ".join(f"{spelled('model')} {name}" for name in sorted(models.WITH_LATENCIES, reverse=True))
            raise UsageError("usage", f"{spelled('latency')} has no effect on the model '{self._model}'", hint=f"pass {hint}")
        if (self.measurements is not None) != (self.model == MEASURED):
            message = f"{spelled('model')} {MEASURED} and {spelled('measurements')} need each other"
            raise UsageError("usage", message, hint=f"pass {spelled('model')} {MEASURED} and {spelled('measurements')} cycles.csv")

    def _machine(self, gpu: Product | None, spelled: Spelling) -> MachineFile | None:
        """The machine that the user names, or that of the product.

        Raises UsageError for a machine that the product has not, InputError for one that is refused.
        """
        machine = read_machine(self.machine) if self.machine is not None else None
        if gpu is None:
            return machine
        base = load(gpu.architecture)
        if machine is None:
            return machine_of_product(gpu, spelled("gpu"))
        if machine.sm.arch != gpu.architecture:
            message = f"{spelled('machine')} {machine.name} is {machine.sm.arch}, {spelled('gpu')} {gpu.name} is {gpu.architecture}"
            raise UsageError("usage", message, hint=f'a machine file with base = "{base.capability}", or one of the two options')
        return machine

    def _product(self, spelled: Spelling) -> Product | None:
        """The GPU that is named, with its clock, and what others leave it of its DRAM.

        Raises UsageError for an unknown one, and for a clock or a share that is none; InputError for a file that is refused.
        """
        if self.gpu is None:
            return None
        gpu = read_gpu(self.gpu)
        if self.clock is not None:
            gpu = self._clocked(gpu, self.clock, spelled("clock"))
        if self.dram_share is not None:
            return gpu.sharing(quantities.share(self.dram_share, spelled("dram_share")))
        if self.co_runners is None:
            return gpu
        gpu = gpu.sharing(Fraction(1))
        moved, option = quantities.bandwidth(self.co_runners, spelled("co_runners")), spelled("co_runners")
        if moved >= gpu.dram_rate:
            message = f"{option} {self.co_runners} leaves nothing: {gpu.name} surely moves {float(gpu.dram_rate):.3g} GB/s"
            raise UsageError("usage", message, hint="what others move at most, in any time in which the GPU waits for DRAM")
        return gpu.sharing(1 - moved / gpu.dram_rate)

    @staticmethod
    def _clocked(gpu: Product, clock: str, option: str) -> Product:
        """The GPU whose SMs keep another clock than its boost clock."""
        if clock != _BASE:
            return gpu.at(quantities.clock(clock, option))
        if gpu.base_clock is None:
            message = f"no base clock of {gpu.name} is known"
            raise UsageError("usage", message, hint=f"pass the clock: {option} 1410")
        return gpu.at(gpu.base_clock)

    def _costs(self, machine: MachineFile | None, gpu: Product | None) -> CostModel:
        """The cost model of the name, with its tables.

        Raises UsageError for an unknown model or latency, InputError for measurements that are refused.
        """
        if self.measurements is not None:
            return read_measurements(self.measurements)
        tables = Tables(machine, latencies.parse(self.latency))
        if gpu is not None:
            tables = replace(tables, product=gpu.latency, waiting=gpu.waiting)
        return models.model(self._model, tables)


def on_product(settings: Settings, gpu: Product) -> Settings:
    """The settings with the SM of a product, where no machine is named, and the lanes of the product are its own."""
    if settings.machine is not None or not gpu.lanes:
        return settings
    machine, costs = machine_of_product(gpu, "the GPU"), settings.costs
    if isinstance(costs, ControlCostModel | CycleCostModel | TableCostModel) and costs.tables.file is None:
        costs = replace(costs, tables=replace(costs.tables, file=machine))
    return replace(settings, machine=machine, costs=costs)


def machine_of_product(gpu: Product, option: str) -> MachineFile:
    """The machine of a product; `option` is how the user named it."""
    sm = of_product(load(gpu.architecture), dict(gpu.lanes), gpu.source("lanes") if gpu.lanes else "")
    return MachineFile(gpu.name, sm.source, sm, option=option)


def _needs(spelled: Spelling, name: str, *others: str, joined: str = "") -> UsageError:
    """The error for an option that has no effect without others."""
    missing = joined.join(spelled(other) for other in others)
    return UsageError("usage", f"{spelled(name)} has no effect without {missing}", hint=f"pass {missing}, too")
