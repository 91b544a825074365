"""Graph algorithms over nodes that are small integers: reachability, loop nests, weak topological orders and immediate dominators.

Loop nests are those of F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", FMPA 1993, figure 4, irreducible graphs
included. The head of a component is its first node in a depth-first walk from the entry; the inner components are those of the component
without its head. Each component costs one walk over its nodes and edges, so the work is linear in the size of the answer, which lists
a node once per loop around it. Dominators are computed as in K. D. Cooper, T. J. Harvey, K. Kennedy, "A simple, fast dominance algorithm",
2001. Nothing recurses. The graphs are lists of successors: to build one of networkx costs more than these algorithms take.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

N = TypeVar("N", bound=Hashable)

_OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class Component:
    """One loop: `nodes` is sorted and holds the head and every inner loop; `back` are the edges (src, head) from inside, sorted.

    `parent` indexes the smallest component around this one; a parent stands before its children.
    """

    head: int
    nodes: tuple[int, ...]
    back: tuple[tuple[int, int], ...]
    parent: int | None


def nest(count: int, successors: Sequence[Sequence[int]], entry: int) -> tuple[Component, ...]:
    """Return the loops of the graph over nodes 0 to `count` - 1, outermost first.

    Two loops are nested or disjoint, and every cycle passes the head of a loop that holds all its nodes. Parts that the entry does not
    reach follow the reached ones, walked from their smallest node.
    """
    return _decompose(count, successors, entry)[0]


def weak_order(count: int, successors: Sequence[Sequence[int]], entry: int) -> tuple[int, ...]:
    """Return all nodes so that each edge leads forward or to the head of a loop that holds its source; a loop is contiguous, head first."""
    return _decompose(count, successors, entry)[1]


def _decompose(count: int, successors: Sequence[Sequence[int]], entry: int) -> tuple[tuple[Component, ...], tuple[int, ...]]:
    # owner[v] is the innermost component so far that holds v other than as its head: the walk inside a component stays on its own.
    owner = [_OUTSIDE] * count
    components: list[Component] = []
    order: list[int] = []
    roots = (entry, *range(count)) if count else ()
    pending = [(part, _OUTSIDE) for part in _parts(successors, roots, owner, _OUTSIDE)]
    while pending:
        part, outer = pending.pop()
        head = part[0]
        order.append(head)
        if len(part) == 1 and head not in successors[head]:
            continue
        index = len(components)
        components.append(_component(part, successors, None if outer == _OUTSIDE else outer))
        for node in part:
            owner[node] = index
        owner[head] = _hidden(index)
        pending.extend((inner, index) for inner in _parts(successors, successors[head], owner, index))
    return tuple(components), tuple(order)


def _hidden(index: int) -> int:
    """Return the owner of the head of component `index`: a value that no walk follows."""
    return -2 - index


def _component(part: Sequence[int], successors: Sequence[Sequence[int]], parent: int | None) -> Component:
    head = part[0]
    nodes = tuple(sorted(part))
    return Component(head, nodes, tuple((src, head) for src in nodes if head in successors[src]), parent)


def _parts(successors: Sequence[Sequence[int]], roots: Iterable[int], owner: Sequence[int], component: int) -> list[list[int]]:
    """Return the strongly connected parts of the nodes whose owner is `component`, last in topological order first.

    Each part begins with the node that the walk met first. This is Tarjan's algorithm with its own stack.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    settled: set[int] = set()
    parts: list[list[int]] = []
    for root in roots:
        if owner[root] != component or root in number:
            continue
        number[root] = low[root] = len(number)
        waiting.append(root)
        walk = [(root, iter(successors[root]))]
        while walk:
            node, rest = walk[-1]
            for after in rest:
                if owner[after] != component or after in settled:
                    continue
                if after in number:
                    low[node] = min(low[node], number[after])
                    continue
                number[after] = low[after] = len(number)
                waiting.append(after)
                walk.append((after, iter(successors[after])))
                break
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == number[node]:
                    parts.append(_settle(waiting, node, settled))
    return parts


def _settle(waiting: list[int], head: int, settled: set[int]) -> list[int]:
    """Take the part that begins with `head` off the stack; return it, head first."""
    part: list[int] = []
    while not part or part[-1] != head:
        part.append(waiting.pop())
    part.reverse()
    settled.update(part)
    return part


def reachable(start: Iterable[N], successors: Callable[[N], Iterable[N]]) -> set[N]:
    """Return the nodes that paths from `start` lead to, `start` included."""
    seen = set(start)
    stack = list(seen)
    while stack:
        fresh = [node for node in successors(stack.pop()) if node not in seen]
        seen.update(fresh)
        stack += fresh
    return seen


def immediate_dominators(root: int, successors: Mapping[int, Sequence[int]]) -> dict[int, int | None]:
    """Return the immediate dominator of every node that `root` reaches, None for the root; `successors` has an entry for each of them.

    Over the reversed edges, these are post-dominators.
    """
    order = _reverse_postorder(root, successors)
    place = {node: index for index, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for following in successors[node]:
            predecessors[following].append(node)
    above = {root: root}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [before for before in predecessors[node] if before in above]
            new = known[0]
            for before in known[1:]:
                new = _common(new, before, above, place)
            if above.get(node) != new:
                above[node] = new
                changed = True
    return {node: None if node == root else dominator for node, dominator in above.items()}


def _common(node: int, other: int, above: Mapping[int, int], place: Mapping[int, int]) -> int:
    while node != other:
        while place[node] > place[other]:
            node = above[node]
        while place[other] > place[node]:
            other = above[other]
    return node


def _reverse_postorder(root: int, successors: Mapping[int, Sequence[int]]) -> list[int]:
    order: list[int] = []
    seen = {root}
    walk = [(root, iter(successors[root]))]
    while walk:
        node, rest = walk[-1]
        fresh = next((following for following in rest if following not in seen), None)
        if fresh is None:
            order.append(node)
            walk.pop()
        else:
            seen.add(fresh)
            walk.append((fresh, iter(successors[fresh])))
    return order[::-1]
