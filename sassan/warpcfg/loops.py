"""Loop nests by Bourdoncle's weak topological order, irreducible graphs included.

F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", FMPA 1993, figure 4. The head of a component is its first node in a
depth-first walk from the entry; the inner components are those of the component without its head. Each component costs one walk over its
own nodes and edges, so that the work is linear in the size of the answer, which lists a node once per loop around it. Nothing recurses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    # owner[v] is the innermost component found so far that holds v other than as its head: the walk inside a component stays on its own.
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


def _parts(successors: Sequence[Sequence[int]], roots: Iterable[int], owner: Sequence[int], mine: int) -> list[list[int]]:
    """Return the strongly connected parts of the nodes whose owner is `mine`, last in topological order first.

    Each part begins with the node that the walk met first. This is Tarjan's algorithm with its own stack.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    settled: set[int] = set()
    parts: list[list[int]] = []
    for root in roots:
        if owner[root] != mine or root in number:
            continue
        number[root] = low[root] = len(number)
        waiting.append(root)
        walk = [(root, iter(successors[root]))]
        while walk:
            node, rest = walk[-1]
            for after in rest:
                if owner[after] != mine or after in settled:
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
