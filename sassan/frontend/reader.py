"""Recognises the kind of an input, and reads it."""

import re
from functools import partial
from typing import TYPE_CHECKING

from sassan.arch import Architecture, known_names, unknown, with_code
from sassan.errors import InputError, UsageError
from sassan.frontend.image import Image
from sassan.ir import Function, Program
from sassan.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sassan.frontend.assemble import SectionFacts
    from sassan.frontend.instructions import Parser
    from sassan.frontend.sections import TextSection

_CUOBJDUMP = re.compile(r"^[ \t]*(?:code for sm_|Function : )", re.MULTILINE)
_NVDISASM = re.compile(r"^[ \t]*(?:\.section[ \t]|\.headerflags[ \t])", re.MULTILINE)
_PTX = re.compile(r"^[ \t]*\.version[ \t]+[0-9]", re.MULTILINE)
_PTX_PART = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.(?:entry|func)\b", re.MULTILINE)
_OLD = re.compile(r"^[ \t]*(?:code for (sm_[0-9]{2,3}[af]?)|\.headerflags[ \t].*?[ \"](EF_CUDA_SM[0-9]{2,3})\b)", re.MULTILINE)
_CUOBJDUMP_WORDS, _PTX_WORDS = ("code for sm_", "Function : "), (".version",)
_DUMP_HINT = "create a listing with: cuobjdump -sass FILE > dump.sass, or nvdisasm -c FILE > dump.sass"


def read(source: Source | Image, *, arch: str | None = None, cached: bool = True) -> Program:
    """Return the functions of a listing in the order of the text, or those of a cubin or of a file that contains cubins.

    `arch` (`sm_61`) overrides the architecture in the input; of several cubins it selects those for it, if there are any. `cached` False
    disassembles a cubin again.

    Raises InputError with one of the codes empty-input, binary-input, unknown-input, no-function, no-architecture,
    unsupported-architecture, truncated, syntax, missing-instructions, missing-encodings, undefined-label; of PTX also those of
    `ptx.read.read_ptx`; of an image also malformed-elf, unsupported-elf, no-gpu-code, nvdisasm-failed, cuobjdump-failed, listing-differs,
    too-large, and MissingToolError nvdisasm-missing or cuobjdump-missing; UsageError when `arch` is unknown.
    """
    from sassan.frontend.instructions import TemplateParser  # noqa: PLC0415 - see read_with

    return read_with(source, TemplateParser, arch=arch, cached=cached)


def read_with(source: Source | Image, make_parser: "Callable[[], Parser]", *, arch: str | None = None, cached: bool = True) -> Program:
    """Return the result of `read` with the instruction parser of `make_parser`: tests compare the two parsers."""
    # Imported here because lark, which these depend on, is slow to import and `sassan --help` needs none of it.
    from sassan.frontend.link import link  # noqa: PLC0415

    forced = _forced(arch)
    if isinstance(source, Image):
        from sassan.frontend.cubin.read import read_image  # noqa: PLC0415 - only cubins need it

        return Program(source.name, read_image(source, partial(_listed, make_parser, forced), forced, cached=cached))
    if is_ptx(source):
        from sassan.frontend.ptx.read import read_ptx  # noqa: PLC0415 - see read_with

        return Program(source.name, read_ptx(source, forced.name if forced else None))
    return Program(source.name, link(_listed(make_parser, forced, source, {})))


def _listed(
    make_parser: "Callable[[], Parser]", forced: Architecture | None, source: Source, facts: "Mapping[str, SectionFacts]"
) -> tuple[Function, ...]:
    """Return the functions of a listing, not linked; `facts` are those of a cubin about each section, by name."""
    from sassan.frontend.assemble import assemble, refuse_contradictions  # noqa: PLC0415 - see read_with

    refuse_other_kinds(source)
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n")
    sections = _sections(source, text, forced is not None)
    parser = make_parser()
    functions = tuple(
        assemble(source, section, forced or _architecture_of(source, section), parser, facts.get(section.name))
        for section in sections
        if not _is_copy(source, section, facts)
    )
    if not functions:
        raise InputError("no-function", "the listing contains no code", source=source, span=_top(source), hint=_DUMP_HINT)
    refuse_contradictions(source, functions)
    return functions


def _is_copy(source: Source, section: "TextSection", facts: "Mapping[str, SectionFacts]") -> bool:
    """Say whether a section repeats the code of one before with its name, as only the cubin shows.

    Raises InputError for a listing without its cubin.
    """
    if not section.original or section.name in facts:
        return False
    if section.original not in facts:
        message = f"two functions are called '{section.original}'"
        hint = "pass the cubin: if they have the same code, one of them stands for both"
        raise InputError("same-name", message, source=source, span=section.span, hint=hint)
    return True


def is_ptx(source: Source) -> bool:
    """Say whether a text is PTX: a module, a part of one, or, by the name of its file, single statements as papers print them.

    A text with both machine code and PTX is read as machine code.
    """
    text = source.text
    if _search(_CUOBJDUMP, _CUOBJDUMP_WORDS, text) or "\0" in text or not text.strip("\ufeff \t\r\n"):
        return False
    if _search(_PTX, _PTX_WORDS, text):
        return True
    return not _NVDISASM.search(text) and (bool(_PTX_PART.search(text)) or source.name.endswith(".ptx"))


def _search(pattern: re.Pattern[str], words: tuple[str, ...], text: str) -> re.Match[str] | None:
    """Return the first match of a pattern; each match contains one of `words`, so that a text without them is not searched line by line."""
    return pattern.search(text) if any(word in text for word in words) else None


def refuse_other_kinds(source: Source) -> None:
    """Raise InputError unless the text looks like a SASS listing."""
    text = source.text
    if not text.strip("\ufeff \t\r\n"):
        raise InputError("empty-input", "the input is empty; expected a SASS listing", source=source, hint=_DUMP_HINT)
    if "\0" in text:
        raise InputError("binary-input", "the input contains NUL bytes; expected text", source=source, span=_top(source), hint=_DUMP_HINT)
    if _NVDISASM.search(text) or _search(_CUOBJDUMP, _CUOBJDUMP_WORDS, text):
        return
    raise InputError(
        "unknown-input",
        "the input is neither a SASS listing nor PTX; expected 'Function : NAME', '.headerflags' and '.section .text.NAME', or '.version'",
        source=source,
        span=_top(source),
        hint=_DUMP_HINT,
    )


def _forced(arch: str | None) -> Architecture | None:
    if arch is None:
        return None
    known = with_code(arch)
    if known is None:
        raise UsageError("unsupported-architecture", f"unknown architecture {arch}", hint=f"known: {known_names()}")
    return known


def _sections(source: Source, text: str, forced: bool) -> "list[TextSection]":
    from sassan.frontend.sections import cuobjdump_sections, nvdisasm_sections  # noqa: PLC0415 - see read_with

    if not forced:
        _refuse_old(source, text)
    complete = text if text.endswith("\n") else text + "\n"
    old, new = _search(_CUOBJDUMP, _CUOBJDUMP_WORDS, text), _NVDISASM.search(text)
    is_cuobjdump = old is not None and (new is None or old.start() < new.start())
    sections = list((cuobjdump_sections if is_cuobjdump else nvdisasm_sections)(source, complete))
    if complete is not text:
        _refuse_cut_line(source, text)
    return sections


def _refuse_old(source: Source, text: str) -> None:
    """Refuse an architecture that is not known before its unknown syntax is met."""
    for match in _OLD.finditer(text):
        name = match[1] or "sm_" + match[2].removeprefix("EF_CUDA_SM")
        if with_code(name) is None:
            line = text.count("\n", 0, match.start()) + 1
            raise unknown(name, source, Span(line, 1, match.end() - match.start()))


def _refuse_cut_line(source: Source, text: str) -> None:
    """Refuse a last line without an end, unless it is one that ends a function."""
    from sassan.frontend.sections import cut_line  # noqa: PLC0415 - see read_with

    last = text.rpartition("\n")[2].rstrip()
    if last.strip(" \t.") and not (last[0] not in " \t" and last.endswith(":")):
        raise cut_line(source, text.count("\n") + 1)


def _architecture_of(source: Source, section: "TextSection") -> Architecture:
    known = with_code(section.arch)
    if known is not None:
        return known
    if section.arch:
        raise unknown(section.arch, source, section.span)
    raise InputError(
        "no-architecture",
        f"the architecture of '{section.name}' is missing; expected 'code for sm_NN' or .headerflags",
        source=source,
        span=section.span,
        hint="pass --sm",
    )


def _top(source: Source) -> Span:
    return Span(1, 1, max(1, min(80, len(source.line(1)))))
