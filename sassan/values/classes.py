"""The classes of the warps of a block: those that execute the same blocks of code, by branches on the index of the warp."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sassan.machine.launch import LaunchConfiguration
from sassan.values.reach import unreached
from sassan.values.single_thread import single_thread_nodes
from sassan.values.threads import WarpContext, most_threads, warp_contexts
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
    """How many threads may be at each node of the graph at a time."""
    values: tuple[WarpValues, ...]

    def threads(self, node: int) -> int:
        """Return how many threads may be at a node, by its number in the graph."""
        return self.threads_of_nodes[node]


def warp_classes(cfg: WarpCfg, facts_of: FactsOf, launch: LaunchConfiguration) -> tuple[WarpClass, ...]:
    """Return the classes of the warps of a block by their first warps; none where the shape of the block is not given.

    Nor where registers are not followed. Raises SelfCheckError.
    """
    return _by_key(_of_each(cfg, facts_of, launch, warp_contexts(launch.block))) if launch.block is not None else ()


def differing_classes(cfg: WarpCfg, facts_of: FactsOf, launch: LaunchConfiguration, any_warp: WarpValues) -> tuple[WarpClass, ...]:
    """Return the classes of the warps of a block where its first or its last warp does not do all that `any_warp` may do, else none.

    That tells code of some warps (`if (threadIdx.y == 0)`, `if (threadIdx.x < 32)`) from code of all without a look at each. Raises
    SelfCheckError.
    """
    if launch.block is None:
        return ()
    warps = warp_contexts(launch.block)
    if len(warps) == 1:
        return ()
    ends = _of_each(cfg, facts_of, launch, (warps[0], warps[-1]))
    all_warps = _key(any_warp)
    if not ends or all(key == all_warps for key, _, _ in ends):
        return ()
    between = _of_each(cfg, facts_of, launch, warps[1:-1])
    return _by_key([ends[0], *between, ends[-1]]) if len(between) == len(warps) - 2 else ()


_Known = tuple[_Key, int, WarpValues]


def _of_each(cfg: WarpCfg, facts_of: FactsOf, launch: LaunchConfiguration, warps: Sequence[WarpContext]) -> list[_Known]:
    """The values in each of some warps, with what parts them from others; none where registers are not followed."""
    known: list[_Known] = []
    for warp in warps:
        values = with_values(cfg, facts_of, launch, lambda _: cfg, warp)
        if values is None:
            return []
        known.append((_key(values), warp.index, values))
    return known


def _key(values: WarpValues) -> _Key:
    threads, alone = len(values.threads), single_thread_nodes(values)
    most = (most_threads(values.lanes(node), threads) for node in range(len(values.cfg.nodes)))
    return _Key(unreached(values), tuple(min(each, 1) if node in alone else each for node, each in enumerate(most)))


def _by_key(known: Iterable[_Known]) -> tuple[WarpClass, ...]:
    classes: dict[_Key, list[tuple[int, WarpValues]]] = {}
    for key, warp, values in known:
        classes.setdefault(key, []).append((warp, values))
    return tuple(
        WarpClass(tuple(warp for warp, _ in several), *key, tuple(values for _, values in several)) for key, several in classes.items()
    )
