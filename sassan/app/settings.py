"""What a result depends on beside the function itself."""

from dataclasses import dataclass, field, replace

from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.wcet import Setup
from sassan.machine import MachineFile
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.products import Product
from sassan.timing import CostModel, UnitCostModel
from sassan.warpcfg import Options


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a result depends on beside the function itself: launch, facts, model, machine, limits."""

    exploration: Options = field(default_factory=Options)
    facts: FlowFacts | None = None
    loop_bound: int | None = None
    """Assumed for every loop without a bound of its own."""
    distinct: tuple[tuple[int, int], ...] = ()
    """Addresses of atomic instructions, and how many units of L2 work on the operations of each whenever they wait."""
    launch: LaunchConfiguration = field(default_factory=LaunchConfiguration)
    letters: str = "timing"
    costs: CostModel = field(default_factory=UnitCostModel)
    machine: MachineFile | None = None
    """The machine that the user names, or the SM of the product; None: that of the code's own architecture."""
    resources: Resources | None = None
    """Of a launch whose occupancy is wanted."""
    warps: int | None = None
    """How many warps share an SM whose makespan is wanted; None: as many as are resident, where the launch says how many that are."""
    partition: bool = False
    """Whether the makespan is bounded in the partition model, too."""
    setup: Setup = field(default_factory=Setup)
    gpu: Product | None = None
    """The GPU whose memory and SMs run a grid; None: its memory bandwidth is unlimited."""
    beside: int | None = None
    """Bytes of code of other kernels that may run as it runs (docs/proofs/overlapping-launches.md); None: nothing else is on the GPU."""
    contention: bool = True
    """False: of the SM only the occupancy is wanted, and no bound of its warps or of the grid."""
    check: bool = True
    """False: inferred bounds of loops are not held to warps that are run. For numbers that are no bounds, such as an estimate."""
    solve: bool = True
    """False: the integer program is only built."""

    def __post_init__(self) -> None:
        """Give the launch the parameter names of the facts."""
        if self.facts is not None:
            object.__setattr__(self, "launch", replace(self.launch, named=self.facts.named))

    @property
    def experiment(self) -> bool:
        """Whether the numbers are those of an experiment (a part of the analysis is switched off), and no bounds."""
        return self.setup.paper or bool(self.exploration.ablate)
