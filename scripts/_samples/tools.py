"""The compiler (NVRTC, in process) and the disassemblers (subprocesses) that make the samples."""

import ctypes
import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

NVRTC_WHEEL = "nvidia-cuda-nvrtc-cu12"
NVRTC_VERSION = "12.9.86"
DISASSEMBLER_WHEEL = "triton"
DISASSEMBLER_VERSION = "3.3.1"
TIME_LIMIT_S = 120


class MissingToolError(Exception):
    """A tool is not installed, or not in the version that the samples are made with."""


class ToolError(Exception):
    """A tool ran and failed; the message is its own."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of the tools, all checked to exist."""

    nvrtc: Path
    nvdisasm: Path
    cuobjdump: Path


def _package_folder(name: str) -> Path | None:
    """Return the folder of an installed package without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def nvrtc_library() -> Path:
    """Return the installed compiler.

    Raises:
        MissingToolError: it is not installed, or not in the version that the samples are made with.

    """
    command = f"pip install {NVRTC_WHEEL}=={NVRTC_VERSION}"
    folder = _package_folder("nvidia.cuda_nvrtc")
    library = folder / "lib" / "libnvrtc.so.12" if folder else None
    if library is None or not library.is_file():
        message = f"NVRTC is not installed: {command}"
        raise MissingToolError(message)
    version = metadata.version(NVRTC_WHEEL)
    if version != NVRTC_VERSION:
        message = f"NVRTC {version} is installed, the samples are made with {NVRTC_VERSION}: {command}"
        raise MissingToolError(message)
    return library


def _find_binary(name: str, folder: Path | None) -> Path:
    where = folder
    if where is None:
        package = _package_folder(DISASSEMBLER_WHEEL)
        where = package / "backends" / "nvidia" / "bin" if package else None
    path = shutil.which(name, path=str(where)) if where else None
    if path is None:
        wheel = f"{DISASSEMBLER_WHEEL}=={DISASSEMBLER_VERSION}"
        message = f"{name} was not found{f' in {folder}' if folder else ''}: pip install {wheel}, or give --tools DIR"
        raise MissingToolError(message)
    return Path(path).resolve()


def find_tools(folder: Path | None) -> Tools:
    """Return the tools; disassemblers come from ``folder`` or from the installed wheel.

    Raises:
        MissingToolError: one is not there; the message holds the command that installs it.

    """
    return Tools(nvrtc_library(), _find_binary("nvdisasm", folder), _find_binary("cuobjdump", folder))


def run(command: list[str], folder: Path) -> str:
    """Return the output of a command, run in ``folder`` so that its output contains no paths.

    Raises:
        ToolError: it failed, or it took longer than ``TIME_LIMIT_S`` seconds.

    """
    name = Path(command[0]).name
    try:
        done = subprocess.run(  # noqa: S603 - fixed tools, no shell
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        message = f"{name} {command[-1]}: no answer after {TIME_LIMIT_S} s"
        raise ToolError(message) from None
    if done.returncode != 0:
        message = f"{name} {command[-1]}: status {done.returncode}: {done.stderr.strip()}"
        raise ToolError(message)
    return done.stdout


def tool_version(binary: Path) -> str:
    """Return the version of an NVIDIA tool, for example ``12.8.55``."""
    last_word = run([str(binary), "--version"], binary.parent).split("release", 1)[1].split("\n", 1)[0]
    return last_word.rsplit("V", 1)[1].strip()


class Nvrtc:
    """NVIDIA's runtime compiler, reduced to: CUDA C++ in, cubin and PTX out."""

    def __init__(self, library: Path) -> None:
        """Load the library."""
        self._lib = ctypes.CDLL(str(library))

    def _call(self, name: str, *args: object) -> None:
        status = getattr(self._lib, name)(*args)
        if status != 0:
            message = f"{name}: NVRTC status {status}"
            raise ToolError(message)

    def _bytes(self, program: ctypes.c_void_p, artifact: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{artifact}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{artifact}", program, buffer)
        return buffer.raw

    def compile(self, source: str, name: str, options: list[str]) -> tuple[bytes, bytes]:
        """Return (cubin, PTX text) of one source.

        Raises:
            ToolError: it does not compile; the message is the compiler's log.

        """
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        try:
            if self._lib.nvrtcCompileProgram(program, len(options), array) != 0:
                raise ToolError(self._bytes(program, "ProgramLog").rstrip(b"\0").decode())
            return self._bytes(program, "CUBIN"), self._bytes(program, "PTX").rstrip(b"\0")
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))
