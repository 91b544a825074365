"""Stack and groups of a warp over the names 1 to n of its activation points: states that differ only in their points share one shape.

Shapes are hash-consed (J.-C. Filliâtre, S. Conchon, "Type-safe modular hash-consing", 2006): equal shapes are one object, so results of
operations on them can be remembered. The names of a shape are dense and in the order of the points that they stand for (`PointNames`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple
from weakref import WeakValueDictionary

from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE, Groups
from sassan.domains.stack import Stack


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StackShape:
    """The names of `stack` are 1 to n, those of `groups` 0 to n; `size` is n."""

    stack: Stack
    groups: Groups
    size: int


_SHAPES: WeakValueDictionary[tuple[int, ...], StackShape] = WeakValueDictionary()


def shape(stack: Stack, groups: Groups) -> tuple[StackShape, int]:
    """Return the shape of a stack and what is known of the groups on it, and which names it keeps: name k is the k-th bit of that set."""
    below, inside, apart, size = stack.below, groups.inside, groups.apart, len(stack.below)
    names = sorted(below)
    kept = stack.points
    points = kept | 1
    rows = [stack.top, *[below[name] for name in names]]
    names.insert(0, ACTIVE)
    rows += [inside[name] & points for name in names]
    rows += [apart[name] & points for name in names]
    # The bits of the names that are dropped go, the highest first, and those above move down.
    for low, dropped in reversed(_gaps(names)):
        rows = [row & low | row >> dropped & ~low for row in rows]
    key = tuple(rows)
    known = _SHAPES.get(key)
    if known is None:
        known = _SHAPES[key] = StackShape(
            Stack(rows[0], dict(enumerate(rows[1 : size + 1], 1))),
            Groups(dict(enumerate(rows[size + 1 : 2 * size + 2])), dict(enumerate(rows[2 * size + 2 :]))),
            size,
        )
    return known, kept


def _gaps(names: Sequence[int]) -> list[tuple[int, int]]:
    """Return, for each gap between these names (ascending), the set of the numbers below it and how many it has."""
    return [((1 << name + 1) - 1, following - name - 1) for name, following in pairwise(names) if following > name + 1]


def renamed(stack: Stack, groups: Groups, to: dict[int, int], kept: int) -> tuple[Stack, Groups]:
    """Return both with the names of the set `kept`, and `ACTIVE`, written as `to` says; other names are dropped."""
    kept |= 1

    def row(names: int) -> int:
        return sum(1 << to[name] for name in bits(names & kept))

    return (
        Stack(row(stack.top), {to[name]: row(under) for name, under in stack.below.items() if kept >> name & 1}),
        Groups(
            {to[name]: row(others) for name, others in groups.inside.items() if kept >> name & 1},
            {to[name]: row(others) for name, others in groups.apart.items() if kept >> name & 1},
        ),
    )


def spread(value: StackShape, places: int) -> tuple[Stack, Groups]:
    """Return stack and groups of a shape with the names of the set `places` instead of 1 to n."""
    if places == (1 << value.size + 1) - 2:
        return value.stack, value.groups
    names = [ACTIVE, *bits(places)]
    gaps = _gaps(names)

    def rows(values: Iterable[int]) -> list[int]:
        out = list(values)
        for low, left in gaps:
            out = [row & low | (row & ~low) << left for row in out]
        return out

    top, *below = rows((value.stack.top, *value.stack.below.values()))
    inside, apart = rows(value.groups.inside.values()), rows(value.groups.apart.values())
    stack = Stack(top, dict(zip(names[1:], below, strict=True)))
    return stack, Groups(dict(zip(names, inside, strict=True)), dict(zip(names, apart, strict=True)))


Pick = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Takes the values of some names out of those of all, the first (of `ACTIVE`) always."""


def _pick(places: tuple[int, ...]) -> Pick:
    return itemgetter(ACTIVE, *places) if places else (lambda values: values[:1])


class Alignment(NamedTuple):
    """Names that hold those of two others: `left` and `right` are, in order, the names that these have in `both`.

    `places` and `right_places` are the same as sets; `pick` takes the values of the left names out of those of both.
    """

    both: "PointNames"
    places: int
    right_places: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    pick: Pick


class PointNames:
    """The activation points that the names 1 to n of a shape stand for, ascending; equal names are one object."""

    __slots__ = ("__weakref__", "_aligned", "_kept", "_with", "place", "points")

    def __init__(self, points: tuple[int, ...]) -> None:
        """Take the points, ascending; `place` are their names."""
        self.points = points
        self.place = {point: place for place, point in enumerate(points, 1)}
        self._with: dict[int, tuple[PointNames, int]] = {}
        self._kept: dict[int, tuple[PointNames, Pick]] = {}
        self._aligned: dict[PointNames, Alignment] = {}

    @staticmethod
    def of(points: Iterable[int]) -> "PointNames":
        """Return the names of these points, which ascend."""
        key = tuple(points)
        known = _NAMES.get(key)
        if known is None:
            known = _NAMES[key] = PointNames(key)
        return known

    def among(self, points: int) -> int:
        """Return the names of a set of points, and for a set that is not empty one name more, which is on no stack."""
        if not points:
            return 0
        out = 1 << len(self.points) + 1
        for place, point in enumerate(self.points, 1):
            if points >> point & 1:
                out |= 1 << place
        return out

    def including(self, point: int) -> tuple["PointNames", int]:
        """Return the names of these points and another, and its name."""
        known = self._with.get(point)
        if known is None:
            names = PointNames.of(sorted((*self.points, point)))
            known = self._with[point] = (names, names.place[point])
        return known

    def keep(self, names: int) -> tuple["PointNames", Pick]:
        """Return the names of the points that the set `names` stands for, and what takes their values."""
        known = self._kept.get(names)
        if known is None:
            places = tuple(bits(names))
            known = self._kept[names] = (PointNames.of([self.points[name - 1] for name in places]), _pick(places))
        return known

    def align(self, other: "PointNames") -> Alignment:
        """Return the names of the points of both."""
        known = self._aligned.get(other)
        if known is None:
            within, around = self.place.keys() <= other.place.keys(), self.place.keys() >= other.place.keys()
            both = other if within else self if around else PointNames.of(sorted({*self.points, *other.points}))
            (left, places), (right, right_places) = both.places_of(self), both.places_of(other)
            known = self._aligned[other] = Alignment(both, places, right_places, left, right, _pick(left))
        return known

    def places_of(self, inner: "PointNames") -> tuple[tuple[int, ...], int]:
        """Return the names of the points of `inner`, all of which are here, in order and as a set."""
        if inner is self:
            return tuple(range(1, len(self.points) + 1)), (1 << len(self.points) + 1) - 2
        places = tuple([self.place[point] for point in inner.points])
        return places, sum([1 << place for place in places])


_NAMES: WeakValueDictionary[tuple[int, ...], PointNames] = WeakValueDictionary()
