"""What a warp-level CFG takes for granted, in words: every bound over it prints them."""

from collections.abc import Iterator

from sassan.assumptions import proved, published
from sassan.isa.computations import NEVER_HOLDS
from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import Blocks
from sassan.warpcfg.options import EITHER, Options

POINTERS = "a call through a pointer enters a device function of this input, at its start"
SAVED = "no store through a pointer or beyond an array overwrites what a function saved on its stack: return addresses, registers, barriers"
PHASE = (
    "a test of one phase of one barrier in shared memory gives all lanes that execute it together one answer, "
    "and their arrivals together at one barrier are in one phase"
)
VALUE_ASSUMPTIONS = ("one load from one address gives all lanes one value", "the source lanes of SHFL are active")


def generation_assumptions(blocks: Blocks, options: Options, *, volta: bool) -> tuple[str, ...]:
    """Return what the order of sides, and since Volta their interleaving, assumes of this program."""
    either = options.order == EITHER
    order = proved("either side of a divergence may run first") if either else "the taken side of a divergence runs first"
    traps = ("no debugger resumes a warp at a trap that ends a function",) if any(map(blocks.stops, blocks.blocks)) else ()
    return (order, *_queries(blocks), *_phases(blocks), *(_interleaving(blocks) if volta else ()), *traps)


def _queries(blocks: Blocks) -> Iterator[str]:
    """Yield what is assumed where a query of an address space is answered (`values/spaces.py`)."""
    pairs = [pair for block in blocks.blocks for pair in zip(block.instructions, block.facts, strict=False)]
    places = [f"0x{instruction.address:04x}" for instruction, facts in pairs if facts is not None and facts.computes is NEVER_HOLDS]
    if places:
        text = "addresses that are made of arguments of the kernel lie neither in shared nor in local memory"
        yield published(f"{text}: {', '.join(places)}")


def _phases(blocks: Blocks) -> Iterator[str]:
    """Yield what is assumed where threads wait for a phase of a barrier in shared memory."""
    if any("PHASECHK" in instruction.opcode.split(".") for block in blocks.blocks for instruction in block.instructions):
        yield PHASE


def agreement(address: int, opcode: str) -> str:
    """Return what is assumed of a guarded barrier of the whole warp in front of an instruction that is `.aligned` in PTX."""
    return published(
        f"the threads of a warp agree on the guard of the barrier at 0x{address:04x}: {opcode} behind it demands it (.aligned)"
    )


def _interleaving(blocks: Blocks) -> Iterator[str]:
    opcodes = {instruction.opcode.partition(".")[0] for block in blocks.blocks for instruction in block.instructions}
    flows = {block.last.flow for block in blocks.blocks if block.last is not None}
    yield "interleaving the sides of a divergence differently executes the same blocks: sides merge only at BSYNC and WARPSYNC"
    yield "no two sides use one barrier or one uniform register at the same time, and no data race decides a branch"
    if "YIELD" in opcodes:
        yield "YIELD releases no barrier and splits no threads"
    if "WARPSYNC" in opcodes and Flow.WARP_BARRIER not in flows:
        yield proved("WARPSYNC of some lanes merges no threads: that costs at least as much")
