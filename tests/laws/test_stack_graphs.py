"""What the operations of the stack domain do to graphs, held to what they do to every single stack of a graph."""

from collections.abc import Iterator
from itertools import combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from sassan.domains.bits import bits
from sassan.domains.stack import BOT, Stack, StackDomain

POINTS = range(1, 6)
HEIGHT = 5
Path = tuple[int, ...]
"""One stack, the top first."""

sets = st.integers(0, 31).map(lambda some: some << 1)
rows = st.integers(0, 63)
domain = StackDomain()


@st.composite
def graphs(draw: st.DrawFn) -> Stack:
    """Draw a graph of which only the reachable part is kept, as the domain does."""
    below = {point: draw(rows) for point in POINTS}
    return domain.under_top(Stack(draw(rows), below), -1)


def stacks(graph: Stack) -> Iterator[Path]:
    """Yield the stacks of a graph up to a height."""
    todo: list[tuple[Path, int]] = [((), graph.top)]
    while todo:
        path, under = todo.pop()
        if under & BOT:
            yield path
        if len(path) < HEIGHT:
            todo += [((*path, point), graph.below[point]) for point in bits(under & ~BOT)]


def holds(graph: Stack, path: Path) -> bool:
    under = graph.top
    for point in path:
        if not under >> point & 1:
            return False
        under = graph.below[point]
    return bool(under & BOT)


def is_in(point: int, some: int) -> bool:
    return bool(some >> point & 1)


@given(graph=graphs(), may=sets, must=sets, pinned=st.dictionaries(st.sampled_from([0, *POINTS]), sets))
@settings(max_examples=part(400, of=6))
def test_erasing_covers_every_choice_of_entries_that_vanish(graph: Stack, may: int, must: int, pinned: dict[int, int]):
    out = domain.erase(graph, may & ~must, must, pinned)
    for path in stacks(graph):
        places = [place for place, point in enumerate(path) if is_in(point, may & ~must)]
        for count in range(len(places) + 1):
            for gone in combinations(places, count):
                left = _erased(path, gone, must, pinned)
                assert left is None or holds(out, left), (path, left)


def _erased(path: Path, gone: tuple[int, ...], must: int, pinned: dict[int, int]) -> Path | None:
    """Return what is left, None where an entry would vanish that what stands over it holds in place."""
    left: list[int] = []
    for place, point in enumerate(path):
        if place not in gone and not is_in(point, must):
            left.append(point)
        elif is_in(point, pinned.get(left[-1] if left else 0, 0)):
            return None
    return tuple(left)


@given(graph=graphs(), point=st.sampled_from(POINTS), sides=sets, others=sets)
@settings(max_examples=part(400, of=6))
def test_inserting_covers_every_stack_and_every_order_of_what_it_mixes(graph: Stack, point: int, sides: int, others: int):
    sides &= ~(1 << point)
    others = others & ~sides | 1 << point
    out = domain.insert(graph, point, sides, others)
    for path in stacks(graph):
        run = _run(path, sides)
        among = _run(path[len(run) :], others)
        rest = path[len(run) + len(among) :]
        lifted = tuple(one for one in rest if is_in(one, sides))
        under = tuple(one for one in rest if not is_in(one, sides))
        if not run and not lifted and point not in among:
            continue  # nobody is waited for
        waiting = among if point in among else (point, *among)
        for order in permutations((*run, *lifted)) if lifted else [run]:
            assert all(holds(out, (*order, *mixed, *under)) for mixed in permutations(waiting)), (path, order)


def _run(path: Path, some: int) -> Path:
    return path[: next((place for place, one in enumerate(path) if not is_in(one, some)), len(path))]


@given(graph=graphs(), tag=sets)
@settings(max_examples=part(400, of=6))
def test_holding_keeps_every_stack_that_holds_a_point(graph: Stack, tag: int):
    out = domain.holding(graph, tag)
    for path in stacks(graph):
        assert holds(out, path) or not any(is_in(point, tag) for point in path), path


@given(graph=graphs(), tag=sets)
@settings(max_examples=part(400, of=6))
def test_holding_drops_every_stack_without_the_point_where_none_is_below_itself(graph: Stack, tag: int):
    if not domain.cyclic(graph):
        kept = [path for path in stacks(domain.holding(graph, tag)) if not any(is_in(point, tag) for point in path)]
        assert kept == []


@given(graph=graphs(), some=sets)
@settings(max_examples=part(400, of=6))
def test_without_keeps_exactly_the_stacks_that_hold_none_of_the_points(graph: Stack, some: int):
    out = domain.without(graph, some)
    expected = {path for path in stacks(graph) if not any(is_in(point, some) for point in path)}
    assert set(stacks(out)) == expected


@given(graph=graphs(), old=st.sampled_from(POINTS), new=st.sampled_from(POINTS))
@settings(max_examples=part(400, of=6))
def test_renaming_covers_every_stack(graph: Stack, old: int, new: int):
    out = domain.rename(graph, old, new)
    for path in stacks(graph):
        assert holds(out, tuple(new if point == old else point for point in path))


@given(graph=graphs())
@settings(max_examples=part(400, of=2))
def test_a_point_is_cyclic_iff_some_stack_holds_it_twice(graph: Stack):
    cyclic = domain.cyclic(graph)
    for path in stacks(graph):
        assert all(path.count(point) == 1 or is_in(point, cyclic) for point in path)
