"""What is known of device memory at each launch of a recording: what the host wrote, where no kernel before, nor the launch, may store."""

from collections.abc import Sequence
from dataclasses import replace

from sassan.access import accesses
from sassan.access.opcodes import MemorySpace
from sassan.app.analysis import explored, launched
from sassan.app.earlier_launches import EarlierLaunches
from sassan.app.launches import kernel_of, parameter_base
from sassan.app.settings import Settings
from sassan.errors import Gap, SassanError
from sassan.ir import Function, Language
from sassan.isa.languages import isa_of
from sassan.launches import Launches, ProgramLaunch
from sassan.launches.memory import DeviceMemory, Range
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.parameters import places

_STORES = frozenset(("STG", "ST", "RED", "REDG", "UREDGR", "ATOM", "ATOMG"))
_ELSEWHERE = frozenset((MemorySpace.TEXTURE, MemorySpace.BULK))
_LOADS = frozenset(("TEX", "TEXS", "TLD", "TLDS", "TLD4", "TLD4S", "TXD", "SULD", "UTMALDG", "UTMAPF", "UBLKPF"))
_MOST_CONTENTS = 16
"""Different contents of memory for which the launches of a kernel are analyzed; for others, memory is not known."""


def with_contents(functions: Sequence[tuple[str, Function]], recording: Launches, earlier: EarlierLaunches | None = None) -> Launches:
    """Return a recording whose launches say what is known of memory; with `earlier`, launches are run, and what they store is known.

    Raises InputError where the file with the data cannot be used.
    """
    if not recording.data and earlier is None:
        return recording
    memory = DeviceMemory(recording.data)
    stores: dict[tuple[int, Shape], frozenset[int] | None] = {}
    met: dict[str, set[str]] = {}
    rows: list[ProgramLaunch] = []
    launches = recording.launches
    for launch in launches if earlier is None else earlier.observer.steps(launches, "running launches", len(launches)):
        for write in launch.writes:
            memory.write(write)
        place = kernel_of(functions, launch)
        ranges = None if isinstance(place, Gap) else _stored(functions, place, launch, stores)
        contents = memory.contents(ranges) if ranges is not None else None
        initial = contents if ranges == [] else memory.contents()
        known = met.setdefault(launch.kernel, set())
        if contents is not None and len(known | {contents.digest}) > _MOST_CONTENTS:
            contents = None
        known.update(() if contents is None else (contents.digest,))
        rows.append(replace(launch, contents=contents, initial=initial))
        left = earlier.run(functions[place][1], launch, memory) if earlier is not None and not isinstance(place, Gap) else None
        if left is not None:
            for part in left:
                memory.compute(part)
        elif ranges is None:
            memory.clear()
        else:
            for first, end in ranges:
                memory.forget(first, end)
    return replace(recording, launches=tuple(rows))


def _stored(
    functions: Sequence[tuple[str, Function]], place: int, launch: ProgramLaunch, stores: dict[tuple[int, Shape], frozenset[int] | None]
) -> list[Range] | None:
    """Return the buffers to which a launch may store, None where that is unknown; `stores` keeps what kernels store through."""
    if launch.count > 1 and any(write.source is not None for write in launch.writes):
        return None  # from the second launch on, the copies move what the one before has stored
    key = place, launch.block
    if key not in stores:
        stores[key] = stored_through(functions[place][1], launch.block)
    return _ranges(functions[place][1], launch, stores[key])


def stored_through(function: Function, block: Shape) -> frozenset[int] | None:
    """Return the pointers through which a kernel may store, by their place in constant bank 0; None where that is unknown.

    It holds for every grid of such blocks, whatever the arguments are.
    """
    if function.language is Language.PTX:
        return None
    settings = Settings(launch=LaunchConfiguration(block))
    try:
        cfg, isa = explored(function, isa_of(function, settings.letters), settings)
        values = launched(cfg, isa, settings)
    except SassanError:
        return None
    if values is None or values.cfg.gaps or values.cfg.externals:
        return None
    by_name = {place.name: place.offset for place in places(function)}
    out: set[int] = set()
    for access in accesses(values):
        name = access.opcode.partition(".")[0]
        if name in _STORES:
            if access.base not in by_name:
                return None
            out.add(by_name[access.base])
        elif access.space in _ELSEWHERE and name not in _LOADS:
            return None
    return frozenset(out)


def _ranges(function: Function, launch: ProgramLaunch, stores: frozenset[int] | None) -> list[Range] | None:
    """Return the buffers to which a launch may store, None where that is unknown."""
    base = parameter_base(function)
    if stores is None or launch.arguments is None or base is None:
        return None
    by_place = {base + argument.offset: argument for argument in launch.arguments}
    out: list[Range] = []
    for place in stores:
        argument = by_place.get(place)
        if argument is None or argument.buffer is None:
            return None  # no pointer, or memory that the recording does not know: just behind a buffer, or of another allocator
        first = argument.value - argument.buffer.offset
        out.append((first, first + argument.buffer.size))
    return out
