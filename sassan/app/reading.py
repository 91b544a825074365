"""Files that a user names, read: programs, flow facts, machines, measurements."""

from dataclasses import replace
from pathlib import Path

from sassan import frontend, machine, products
from sassan.app.parameter_names import with_source_names
from sassan.app.sources import Sources
from sassan.arch import named
from sassan.compilers.source import CompiledSource, Compiler, compiled, compiled_content, is_source, own_name, user_file
from sassan.errors import InputError, UsageError
from sassan.frontend.image import Image
from sassan.frontend.load import LIMIT
from sassan.ipet.facts import ffx
from sassan.ipet.facts import read as facts_file
from sassan.ipet.facts.model import FlowFacts
from sassan.ir import Function, Program
from sassan.machine import MachineFile
from sassan.machine.user import FORMAT
from sassan.products import Product
from sassan.source import decoded
from sassan.system.reading import read
from sassan.timing import latencies, measured

_ELF = b"\x7fELF"
_STANDARD_INPUT = "-"


def read_program(
    path: str, arch: str | None = None, *, cached: bool = True, target: str | None = None, first: Compiler = "nvcc"
) -> Program:
    """The program of a file (`-`: standard input).

    `arch` overrides the architecture that the file names; `cached` False disassembles again. CUDA source is compiled for `target`, else for
    `arch`, with the compiler that is tried `first` if it can. Parameters have the names of the source, where that is known and lies in the
    folder of the file.
    Raises InputError, MissingToolError, UsageError for CUDA source without an architecture.
    """
    if is_source(path):
        program = frontend.read(Image(path, compile_file(path, target or arch, cached=cached, first=first).cubin), cached=cached)
        program = replace(program, functions=tuple(_with_own_files(function, path) for function in program.functions))
    else:
        program = frontend.read(frontend.load(path), arch=arch, cached=cached)
    return program if path == _STANDARD_INPUT else with_source_names(program, Sources(str(Path(path).parent)))


def read_content(name: str, data: bytes, arch: str | None = None, *, cached: bool = True, first: Compiler = "nvcc") -> Program:
    """The program of the content of a file that goes by a name; CUDA source (`.cu`) is compiled for `arch`, and includes nothing beside it.

    Raises what `read_program` raises.
    """
    if not is_source(name) or data.startswith(_ELF):  # a caller may name a cubin after its source
        return frontend.read(frontend.content(name, data), arch=arch, cached=cached)
    code = compiled_content(Path(name).name, data, _known(name, arch), first=first)
    program = frontend.read(Image(name, code.cubin), cached=cached)
    functions = (
        replace(function, lines=tuple(replace(line, file=own_name(line.file)) for line in function.lines)) for function in program.functions
    )
    text = data.decode("utf-8", "replace")
    return with_source_names(replace(program, functions=tuple(functions)), Sources.of_text(Path(name).name, text))


def _with_own_files(function: Function, path: str) -> Function:
    """The function, with the files of its lines named as those of the source at `path` are."""
    return replace(function, lines=tuple(replace(line, file=user_file(path, line.file)) for line in function.lines))


def compile_file(path: str, architecture: str | None, *, cached: bool = True, first: Compiler = "nvcc") -> CompiledSource:
    """The PTX and the cubin of CUDA source in a file.

    Raises UsageError without an architecture, InputError, MissingToolError.
    """
    return compiled(path, _known(path, architecture), cached=cached, first=first)


def _known(path: str, architecture: str | None) -> str:
    if architecture is None:
        message = f"'{path}' is CUDA source, and the architecture to compile it for is not given"
        raise UsageError("no-architecture", message, hint="pass --arch sm_90 (--sm to a command without --arch), or --gpu NAME")
    return architecture


def read_facts(path: str) -> FlowFacts:
    """The flow facts of a file: TOML, or FFX as OTAWA reads it.

    Raises InputError.
    """
    text = read_text(path, "facts-syntax", "sassan ipet --facts-template writes such a file")
    return ffx.read(path, text) if ffx.is_ffx(path, text) else facts_file.read(path, text)


def read_machine(path: str) -> MachineFile:
    """The machine of a name such as `sm_61`, or of a user's file (`./sm_61` is one).

    Raises InputError.
    """
    try:
        known = machine.known(path)
        if known is None:
            known = machine.read_file(path, read_text(path, FORMAT.code, FORMAT.hint))
            latencies.known(known.latency, path)
    except InputError as error:
        error.hint = error.hint or "name an architecture such as sm_61, or a machine file (sassan/machine/README.md)"
        raise
    return known


def read_gpu(text: str) -> Product:
    """The product of a name such as `RTX 3080`, or of a user's file (`my.toml`).

    Raises UsageError for a name that fits none or several, InputError for a file that is refused.
    """
    if not text.endswith(".toml"):
        return products.find(text)
    gpu = products.read_file(text, read_text(text, products.FORMAT.code, products.FORMAT.hint), products.find)
    latencies.known(dict(gpu.latency), text, products.FORMAT.code)
    return gpu


def read_measurements(path: str) -> measured.MeasuredCostModel:
    """The measured block times of a file.

    Raises InputError.
    """
    return measured.read(path, read_text(path, "bad-measurements", "a table: CSV or TOML"))


def read_text(path: str, code: str, hint: str) -> str:
    """The text of a settings file; `code` and `hint` are those of the error for a file that is not text.

    Raises InputError.
    """
    try:
        data = read(path, LIMIT)
        if len(data) > LIMIT:
            raise InputError(code, f"{path}: larger than {LIMIT // 1024 // 1024} MiB", hint=hint)
        return decoded(data)
    except UnicodeDecodeError:
        raise InputError(code, f"{path}: not UTF-8 text", hint=hint) from None
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None


def architecture(text: str | None) -> str | None:
    """`sm_61` for `6.1`, `61` and `sm_61`.

    Raises UsageError `architecture`.
    """
    if text is None:
        return None
    name, _ = named(text)
    if not name:
        raise UsageError("architecture", f"unknown architecture '{text}'", hint="write it as 6.1 or sm_61")
    return name
