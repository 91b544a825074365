"""Every launch of a recording analyzed with its own block, grid, shared memory and arguments; equal ones once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

from sassan.app.analysis import analyze
from sassan.app.parameter_names import named
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.assumptions import Assumption, AssumptionStatus
from sassan.compilers.signatures import NamedParameter
from sassan.errors import Gap, UsageError
from sassan.ir import Function, Language
from sassan.launches import Argument, Launches, ProgramLaunch
from sassan.machine.launch import LaunchConfiguration, Shape, check
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting, layout, places
from sassan.machine.tensor_map import SIZE, TensorMap, tensor_maps

_POINTERS = "recorded pointers: where a bound depends on an address, it is that of the recording, 512 bytes aligned as on a GPU"
_PIECE = 8
"""Bytes of an argument that one setting holds: a structure is several."""


_COMPUTED = "memory that earlier launches wrote is what a run of them, in one order of their threads, leaves there: {} bytes"


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """What is known of one recorded launch; `result` is None where the inputs do not hold its kernel, or it cannot be launched.

    `file` is where the kernel stands, '' where nowhere.
    """

    launch: ProgramLaunch
    result: AnalysisResult | None
    file: str = ""
    missing: tuple[Gap, ...] = ()

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return everything that forbids a bound of the launch."""
        return (*self.missing, *(self.result.gaps if self.result is not None else ()))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the numbers of the launch rest on beside those of its result."""
        pointers = (_POINTERS,) if any(argument.buffer is not None for argument in self.launch.arguments or ()) else ()
        known = self.launch.contents
        if known is None:
            return pointers
        written = known.size - known.computed
        text = f"contents of memory as recorded: {written} bytes that the host wrote ({known.digest[:12]})"
        recorded = (Assumption(text, AssumptionStatus.RECORDED),) if written else ()
        return (*pointers, *recorded, *((_COMPUTED.format(known.computed),) if known.computed else ()))

    @property
    def wcet(self) -> int | None:
        """Return the bound of one warp, in the units of the cost model."""
        return self.result.wcet.value if self.result is not None and self.result.wcet.bound else None

    @property
    def us(self) -> float | None:
        """Return the bound of the whole grid in microseconds, None where no GPU is given."""
        return self.result.grid_us if self.result is not None else None

    @property
    def cycles(self) -> int | None:
        """Return the bound of the whole grid."""
        return self.result.grid_bound if self.result is not None else None


def different(launches: Iterable[LaunchResult]) -> tuple[AnalysisResult, ...]:
    """Return the results of launches, equal ones once, in the order of the first launch of each."""
    return tuple({id(each.result): each.result for each in launches if each.result is not None}.values())


def analyze_launches(functions: Sequence[tuple[str, Function]], recording: Launches, settings: Settings) -> Iterator[LaunchResult]:
    """Yield the analysis of each launch in order; `functions` are those of the inputs, each with its file.

    Raises what `analyze` raises, save for a launch that is impossible: that is a gap of it.
    """
    known: dict[tuple[int, ProgramLaunch, tuple[int, ...] | None, bool], LaunchResult] = {}
    for launch in recording.launches:
        place = kernel_of(functions, launch)
        if isinstance(place, Gap):
            yield LaunchResult(launch, None, missing=(place,))
            continue
        # What the time of a launch depends on: neither how often, nor on which stream, nor what buffer an address belongs to.
        key = (
            place,
            replace(launch, count=1, stream=0, arguments=_plain(launch.arguments), writes=()),
            _buffers(launch.arguments),
            _host(launch.arguments),
        )
        if key not in known:
            known[key] = _analysis(*functions[place], launch, settings)
        yield replace(known[key], launch=launch)


def kernel_of(functions: Sequence[tuple[str, Function]], launch: ProgramLaunch) -> int | Gap:
    """Return which function is the kernel of a launch: that of its name and, where both are known, of its code; a gap where none is."""
    named = [index for index, (_, function) in enumerate(functions) if function.name == launch.kernel and function.kernel]
    if not named:
        return Gap(0, "unknown-kernel", f"the inputs hold no kernel {launch.kernel}: name the program or library that holds it")
    same = [index for index in named if functions[index][1].image in ("", launch.code) or launch.code is None]
    if not same:
        return Gap(0, "other-code", f"{launch.kernel} is not the code that was launched: record the launches of this build again")
    return next((index for index in same if functions[index][1].image == launch.code), same[0])


def settings_of(settings: Settings, function: Function, launch: ProgramLaunch) -> Settings:
    """Return the settings with what a launch says: its shape, its arguments, and its shared memory where an occupancy is wanted."""
    given = settings.resources
    return replace(
        settings,
        launch=LaunchConfiguration(
            launch.block,
            launch.grid,
            (*_settings(function, launch.arguments or ()), *launch.given),
            maps=tuple(_maps(function, launch)),
            buffers=_buffers(launch.arguments),
            host=_host(launch.arguments),
            pinned=_pinned(launch.arguments),
            shared=function.compiler.shared + launch.shared if function.compiler is not None else None,
            targets=tuple(_targets(function, launch.arguments or ())),
            recorded=True,
            contents=launch.contents,
            initial=launch.initial,
            cluster=launch.cluster,
            preferred_cluster=launch.preferred_cluster,
        ),
        resources=Resources(given.registers, launch.shared, given.sms) if given is not None else None,
        warps=None,
    )


def _buffers(arguments: Sequence[Argument] | None) -> tuple[int, ...] | None:
    """Return the bytes of each buffer that a kernel gets, None where it may get others: in a structure, or at an unknown address."""
    buffers = {argument.buffer.number: argument.buffer.size for argument in arguments or () if argument.buffer is not None}
    hidden = any(argument.buffer is None and argument.size >= _PIECE and argument.value >> 32 for argument in arguments or ())
    return None if arguments is None or hidden else tuple(buffers.values())


def _host(arguments: Sequence[Argument] | None) -> bool:
    """Return whether a kernel gets memory of the host, or such that moves between host and GPU."""
    return any(argument.buffer is not None and argument.buffer.host for argument in arguments or ())


def _pinned(arguments: Sequence[Argument] | None) -> tuple[tuple[int, int], ...]:
    """Return address and bytes of each buffer that stays in memory of the host."""
    some = [(argument.value - argument.buffer.offset, argument.buffer) for argument in arguments or () if argument.buffer is not None]
    return tuple(sorted({(first, buffer.size) for first, buffer in some if buffer.host and not buffer.managed}))


def _plain(arguments: tuple[Argument, ...] | None) -> tuple[Argument, ...] | None:
    return None if arguments is None else tuple(replace(argument, buffer=None) for argument in arguments)


def _analysis(file: str, function: Function, launch: ProgramLaunch, settings: Settings) -> LaunchResult:
    function = _clustered(_named(function, launch.arguments or ()), launch.cluster)
    try:
        of_launch = settings_of(settings, function, launch)
        if launch.given:
            check(of_launch.launch, (function,))
        return LaunchResult(launch, analyze(function, of_launch, file), file)
    except UsageError as error:
        if error.code not in ("launch", "parameter", "parameter-width", "unknown-parameter"):
            raise
        return LaunchResult(launch, None, file, (Gap(function.entry, "impossible-launch", error.message),))


def _clustered(function: Function, cluster: Shape | None) -> Function:
    """Return a kernel that is launched in such clusters: code need not say that it is, nor need code that may be."""
    facts = function.compiler
    if cluster is None or (facts is not None and facts.cluster_extents is not None):
        return function
    if facts is not None:
        return replace(function, compiler=replace(facts, cluster=prod(cluster)))
    return replace(function, declared=replace(function.declared, cluster=prod(cluster)))


def _named(function: Function, arguments: Sequence[Argument]) -> Function:
    """Return a kernel with the names that the recording has of its parameters, where the input has none."""
    ordered = sorted(arguments, key=lambda argument: argument.offset)
    names = [NamedParameter(each.name, each.size) for each in takewhile(lambda argument: argument.name, ordered)]
    known = any(place.source for place in places(function))
    return named(function, names, further=True) if names and not known else function


def _settings(function: Function, arguments: Sequence[Argument]) -> Iterator[Setting]:
    """Yield the arguments as the analysis takes parameters: by their place in constant bank 0, of PTX by their number."""
    if function.language is Language.PTX:
        by_order = sorted(arguments, key=lambda argument: argument.offset)
        for place, argument in zip(places(function), by_order, strict=False):
            if place.size == argument.size <= _PIECE:
                yield Setting(place.name, -1, argument.value)
        return
    base = parameter_base(function)
    for argument in arguments if base is not None else ():
        data = argument.data
        hidden = {at + index for at, _ in tensor_maps(data) for index in range(0, SIZE, _PIECE)}
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            if at not in hidden:
                yield Setting("", (base or 0) + argument.offset + at, int.from_bytes(piece, "little"), len(piece))


def _targets(function: Function, arguments: Sequence[Argument]) -> Iterator[tuple[int, int]]:
    """Yield the place of each pointer argument in constant bank 0, and the bytes of its buffer; nothing of PTX."""
    base = None if function.language is Language.PTX else parameter_base(function)
    if base is not None:
        yield from ((base + each.offset, each.buffer.size) for each in arguments if each.buffer is not None)


def _maps(function: Function, launch: ProgramLaunch) -> Iterator[tuple[int, TensorMap]]:
    """Yield the tensor maps among the arguments of machine code, each with where it stands in constant bank 0."""
    base = None if function.language is Language.PTX else parameter_base(function)
    if base is not None:
        yield from ((base + offset, each) for offset, each in launch.maps)


def parameter_base(function: Function) -> int | None:
    """Return where the parameters of a kernel begin in constant bank 0, None where nothing says it."""
    if function.compiler is not None and function.compiler.parameter_base is not None:
        return function.compiler.parameter_base
    known = layout(function.arch)
    return known.parameters if known is not None else None
