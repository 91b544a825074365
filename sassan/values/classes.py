"""The classes of the warps of a block: those that execute the same blocks of code, by branches on the index of the warp."""

from dataclasses import dataclass
from typing import NamedTuple

from sassan.machine.launch import LaunchConfiguration
from sassan.values.reach import unreached
from sassan.values.threads import most_threads, warp_contexts
from sassan.values.warp_values import WarpValues, with_values
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import WarpCfg


class _Key(NamedTuple):
    unreached: tuple[int, ...]
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WarpClass:
    """Warps of a block that execute the same blocks of code, with as many threads each: their indices, and the values of each."""

    warps: tuple[int, ...]
    unreached: tuple[int, ...]
    """The addresses of the blocks that none of their threads executes."""
    threads_of_nodes: tuple[int, ...]
    """How many threads may be at each node of the graph."""
    values: tuple[WarpValues, ...]

    def threads(self, node: int) -> int:
        """Return how many threads may be at a node, by its number in the graph."""
        return self.threads_of_nodes[node]


def warp_classes(cfg: WarpCfg, facts_of: FactsOf, launch: LaunchConfiguration) -> tuple[WarpClass, ...]:
    """Return the classes of the warps of a block by their first warps; none where the shape of the block is not given.

    Nor where registers are not followed. Raises SelfCheckError.
    """
    if launch.block is None:
        return ()
    classes: dict[_Key, list[tuple[int, WarpValues]]] = {}
    for warp in warp_contexts(launch.block):
        values = with_values(cfg, facts_of, launch, lambda _: cfg, warp)
        if values is None:
            return ()
        lanes = tuple(most_threads(values.lanes(node), 1) for node in range(len(cfg.nodes)))
        classes.setdefault(_Key(unreached(values), lanes), []).append((warp.index, values))
    return tuple(
        WarpClass(tuple(warp for warp, _ in several), *key, tuple(values for _, values in several)) for key, several in classes.items()
    )
