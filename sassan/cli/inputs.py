"""What the user named: files, architectures, functions."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import typer

from sassan.app.reading import read_program
from sassan.app.result import AnalysisResult
from sassan.arch import architecture as architecture_of
from sassan.arch import named
from sassan.cli.output import failure
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import middle, note
from sassan.errors import InputError, SassanError, UsageError
from sassan.ipet.flow_facts import FlowFacts, check_functions
from sassan.ir import Function
from sassan.machine.launch import Launch, check

_NAMED = 3
"""Functions that a hint names."""


@dataclass(frozen=True, slots=True)
class Selected:
    """One function that the user asked for, and the file that it stands in, as typed."""

    file: str
    function: Function


@dataclass(frozen=True, slots=True)
class Result:
    """The analysis of one function, and the file that it stands in, as typed."""

    file: str
    analysis: AnalysisResult


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that could not be read, with its error, which has been printed."""

    file: str
    error: SassanError


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that the user named, in the order of the command line and of the files."""

    selected: tuple[Selected, ...]
    refused: tuple[Refused, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the chosen functions."""
        return tuple(one.function.name for one in self.selected)

    @property
    def status(self) -> int:
        """Return the exit status that the refused files call for, 0 when all were read."""
        return max((one.error.status for one in self.refused), default=0)


def architecture(text: str | None) -> str | None:
    """Return `sm_61` for `6.1`, `61` and `sm_61`.

    Raises UsageError `architecture`.
    """
    if text is None:
        return None
    name, _ = named(text)
    if not name:
        raise UsageError("architecture", f"unknown architecture '{text}'", hint="write it as 6.1 or sm_61")
    return name


def read(
    files: list[str],
    *,
    arch: str | None = None,
    patterns: list[str] | None = None,
    facts: FlowFacts | None = None,
    launch: Launch | None = None,
    cached: bool = True,
    partial: bool = False,
) -> Inputs:
    """Read the files and choose the functions; a file that is refused does not hide the others, and its error is printed.

    `cached` False disassembles cubins anew. `partial`: the files are a part of a project, and flow facts may be for other parts, too.

    Raises UsageError `unknown-function` when every file was read and a pattern matches nothing, `standard-input` when `-` is named twice;
    `unknown-parameter` when no kernel has one that the launch sets; InputError when the flow facts speak of a function that is not there
    or has changed.
    """
    if files.count("-") > 1:
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
    found: list[Selected] = []
    refused: list[Refused] = []
    for file in files:
        try:
            found.extend(Selected(file, one) for one in read_program(file, architecture(arch), cached=cached).functions)
        except SassanError as error:
            failure.show(error, file)
            refused.append(Refused(file, error))
    if not refused:
        _all_known(patterns or [], found)
        if facts is not None:
            check_functions(_here(facts, found) if partial else facts, (one.function for one in found))
        if launch is not None:
            check(launch, tuple(one.function for one in found if one.function.kernel))
    chosen = [one for one in found if wanted(one.function.name, patterns)]
    for text in dict.fromkeys(text for one in chosen for text in _inherited(one.function)):
        note(f"assumption: {text}\n")
    return Inputs(tuple(chosen), tuple(refused))


def _inherited(function: Function) -> tuple[str, ...]:
    """Return what every command takes for granted that reads the machine code of an SM whose code is that of another."""
    known = None if function.frames else architecture_of(function.arch)
    return known.assumptions("code") if known is not None else ()


def _here(facts: FlowFacts, found: list[Selected]) -> FlowFacts:
    """Return the facts of the functions that were found."""
    names = {one.function.name for one in found}
    return replace(facts, functions=tuple(one for one in facts.functions if one[0] in names))


def analyses(inputs: Inputs, run: Callable[[Function], AnalysisResult], what: str, *, quiet: bool) -> tuple[tuple[Result, ...], Inputs]:
    """Run an analysis over the chosen functions; one that is refused does not hide the others, and its error is printed, once per file."""
    results: list[Result] = []
    refused = list(inputs.refused)
    for one in track(inputs.selected, what, quiet=quiet):
        try:
            results.append(Result(one.file, run(one.function)))
        except UsageError:
            raise
        except SassanError as error:
            if not any(old.file == one.file and old.error.message == error.message for old in refused):
                failure.show(error, one.file)
                refused.append(Refused(one.file, error))
    return tuple(results), Inputs(inputs.selected, tuple(refused))


def finish(inputs: Inputs, wanted: Sequence[AnalysisResult] = ()) -> None:
    """End the command with the status of cli.md: refused files, else functions chosen with -f whose number cannot be given (`wanted`).

    Raises typer.Exit.
    """
    without = [one for one in wanted if one.wcet.value is None or (one.makespan and one.makespan.bound.value is None)]
    if without and not inputs.status:
        error = _no_number(without)
        failure.show(error)
        raise typer.Exit(error.status)
    if inputs.status:
        raise typer.Exit(inputs.status)


def _no_number(without: Sequence[AnalysisResult]) -> InputError:
    codes = sorted({gap.code for one in without for gap in one.gaps})
    names = ", ".join(middle(one.function.name, 40) for one in without[:_NAMED]) + (", …" if len(without) > _NAMED else "")
    reason = f"gaps forbid a bound ({', '.join(codes)})" if codes else f"no bound was proved ({without[0].wcet.status})"
    hint = (
        "give loop bounds with --bounds or --loop-bound; 'sassan ipet --facts-template' writes the file"
        if "unbounded-loop" in codes
        else None
    )
    return InputError("gaps", f"{names}: {reason}", hint=hint)


def wanted(name: str, patterns: Sequence[str] | None) -> bool:
    """Say whether a function is one of those chosen with -f; without a pattern, all are."""
    return not patterns or any(_matches(name, pattern) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _all_known(patterns: list[str], found: list[Selected]) -> None:
    names = [one.function.name for one in found]
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in names):
            raise UsageError("unknown-function", f"no function matches '{pattern}'", hint=_hint(pattern, names))


def _hint(pattern: str, names: list[str]) -> str:

    if not names:
        return "the input holds no function"
    near = difflib.get_close_matches(pattern, names, n=_NAMED, cutoff=0.3) or names[:_NAMED]
    shown = ", ".join(middle(name, 60) for name in near)
    return f"there are {len(names)}: {shown}{', …' if len(names) > len(near) else ''}"
