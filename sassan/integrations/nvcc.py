"""nvcc with an analysis after it: `sassan-nvcc -arch=sm_80 -c k.cu -o k.o`, or in front of a compiler: `sassan-nvcc nvcc -c k.cu`.

The real nvcc runs with the same arguments. Then `sassan analyze` runs over the file that it made, and prints to standard error. What is run
instead stands in `--sassan "COMMAND OPTIONS"`, before the other arguments, or in SASSAN_NVCC: `check --require-bounded --max-wcet 5000`
makes a build fail. An analysis never does. A file that failed its check is removed, as a compiler removes what it could not finish.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import MissingToolError, SassanError, UsageError

VARIABLE = "SASSAN_NVCC"
_OPTION = "--sassan"
_ANALYZE = ("analyze", "--quiet")
_COMMANDS = ("analyze", "check")
_INSTALL = "install the CUDA toolkit, put its nvcc on PATH, or name it first: sassan-nvcc /usr/local/cuda/bin/nvcc …"
_SECONDS = 600
_SOURCES = frozenset({".cu", ".c", ".cc", ".cpp", ".cxx", ".ptx", ".gpu"})
_LINKS = frozenset({"-dlink", "--device-link", "-rdc=true", "--relocatable-device-code=true"})
"""With these a link makes GPU code; any other only gathers what has been analyzed."""
_PHASES = (
    (("-c", "--compile", "-dc", "--device-c", "-dw", "--device-w"), ".o"),
    (("-cubin", "--cubin"), ".cubin"),
    (("-fatbin", "--fatbin"), ".fatbin"),
    (("-ptx", "--ptx"), ".ptx"),
)
"""Options that end the compilation early, and what their output is called after its source."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to do: the whole command line of the compiler, the command of sassan, and the files that the compiler is to make."""

    compiler: tuple[str, ...]
    command: tuple[str, ...]
    outputs: tuple[Path, ...]


def task(arguments: Sequence[str], environment: Mapping[str, str]) -> Task:
    """Return what the command line asks for.

    Raises UsageError for a command of sassan that is none, MissingToolError without a compiler.
    """
    rest = list(arguments)
    words = environment.get(VARIABLE, "")
    if rest and (rest[0] == _OPTION or rest[0].startswith(_OPTION + "=")):
        first = rest.pop(0)
        if "=" not in first and not rest:
            raise UsageError("usage", f"{_OPTION} needs a command", hint=f"{_OPTION} 'check --require-bounded'")
        words = first.partition("=")[2] if "=" in first else rest.pop(0)
    command = tuple(shlex.split(words)) or _ANALYZE
    if command[0] not in _COMMANDS:
        raise UsageError("usage", f"sassan has no '{command[0]}' for a build", hint=f"one of {', '.join(_COMMANDS)}")
    named = bool(rest) and not rest[0].startswith("-") and Path(rest[0]).stem.startswith("nvcc")
    compiler = rest.pop(0) if named else _nvcc(environment)
    return Task((compiler, *rest), command, outputs(rest))


def outputs(arguments: Sequence[str]) -> tuple[Path, ...]:
    """Return the files with GPU code that nvcc makes for these arguments, whether or not they come to be."""
    sources = [Path(one) for one in arguments if not one.startswith("-") and Path(one).suffix in _SOURCES]
    if not sources and not _LINKS.intersection(arguments):
        return ()
    named = _value(arguments, ("-o", "--output-file"))
    if named is not None:
        return (Path(named),)
    folder = Path(_value(arguments, ("-odir", "--output-directory")) or ".")
    for names, suffix in _PHASES:
        if any(one in names for one in arguments):
            return tuple(folder / source.with_suffix(suffix).name for source in sources)
    return (folder / ("a_dlink.o" if {"-dlink", "--device-link"}.intersection(arguments) else "a.out"),)


def _value(arguments: Sequence[str], names: tuple[str, ...]) -> str | None:
    found: str | None = None
    for one, following in zip(arguments, [*arguments[1:], None], strict=True):
        if one in names:
            found = following
        elif one.partition("=")[0] in names:
            found = one.partition("=")[2]
    return found


def _nvcc(environment: Mapping[str, str]) -> str:
    homes = [str(Path(home) / "bin") for name in ("CUDA_HOME", "CUDA_PATH") if (home := environment.get(name))]
    found = shutil.which("nvcc", path=os.pathsep.join([environment.get("PATH", ""), *homes]))
    if found is None:
        raise MissingToolError("nvcc-missing", "no nvcc was found", hint=_INSTALL)
    return found


def run(one: Task) -> int:
    """Run the compiler, then sassan over what is new; return the status of the compiler, or that of a check that failed."""
    before = {path: _stamp(path) for path in one.outputs}
    status = subprocess.run(one.compiler, check=False).returncode  # noqa: S603 - what the user typed
    if status != 0:
        return status
    made = [path for path in one.outputs if _stamp(path) not in (None, before[path])]
    if not made:
        return 0
    judged = _sassan(one, made)
    if judged == 0 or one.command[0] != "check":
        return 0
    for path in made:
        path.unlink()
    return judged


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_mtime_ns, known.st_ino


def _sassan(one: Task, made: Sequence[Path]) -> int:
    """Return the status of sassan over these files; its output goes to standard error, which no build reads."""
    # -P: what stands in the folder of the build must not come before the library.
    command = [sys.executable, "-P", "-m", "sassan", *one.command, *(os.fspath(path.absolute()) for path in made)]
    beside = str(Path(shutil.which(one.compiler[0]) or one.compiler[0]).resolve().parent)
    path = os.pathsep.join([os.environ.get("PATH", ""), beside])
    try:
        done = subprocess.run(command, stdout=sys.stderr, env={**os.environ, "PATH": path}, timeout=_SECONDS, check=False)  # noqa: S603 - our own program
    except subprocess.TimeoutExpired:
        _say(f"warning: sassan gave no answer in {_SECONDS} s\n")
        return UsageError.status
    return done.returncode


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def main() -> int:
    """Run the command line of this process; return its status."""
    try:
        return run(task(sys.argv[1:], os.environ))
    except SassanError as error:
        _say(f"error[{error.code}]: {error.message}\nhint: {error.hint}\n")
        return error.status
    except OSError as error:
        _say(f"error[nvcc-missing]: the compiler cannot be started: {error}\nhint: {_INSTALL}\n")
        return MissingToolError.status


if __name__ == "__main__":
    sys.exit(main())
