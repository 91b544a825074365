"""PTX to a cubin with ptxas: from PATH, a toolkit, or a wheel (nvidia-cuda-nvcc-cu12, triton)."""

from sassan.errors import InputError, MissingToolError
from sassan.frontend.cubin.tools import Tool, tools
from sassan.scratch import scratch
from sassan.source import Source
from sassan.system.processes import ToolLimits, ToolProblem, run

PTXAS = "ptxas"
_LIMITS = ToolLimits(seconds=300, size=1_000_000)
INSTALL = "pip install nvidia-cuda-nvcc-cu12"


def assemble(ptx: bytes, *, arch: str, name: str = "source.ptx") -> bytes:
    """Return the cubin of PTX for `arch` (`sm_80`), from the newest ptxas that accepts it.

    Raises InputError `ptxas-failed`, MissingToolError `ptxas-missing`.
    """
    candidates = sorted(tools(PTXAS), key=_version, reverse=True)
    if not candidates:
        raise MissingToolError("ptxas-missing", "compiling PTX needs ptxas, which was not found", hint=INSTALL)
    problems: list[str] = []
    for tool in candidates:
        try:
            return _assembled(tool, ptx, arch)
        except ToolProblem as problem:
            problems.append(f"{tool.version}: {problem}")
    message = f"no ptxas accepts the PTX for {arch}: {problems[0]}"
    raise InputError(
        "ptxas-failed", message, source=Source(name, ""), hint=f"PTX of a newer compiler needs its ptxas on PATH, or: {INSTALL}"
    )


def _version(tool: Tool) -> tuple[int, ...]:
    return tuple(map(int, tool.version.split(".")))


def _assembled(tool: Tool, ptx: bytes, arch: str) -> bytes:
    with scratch() as folder:
        (folder / "in.ptx").write_bytes(ptx)
        run([tool.path, f"-arch={arch}", "in.ptx", "-o", "out.cubin"], folder, _LIMITS)
        try:
            return (folder / "out.cubin").read_bytes()
        except FileNotFoundError:
            raise ToolProblem("ptxas named no error, and left no cubin") from None
