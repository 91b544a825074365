"""From the bytes of a cubin, or of a file that contains cubins, to functions."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from sassan.arch import Architecture, unknown, with_code
from sassan.errors import InputError
from sassan.frontend.assemble import SectionFacts
from sassan.frontend.cubin.debug import check_debug
from sassan.frontend.cubin.disassembly import CODE, LINES, PLAIN_SINCE, disassemble, without_lines
from sassan.frontend.cubin.elf import Elf, is_gpu, malformed, sm_of
from sassan.frontend.cubin.extract import cubins
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.cubin.lines import source_lines
from sassan.frontend.image import Image
from sassan.frontend.link import link
from sassan.ir import Function
from sassan.source import Source

_TEXT = ".text."
_DEBUG_LINES = ".debug_line"
_HEADER = 64
_RENAMED = re.compile(r"^[ \t]*\.map_symbolname (\S+) (\S+)$", re.MULTILINE)
_LABEL = re.compile(r"`\(([^()\n]+)\)")
NO_FUNCTION = "no-function"

Listed = Callable[[Source, Mapping[str, SectionFacts]], tuple[Function, ...]]
"""Reads a listing, given the facts of the cubin about each text section; the functions are not linked yet."""


def read_image(image: Image, listed: Listed, wanted: Architecture | None = None, *, cached: bool = True) -> tuple[Function, ...]:
    """Return the functions of an image; of several cubins, only of those for `wanted`, if there are any. `listed` reads the disassembly.

    Raises InputError, MissingToolError.
    """
    if image.kind == "ELF" and is_gpu(image):
        return _read_cubin(image, listed, cached=cached)
    images = cubins(image)
    wanted_images = [cubin for cubin in images if wanted is not None and is_gpu(cubin) and f"sm_{sm_of(cubin)}" == wanted.name]
    return _read_several(wanted_images or images, listed, cached=cached)


def _read_several(images: Sequence[Image], listed: Listed, *, cached: bool) -> tuple[Function, ...]:
    """Return the functions of all cubins of a container; those without code are skipped if others have code."""
    functions: list[Function] = []
    empty: InputError | None = None
    for image in images:
        try:
            functions += _read_cubin(image, listed, cached=cached)
        except InputError as error:
            if error.code != NO_FUNCTION:
                raise
            empty = error
    if not functions and empty is not None:
        raise empty
    return tuple(functions)


def _read_cubin(image: Image, listed: Listed, *, cached: bool) -> tuple[Function, ...]:
    arch = _architecture(image)
    elf = Elf(image)
    elf.check_symbols()
    check_debug(image, elf)
    facts = compiler_facts(image, elf, arch)
    if not facts:
        raise InputError(NO_FUNCTION, "the cubin contains no code", source=Source(image.name, ""))
    section_facts = {
        name: SectionFacts(elf.bytes_of(elf.by_name[_TEXT + name]), dict(fact.indirect_targets)) for name, fact in facts.items()
    }
    text, with_lines = _texts(image, elf, cached=cached)
    source = Source(image.name, _with_names_of_the_cubin(text) if elf.copies else text)
    functions = listed(source, section_facts)
    if sorted(function.name for function in functions) != sorted(facts):
        raise InputError(
            "listing-differs", "the functions of the disassembly differ from those of the cubin", source=Source(image.name, "")
        )
    lines = source_lines(with_lines, arch)
    digest = f"sha256:{sha256(image.data).hexdigest()}"
    return link(
        tuple(replace(function, compiler=facts[function.name], lines=lines.get(function.name, ()), image=digest) for function in functions)
    )


def _with_names_of_the_cubin(text: str) -> str:
    """Return a listing in which calls of functions that repeat one before have its name: nvdisasm numbers them."""
    renamed: dict[str, str] = dict(_RENAMED.findall(text))
    return _LABEL.sub(lambda label: f"`({renamed.get(label[1], label[1])})", text)


def _texts(image: Image, elf: Elf, *, cached: bool) -> tuple[str, str]:
    """Return the text of the code, and the one with source lines, '' without any: from one run where that says both.

    nvdisasm takes longer to start than for the code of most kernels.
    """
    debug = elf.by_name.get(_DEBUG_LINES)
    if debug is None or not debug.size:
        return disassemble(image, elf.sm, CODE, cached=cached), ""
    with_lines = disassemble(image, elf.sm, LINES, cached=cached)
    code = without_lines(with_lines) if elf.sm >= PLAIN_SINCE else None
    return (disassemble(image, elf.sm, CODE, cached=cached) if code is None else code), with_lines


def _architecture(image: Image) -> Architecture:
    if len(image.data) < _HEADER:
        raise malformed(image, f"it has {len(image.data)} bytes, less than a header")
    sm = sm_of(image)
    known = with_code(f"sm_{sm}")
    if known is None:
        raise unknown(f"sm_{sm}", Source(image.name, ""))
    return known
