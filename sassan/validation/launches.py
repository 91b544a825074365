"""Recorded launches compared with the analysis: bounds in cycles, and executions of instructions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.launches import settings_of
from sassan.app.options import on_product
from sassan.app.recorded_memory import with_contents
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import Gap, UsageError
from sassan.ir import Function
from sassan.launches import Launches, ProgramLaunch
from sassan.machine.contents import common
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.machine.occupancy import Resources
from sassan.measure.agreement import Pairs, mape, ratios, tau
from sassan.products import Product, between_launches, block_cycles, find
from sassan.recorded import RecordedDevice, RecordedLaunch
from sassan.recorded.names import bare, fits
from sassan.validation.counts import CountCheck, check_counts

_GIGA = 1e9
_MEGA = 1e6
_EFFICIENCY = 0.79
"""Of the DRAM of a GPU that is not a known product: the least of the kinds that graphics cards have (`products/data/common.toml`)."""
_LAUNCH_US = 2.0
"""The launch overhead of such a GPU."""
_MICRO = 1e3


@dataclass(frozen=True, slots=True)
class Hardware:
    """The GPU of a recording; None if neither the file nor the user gives it. Units: `clock_hz` is the clock of the SMs.

    `gpu` is the product; None: it is unknown, and bounds hold for unlimited memory bandwidth.
    """

    sms: int | None = None
    clock_hz: float | None = None
    gpu: Product | None = None


@dataclass(frozen=True, slots=True)
class LaunchValidation:
    """A recorded launch. `analysis` is None if its kernel is not in the inputs or the launch is impossible.

    Units: `cycles` are measured, computed from the time and the clock if the file has no cycles; `clock_hz` converts between both.
    """

    launch: RecordedLaunch
    cycles: float | None
    clock_hz: float | None
    analysis: AnalysisResult | None
    counts: CountCheck
    missing: tuple[Gap, ...] = ()
    arguments: bool = False
    """Whether the arguments of the launch were known."""
    estimate: EstimateResult | None = None
    """None where no launch can be estimated: without a kernel, or without a product."""

    @property
    def bound(self) -> int | None:
        """Return the bound of the grid in cycles."""
        makespan = self.analysis.makespan if self.analysis is not None else None
        return makespan.grid.value if makespan is not None and makespan.grid is not None else None

    @property
    def estimated(self) -> float | None:
        """Return the estimate in cycles."""
        return self.estimate.estimate.cycles if self.estimate is not None and self.estimate.estimate is not None else None

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return the gaps that prevent a bound or a comparison."""
        return (*self.missing, *(self.analysis.gaps if self.analysis is not None else ()))

    @property
    def ratio(self) -> float | None:
        """Return bound over measurement."""
        return self.bound / self.cycles if self.bound is not None and self.cycles else None

    @property
    def refuted(self) -> bool:
        """Return whether the measurement refutes the analysis: a bound below it, or executions that the graph does not allow."""
        below = self.ratio is not None and self.ratio < 1
        return below or bool(self.counts.above) or not self.counts.consistent

    def us(self, cycles: float | None) -> float | None:
        """Return the microseconds of a number of cycles."""
        return cycles / self.clock_hz * _GIGA / _MICRO if cycles is not None and self.clock_hz else None


@dataclass(frozen=True, slots=True)
class ValidationSummary:
    """A summary of all launches: `count` were compared, `below` have a bound below the measurement; ratios are bound over measurement.

    `mape` and `tau` are those of the bounds, `estimate_mape` and `estimate_tau` those of the estimates.
    """

    count: int
    below: int
    ratio_median: float | None
    mape: float | None
    tau: float | None
    estimate_mape: float | None = None
    estimate_tau: float | None = None


def validate(
    launches: Sequence[RecordedLaunch],
    functions: Mapping[int | None, Sequence[Function]],
    settings: Settings,
    hardware: Hardware,
    program: Launches | None = None,
) -> Iterator[LaunchValidation]:
    """Yield each launch with its bound and the check of its counts.

    `functions` are those of each image of the recording, and under None those of other inputs; `hardware` overrides the GPU of the
    launches. `program` has arguments: a launch gets those that most recorded launches with the same kernel, block and grid have, and the
    contents of memory that all of these find; an estimate, those that the first of them finds.
    Raises what `analyze` raises, except for an impossible launch, which gets a gap.
    """
    known = None if program is None else with_contents([("", function) for function in functions.get(None, ())], program)
    for launch in launches:
        yield _validation(launch, functions, settings, _hardware(launch, hardware), known)


def summary(validations: Sequence[LaunchValidation]) -> ValidationSummary:
    """Return the figures of all launches that have both a bound and a measurement."""
    pairs: Pairs = [
        (float(validation.bound), validation.cycles) for validation in validations if validation.bound is not None and validation.cycles
    ]
    known = ratios(pairs)
    estimates: Pairs = [
        (validation.estimated, validation.cycles) for validation in validations if validation.estimated is not None and validation.cycles
    ]
    below, middle = (known.below, known.median) if known else (0, None)
    return ValidationSummary(len(pairs), below, middle, mape(pairs), tau(pairs), mape(estimates), tau(estimates))


def _hardware(launch: RecordedLaunch, override: Hardware) -> Hardware:
    device = launch.device or RecordedDevice()
    gpu = override.gpu or _product(device.name) or _of_attributes(launch)
    sms, clock = (gpu.sms, gpu.boost_clock * _MEGA) if gpu is not None else (None, None)
    recorded_sms = device.sm_count if override.gpu is None else None
    return Hardware(override.sms or recorded_sms or sms, override.clock_hz or device.clock_hz or clock, gpu)


def _of_attributes(launch: RecordedLaunch) -> Product | None:
    """Return the GPU that a profiler describes by attributes: width and clock of its memory, which moves two bits per line and cycle."""
    width, clock, l2 = (
        metric.value if (metric := launch.metrics.get(f"device__attribute_{name}")) is not None else None
        for name in ("fb_bus_width", "memory_clock_rate", "l2_cache_size")
    )
    device = launch.device
    if not isinstance(width, int) or not isinstance(clock, int) or device is None or not (device.sm_count and device.clock_hz):
        return None
    return Product(
        name=device.name,
        aliases=(),
        architecture=device.arch,
        sms=device.sm_count,
        boost_clock=round(device.clock_hz / _MEGA),
        dram="",
        dram_size=0,
        dram_bandwidth=2 * clock * width / 8 / _MEGA,
        dram_efficiency=_EFFICIENCY,
        launch_us=_LAUNCH_US,
        between_us=between_launches()[0],
        block_cycles=block_cycles(device.sm_count),
        sources=(),
        l2_size=l2 // 1024 if isinstance(l2, int) else None,
    )


def _product(name: str) -> Product | None:
    """Return the product of a name in a recording, None where none is known."""
    try:
        return find(name) if name else None
    except UsageError:
        return None


def _validation(
    launch: RecordedLaunch,
    functions: Mapping[int | None, Sequence[Function]],
    settings: Settings,
    hardware: Hardware,
    program: Launches | None,
) -> LaunchValidation:
    clock = hardware.clock_hz
    if launch.cycles is not None and launch.time_ns:
        clock = launch.cycles / launch.time_ns * _GIGA  # the actual clock: profilers lower it
    cycles = (
        launch.cycles if launch.cycles is not None else launch.time_ns * clock / _GIGA if launch.time_ns is not None and clock else None
    )
    failed = LaunchValidation(launch, cycles, clock, None, CountCheck(why="the kernel is not in the inputs"))
    arguments = _arguments(launch, program)
    images = dict.fromkeys((launch.image, None))  # a launch without an image has its kernel in the other inputs alone
    function = _kernel([function for image in images for function in functions.get(image, ())], launch, arguments)
    if isinstance(function, Gap):
        return replace(failed, missing=(function,))
    missing = tuple(_unknown(launch, hardware, cycles))
    if launch.block is None or launch.grid is None:
        return replace(failed, missing=missing, counts=CountCheck(why="the recording has no block and grid of the launch"))
    try:
        analysis = analyze(function, _settings(settings, function, launch, arguments, replace(hardware, clock_hz=clock)))
    except UsageError as error:
        if error.code not in ("launch", "parameter", "parameter-width"):
            raise
        return replace(failed, missing=(*missing, Gap(function.entry, "impossible-launch", error.message)))
    warps = prod(launch.grid) * ceil(prod(launch.block) / WARP_SIZE)
    counts = check_counts(analysis.cfg, analysis.bounds, analysis.wcet.counts, launch.counts, warps)
    bounded = analysis if hardware.sms is not None else replace(analysis, makespan=None)
    if analysis.residency is not None and analysis.residency.occupancy is None:
        missing += (Gap(function.entry, "unknown-occupancy", analysis.residency.why),)
    estimate = estimated(analysis, launch.counts) if hardware.gpu is not None else None
    return LaunchValidation(launch, cycles, clock, bounded, counts, missing, arguments is not None, estimate)


def _settings(
    settings: Settings, function: Function, launch: RecordedLaunch, arguments: ProgramLaunch | None, hardware: Hardware
) -> Settings:
    """Return the settings of a launch: its shape, its shared memory, and its arguments if they are known."""
    chosen = settings_of(settings, function, arguments) if arguments is not None else settings
    resources = settings.resources or Resources()
    if hardware.gpu is not None and hardware.gpu.architecture == function.arch:
        chosen = on_product(chosen, hardware.gpu)
    shared = arguments.shared if arguments is not None else launch.shared if launch.shared is not None else resources.shared
    return replace(
        chosen,
        launch=replace(chosen.launch, block=launch.block, grid=launch.grid),
        resources=Resources(resources.registers, shared, hardware.sms or 1),
        warps=None,
        gpu=_clocked(hardware),
    )


def _clocked(hardware: Hardware) -> Product | None:
    """Return the product at the clock of the launch, for which memory moves more bytes per cycle where it is low."""
    if hardware.gpu is None or hardware.clock_hz is None:
        return hardware.gpu
    gpu, clock = hardware.gpu, ceil(round(hardware.clock_hz / _MEGA, 3))
    kept = gpu.kept_clock if clock == gpu.boost_clock else None
    return replace(gpu, sms=hardware.sms or gpu.sms, boost_clock=clock, kept_clock=kept)


def _unknown(launch: RecordedLaunch, hardware: Hardware, cycles: float | None) -> Iterator[Gap]:
    if hardware.sms is None:
        yield Gap(0, "unknown-device", "the number of SMs is not in the recording: pass --sms N")
    if cycles is None and launch.time_ns is not None:
        yield Gap(0, "unknown-clock", "the recording has a time but no clock: pass --clock MHZ")
    if cycles is None and launch.time_ns is None:
        yield Gap(0, "unmeasured", "the recording has neither time nor cycles of this launch")
    if launch.block is None or launch.grid is None:
        yield Gap(0, "unknown-shape", "the recording has no block and grid")


def _arguments(launch: RecordedLaunch, program: Launches | None) -> ProgramLaunch | None:
    names = {launch.mangled, launch.kernel} - {""}
    shaped = [each for each in (program.launches if program is not None else ()) if (each.block, each.grid) == (launch.block, launch.grid)]
    # A mangled name says all of its template; a text may leave it out.
    same = [each for each in shaped if each.kernel in names] or [
        each for each in shaped if bare(each.kernel) == bare(launch.kernel) and fits(each.kernel, launch.kernel)
    ]
    if not same:
        return None
    usual, _ = max(((each, sum(other.count for other in same if _equal(each, other))) for each in same), key=lambda pair: pair[1])
    return replace(usual, contents=common(other.contents for other in same))


def _equal(left: ProgramLaunch, right: ProgramLaunch) -> bool:
    """Say whether two launches have the same arguments."""
    return (left.arguments, left.given) == (right.arguments, right.given)


def _kernel(functions: Sequence[Function], launch: RecordedLaunch, arguments: ProgramLaunch | None) -> Function | Gap:
    """Return the kernel of a launch by its mangled name, else by its bare name if that is unique; else a gap."""
    kernels = [function for function in functions if function.kernel]
    names = {launch.mangled, launch.kernel, arguments.kernel if arguments is not None else ""} - {""}
    exact = [function for function in kernels if function.name in names]
    if exact:
        return exact[0]
    alike = [function for function in kernels if bare(function.name) == bare(launch.kernel) and fits(function.name, launch.kernel)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        message = f"{len(alike)} kernels have the name {bare(launch.kernel)}: it is unknown which was launched"
        return Gap(0, "ambiguous-kernel", message)
    return Gap(0, "unknown-kernel", f"the inputs have no kernel {launch.kernel}: pass the cubin or program that contains it")
