"""The remedy of narrow accesses that follow each other in a thread: one access of all their bytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sassan.access.opcodes import MemorySpace, references, space
from sassan.access.transactions import LANES, LINE, SECTOR, WORD
from sassan.app.advise.changes import KernelAccess, accesses_of, with_averages
from sassan.app.advise.code import Code, FactsOf, editable, shortened, with_code, writes_of
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.watch import Key
from sassan.ir import Guard, Instruction, Memory, Register
from sassan.isa.registers import bit

_WIDEST = 16
"""Bytes of an access of a lane."""
_SPACES = (MemorySpace.GLOBAL, MemorySpace.SHARED, MemorySpace.GENERIC)
_NEAR = 0.9
_Kind = tuple[str, Guard | None, tuple[Register, ...], tuple[Register, ...]]
"""Opcode, guard, and registers of the address: what accesses have in common that may be one."""


@dataclass(frozen=True, slots=True)
class Adjacent:
    """Instructions of one kind at addresses that follow each other, in the order of the code; `bytes` of all of them."""

    code: tuple[Instruction, ...]
    bytes: int

    @property
    def stays(self) -> Instruction:
        """The one that makes the access of all: the first load, the last store."""
        return self.code[0] if self.code[0].opcode.startswith("LD") else self.code[-1]


def widened(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of accesses of a thread that follow each other."""
    prepared = launched.prepared
    if not editable(prepared):
        return
    known = {each.access.address: each for each in accesses_of(prepared.kernel) if each.average is not None}
    groups = [
        group
        for node in prepared.kernel.cfg.nodes
        for group in _adjacent(node.code, launched.result.isa.facts)
        if all(each.address in known for each in group.code) and _apart(group, known)
    ]
    if groups:
        places = tuple(sorted({each.address for group in groups for each in group.code}))
        narrow = max(groups, key=lambda group: len(group.code))
        width = narrow.bytes // len(narrow.code)
        why = f"{len(narrow.code)} accesses of {width} bytes of a thread follow each other: one of {narrow.bytes} bytes would do"
        sure = "likely: the same bytes; their address has to be a multiple of the width"
        yield Remedy(AdviceCode.VECTORIZE, places, why, _wide(prepared, groups, known), sure, EXAMPLES[AdviceCode.VECTORIZE])


def _adjacent(code: Code, facts_of: FactsOf) -> Iterator[Adjacent]:
    """Yield the groups of a node: of one opcode and base, at offsets that follow each other, and no base changes in between."""
    open_groups: dict[_Kind, list[tuple[int, Instruction, int]]] = {}
    for each in code:
        memory = next((operand for operand in each.operands if isinstance(operand, Memory)), None)
        reference = next(iter(references(each)), None)
        if memory is not None and reference is not None and space(each.opcode) in _SPACES and not reference.atomic and reference.bytes:
            key = each.opcode, each.guard, memory.base, memory.descriptor
            open_groups.setdefault(key, []).append((memory.offset, each, reference.bytes))
        written = writes_of(facts_of, each)
        for key in [key for key in open_groups if any(bit(register.file, register.index) & written for register in key[2])]:
            yield from _runs(open_groups.pop(key))
    for several in open_groups.values():
        yield from _runs(several)


def _runs(several: Sequence[tuple[int, Instruction, int]]) -> Iterator[Adjacent]:
    """Yield as long groups of neighbours as one access may have."""
    run: list[tuple[int, Instruction, int]] = []
    order = {each.address: place for place, (_, each, _) in enumerate(several)}
    for offset, each, size in [*sorted(several, key=lambda access: access[0]), (-1, several[0][1], 0)]:
        if run and (offset != run[-1][0] + size or size * (len(run) + 1) > _WIDEST):
            count = 1 << (len(run).bit_length() - 1)
            if count > 1:
                chosen = sorted((access for _, access, _ in run[:count]), key=lambda access: order[access.address])
                yield Adjacent(tuple(chosen), run[0][2] * count)
            run = []
        if size:
            run.append((offset, each, size))


def _apart(group: Adjacent, known: Mapping[int, KernelAccess]) -> bool:
    """Say whether lanes are at least as far from each other as the bytes of a group, or all at one place: no two access the same word."""
    of_first = known[group.stays.address].average
    assert of_first is not None
    if space(group.stays.opcode) is MemorySpace.SHARED:
        return True
    return of_first.sectors <= 1 or of_first.sectors >= _NEAR * LANES * min(group.bytes, SECTOR) / SECTOR


def _wide(prepared: Prepared, groups: Sequence[Adjacent], known: Mapping[int, KernelAccess]) -> Prepared:
    """Return a launch in which one access of each group has the bytes of all."""
    stays = {group.stays.address: group for group in groups}
    gone = {each.address for group in groups for each in group.code} - stays.keys()
    averages = dict[Key, AverageAccess]()
    for address, group in stays.items():
        several = [known[each.address] for each in group.code]
        key = known[address].key
        of_all = [each.average for each in several if each.average is not None]
        assert key is not None
        alone = max(each.sectors for each in of_all) <= 1
        filled = max(LANES * group.bytes / SECTOR, *(each.sectors for each in of_all))
        sectors = 1.0 if alone else min(sum(each.sectors for each in of_all), filled)
        averages[key] = replace(
            of_all[0],
            sectors=sectors,
            fresh=min(sectors, sum(each.fresh for each in of_all)),
            lines=min(sum(each.lines for each in of_all), max(1.0, sectors * SECTOR / LINE, *(each.lines for each in of_all))),
            passes=min(sum(each.passes for each in of_all), max(1.0, group.bytes / WORD)),
        )
    code = {
        number: shortened(node.code, lambda each: None if each.address in gone else _as_wide(each, stays))
        for number, node in enumerate(prepared.kernel.cfg.nodes)
    }
    return with_averages(with_code(prepared, code), averages)


def _as_wide(each: Instruction, stays: Mapping[int, Adjacent]) -> Instruction:
    if each.address not in stays:
        return each
    parts = [part for part in each.opcode.split(".") if part not in {"64", "128"}]
    return replace(each, opcode=".".join([*parts, str(8 * stays[each.address].bytes)]))
