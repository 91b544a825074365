"""`sassan record`: the launches of a program, recorded without a GPU."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sassan.app.reading import architecture
from sassan.cli.options.inputs import Quiet
from sassan.cli.output import failure
from sassan.cli.output.files import check_writable, save
from sassan.cli.output.terminal import note, safe
from sassan.errors import InputError, UsageError, is_full, no_space
from sassan.files import write
from sassan.launches import Launches, archive, text
from sassan.launches.data import LIMIT
from sassan.plurals import count_of
from sassan.record import DeviceChoice, RecordingLimits
from sassan.record import record as run

_INTERRUPTED = 130
_GIB = 1024 * 1024 * 1024
_MANY = 2**31 - 1
_NOTES = 20

Command = Annotated[list[str], typer.Argument(metavar="CMD…", help="The program and its arguments, after --.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="X.toml", help="File for the launches.")]
Sm = Annotated[
    str | None,
    typer.Option("--sm", metavar="8.6", help="The compute capability that the program sees.", show_default="the newest of its code"),
]
DeviceName = Annotated[str | None, typer.Option("--device-name", metavar="TEXT", help="The name of the GPU that the program sees.")]
DeviceSms = Annotated[int | None, typer.Option("--sms", metavar="N", min=1, max=10_000, help="The number of SMs of that GPU.")]
Memory = Annotated[float | None, typer.Option("--memory", metavar="GIB", min=0.001, max=100_000, help="The memory of that GPU.")]
ImagesFolder = Annotated[
    str | None,
    typer.Option("--images", metavar="DIR", help="Write the launched code into DIR; for Numba and Triton, which write no files."),
]
MaxLaunches = Annotated[
    int, typer.Option("--max-launches", metavar="N", min=1, max=50_000, help="Stop after N launches that differ from the previous one.")
]
TimeLimit = Annotated[float, typer.Option("--time-limit", metavar="S", min=0.01, max=1e6, help="Stop after S seconds.")]

Data = Annotated[
    str,
    typer.Option(
        "--data", metavar="SIZE", help="Keep at most so much of what the program copies into device memory: 64M, 1G; none keeps nothing."
    ),
]


def record(
    command: Command,
    *,
    output: Output = "launches.toml",
    sm: Sm = None,
    device_name: DeviceName = None,
    sms: DeviceSms = None,
    memory: Memory = None,
    max_launches: MaxLaunches = 10_000,
    time_limit: TimeLimit = 60.0,
    images: ImagesFolder = None,
    data: Data = "256M",
    quiet: Quiet = False,
) -> None:
    """Run a program without a GPU, and record its launches.

    Of each launch: grid, block, shared memory, arguments. The program runs with a stand-in for the CUDA runtime and driver:
    memory is memory of the host, copies are copies, and a launch is written down and not run, so what kernels would write stays zero.
    A program with the static runtime, nvcc's default, must not be stripped;
    libraries need the shared one (nvcc --cudart shared). Its output is its own; notes go to standard error.

    \b
    Examples:
      sassan record -o launches.toml -- ./program 4096 10
      sassan record -o launches.toml --sm 9.0 --time-limit 300 -- python3 train.py
      sassan analyze ./program --launches launches.toml --model control
      sassan record --images code -- python3 kernels.py
      sassan analyze code/*.cubin --launches launches.toml
    """
    path = Path(output)
    if output == "-":
        raise UsageError("unwritable-output", "standard output is used by the program", hint="pass a file in an existing folder with -o")
    check_writable(output)
    done = run(command, _choice(sm, device_name, sms, memory), RecordingLimits(max_launches, time_limit, _bytes(data)))
    beside = path.with_suffix(".data")
    if done.launches.data:
        save(beside, partial(archive, done.launches.data), quiet=True)
    save(path, text(done.launches, beside.name if done.launches.data else "").encode(), quiet=True)
    if images is not None:
        _write_images(done.images, Path(images))
    if not quiet:
        _print_notes(done.launches, output)
    if done.interrupted:
        raise typer.Exit(_INTERRUPTED)
    if not done.launches.launches:
        nothing = InputError("no-launches", f"'{command[0]}' launched no kernel", hint=_no_launches_hint(done.launches))
        failure.show(nothing)
        raise typer.Exit(nothing.status)


def _write_images(images: Sequence[tuple[str, bytes]], folder: Path) -> None:
    """Write each image under its hash."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for code, data in images:
            suffix = "cubin" if data.startswith(b"\x7fELF") else "ptx"
            write(folder / f"{code.removeprefix('sha256:')}.{suffix}", data.rstrip(b"\0") if suffix == "ptx" else data)
    except OSError as error:
        if is_full(error):
            raise no_space(f"in '{folder}'", error) from None
        raise UsageError("unwritable-output", f"'{folder}' cannot be written: {error.strerror or error}") from None


def _bytes(text: str) -> int:
    """Return how many bytes `64M` are. Raises UsageError."""
    size_text = re.fullmatch("([0-9]{1,12})([KMG]?)B?", text, re.ASCII | re.IGNORECASE)
    if text == "none":
        return 0
    if size_text is None or (size := int(size_text[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size_text[2].upper()]) > LIMIT:
        raise UsageError("record-data", f"--data {text!r} is not a size", hint="pass 64M, 1G at most, or none")
    return size


def _choice(sm: str | None, name: str | None, sms: int | None, memory: float | None) -> DeviceChoice:

    return DeviceChoice(architecture(sm), name, sms, int(memory * _GIB) if memory else None)


def _print_notes(done: Launches, output: str) -> None:
    kernels = len({launch.kernel for launch in done.launches})
    rows = len(done.launches)
    device = done.device.name if done.device is not None else ""
    note(
        f"recorded {count_of(done.total, 'launch', 'launches')} of {count_of(kernels, 'kernel')} ({count_of(rows, 'entry', 'entries')})"
        f" in {safe(output)}\n"
    )
    note(f"note: the program saw: {safe(device)}\n")
    for message in done.notes[:_NOTES]:
        note(f"note: {safe(message)}\n")
    if len(done.notes) > _NOTES:
        note(f"note: {len(done.notes) - _NOTES} more notes are in {safe(output)}\n")
    if done.cut:
        note(f"warning: stopped {safe(done.cut)}: later launches are missing\n")
    elif done.status:
        note(f"warning: the program exited with status {done.status}; its launches before that are recorded\n")


def _no_launches_hint(done: Launches) -> str:
    if done.status:
        return f"it exited with status {done.status}: pass the arguments and files that it needs"
    return "libraries of a program that hold a static CUDA runtime cannot be recorded: link them with nvcc --cudart shared"
