"""Immediate post-dominators of a function's blocks, and the regions in which threads wait for each other there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sassan.analysis.graph import immediate_dominators, reachable


@dataclass(frozen=True, slots=True)
class Tree:
    """`above[b]` is the immediate post-dominator of block b, None at the end of its part; `span` numbers the blocks below each."""

    above: dict[int, int | None]
    span: dict[int, tuple[int, int]]

    def chain(self, block: int) -> list[int]:
        """Return the strict post-dominators of a block, the nearest first."""
        out: list[int] = []
        one = self.above[block]
        while one is not None:
            out.append(one)
            one = self.above[one]
        return out

    def leads(self, block: int, join: int) -> bool:
        """Say whether `join` is a strict post-dominator of a block."""
        first, last = self.span[join]
        return first < self.span[block][0] <= last


def _spans(above: dict[int, int | None]) -> dict[int, tuple[int, int]]:
    """Return, per block, its number in a walk down the tree and the last number below it."""
    below: dict[int | None, list[int]] = {}
    for one in sorted(above):
        below.setdefault(above[one], []).append(one)
    out: dict[int, tuple[int, int]] = {}
    first: dict[int, int] = {}
    work = [(one, False) for one in reversed(below.get(None, []))]
    while work:
        one, done = work.pop()
        if done:
            out[one] = (first[one], len(first) - 1)
        else:
            first[one] = len(first)
            work.append((one, True))
            work += [(each, False) for each in reversed(below.get(one, []))]
    return out


def post_dominators(blocks: Iterable[int], successors: Sequence[Sequence[int]]) -> Tree:
    """Return the immediate post-dominators of the blocks of one function.

    Paths that end before the last end do not count: nobody waits for threads that are gone. Code that reaches only such an end is a part of
    its own, and so is a loop without an end.
    """
    above: dict[int, int | None] = {}
    left = set(blocks)
    while left:
        ends = [one for one in left if not left.intersection(successors[one])]
        root = max(ends) if ends else max(left)
        part = immediate_dominators(root, _reversed(left, successors))
        above |= part
        left -= part.keys()
    return Tree(above, _spans(above))


def _reversed(nodes: set[int], successors: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Return the predecessors of every node, inside the set."""
    before: dict[int, list[int]] = {node: [] for node in nodes}
    for node in sorted(nodes):
        for to in sorted(nodes.intersection(successors[node])):
            before[to].append(node)
    return before


def regions(tree: Tree, splits: Iterable[int], successors: Sequence[Sequence[int]]) -> dict[int, frozenset[int]]:
    """Return the region of every join, where its token is on the stack: two are disjoint, or the inner join's is inside the other."""
    found: dict[int, set[int]] = {}
    for split in splits:
        join = tree.above[split]
        if join is not None:
            found.setdefault(join, set()).update(_before(join, split, tree, successors))
    changed = True
    while changed:
        changed = False
        for join in sorted(found):
            for other in sorted(found):
                if tree.leads(other, join) and _overlaps(found[other], found[join]):
                    found[join] |= found[other]
                    changed = True
    return {join: frozenset(found[join]) for join in sorted(found)}


def _overlaps(inner: set[int], outer: set[int]) -> bool:
    return not inner.isdisjoint(outer) and not inner <= outer


def _before(join: int, split: int, tree: Tree, successors: Sequence[Sequence[int]]) -> set[int]:
    return reachable([split], lambda node: (to for to in successors[node] if to != join and tree.leads(to, join)))
