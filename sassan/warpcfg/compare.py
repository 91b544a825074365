"""Two graphs of one kernel side by side: on which branches the threads part in each, and where they meet again.

Made for PTX against the machine code that was compiled from it: a compiler turns branches into predicates and selects, unrolls loops, adds
slow paths, and decides itself where threads wait for each other. Branches are matched in program order by what kind they are and how many
loops they stand in; that is a guess, and what has no match is listed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from sassan.analysis.graph import reachable
from sassan.warpcfg.graph import Kind, WarpCfg
from sassan.warpcfg.steps import MEET, RET


@dataclass(frozen=True, slots=True)
class Branch:
    """One conditional branch or exit, all call contexts together.

    `leaves` says that one way ends the threads at once, `loops` counts the loops around it. `apart` are the addresses of the branches that
    threads may run before its sides meet, itself among them where it turns a loop; `meets` is where that is, None at the end.
    """

    address: int
    text: str
    leaves: bool
    backward: bool
    loops: int
    divergent: bool
    meets: int | None
    apart: frozenset[int]

    @property
    def shape(self) -> tuple[bool, bool, int]:
        """Return what two branches must have in common to be taken for the same one."""
        return self.leaves, self.backward, self.loops


@dataclass(frozen=True, slots=True)
class Pair:
    """A branch of each graph: whether both may split the warp, and whether the same branches lie between the split and the meeting."""

    left: Branch
    right: Branch
    same_divergence: bool
    same_meeting: bool | None
    """None where not both split."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was matched, in program order, and what was not."""

    pairs: tuple[Pair, ...]
    left_only: tuple[Branch, ...]
    right_only: tuple[Branch, ...]


def compare(left: WarpCfg, right: WarpCfg) -> Comparison:
    """Return the branches of two graphs side by side."""
    a, b = branches(left), branches(right)
    matcher = SequenceMatcher(None, [one.shape for one in a], [one.shape for one in b], autojunk=False)
    matched = [(a[one.a + step], b[one.b + step]) for one in matcher.get_matching_blocks() for step in range(one.size)]
    partner = {one.address: other.address for one, other in matched}
    back = {other: one for one, other in partner.items()}
    pairs = tuple(_pair(one, other, partner, back) for one, other in matched)
    return Comparison(
        pairs,
        tuple(one for one in a if one.address not in partner),
        tuple(one for one in b if one.address not in back),
    )


def _pair(left: Branch, right: Branch, partner: Mapping[int, int], back: Mapping[int, int]) -> Pair:
    both = left.divergent and right.divergent
    # Only branches that both graphs have can tell where a region ends.
    ours = {partner[one] for one in left.apart if one in partner}
    theirs = {one for one in right.apart if one in back}
    return Pair(left, right, left.divergent == right.divergent, ours == theirs if both else None)


def branches(cfg: WarpCfg) -> tuple[Branch, ...]:
    """Return the branches of a graph by address: where threads may go several ways, calls through pointers and returns aside."""
    successors = _successors(cfg)
    ends = {edge.src for edge in cfg.edges if edge.kind is Kind.EXIT}
    calling = {edge.src for edge in cfg.edges if edge.kind in {Kind.CALL, Kind.RETURN}}
    deciding = {
        number: node.code[-1]
        for number, node in enumerate(cfg.nodes)
        if node.code and number not in calling and len(successors[number]) + (number in ends and bool(successors[number])) > 1
    }
    regions = _regions(cfg, successors)
    depth = [sum(node in loop.nodes for loop in cfg.loops) for node in range(len(cfg.nodes))]
    found: dict[int, list[tuple[int, int | None, frozenset[int]]]] = {}
    for node in sorted(deciding):
        meets, inside = _apart(node, successors, regions)
        apart = frozenset(deciding[one].address for one in inside if one in deciding)
        found.setdefault(deciding[node].address, []).append((node, meets, apart))
    return tuple(_branch(cfg, found[address], successors, ends, depth) for address in sorted(found))


def _branch(
    cfg: WarpCfg,
    places: Sequence[tuple[int, int | None, frozenset[int]]],
    successors: Sequence[Sequence[int]],
    ends: set[int],
    depth: Sequence[int],
) -> Branch:
    node, meets, _ = places[0]
    last = cfg.nodes[node].code[-1]
    return Branch(
        address=last.address,
        text=last.text,
        leaves=node in ends or any(_only_ends(cfg, one, successors, ends) for one in successors[node]),
        backward=any(cfg.nodes[one].start <= last.address for one in successors[node]),
        loops=depth[node],
        divergent=any(cfg.nodes[one].divergent for one, _, _ in places),
        meets=None if meets is None else cfg.nodes[meets].start,
        apart=frozenset(address for _, _, apart in places for address in apart),
    )


def _only_ends(cfg: WarpCfg, node: int, successors: Sequence[Sequence[int]], ends: set[int]) -> bool:
    """Say whether threads that come to a block do nothing but end, virtual blocks passed over."""
    while not cfg.nodes[node].code and len(successors[node]) == 1:
        node = successors[node][0]
    return node in ends and len(cfg.nodes[node].code) <= 1 and not successors[node]


def _successors(cfg: WarpCfg) -> list[list[int]]:
    out: list[set[int]] = [set() for _ in cfg.nodes]
    for step in cfg.thread_edges:
        out[step.src].add(step.dst)
    return [sorted(one) for one in out]


def _regions(cfg: WarpCfg, successors: Sequence[Sequence[int]]) -> list[tuple[int, frozenset[int]]]:
    """Return, per token that is pushed, where its threads go on and the blocks that they may run before: smallest first."""
    at = {(node.context, node.start): index for index, node in enumerate(cfg.nodes)}
    out: set[tuple[int, frozenset[int]]] = set()
    for index, node in enumerate(cfg.nodes):
        for point in node.pushes:
            target = at.get((point.context, point.address))
            if target is not None and point.tag not in {RET, MEET}:
                out.add((target, frozenset({index, *_reach(successors[index], target, successors)})))
    return sorted(out, key=lambda one: (len(one[1]), one[0]))


def _apart(
    node: int, successors: Sequence[Sequence[int]], regions: Sequence[tuple[int, frozenset[int]]]
) -> tuple[int | None, frozenset[int]]:
    """Return where the threads that part at a block meet, and the blocks that they may run before."""
    meets = next((target for target, inside in regions if node in inside and node != target), None)
    return meets, frozenset(_reach(successors[node], meets, successors))


def _reach(start: Sequence[int], stop: int | None, successors: Sequence[Sequence[int]]) -> set[int]:
    return reachable((node for node in start if node != stop), lambda node: (after for after in successors[node] if after != stop))
