"""What an access is expected to move: its transactions, and how many of them the caches answer.

Guesses, each as simple as it can be:

* where the first address lies in a sector is not known: as many sectors as lie halfway between the least and the most;
* lanes of which nothing is known, or rows of them, access SCATTERED times as many sectors as their bytes need;
* loads of one block by one register hit L1 where an earlier one has fetched the sector;
* a load of one place by all lanes goes through an array, and misses once per sector;
* lanes at unknown words of shared memory fall on banks at random;
* what spills to local memory stays in L1;
* a copy by warps looks lines up, or receives their sectors, while those before are written to shared memory: the longer of both counts;
* atomic operations of an instruction wait for each other at the sector that most are at, and for those of others on its line;
* DRAM gives each byte of the buffers of a launch once, where they are known; what fits L2 is there before the launch.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import L2_ATOMICS, MemorySpace
from sassan.access.transactions import LANES, LINE, SECTOR
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.figures import Figures
from sassan.estimate.roles.copies import Copied
from sassan.estimate.watch import Key
from sassan.ir import Instruction, Memory, Register
from sassan.machine.memory_pipeline import MemoryPipeline

SCATTERED = 2
_RANDOM = 3.5
"""Lanes on the fullest of 32 banks where each of 32 falls on any of them, on average."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What one execution of an instruction moves: `cycles` of the memory pipeline, `sectors` beyond L1.

    `guessed`: nothing is known of its lanes. `serial`: cycles for which one unit of L2 works on operations of lanes, for all warps.
    `quicker`: how many times as fast as to loads L2 gives its bytes.
    """

    cycles: float = 0.0
    sectors: float = 0.0
    guessed: bool = False
    serial: float = 0.0
    quicker: float = 1.0

    @property
    def bytes(self) -> float:
        """Return the bytes that L2 moves."""
        return self.sectors * SECTOR


def expected(
    accesses: Sequence[Access],
    nodes: Sequence[Sequence[Instruction]],
    pipeline: MemoryPipeline,
    accessed: Mapping[Key, AverageAccess],
) -> Mapping[int, Expected]:
    """Return what accesses move, by address; `nodes` are the instructions of each node, `accessed` is what warps did that were run."""
    by_address: dict[int, list[Access]] = {}
    for access in accesses:
        by_address.setdefault(access.address, []).append(access)
    fresh = {address: share for node in nodes for address, share in _fresh(node, by_address).items()}
    seen: dict[int, list[AverageAccess]] = {}
    for address, _ in sorted(accessed):
        seen.setdefault(address, []).append(accessed[address, _])
    alike = _one_unit(accessed.values())
    out: dict[int, Expected] = {}
    for address, several in by_address.items():
        known = seen.get(address, [])
        each = [
            _seen(access, sampled, pipeline)
            if sampled is not None and not sampled.drawn
            else _of(access, fresh.get(address, 1.0), pipeline)
            for access, sampled in zip_longest(several, known[: len(several)])
        ]
        out[address] = Expected(
            max(cost.cycles for cost in each),
            sum(cost.sectors for cost in each),
            any(cost.guessed for cost in each),
            sum(cost.serial for cost in each) * alike,
        )
    return out


def copied(copies: Mapping[int, Copied], figures: Figures) -> Mapping[int, Expected]:
    """Return what copies by the copy engine move, by their addresses; they pass L1 by, and L2 answers some of those of one box together."""
    return {
        address: Expected(
            max(each.passed / figures.engine, each.rows * figures.box_row),
            each.requested / SECTOR,
            quicker=figures.bulk / (1 - figures.together * (1 - each.different)),
        )
        for address, each in copies.items()
    }


def _one_unit(accessed: Iterable[AverageAccess]) -> float:
    """Return which part of the atomic operations that wait are on one line: a unit of L2 works on each."""
    by_place: dict[int, float] = {}
    for each in accessed:
        by_place[each.place] = by_place.get(each.place, 0.0) + each.hot
    return max(by_place.values()) / total if (total := sum(by_place.values())) else 1.0


def _seen(access: Access, accessed: AverageAccess, pipeline: MemoryPipeline) -> Expected:
    name = access.opcode.partition(".")[0]
    match access.space:
        case MemorySpace.SHARED:
            return Expected(accessed.passes * _pass(access, pipeline))
        case MemorySpace.CONSTANT:
            return Expected(accessed.passes * pipeline.constant)
        case MemorySpace.LOCAL:
            return _of(access, 1.0, pipeline)
        case _:
            beyond = accessed.sectors if name.startswith("ST") or name in L2_ATOMICS else accessed.fresh
            return Expected(
                max(accessed.lines * pipeline.line, beyond * SECTOR / pipeline.port), beyond, serial=accessed.hot * _usual(access, pipeline)
            )


def _of(access: Access, fresh: float, pipeline: MemoryPipeline) -> Expected:
    name = access.opcode.partition(".")[0]
    scattered = access.pattern is AccessPattern.SCATTERED
    match access.space:
        case MemorySpace.SHARED:
            passes = _middle(access.passes)
            if scattered:
                passes = _RANDOM * (access.ideal or 1)
            return Expected(passes * _pass(access, pipeline), guessed=scattered)
        case MemorySpace.CONSTANT:
            return Expected((1.0 if scattered else _middle(access.passes)) * pipeline.constant, guessed=scattered)
        case MemorySpace.BULK:
            return Expected(guessed=True)
        case MemorySpace.TEXTURE:
            return Expected(4.0, 4.0, guessed=True)
        case MemorySpace.LOCAL:
            sectors = _middle(access.sectors)
            return Expected(sectors if scattered else max(1.0, sectors * SECTOR / LINE), guessed=scattered)
        case _:
            pass
    apart = scattered or access.pattern is AccessPattern.ROWS
    most = LANES if access.sectors is None else access.sectors.most
    sectors = float(min(most, SCATTERED * (access.ideal or 1))) if apart else _middle(access.sectors)
    lines = sectors if apart else _middle(access.lines)
    store = name.startswith("ST") or name in L2_ATOMICS
    if not store and access.pattern is AccessPattern.BROADCAST:
        fresh = min(fresh, access.bytes / SECTOR)
    beyond = sectors if store else sectors * fresh
    return Expected(max(lines * pipeline.line, beyond * SECTOR / pipeline.port), beyond, scattered)


def _pass(access: Access, pipeline: MemoryPipeline) -> float:
    """Return what a pass over the banks of shared memory takes."""
    return _usual(access, pipeline) if access.opcode.partition(".")[0] == "ATOMS" else pipeline.shared


def _usual(access: Access, pipeline: MemoryPipeline) -> float:
    """Return for how long an atomic operation usually keeps its word; one cycle where no rate is known."""
    rate = pipeline.atomics.rate(access.opcode)
    return 1.0 if rate is None else rate.usual


def _middle(count: tuple[int, int] | None) -> float:
    return 1.0 if count is None else (count[0] + count[1]) / 2


def _fresh(node: Sequence[Instruction], accesses: Mapping[int, Sequence[Access]]) -> Mapping[int, float]:
    """Return which part of its sectors each load of a node is the first to access, among those with the same address register."""
    out: dict[int, float] = {}
    accessed: dict[frozenset[tuple[str, int | None]], set[int]] = {}
    for instruction in node:
        memory = next((operand for operand in instruction.operands if isinstance(operand, Memory)), None)
        access = next(
            (each for each in accesses.get(instruction.address, ()) if each.space in (MemorySpace.GLOBAL, MemorySpace.GENERIC)), None
        )
        if memory is not None and access is not None and memory.base and instruction.opcode.startswith("LD"):
            known = accessed.setdefault(frozenset((register.file, register.index) for register in memory.base), set())
            sectors = _sectors(access, memory)
            out[instruction.address] = len(sectors - known) / len(sectors) if sectors else 1.0
            known |= sectors
        for key in [key for key in accessed if _written(instruction) & key]:
            del accessed[key]
    return out


def _written(instruction: Instruction) -> frozenset[tuple[str, int | None]]:
    """Return the registers that an instruction may write, were its result as wide as a result can be."""
    first = instruction.operands[0] if instruction.operands else None
    if not isinstance(first, Register) or first.index is None or instruction.opcode.startswith("ST"):
        return frozenset()
    return frozenset((first.file, first.index + step) for step in range(4))


def _sectors(access: Access, memory: Memory) -> set[int]:
    start, stride = memory.offset, access.stride
    if stride is None:  # every lane has sectors of its own
        return set(range(start // SECTOR, (start + access.bytes - 1) // SECTOR + 1))
    lanes = [start + lane * stride for lane in range(LANES)]
    return {block for at in lanes for block in range(at // SECTOR, (at + access.bytes - 1) // SECTOR + 1)}
