"""From options as typed to the settings of an analysis."""

from sassan import launches
from sassan.app.reading import read_facts, read_machine, read_measurements
from sassan.app.settings import Settings
from sassan.cli.options.models import Ablation, Letters, Model, Order
from sassan.errors import InputError, UsageError
from sassan.ipet.wcet import Setup
from sassan.launches import Launches
from sassan.machine import MachineFile
from sassan.machine.launch import Launch, shape
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import setting
from sassan.timing import CostModel, latencies, models
from sassan.timing.rates import Tables
from sassan.warpcfg import Options

UNSOLVED = "none"
"""The name of no solver: the program is written and not solved."""


def make(
    *,
    bounds: str | None = None,
    loop_bound: int | None = None,
    letters: Letters = Letters.TIMING,
    model: Model = Model.UNIT,
    machine: str | None = None,
    latency: list[str] | None = None,
    measurements: str | None = None,
    order: Order = Order.ARCH,
    call_depth: int | None = None,
    ablate: list[Ablation] | None = None,
    paper_experiment: bool = False,
    solver: str | None = None,
    launch: Launch | None = None,
    resources: Resources | None = None,
    warps: int | None = None,
    partition: bool = False,
) -> Settings:
    """Return the settings that the options ask for.

    Raises InputError when the flow-fact file is refused, UsageError when options contradict each other.
    """
    setup = Setup(solver=solver if solver and solver != UNSOLVED else Setup().solver, paper=paper_experiment)
    file = machine_file(machine)
    return Settings(
        exploration=Options(ablate=frozenset(one.value for one in ablate or ()), order=order.value, call_depth=call_depth),
        facts=read_facts(bounds) if bounds is not None else None,
        loop_bound=loop_bound,
        letters=letters.value,
        costs=_costs(model, file, latency or [], measurements),
        machine=file,
        setup=setup,
        solve=solver != UNSOLVED,
        launch=launch or Launch(),
        resources=resources,
        warps=warps,
        partition=partition,
    )


def launch(block: str | None, grid: str | None, parameters: list[str] | None) -> Launch:
    """Return the launch that the options tell.

    Raises UsageError where they are not what they should be, or cannot be launched.
    """
    return Launch(
        block=shape(block, "--block-dim") if block is not None else None,
        grid=shape(grid, "--grid") if grid is not None else None,
        parameters=tuple(setting(one) for one in parameters or ()),
    )


def resources(
    block: str | None, grid: str | None, *, registers: int | None, shared: int | None, sms: int | None, launched: bool = False
) -> Resources:
    """Return what is told of a launch beside its shape; `launched`: recorded launches say their shapes.

    Raises UsageError where it would tell nothing.
    """
    if launched:
        return Resources(registers, shared, sms or 1)

    for option, value in (("--registers", registers), ("--shared", shared)):
        if value is not None and block is None:
            raise UsageError("usage", f"{option} says how many blocks fit on an SM", hint="give --block-dim, too")
    if sms is not None and (block is None or grid is None):
        raise UsageError("usage", "--sms says where the blocks of a grid run", hint="give --block-dim and --grid, too")
    return Resources(registers, shared, sms or 1)


def recording(path: str | None) -> Launches | None:
    """Return the recorded launches of a file, None without one.

    Raises InputError when it is refused.
    """
    return None if path is None else launches.read(path)


def refuse_beside_launches(given: list[str]) -> None:
    """Raise UsageError where an option says what each recorded launch says itself."""
    if given:
        raise UsageError(
            "usage", f"--launches and {given[0]} exclude each other", hint="every recorded launch has its own block, grid and arguments"
        )


def machine_file(path: str | None) -> MachineFile | None:
    """Return the machine of a name or of a user's file, None without one.

    Raises InputError when it is refused.
    """
    if path is None:
        return None
    try:
        return read_machine(path)
    except InputError as error:
        error.hint = error.hint or "name an architecture such as sm_61, or a machine file (sassan/machine/README.md)"
        raise


def _costs(model: Model, file: MachineFile | None, latency: list[str], measurements: str | None) -> CostModel:
    """Return the cost model of a name, with its tables.

    Raises UsageError for an option that the model does not use, or a latency that is not known, InputError for measurements.
    """
    if latency and model.value not in models.WITH_LATENCIES:
        raise UsageError("usage", f"--latency means nothing to the model '{model.value}'", hint="--model table or --model control")
    if (measurements is not None) != (model is Model.MEASURED):
        raise UsageError("usage", "--model measured and --measurements need each other", hint="--model measured --measurements cycles.csv")
    if measurements is not None:
        return read_measurements(measurements)
    return models.model(model.value, Tables(file, latencies.parse(latency)))
