"""Files that a user names, read: programs, flow facts, machines, measurements."""

from pathlib import Path

from sassan import frontend, machine
from sassan.errors import InputError
from sassan.ipet import flow_facts
from sassan.ipet.flow_facts import FlowFacts
from sassan.ir import Program
from sassan.machine import MachineFile
from sassan.machine.user import FORMAT
from sassan.timing import latencies, measured


def read_program(path: str, arch: str | None = None, *, cached: bool = True) -> Program:
    """The program of a file (`-`: standard input).

    `arch` overrides the architecture that the file names; `cached` False disassembles again. Raises InputError, MissingToolError.
    """
    return frontend.read(frontend.load(path), arch=arch, cached=cached)


def read_facts(path: str) -> FlowFacts:
    """The flow facts of a file.

    Raises InputError.
    """
    return flow_facts.read(path, read_text(path, "facts-syntax", "sassan ipet --facts-template writes such a file"))


def read_machine(path: str) -> MachineFile:
    """The machine of a name such as `sm_61`, or of a user's file (`./sm_61` is one).

    Raises InputError.
    """
    known = machine.known(path)
    if known is not None:
        return known
    user_file = machine.read_file(path, read_text(path, FORMAT.code, FORMAT.hint))
    latencies.known(user_file.latency, path)
    return user_file


def read_measurements(path: str) -> measured.Measured:
    """The measured block times of a file.

    Raises InputError.
    """
    return measured.read(path, read_text(path, "bad-measurements", "a table: CSV or TOML"))


def read_text(path: str, code: str, hint: str) -> str:
    """The text of a settings file; `code` and `hint` are those of the error for a file that is not text.

    Raises InputError.
    """
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError(code, f"{path}: not UTF-8 text", hint=hint) from None
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
