"""Architectures by name, and their facts by section: an SM's own, those of its generation, and what it takes from another SM."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from sassan.arch.architecture import Architecture
from sassan.arch.files import FORMAT, FactRow, File, Rows, cached, find, names
from sassan.errors import InputError
from sassan.source import Source, Span

_NAME = re.compile(r"(?:sm_?)?([0-9]{1,2})\.?([0-9])([af]?)", re.IGNORECASE | re.ASCII)
_DEEPEST = 16
"""Generations or SMs above one file."""


@cached
def architecture(text: str) -> Architecture | None:
    """Return the architecture that a text names, None where it names none or no file describes it.

    Raises InputError `bad-table` for a file that is not well formed.
    """
    name, variant = named(text)
    known = _architecture(name) if name else None
    return replace(known, variant=variant) if known is not None and variant else known


def named(text: str) -> tuple[str, str]:
    """Return the name and the variant of an architecture, described or not: `sm_90` and `a` of `sm_90a` or `9.0a`; '' for no name."""
    match = _NAME.fullmatch(text)
    return (f"sm_{int(match[1] + match[2])}", match[3].lower()) if match is not None else ("", "")


def described(text: str) -> Architecture:
    """Return the architecture of a name; raises InputError `unsupported-architecture` where no file describes it."""
    known = architecture(text)
    if known is None:
        raise unknown(text)
    return known


def with_code(text: str) -> Architecture | None:
    """Return the architecture of a name, None where no file describes its machine code."""
    known = architecture(text)
    return known if known is not None and known.isa else None


def unknown(text: str, source: Source | None = None, span: Span | None = None) -> InputError:
    """Return the error for an architecture whose machine code no file describes; `source` and `span` are where it is named."""
    hint = f"known: {known_names()}"
    return InputError("unsupported-architecture", f"unknown architecture {text}", source=source, span=span, hint=hint)


def known_names() -> str:
    """Return the architectures whose machine code is described, for a hint."""
    return ", ".join(name for name in names() if with_code(name) is not None)


@cached
def rows(name: str, section: str) -> Rows:
    """Return the rows of one section of an SM (`sm_61`); none where no file describes the SM, or none gives it that section.

    Raises InputError `bad-table`.
    """
    out: dict[str, FactRow] = {}
    for file in _sources(name, section):
        for path, row in file.own.get(section, {}).items():
            out.setdefault(path, row)
    return MappingProxyType(out)


def _architecture(name: str) -> Architecture | None:
    file = find(name)
    if file is None:
        return None
    plain = Architecture(name, int(name.removeprefix("sm_")), generation=_generation(file), inherited=tuple(_inherited(file)))
    code = rows(name, "code").get("")
    if code is None:
        return plain
    fields = code.fields
    fields.only("isa", "instruction_bytes", "control_words", "convergence_barriers", "short_immediates", "half_unit", "source")
    return replace(
        plain,
        isa=fields.text("isa"),
        instruction_bytes=fields.whole("instruction_bytes"),
        control_words=fields.flag("control_words"),
        convergence_barriers=fields.flag("convergence_barriers"),
        short_immediates=fields.flag("short_immediates"),
        half_unit=fields.text("half_unit", ""),
    )


def _sources(name: str, section: str) -> Iterator[File]:
    """Yield the files that give a section of an SM, the nearest first."""
    file = find(name)
    for _ in range(_DEEPEST):
        if file is None:
            return
        yield file
        parent = file.donor if section in file.inherits else file.generation
        file = _parent(file, parent) if parent else None
    raise FORMAT.refused(f"{name}: extends more than {_DEEPEST} files, or itself")


def _parent(file: File, name: str) -> File:
    parent = find(name)
    if parent is None:
        raise FORMAT.refused(f"{file.name}: no file describes {name}, which it extends")
    return parent


def _inherited(file: File) -> Iterator[tuple[str, str]]:
    """Yield each section that is taken from another SM with that SM: the one whose facts they are, however many SMs are between."""
    for section in file.inherits:
        yield (
            section,
            next(donor for donor in _donors(file) if donor is not file and (section in donor.own or section not in donor.inherits)).name,
        )


def _donors(file: File) -> Iterator[File]:
    """Yield an SM, the SM that it extends, and so on."""
    for _ in range(_DEEPEST):
        yield file
        if not file.donor:
            return
        file = _parent(file, file.donor)
    raise FORMAT.refused(f"{file.name}: extends more than {_DEEPEST} files, or itself")


def _generation(file: File) -> str:
    return next((donor.generation for donor in _donors(file) if donor.generation), "")
