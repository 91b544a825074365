"""Which blocks a person asks for: those of the worst path, of the loop that costs most, or around an address."""

from collections.abc import Sequence

from sassan.errors import UsageError
from sassan.render.graph.blocks import BlockFacts
from sassan.render.graph.levels import DrawnEdge
from sassan.warpcfg.graph import WarpCfg

ALL, LOOP, WORST = "all", "loop", "worst"
_HINT = "pass --focus all, loop, worst, or an address such as 0x120"


def focused(cfg: WarpCfg, blocks: Sequence[BlockFacts], arcs: Sequence[DrawnEdge], focus: str) -> tuple[int, ...]:
    """Return the blocks of a focus: ALL, LOOP, WORST, or the address of an instruction, whose block is drawn with its neighbours.

    Raises UsageError `focus` where there are none.
    """
    every = range(len(cfg.nodes))
    match focus:
        case "all":
            drawn = tuple(every)
        case "worst":
            drawn = tuple(at for at in every if blocks[at].worst)
        case "loop":
            drawn = _loop(cfg, blocks)
        case _:
            drawn = _around(blocks, arcs, _address(focus))
    if not drawn:
        raise UsageError("focus", f"{cfg.function.name} has nothing to draw for the focus '{focus}'", hint=_WHY.get(focus, _HINT))
    return drawn


_WHY = {WORST: "no worst path is known: pass loop bounds with --bounds or --loop-bound", LOOP: "it has no loop"}


def _loop(cfg: WarpCfg, blocks: Sequence[BlockFacts]) -> tuple[int, ...]:
    """Return the innermost loop around the block that costs most of all blocks in loops."""
    loops = [frozenset((*loop.nodes, loop.head)) for loop in cfg.loops]
    inside = sorted({at for loop in loops for at in loop})
    if not inside:
        return ()
    worst = max(inside, key=lambda at: (blocks[at].cost or 0) * (1 if blocks[at].count is None else blocks[at].count or 0))
    innermost = min((loop for loop in loops if worst in loop), key=lambda loop: len(loop))  # noqa: PLW0108 - typed
    return tuple(sorted(innermost))


def _around(blocks: Sequence[BlockFacts], arcs: Sequence[DrawnEdge], address: int) -> tuple[int, ...]:
    inside = {at for at, block in enumerate(blocks) if block.node.start <= address <= block.node.end}
    near = {arc.src for arc in arcs if arc.dst in inside} | {arc.dst for arc in arcs if arc.src in inside and arc.dst is not None}
    return tuple(sorted(inside | near))


def _address(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise UsageError("focus", f"unknown focus '{text}'", hint=_HINT) from None
