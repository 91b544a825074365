"""What warps pay for code that the instruction caches of an SM do not keep (docs/proofs/many-warps.md, "Code beyond a cache").

A cache that is smaller than the kernel may have lost every line when it is executed again: warps at other places of the code share it.
Only a warp that is alone on its SM keeps the lines of a loop that fits, from one entry of the loop to the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sassan.access.transactions import LINE
from sassan.ipet.sm.shares import Interference
from sassan.machine.code_caches import CodeCaches, code_caches
from sassan.timing.control_residuals import interleaved_blocks
from sassan.timing.latencies import Latencies
from sassan.warpcfg.graph import WarpCfg

_L2 = "store"
"""The class of latencies that L2 answers."""


def lines_of(cfg: WarpCfg, nodes: Iterable[int] | None = None) -> int:
    """How many lines of code the nodes of a graph have, all without `nodes`."""
    chosen = range(len(cfg.nodes)) if nodes is None else nodes
    return len({instruction.address // LINE for node in chosen for instruction in cfg.nodes[node].code})


@dataclass(frozen=True, slots=True)
class FetchedLines:
    """Lines of code that each execution of a node fetches again: `near` from the cache of the SM, `far` from L2.

    `ahead` are those of `far` that the prefetcher fetches behind another one.
    """

    near: tuple[int, ...]
    far: tuple[int, ...]
    ahead: tuple[int, ...]


def lost(cfg: WarpCfg, caches: CodeCaches, *, alone: bool, beside: int = 0) -> FetchedLines:
    """The lines that are fetched again; `alone`: one warp is on the SM; `beside`: bytes of code of other kernels there."""
    lines = [lines_of(cfg, (node,)) for node in range(len(cfg.nodes))]
    whole = LINE * lines_of(cfg) + beside
    near, far, ahead = [0] * len(lines), [0] * len(lines), [0] * len(lines)
    for capacity, charged in ((caches.inner, near), (caches.outer, far)):
        if whole <= capacity:
            continue
        kept = _fitting_loops(cfg, capacity) if alone else []
        inside = frozenset[int]().union(*kept)
        for node, count in enumerate(lines):
            charged[node] += count * (node not in inside)
            if charged is far and alone and node not in inside:
                ahead[node] = max(count - 1, 0)
        for loop in kept:
            for source in {edge.src for edge in cfg.edges if edge.dst in loop and edge.src not in loop}:
                charged[source] += lines_of(cfg, loop)
    # A line that comes from L2 passes both caches, and is charged the longer way.
    return FetchedLines(tuple(max(each - beyond, 0) for each, beyond in zip(near, far, strict=True)), tuple(far), tuple(ahead))


def _fitting_loops(cfg: WarpCfg, capacity: int) -> list[frozenset[int]]:
    """The outermost loops that a cache keeps; not those that another side of a divergence may interrupt with other code."""
    apart = interleaved_blocks(cfg)
    fitting = [frozenset(loop.nodes) for loop in cfg.loops if apart.isdisjoint(loop.nodes) and LINE * lines_of(cfg, loop.nodes) <= capacity]
    return [loop for loop in fitting if not any(loop < other for other in fitting)]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What code takes that is fetched again: the shares of each node, the bytes that it requests of L2, and what both rest on."""

    shares: tuple[Interference, ...]
    bytes: tuple[int, ...]
    assumptions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether any code is fetched again."""
        return bool(self.assumptions)


def fetched(cfg: WarpCfg, arch: str, *, alone: bool, beside: int = 0) -> Fetched:
    """What the code of a graph takes of an SM beyond its first execution; `alone` and `beside` are those of `lost`."""
    caches = code_caches(arch)
    lines = lost(cfg, caches, alone=alone, beside=beside)
    far = caches.miss + (Latencies(arch, {}).cycles(_L2) or 0)
    following = caches.following(far)
    shares = [
        Interference(
            Fraction(close * caches.miss + (beyond - after) * far + after * following), *[Fraction((close + beyond) * caches.port)] * 2
        )
        for close, beyond, after in zip(lines.near, lines.far, lines.ahead, strict=True)
    ]
    assumptions = (caches.assumption,) if LINE * lines_of(cfg) + beside > caches.inner else ()
    return Fetched(tuple(shares), tuple(LINE * beyond for beyond in lines.far), assumptions)


def nothing_fetched(cfg: WarpCfg) -> Fetched:
    """What code takes under a cost model that does not count fetches, or that measured them."""
    return Fetched((Interference(),) * len(cfg.nodes), (0,) * len(cfg.nodes))
