"""The text of a `launches.toml`: same recording, same bytes."""

from collections.abc import Iterator, Sequence

from sassan.checked import quoted
from sassan.launches.model import Argument, Launches, MemoryWrite, ProgramDevice, ProgramLaunch

_HEADER = (
    "# The launches of a program, recorded without a GPU by sassan record: no kernel ran, so memory that kernels write holds zeros,",
    "# and what the program decides by it may differ from a run on a GPU.",
)


def text(recording: Launches, data: str = "") -> str:
    """Return the recording as TOML; `data` is the name of the file beside it with the bytes that the host wrote."""
    named = [f"data = {quoted(data)}"] if data else []
    return "\n".join([*_HEADER, *_header(recording, named), *(line for launch in recording.launches for line in table(launch))]) + "\n"


def _header(recording: Launches, named: Sequence[str]) -> Iterator[str]:
    yield "schema = 1"
    yield from named
    if recording.program:
        yield f"program = {quoted(recording.program)}"
        yield f"arguments = {_texts(recording.arguments)}"
    if recording.status is not None:
        yield f"status = {recording.status}"
    if recording.cut:
        yield f"cut = {quoted(recording.cut)}"
    if recording.notes:
        yield f"notes = {_texts(recording.notes)}"
    if recording.device is not None:
        yield from _device(recording.device)


def _device(device: ProgramDevice) -> Iterator[str]:
    yield ""
    yield "[device]"
    yield f"name = {quoted(device.name)}"
    yield f"arch = {quoted(device.arch)}"
    yield f"sms = {device.sms}"
    yield f"memory = {device.memory}"


def table(launch: ProgramLaunch) -> Iterator[str]:
    """Yield the lines of one launch, a blank one first."""
    yield ""
    yield "[[launch]]"
    yield f"kernel = {quoted(launch.kernel)}"
    yield f"grid = {list(launch.grid)}"
    yield f"block = {list(launch.block)}"
    yield f"shared = {launch.shared}"
    for offset, each in launch.maps:
        yield f"# params at {offset}: {each}"
    if launch.arguments is not None:
        inner = ", ".join(_argument(argument) for argument in launch.arguments)
        yield f"params = [{inner}]"
    if launch.given:
        yield f"param = {_texts(tuple(map(str, launch.given)))}"
    yield f"count = {launch.count}"
    if launch.code is not None:
        yield f"code = {quoted(launch.code)}"
    if launch.stream:
        yield f"stream = {launch.stream}"
    yield from _manner(launch)
    if launch.writes:
        yield f"writes = [{', '.join(map(_write, launch.writes))}]"


def _manner(launch: ProgramLaunch) -> Iterator[str]:
    """Yield how it is launched beside its shape."""
    if launch.cluster is not None:
        yield f"cluster = {list(launch.cluster)}"
    if launch.preferred_cluster is not None:
        yield f"preferred_cluster = {list(launch.preferred_cluster)}"
    if launch.cooperative:
        yield "cooperative = true"
    if launch.programmatic:
        yield "programmatic = true"
    if launch.carveout is not None:
        yield f"carveout = {launch.carveout}"


def _argument(argument: Argument) -> str:
    name = f"name = {quoted(argument.name)}, " if argument.name else ""
    value = f'{name}offset = {argument.offset}, size = {argument.size}, value = "0x{argument.value:0{2 * argument.size}x}"'
    if argument.buffer is None:
        return f"{{{value}}}"
    buffer = argument.buffer
    host = ", host = true" * buffer.host + ", managed = true" * buffer.managed
    return f"{{{value}, pointer = {{buffer = {buffer.number}, offset = {buffer.offset}, size = {buffer.size}{host}}}}}"


def _write(write: MemoryWrite) -> str:
    data = f", data = {quoted(write.data)}" if write.data else ""
    source = f', source = "0x{write.source:x}"' if write.source is not None else ""
    return f'{{address = "0x{write.address:x}", size = {write.size}{data}{source}}}'


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(quoted(value) for value in values)}]"
