"""nvcc with an analysis after it: `sassan-nvcc -arch=sm_80 -c k.cu -o k.o`, or in front of a compiler: `sassan-nvcc nvcc -c k.cu`.

The real nvcc runs with the same arguments. Then `sassan analyze` runs over the file that it made, and prints to standard error. What is run
instead stands in `--sassan "COMMAND OPTIONS"`, before the other arguments, or in SASSAN_NVCC: `check --require-bounded --max-wcet 5000`
makes a build fail. An analysis never does. A file that failed its check is removed, as a compiler removes what it could not finish.
With `--sassan-record` as the first argument, a program is linked with the shared CUDA runtime, so that `sassan record` can record it.
One object is a part of a project: a check runs with `--allow-unmatched`, and a file of host code alone has nothing to be checked.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from sassan.errors import InputError, MissingToolError, SassanError, UsageError
from sassan.integrations.nvcc_line import CommandLine, line
from sassan.names import visible
from sassan.system.processes import Process, put_off, start_typed, waited
from sassan.system.programs import folders, programs
from sassan.system.termination import terminations

VARIABLE = "SASSAN_NVCC"
_OPTION = "--sassan"
_SHARED = "--sassan-record"
_CUDART = ("-cudart", "--cudart")
_ANALYZE = ("analyze", "--quiet")
_COMMANDS = ("analyze", "check")
_INSTALL = "install the CUDA toolkit, put its nvcc on PATH, or name it first: sassan-nvcc /usr/local/cuda/bin/nvcc …"
_SECONDS = 600
_COMPILER_SECONDS = 86_400
"""A day: no build waits longer for one file."""
_GRACE_SECONDS = 5.0
"""For a compiler to end that was asked to."""
_NAME = re.compile(r'\$\(|[`"]')
"""What a shell runs, or what ends a name, between the double quotes in which nvcc hands names of files to one."""
_WORD = re.compile(r"(?<!\\)(?:\\\\)*(?:\$\(|`)")
"""What a shell runs in any other word, `-DX=$(date)`; quotes and `\\$(` are for it to take away."""
_BARE = re.compile(r"(?<!\\)(?:\\\\)*[;|&<>\n]")
"""What ends a command of a shell, or leads it elsewhere, in a word that nvcc puts between no quotes: `-Xptxas=;date`."""
_NOTHING = "nothing-to-check"
_INTERRUPTED = 130
"""The status of a command that Ctrl-C ended."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to do: the whole command line of the compiler, the command of sassan, and what the compiler is to make."""

    compiler: tuple[str, ...]
    command: tuple[str, ...]
    line: CommandLine

    @property
    def checks(self) -> bool:
        """Say whether the build depends on what sassan says."""
        return self.command[0] == "check"


def task(arguments: Sequence[str], environment: Mapping[str, str]) -> Task:
    """Return what the command line asks for.

    Raises UsageError for a command of sassan that is none or cannot be split into words, MissingToolError without a compiler.
    """
    rest = list(arguments)
    words = environment.get(VARIABLE, "")
    shared = rest[:1] == [_SHARED]
    rest = rest[1:] if shared else rest
    if rest and (rest[0] == _OPTION or rest[0].startswith(_OPTION + "=")):
        first = rest.pop(0)
        if "=" not in first and not rest:
            raise UsageError("usage", f"{_OPTION} needs a command", hint=f"{_OPTION} 'check --require-bounded'")
        words = first.partition("=")[2] if "=" in first else rest.pop(0)
    command = _split(words) or _ANALYZE
    if command[0] not in _COMMANDS:
        raise UsageError("usage", f"sassan has no '{command[0]}' for a build", hint=f"one of {', '.join(_COMMANDS)}")
    named = bool(rest) and not rest[0].startswith("-") and Path(rest[0]).stem.startswith("nvcc")
    compiler = rest.pop(0) if named else _nvcc(environment)
    if command[0] == "check":
        command = ("check", "--allow-unmatched", *command[1:])
    if shared:
        rest = _with_shared_runtime(rest)
    return Task((compiler, *rest), command, line(rest, environment))


def _with_shared_runtime(arguments: list[str]) -> list[str]:
    """Return the arguments with the option that links the shared CUDA runtime, in whose place `sassan record` stands."""
    kinds = [value for name, value in pairwise([*arguments, ""]) if name in _CUDART]
    kinds += [name.partition("=")[2] for name in arguments if name.partition("=")[0] in _CUDART and "=" in name]
    other = next((kind for kind in kinds if kind != "shared"), None)
    if other is not None:
        raise UsageError("usage", f"{_SHARED} links the shared CUDA runtime, and -cudart {other} another one", hint="drop one of them")
    return arguments if kinds else ["--cudart", "shared", *arguments]


def _split(words: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(words))
    except ValueError as error:
        message = f"the command of sassan cannot be split into words: {str(error).lower()}: {words}"
        raise UsageError("usage", message, hint=f"{_OPTION} 'check --require-bounded'; quotes come in pairs") from None


def _nvcc(environment: Mapping[str, str]) -> str:
    compiler = next(programs("nvcc", folders(environment)), None)
    if compiler is None:
        raise MissingToolError("nvcc-missing", "no nvcc was found", hint=_INSTALL)
    return compiler


def run(task: Task) -> int:
    """Run the compiler, then sassan over what it made; return the status of the compiler, or that of a check that failed."""
    before = {path: _stamp(path) for path in task.line.outputs}
    status = _compiled(task)
    if status != 0 or not task.line.compiles:
        return status
    _find_tools_of(task.compiler[0])
    files = [path for path in task.line.outputs if path.is_file() or not path.exists()]  # the others are devices, which keep nothing
    missing = [path for path in files if _stamp(path) in (None, before[path])]
    checked = _nothing(task, missing) if missing or not task.line.outputs else _check(task, files)
    if checked == 0 or not task.checks:
        return 0
    for path in files:
        if path not in missing:
            path.unlink()
    return checked


def _compiled(task: Task) -> int:
    """Return the status of the compiler; what nvcc would have the shell run a part of is refused."""
    names = (name for name in task.line.names if _NAME.search(name))
    words = (word for word in task.line.words if _WORD.search(word))
    word = next(chain(names, words, (word for word in task.line.bare if _BARE.search(word))), None)
    if word is not None:
        message = f"nvcc hands '{word}' to a shell, which does not take it as it is"
        raise UsageError(
            "unsafe-name",
            message,
            hint="write no $( and no backquotes, no quotes in the name of a file, and none of ; | & < > in an option",
        )
    status = _status(task.compiler, _COMPILER_SECONDS)
    if status is None:
        raise UsageError("compiler-time", f"the compiler did not end in {_COMPILER_SECONDS} s", hint="compile less at a time")
    return status


def _status(command: Sequence[str], seconds: float, stdout: int | None = None) -> int | None:
    """Return the status of a command, None where it does not end in time; it ends with this process, too."""
    with ExitStack() as ending:
        with put_off():
            process = start_typed(command, stdout=stdout)
            ending.callback(_end, process)
        return waited(process, seconds)


def _end(process: Process) -> None:
    """End a process that may be at work: the files that it could not finish are its own to remove."""
    if process.poll() is None:
        process.terminate()
        if waited(process, _GRACE_SECONDS) is None:
            process.kill()
            process.wait(_GRACE_SECONDS)


def _nothing(task: Task, missing: Sequence[Path]) -> int:
    """Say that what the compiler made was not found, which must pass for no check; return the status of that."""
    reason = f"the compiler wrote no '{visible(str(missing[0]))}'" if missing else "what the compiler wrote is not known"
    hint = "name the output with -o, and make a .o, .cubin, .fatbin, .ptx or a program"
    kind = f"error[{_NOTHING}]" if task.checks else "warning"
    _say(f"{kind}: {reason}, so nothing was {'checked' if task.checks else 'analyzed'}\nhint: {hint}\n")
    return InputError.status


def _check(task: Task, files: Sequence[Path]) -> int:
    """Return the status of sassan over what was made; a file of host code alone has nothing to analyze."""
    from sassan.integrations.gpu_code import is_host_only  # noqa: PLC0415 - a version that is asked for needs none of it

    host = [path for path in files if is_host_only(path)]
    rest = [path for path in files if path not in host]
    for path in task.line.outputs:
        if path not in rest:
            _say(f"note: '{visible(str(path))}' holds no GPU code: nothing to {task.command[0]}\n")
    return _sassan(task, rest) if rest else 0


def _find_tools_of(compiler: str) -> None:
    """Have this process and those that it starts find the disassemblers beside the compiler, behind all others."""
    beside = str(Path(shutil.which(compiler) or compiler).resolve().parent)
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), beside])


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_mtime_ns, known.st_ino


def _sassan(task: Task, made: Sequence[Path]) -> int:
    """Return the status of sassan over these files; its output goes to standard error, which no build reads."""
    # -P: what stands in the folder of the build must not come before the library.
    command = [sys.executable, "-P", "-m", "sassan", *task.command, *(os.fspath(path.absolute()) for path in made)]
    status = _status(command, _SECONDS, sys.stderr.fileno())
    if status is None:
        _say(f"warning: sassan gave no answer in {_SECONDS} s\n")
        return UsageError.status
    return status


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def main() -> int:
    """Run the command line of this process; return its status."""
    if sys.argv[1:] == ["--help"]:
        sys.stdout.write(f"{__doc__}\nsassan-nvcc nvcc --help shows the options of nvcc.\n")
        return 0
    with terminations() as received:
        try:
            return run(task(sys.argv[1:], os.environ))
        except SassanError as error:
            _say(f"error[{error.code}]: {visible(error.message)}\nhint: {error.hint}\n")
            return error.status
        except OSError as error:
            _say(f"error[nvcc-missing]: the compiler cannot be started: {visible(str(error))}\nhint: {_INSTALL}\n")
            return MissingToolError.status
        except KeyboardInterrupt:
            return _INTERRUPTED if received.status is None else received.status


if __name__ == "__main__":
    sys.exit(main())
