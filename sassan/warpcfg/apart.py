"""Where threads of one warp may be apart: behind a branch that parts them, until all of them meet at a reconvergence barrier."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sassan.analysis.graph import reachable
from sassan.isa.facts import Flow
from sassan.isa.tables import load
from sassan.warpcfg.graph import EdgeKind, WarpCfg


class Apart(NamedTuple):
    """The nodes at which threads that one branch has parted may be, and those before which they wait for each other."""

    nodes: frozenset[int]
    meets: frozenset[int]


def threads_apart(cfg: WarpCfg) -> tuple[Apart, ...]:
    """Return for each branch that may part threads where these may be until they are together again.

    They surely are at a node that they enter from a reconvergence barrier alone whose token all of them hold at the branch, if none of them
    may leave the barrier (BREAK) or push its token again on the way. Without one, they may be wherever a way leads. A barrier that some
    threads pass, under a guard or because they have left it, parts them as a branch does.
    """
    after: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges:
        after[step.src].append(step.dst)
    gathered, beside = _gathered(cfg)
    held = _tokens(cfg, after, gathered)
    leaving = {number for number, node in enumerate(cfg.nodes) if any(each.opcode.startswith("BREAK") for each in node.instructions)}
    out: list[Apart] = []
    for branch in sorted({edge.src for edge in cfg.edges if edge.kind is EdgeKind.DIVERGE} | _passed(cfg)):
        ends = set(gathered) & held[branch]
        while True:
            inside = [[each for each in several if each not in ends] for several in after]
            nodes = reachable(inside[branch], inside.__getitem__)
            wrong = ends if nodes & leaving else {end for end in ends if nodes & gathered[end] or beside[end] & {branch, *nodes}}
            if not wrong:
                break
            ends -= wrong
        out.append(Apart(frozenset(nodes), frozenset(each for node in {branch, *nodes} for each in after[node] if each in ends)))
    return tuple(out)


def _passed(cfg: WarpCfg) -> set[int]:
    """Return the nodes that end at a reconvergence barrier which threads may pass, while others wait there."""
    facts_of = load(cfg.function.arch).facts
    passing = {edge.src for edge in cfg.edges if edge.kind is EdgeKind.FALLTHROUGH}
    ends = {number: facts_of(cfg.nodes[number].instructions[-1]) for number in passing}
    return {number for number, facts in ends.items() if facts is not None and facts.flow is Flow.POP}


def _gathered(cfg: WarpCfg) -> tuple[Mapping[int, set[int]], Mapping[int, set[int]]]:
    """Return the nodes behind reconvergence barriers, each with those that push its token, and with those that lead there beside it."""
    entered: dict[int, set[int]] = {edge.dst: set() for edge in cfg.edges if edge.dst is not None and edge.kind is EdgeKind.RECONVERGE}
    for edge in cfg.edges:
        if edge.dst in entered and edge.kind is not EdgeKind.RECONVERGE:
            entered[edge.dst].add(edge.src)
    pushing: dict[tuple[Sequence[int], int], set[int]] = {}
    for number, node in enumerate(cfg.nodes):
        for point in node.pushes:
            pushing.setdefault((point.context, point.address), set()).add(number)
    pushed = {number: pushing.get((cfg.nodes[number].context, cfg.nodes[number].start), set()) for number in entered}
    return pushed, entered


def _tokens(cfg: WarpCfg, after: Sequence[Sequence[int]], gathered: Mapping[int, set[int]]) -> Sequence[set[int]]:
    """Return of which gathered nodes a thread surely holds the token at the end of each node: it was pushed, and not taken since."""
    pushed: list[set[int]] = [set() for _ in cfg.nodes]
    for end, pushing in gathered.items():
        for node in pushing:
            pushed[node].add(end)
    held: dict[int, set[int]] = {cfg.entry: pushed[cfg.entry]}
    todo = [cfg.entry]
    while todo:
        node = todo.pop()
        for each in after[node]:
            coming = (held[node] - {each}) | pushed[each]
            known = held.get(each)
            if known is None or not known <= coming:
                held[each] = coming if known is None else known & coming
                todo.append(each)
    return [held.get(node, set()) for node in range(len(cfg.nodes))]
