"""What a cubin says of its functions beside the code: `.nv.info`, section headers, constant banks, shared memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod

from sassan.arch import Architecture
from sassan.frontend.cubin.attributes import Attribute, AttributeProblem, Kind, attributes, branches, words
from sassan.frontend.cubin.elf import Elf, Section, malformed
from sassan.frontend.cubin.names import parameter_names
from sassan.frontend.image import Image
from sassan.ir import CompilerFacts, Parameter

_INFO = ".nv.info"
_TEXT = ".text."
_SHARED = ".nv.shared."
_CONSTANT = re.compile(r"\.nv\.constant([0-9]{1,2})\.(.*)", re.DOTALL)
_BARRIERS_SHIFT, _BARRIERS_MASK = 20, 0x7F
"""SHF_BARRIERS of a text section's flags; NUM_BARRIERS says it where they do not."""

_MOST = 250_000
"""Attributes of one file: a kernel has some twenty, and reading this many takes half a second."""
_ALWAYS, _PER_BYTE = 4 * 1024 * 1024, 8
"""Bytes of attributes that any file may have, and those that a byte of code may bring: a token of 8 bytes brings 16."""

_OF_SYMBOL = {
    Kind.REGCOUNT: "registers",
    Kind.FRAME_SIZE: "frame_size",
    Kind.MIN_STACK_SIZE: "min_stack",
    Kind.MAX_STACK_SIZE: "max_stack",
}
"""Attributes of (symbol, number): they speak of the section's kernel when the symbol is the kernel's."""


@dataclass(slots=True)
class _Found:
    """What the attributes of one function have said so far."""

    targets: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    exits: list[int] | None = None
    parameters: list[Parameter] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)


def compiler_facts(image: Image, elf: Elf, arch: Architecture) -> dict[str, CompilerFacts]:
    """Return for the name of every text section what the cubin says of it; raises InputError malformed-elf."""
    code = {section.name.removeprefix(_TEXT): section for section in elf.code}
    _check_sizes(image, elf)
    reader = _Reader(elf, arch, {name: _Found() for name in code})
    for section in elf.sections:
        name = section.name.removeprefix(_INFO).removeprefix(".")
        if section.name == _INFO or (section.name == f"{_INFO}.{name}" and name in code):
            try:
                reader.read(section, reader.found.get(name) if name else None)
            except AttributeProblem as problem:
                raise malformed(image, f"'{section.name}': {problem}") from None
    banks, names = _constants(elf), parameter_names(elf)
    for name, found in reader.found.items():
        found.parameters = list(_named(found.parameters, names.get(name, ())))
    return {name: _facts(image, elf, section, reader.found[name], banks.get(name, ())) for name, section in code.items()}


def _named(parameters: list[Parameter], names: tuple[str, ...]) -> Iterator[Parameter]:
    """Yield the parameters in order, named where there is one name of its own for each."""
    ordered = sorted(parameters, key=lambda one: (one.ordinal, one.offset))
    fit = len(names) == len(ordered) == len(set(names)) and [one.ordinal for one in ordered] == list(range(len(ordered)))
    yield from (replace(one, name=names[one.ordinal]) for one in ordered) if fit else ordered


def _check_sizes(image: Image, elf: Elf) -> None:
    """Refuse attributes that would be read more than once, or are far more than the code calls for: reading them could take for ever."""
    limit = min(len(image.data), _ALWAYS + _PER_BYTE * sum(one.size for one in elf.code))
    if sum(one.size for one in elf.sections if one.name.startswith(_INFO)) > limit:
        raise malformed(image, f"the sections of attributes have more than {limit} bytes together")


class _Reader:
    """Reads the sections of attributes of one file; `found` is what they say of each function."""

    def __init__(self, elf: Elf, arch: Architecture, found: dict[str, _Found]) -> None:
        """Start with nothing read."""
        self._elf = elf
        self._arch = arch
        self.found = found
        self._left = _MOST

    def read(self, section: Section, own: _Found | None) -> None:
        """Read a section; `own` is the function that it speaks of, None for that of the file. Raises AttributeProblem."""
        for one in attributes(self._elf.bytes_of(section)):
            self._left -= 1
            if self._left < 0:
                raise AttributeProblem(f"the file has more than {_MOST} attributes")
            if one.kind in _OF_SYMBOL:
                index, number = words(one, 2)
                found = self.found.get(self._elf.symbol_name(index))
                if found is not None:
                    found.numbers[_OF_SYMBOL[Kind(one.kind)]] = number
            elif own is not None:
                _own(one, own, self._arch)


def _own(one: Attribute, found: _Found, arch: Architecture) -> None:
    match one.kind:
        case Kind.INDIRECT_BRANCH_TARGETS:
            for branch in branches(one):
                if branch.targets:
                    found.targets.append((branch.address, tuple(arch.normalise(target) for target in branch.targets)))
                else:
                    found.calls.append(branch.address)
        case Kind.EXIT_INSTR_OFFSETS:
            found.exits = found.exits or []
            found.exits.extend(words(one))
        case Kind.CRS_STACK_SIZE:
            (found.numbers["crs_stack"],) = words(one, 1)
        case Kind.PARAM_CBANK:
            place = words(one, 2)[1]
            found.numbers["parameter_base"], found.numbers["parameter_size"] = place & 0xFFFF, place >> 16
        case Kind.KPARAM_INFO:
            _, place, layout = words(one, 3)
            found.parameters.append(Parameter(place & 0xFFFF, place >> 16, layout >> 18))
        case Kind.NUM_BARRIERS:
            found.numbers["barriers"] = one.value
        case _:
            _cluster(one, found.numbers)


def _cluster(one: Attribute, numbers: dict[str, int]) -> None:
    """Read how many blocks a cluster has: what the code asks for goes over what it allows."""
    match one.kind:
        case Kind.CTA_PER_CLUSTER:
            numbers["cluster"] = prod(words(one, 3))
        case Kind.MAX_CLUSTER_RANK:
            numbers["cluster"] = numbers.get("cluster") or words(one, 1)[0]
        case Kind.EXPLICIT_CLUSTER:
            numbers.setdefault("cluster", 0)
        case _:
            pass


def _constants(elf: Elf) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return for each function the (bank, size) of its own constant banks, in order."""
    out: dict[str, list[tuple[int, int]]] = {}
    for section in elf.sections:
        found = _CONSTANT.fullmatch(section.name)
        if found:
            out.setdefault(found[2], []).append((int(found[1]), section.size))
    return {name: tuple(sorted(banks)) for name, banks in out.items()}


def _facts(image: Image, elf: Elf, section: Section, found: _Found, banks: tuple[tuple[int, int], ...]) -> CompilerFacts:
    name = section.name.removeprefix(_TEXT)
    shared = elf.by_name.get(_SHARED + name)
    barriers = section.flags >> _BARRIERS_SHIFT & _BARRIERS_MASK
    facts = CompilerFacts(
        section.size,
        tuple(sorted(found.targets)),
        tuple(sorted(found.calls)),
        None if found.exits is None else tuple(sorted(found.exits)),
        shared=shared.size if shared else 0,
        parameters=tuple(found.parameters),
        constants=banks,
        **{"barriers": barriers, **found.numbers},
    )
    for address in _addresses(facts):
        if not 0 <= address < section.size:
            raise malformed(image, f"'{_INFO}.{name}' speaks of code at 0x{address:04x}, and the function has 0x{section.size:x} bytes")
    return facts


def _addresses(facts: CompilerFacts) -> Iterator[int]:
    yield from facts.exits or ()
    yield from facts.indirect_calls
    for address, targets in facts.indirect_targets:
        yield address
        yield from targets
