"""The facts of a cubin about its functions besides the code: `.nv.info`, section headers, shared memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sassan.arch import Architecture
from sassan.frontend.cubin.attributes import Attribute, AttributeKind, AttributeProblem, attributes, branches, words
from sassan.frontend.cubin.elf import Elf, ElfSection, malformed
from sassan.frontend.cubin.names import parameter_names
from sassan.frontend.image import Image
from sassan.ir import BlockLimit, CompilerFacts, Parameter

_INFO = ".nv.info"
_TEXT = ".text."
_SHARED = ".nv.shared."
_LITERALS = ".nv.constant2."
_POINTERS = ".nv.constant4"
"""The constant bank in which the compiler keeps addresses."""
_BARRIERS_SHIFT, _BARRIERS_MASK = 20, 0x7F
"""SHF_BARRIERS of a text section's flags; else NUM_BARRIERS gives the number."""

_MOST = 250_000
"""Limit on the attributes of one file: a kernel has some twenty, and reading this many takes half a second."""
_ALWAYS, _PER_BYTE = 4 * 1024 * 1024, 8
"""Bytes of attributes that any file may have, and those per byte of code: an instruction of 8 bytes may need 16."""

_OF_SYMBOL = {
    AttributeKind.REGCOUNT: "registers",
    AttributeKind.FRAME_SIZE: "frame_size",
    AttributeKind.MAX_STACK_SIZE: "max_stack",
}
"""Attributes of (symbol, number): they belong to the section's kernel when the symbol is the kernel's."""


@dataclass(slots=True)
class _Attributes:
    """The attributes of one function read so far."""

    targets: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    exits: list[int] | None = None
    parameters: list[Parameter] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    block: BlockLimit | None = None
    cluster_extents: tuple[int, int, int] | None = None


def compiler_facts(image: Image, elf: Elf, arch: Architecture) -> dict[str, CompilerFacts]:
    """Return the facts about every text section by its name; raises InputError malformed-elf."""
    code = {section.name.removeprefix(_TEXT): section for section in elf.code}
    _check_sizes(image, elf)
    reader = _Reader(elf, arch, {name: _Attributes() for name in code})
    for section in elf.sections:
        name = section.name.removeprefix(_INFO).removeprefix(".")
        if name and section.info in elf.copies:
            continue
        if section.name == _INFO or (section.name == f"{_INFO}.{name}" and name in code):
            try:
                reader.read(section, reader.by_function.get(name) if name else None)
            except AttributeProblem as problem:
                raise malformed(image, f"'{section.name}': {problem}") from None
    names, pointers = parameter_names(elf), elf.function_pointers(_POINTERS)
    for name, attributes_of in reader.by_function.items():
        attributes_of.parameters = list(_named(attributes_of.parameters, names.get(name, ())))
    out = {name: _facts(image, elf, section, reader.by_function[name]) for name, section in code.items()}
    return {name: replace(facts, pointers=pointers) for name, facts in out.items()} if pointers else out


def _named(parameters: list[Parameter], names: tuple[str, ...]) -> Iterator[Parameter]:
    """Yield the parameters in order, named if there is a distinct name for each."""
    ordered = sorted(parameters, key=lambda parameter: (parameter.ordinal, parameter.offset))
    fit = len(names) == len(ordered) == len(set(names)) and [parameter.ordinal for parameter in ordered] == list(range(len(ordered)))
    yield from (replace(parameter, name=names[parameter.ordinal]) for parameter in ordered) if fit else ordered


def _check_sizes(image: Image, elf: Elf) -> None:
    """Refuse attributes that are read more than once, or are far too many for the code: reading them could take for ever."""
    limit = min(len(image.data), _ALWAYS + _PER_BYTE * sum(section.size for section in elf.code))
    if sum(section.size for section in elf.sections if section.name.startswith(_INFO)) > limit:
        raise malformed(image, f"the sections of attributes are larger than {limit} bytes together")


class _Reader:
    """Reads the sections of attributes of one file; `by_function` collects them per function."""

    def __init__(self, elf: Elf, arch: Architecture, by_function: dict[str, _Attributes]) -> None:
        """Start with nothing read."""
        self._elf = elf
        self._arch = arch
        self.by_function = by_function
        self._left = _MOST

    def read(self, section: ElfSection, function: _Attributes | None) -> None:
        """Read a section; `function` is the one it belongs to, None for the section of the file. Raises AttributeProblem."""
        for attribute in attributes(self._elf.bytes_of(section)):
            self._left -= 1
            if self._left < 0:
                raise AttributeProblem(f"the file has more than {_MOST} attributes")
            if attribute.kind in _OF_SYMBOL:
                index, number = words(attribute, 2)
                target = self.by_function.get(self._elf.symbol_name(index))
                if target is not None:
                    target.numbers[_OF_SYMBOL[AttributeKind(attribute.kind)]] = number
            elif function is not None:
                _add(attribute, function, self._arch)


def _add(attribute: Attribute, function: _Attributes, arch: Architecture) -> None:
    match attribute.kind:
        case AttributeKind.INDIRECT_BRANCH_TARGETS:
            for branch in branches(attribute):
                if branch.targets:
                    function.targets.append((branch.address, tuple(arch.normalise(target) for target in branch.targets)))
                else:
                    function.calls.append(branch.address)
        case AttributeKind.EXIT_INSTR_OFFSETS:
            function.exits = function.exits or []
            function.exits.extend(words(attribute))
        case AttributeKind.PARAM_CBANK:
            place = words(attribute, 2)[1]
            function.numbers["parameter_base"], function.numbers["parameter_size"] = place & 0xFFFF, place >> 16
        case AttributeKind.KPARAM_INFO:
            _, place, layout = words(attribute, 3)
            function.parameters.append(Parameter(place & 0xFFFF, place >> 16, layout >> 18))
        case AttributeKind.NUM_BARRIERS:
            function.numbers["barriers"] = attribute.value
        case _:
            _launch(attribute, function)


def _launch(attribute: Attribute, function: _Attributes) -> None:
    """Read the blocks and clusters that may be launched: what the code requires takes precedence over what it allows."""
    numbers = function.numbers
    match attribute.kind:
        case AttributeKind.REQNTID | AttributeKind.MAX_THREADS:
            x, y, z = words(attribute, 3)
            if function.block is None or not function.block.exact:
                function.block = BlockLimit((x, y, z), attribute.kind == AttributeKind.REQNTID)
        case AttributeKind.CTA_PER_CLUSTER:
            x, y, z = words(attribute, 3)
            numbers["cluster"], function.cluster_extents = x * y * z, (x, y, z)
        case AttributeKind.MAX_CLUSTER_RANK:
            numbers["cluster"] = numbers.get("cluster") or words(attribute, 1)[0]
        case AttributeKind.EXPLICIT_CLUSTER:
            numbers.setdefault("cluster", 0)
        case _:
            pass


def _facts(image: Image, elf: Elf, section: ElfSection, attributes: _Attributes) -> CompilerFacts:
    name = section.name.removeprefix(_TEXT)
    shared, literals = elf.by_name.get(_SHARED + name), elf.by_name.get(_LITERALS + name)
    moved = any(f"{prefix}{_LITERALS}{name}" in elf.by_name for prefix in (".rel", ".rela"))
    barriers = section.flags >> _BARRIERS_SHIFT & _BARRIERS_MASK
    facts = CompilerFacts(
        section.size,
        tuple(sorted(attributes.targets)),
        tuple(sorted(attributes.calls)),
        None if attributes.exits is None else tuple(sorted(attributes.exits)),
        shared=shared.size if shared else 0,
        parameters=tuple(attributes.parameters),
        literals=elf.bytes_of(literals) if literals is not None and not moved else b"",
        block=attributes.block,
        pointers=(),
        cluster_extents=attributes.cluster_extents,
        **{"barriers": barriers, **attributes.numbers},
    )
    for address in _addresses(facts):
        if not 0 <= address < section.size:
            raise malformed(
                image, f"'{_INFO}.{name}' refers to code at 0x{address:04x}, but the function has only 0x{section.size:x} bytes"
            )
    return facts


def _addresses(facts: CompilerFacts) -> Iterator[int]:
    yield from facts.exits or ()
    yield from facts.indirect_calls
    for address, targets in facts.indirect_targets:
        yield address
        yield from targets
