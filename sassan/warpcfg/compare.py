"""Two graphs of one kernel side by side: on which branches the threads diverge in each, and where they reconverge.

Made for PTX against the machine code that was compiled from it: a compiler turns branches into predicates and selects, unrolls loops, adds
slow paths, and decides itself where threads wait for each other. Branches are matched in program order by what kind they are and how many
loops they stand in; that is a guess, and what has no match is listed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from sassan.analysis.graph import reachable
from sassan.warpcfg.graph import EdgeKind, WarpCfg
from sassan.warpcfg.steps import MEET, RET


@dataclass(frozen=True, slots=True)
class ComparedBranch:
    """One conditional branch or exit, all call contexts together.

    `leaves` says that one side ends the threads at once, `loops` counts the loops around it. `apart` are the addresses of the branches that
    threads may run before its sides reconverge, itself among them where it closes a loop; `reconverges` is where that is, None at the end.
    """

    address: int
    text: str
    leaves: bool
    backward: bool
    loops: int
    divergent: bool
    reconverges: int | None
    apart: frozenset[int]

    @property
    def shape(self) -> tuple[bool, bool, int]:
        """Return what two branches must have in common to be taken for the same one."""
        return self.leaves, self.backward, self.loops


@dataclass(frozen=True, slots=True)
class Pair:
    """A branch of each graph: whether both may split the warp, and whether the same branches lie between divergence and reconvergence."""

    left: ComparedBranch
    right: ComparedBranch
    same_divergence: bool
    same_reconvergence: bool | None
    """None where not both split."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was matched, in program order, and what was not."""

    pairs: tuple[Pair, ...]
    left_only: tuple[ComparedBranch, ...]
    right_only: tuple[ComparedBranch, ...]


def compare(left: WarpCfg, right: WarpCfg) -> Comparison:
    """Return the branches of two graphs side by side."""
    a, b = branches(left), branches(right)
    matcher = SequenceMatcher(None, [branch.shape for branch in a], [branch.shape for branch in b], autojunk=False)
    matched = [(a[run.a + step], b[run.b + step]) for run in matcher.get_matching_blocks() for step in range(run.size)]
    partner = {branch.address: other.address for branch, other in matched}
    back = {other: address for address, other in partner.items()}
    pairs = tuple(_pair(branch, other, partner, back) for branch, other in matched)
    return Comparison(
        pairs,
        tuple(branch for branch in a if branch.address not in partner),
        tuple(branch for branch in b if branch.address not in back),
    )


def _pair(left: ComparedBranch, right: ComparedBranch, partner: Mapping[int, int], back: Mapping[int, int]) -> Pair:
    both = left.divergent and right.divergent
    # Only branches that both graphs have can say where a region ends.
    left_apart = {partner[address] for address in left.apart if address in partner}
    right_apart = {address for address in right.apart if address in back}
    return Pair(left, right, left.divergent == right.divergent, left_apart == right_apart if both else None)


def branches(cfg: WarpCfg) -> tuple[ComparedBranch, ...]:
    """Return the branches of a graph by address: where threads may take several directions, calls through pointers and returns aside."""
    successors = _successors(cfg)
    ends = {edge.src for edge in cfg.edges if edge.kind is EdgeKind.EXIT}
    calling = {edge.src for edge in cfg.edges if edge.kind in {EdgeKind.CALL, EdgeKind.RETURN}}
    deciding = {
        number: node.code[-1]
        for number, node in enumerate(cfg.nodes)
        if node.code and number not in calling and len(successors[number]) + (number in ends and bool(successors[number])) > 1
    }
    regions = _regions(cfg, successors)
    depth = [sum(node in loop.nodes for loop in cfg.loops) for node in range(len(cfg.nodes))]
    branches: dict[int, list[tuple[int, int | None, frozenset[int]]]] = {}
    for node in sorted(deciding):
        reconverges, inside = _apart(node, successors, regions)
        apart = frozenset(deciding[block].address for block in inside if block in deciding)
        branches.setdefault(deciding[node].address, []).append((node, reconverges, apart))
    return tuple(_branch(cfg, branches[address], successors, ends, depth) for address in sorted(branches))


def _branch(
    cfg: WarpCfg,
    places: Sequence[tuple[int, int | None, frozenset[int]]],
    successors: Sequence[Sequence[int]],
    ends: set[int],
    depth: Sequence[int],
) -> ComparedBranch:
    node, reconverges, _ = places[0]
    last = cfg.nodes[node].code[-1]
    return ComparedBranch(
        address=last.address,
        text=last.text,
        leaves=node in ends or any(_only_ends(cfg, block, successors, ends) for block in successors[node]),
        backward=any(cfg.nodes[block].start <= last.address for block in successors[node]),
        loops=depth[node],
        divergent=any(cfg.nodes[block].divergent for block, _, _ in places),
        reconverges=None if reconverges is None else cfg.nodes[reconverges].start,
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
    return [sorted(row) for row in out]


def _regions(cfg: WarpCfg, successors: Sequence[Sequence[int]]) -> list[tuple[int, frozenset[int]]]:
    """Return, per token that is pushed, where its threads go on and the blocks that they may run before: smallest first."""
    at = {(node.context, node.start): index for index, node in enumerate(cfg.nodes)}
    out: set[tuple[int, frozenset[int]]] = set()
    for index, node in enumerate(cfg.nodes):
        for point in node.pushes:
            target = at.get((point.context, point.address))
            if target is not None and point.tag not in {RET, MEET}:
                out.add((target, frozenset({index, *_reach(successors[index], target, successors)})))
    return sorted(out, key=lambda region: (len(region[1]), region[0]))


def _apart(
    node: int, successors: Sequence[Sequence[int]], regions: Sequence[tuple[int, frozenset[int]]]
) -> tuple[int | None, frozenset[int]]:
    """Return where the threads that diverge at a block reconverge, and the blocks that they may run before."""
    reconverges = next((target for target, inside in regions if node in inside and node != target), None)
    return reconverges, frozenset(_reach(successors[node], reconverges, successors))


def _reach(start: Sequence[int], stop: int | None, successors: Sequence[Sequence[int]]) -> set[int]:
    return reachable((node for node in start if node != stop), lambda node: (after for after in successors[node] if after != stop))
