"""From what a user asks to measure to a device, a task and a plan."""

from dataclasses import dataclass

from sassan.errors import InputError, UsageError
from sassan.frontend.load import load
from sassan.machine.launch import LaunchConfiguration, shape
from sassan.measure.sampling import cuda_source, gpu
from sassan.measure.sampling.cuda_source import CudaKernel
from sassan.measure.sampling.device import DATA_BYTES, Device, MeasureArgument, MeasureTask
from sassan.measure.sampling.runner import RUNS, MeasurePlan
from sassan.source import Source

_GROUPS = 5
_LARGEST = 1e18


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The kernel to measure and how, as given: None and () for what is not given.

    `block` and `grid` are extents (`16,16`), `arguments` texts such as `n=64`, `delays` seconds (`0,0.5`), `sweep` is `n=10,100`. Units:
    `pause` in seconds. `gpu` is the number of the device.
    """

    file: str
    kernel: str | None = None
    block: str | None = None
    grid: str | None = None
    arguments: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    runs: int | None = None
    groups: int | None = None
    delays: str | None = None
    pause: float | None = None
    sweep: str | None = None
    cycles: bool = False
    gpu: int | None = None

    def plan(self) -> MeasurePlan:
        """Return the plan; raises UsageError `bad-plan`, `bad-number`."""
        size, _, sizes = self.sweep.partition("=") if self.sweep is not None else (None, "", "")
        return MeasurePlan(
            self.runs if self.runs is not None else RUNS,
            self.groups if self.groups is not None else _GROUPS,
            _numbers(self.delays, "--delays") if self.delays is not None else (0.0,),
            self.pause or 0.0,
            size,
            _numbers(sizes, "--sweep") if size is not None else (),
        )


def prepared(request: MeasureRequest) -> tuple[Device, MeasureTask, MeasurePlan]:
    """Compile the kernel of a request for the GPU, and return both with the plan.

    Raises UsageError, InputError for a source or options that cannot be run, MissingToolError `no-gpu`, `missing-extra`.
    """
    plan = request.plan()
    kernel = _kernel(request)
    arguments = _arguments(kernel, request.arguments, plan.size)
    block, grid = shape(request.block or "32", "--block-dim"), shape(request.grid or "1", "--grid")
    LaunchConfiguration(block, grid)  # refuses what no GPU launches
    device = gpu.Gpu(request.gpu or 0)
    cubin = gpu.compile_cuda(kernel.source, request.file, device.arch, request.macros)
    return device, MeasureTask(cubin, kernel.name, grid, block, arguments, clocked=kernel.clocked), plan


def _arguments(kernel: CudaKernel, assignments: tuple[str, ...], swept: str | None) -> tuple[MeasureArgument, ...]:
    """Return the arguments of a kernel: given values, and default memory for other pointers.

    Raises UsageError `no-argument`, `bad-number`.
    """
    known = {parameter.name for parameter in kernel.parameters}
    given: dict[str, float] = {}
    for text in assignments:
        name, _, value = text.partition("=")
        if name not in known:
            raise UsageError(
                "no-argument", f"the kernel has no parameter '{name}'", hint=f"parameters: {', '.join(sorted(known)) or 'none'}"
            )
        given[name] = _numbers(value, f"--arg {name}")[0]
    missing = [
        parameter.name
        for parameter in kernel.parameters
        if parameter.kind != "pointer" and parameter.name not in given and parameter.name != swept
    ]
    if missing:
        raise UsageError("no-argument", f"parameter '{missing[0]}' has no value", hint=f"pass --arg {missing[0]}=V")
    return tuple(
        MeasureArgument(parameter.name, parameter.kind, given.get(parameter.name, DATA_BYTES if parameter.kind == "pointer" else 0))
        for parameter in kernel.parameters
    )


def _numbers(text: str, option: str) -> tuple[float, ...]:
    """Return the numbers of a list.

    Raises UsageError `bad-number`.
    """
    try:
        parsed = tuple(float(part) for part in text.split(","))
    except ValueError:
        parsed = ()
    if not parsed or any(not -_LARGEST < number < _LARGEST for number in parsed):  # neither infinite nor beyond 64 bits
        raise UsageError("bad-number", f"{option}: '{text}' is not a list of numbers")
    return parsed


def _kernel(request: MeasureRequest) -> CudaKernel:
    source = load(request.file)
    if not isinstance(source, Source):
        raise InputError("no-kernel", "the file is not CUDA source", source=Source(request.file, ""))
    name = request.kernel
    if name is None:
        names = cuda_source.kernels(source.text)
        if len(names) > 1:
            raise UsageError("several-kernels", f"{len(names)} kernels in the source: {', '.join(names)}", hint=f"pass --kernel {names[0]}")
        name = names[0] if names else ""
    return cuda_source.timed(source.text, name) if request.cycles else cuda_source.plain(source.text, name)
