"""Inputs of a user: files, the functions in them, and which of these are meant."""

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from sassan.app.accesses import check_distinct
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.arch import architecture
from sassan.errors import InputError, OutOfTimeError, SassanError, UsageError
from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.flow_facts import check_functions
from sassan.ir import Function, Language
from sassan.machine.launch import check
from sassan.names import brief, spellings
from sassan.render.text import shorten
from sassan.source import Source

Item = TypeVar("Item")
_NAMED, _SIMILAR, _WIDEST = 3, 0.3, 60
"""How many functions a hint names, how similar they are to the pattern, and how many characters of a name it shows."""


@dataclass(frozen=True, slots=True)
class SelectedFunction:
    """A function that is meant, and the file that holds it, as the user names it."""

    file: str
    function: Function


def repeated(selected: Iterable[SelectedFunction]) -> tuple[str, ...]:
    """A note for each file and architecture in which several functions have one name."""
    notes: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for (file, arch, name), count in Counter((each.file, each.function.arch, each.function.name) for each in selected).items():
        if count > 1:
            notes.setdefault((file, arch), []).append((name, count))
    return tuple(
        f"{file}: {count} functions of {arch} are called '{shorten(name, _WIDEST)}'{_and_more(others)}; they are in the order of the file"
        for (file, arch), ((name, count), *others) in notes.items()
    )


def _and_more(names: Sequence[tuple[str, int]]) -> str:
    """Return how many functions have other names that are not theirs alone: `names` with the number of functions of each."""
    if not names:
        return ""
    functions = sum(count for _, count in names)
    return f", and {functions} have {len(names)} other {'name' if len(names) == 1 else 'names'} between them"


@dataclass(frozen=True, slots=True)
class RefusedInput:
    """An input that was refused, or of which a function was, with the error."""

    file: str
    error: SassanError


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that the user named, in the order of the files."""

    selected: tuple[SelectedFunction, ...]
    refused: tuple[RefusedInput, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions that are meant."""
        return tuple(selected.function.name for selected in self.selected)

    @property
    def status(self) -> int:
        """The exit status that the refused inputs call for, 0 where all were read."""
        return max((refused.error.status for refused in self.refused), default=0)


UNCOMPARED = "no data cover their encodings"
"""What is assumed of texts that are not compared."""


class RequestObserver:
    """Receives what happens while a request runs; this one lets it pass. A command line prints errors and shows progress."""

    def refused(self, refused: RefusedInput) -> None:
        """Take an input that is refused, at once."""

    def assumed(self, text: str) -> None:
        """Take an assumption that reading the inputs makes."""

    def noted(self, text: str) -> None:
        """Take a note on the inputs."""

    def steps(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        """Yield the items as they are worked on; `total` is how many there are, where that is known before."""
        del label, total
        yield from items


def inherited(functions: Sequence[Function]) -> tuple[str, ...]:
    """What reading these functions assumes, each once: machine code is that of another SM, texts are right, numbers no addresses."""
    known = (architecture(function.arch) for function in functions if function.language is Language.SASS)
    unchecked = sum(function.unchecked for function in functions)
    relocated = sum(function.relocated for function in functions)
    texts: list[str] = []
    if unchecked:
        texts.append(f"the texts of instructions are right where {UNCOMPARED}: {unchecked} of them")
    if relocated:
        texts.append(f"no number of a listing of cuobjdump is an offset from an address: it prints 0 for one in {relocated} moves at most")
    return (*dict.fromkeys(text for arch in known if arch is not None for text in arch.assumptions("code")), *texts)


def matches(name: str, pattern: str) -> bool:
    """Whether a name is the pattern, or matches it as a glob, in one of its spellings: mangled, demangled, without parameters."""
    return any(spelling == pattern or fnmatchcase(spelling, pattern) for spelling in spellings(name))


def wanted(name: str, patterns: Sequence[str]) -> bool:
    """Whether a function of this name is meant by one of the patterns; without a pattern, every function is."""
    return not patterns or any(matches(name, pattern) for pattern in patterns)


def read_functions(files: Sequence[str], arch: str | None, observer: RequestObserver, *, cached: bool, target: str | None = None) -> Inputs:
    """All functions of the files; a file that is refused, or a function, does not hide the others. CUDA source is compiled for `target`.

    Raises UsageError `standard-input` when `-` is named twice.
    """
    if list(files).count("-") > 1:
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
    functions: list[SelectedFunction] = []
    refused: list[RefusedInput] = []
    for file in files:
        try:
            read = read_program(file, arch, cached=cached, target=target).functions
            functions.extend(SelectedFunction(file, function) for function in read if function.contradiction is None)
            differing = [RefusedInput(file, _contradicting(file, function)) for function in read if function.contradiction is not None]
            for each in differing:
                observer.refused(each)
            refused += differing
        except OutOfTimeError as error:
            error.source = error.source or Source(file, "")
            raise
        except MemoryError:
            raise InputError("memory-limit", "reading it needs more memory than the limit", source=Source(file, "")) from None
        except SassanError as error:
            refused.append(RefusedInput(file, error))
            observer.refused(refused[-1])
    return Inputs(tuple(functions), tuple(refused))


def _contradicting(file: str, function: Function) -> InputError:
    """Return the error for a function whose text is not what its encodings say."""
    assert function.contradiction is not None
    address, message = function.contradiction
    span = next((instruction.span for instruction in function.instructions if instruction.address == address), function.span)
    hint = "the listing was changed: create it again, or remove all encodings"
    return InputError("text-differs", f"{shorten(function.name, _WIDEST)}: {message}", source=Source(file, ""), span=span, hint=hint)


def _exhausted(error: OutOfTimeError | MemoryError, function: Function, left: int) -> InputError:
    """Return the error for the function at which the time or the memory ended, behind which `left` others are not begun."""
    name, others = shorten(function.name, _WIDEST), f"; {left} more {'is' if left == 1 else 'are'} not begun" if left else ""
    if isinstance(error, OutOfTimeError):
        return InputError(error.code, f"'{name}' is not done within {error.seconds:g} s of the command{others}", hint=error.hint)
    hint = "raise --memory-limit, or choose functions with -f"
    return InputError("memory-limit", f"'{name}' needs more memory than the limit{others}", hint=hint)


def check_patterns(patterns: Sequence[str], names: Sequence[str]) -> None:
    """Raise UsageError `unknown-function` for a pattern that matches no name; the hint names similar ones."""
    for pattern in patterns:
        if not any(matches(name, pattern) for name in names):
            raise UsageError("unknown-function", f"no function matches '{pattern}'", hint=_hint(pattern, names))


def _hint(pattern: str, names: Sequence[str]) -> str:
    if not names:
        return "the input holds no function"
    known = list(dict.fromkeys(brief(name) for name in names))
    near = difflib.get_close_matches(pattern, known, n=_NAMED, cutoff=_SIMILAR) or known[:_NAMED]
    shown = ", ".join(shorten(name, _WIDEST) for name in near)
    return f"functions ({len(names)}): {shown}{', …' if len(names) > len(near) else ''}"


def check_settings(
    settings: Settings, functions: Sequence[Function], chosen: Sequence[Function], *, partial: bool = False, changed: bool = False
) -> None:
    """Hold flow facts against all functions of the input, parameters of the launch against the chosen ones.

    `partial`: the facts may be for other inputs, too, `changed`: for other code, of which parameters are not held against this one, either.
    Raises InputError for facts of a function that is missing or has changed, UsageError for a parameter that no chosen kernel has, or an
    atomic operation.
    """
    if settings.facts is not None:
        check_functions(facts_of(settings.facts, functions) if partial else settings.facts, functions, changed=changed)
    if not changed:
        check(settings.launch, kernels(chosen))
    check_distinct(settings, chosen)


def kernels(functions: Iterable[Function]) -> tuple[Function, ...]:
    """The kernels among functions."""
    return tuple(function for function in functions if function.kernel)


def facts_of(facts: FlowFacts, functions: Iterable[Function]) -> FlowFacts:
    """The facts of these functions alone."""
    names = {function.name for function in functions}
    return replace(facts, functions=tuple(entry for entry in facts.functions if entry[0] in names))


def each_function(
    inputs: Inputs, run: Callable[[SelectedFunction], Item], label: str, observer: RequestObserver
) -> tuple[tuple[Item, ...], Inputs]:
    """Run over the functions; one that is refused does not hide the others, and each error is reported once per file.

    Raises what `run` raises as UsageError.
    """
    results: list[Item] = []
    refused = list(inputs.refused)
    for selected in observer.steps(inputs.selected, label):
        try:
            results.append(run(selected))
        except UsageError:
            raise
        except (OutOfTimeError, MemoryError) as error:
            refused.append(RefusedInput(selected.file, _exhausted(error, selected.function, len(inputs.selected) - len(results) - 1)))
            observer.refused(refused[-1])
            break
        except SassanError as error:
            if not any((other.file, other.error.message) == (selected.file, error.message) for other in refused):
                refused.append(RefusedInput(selected.file, error))
                observer.refused(refused[-1])
    return tuple(results), replace(inputs, refused=tuple(refused))
