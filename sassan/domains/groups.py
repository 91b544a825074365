"""Sets of threads and which intersections of them are empty (Jeanmougin et al. 2023, section 3.2).

A group is named by a small integer: 0 (`ACTIVE`) is the threads that execute, `n` the union of all masks that the stack holds at
activation point `n`. A name that a value does not hold stands for the empty set. Two kinds of facts, as rows of bit matrices: A ⊆ B
(A ∩ ¬B = ∅) and A ∩ B = ∅. Rows are always closed: A ⊆ B ⊆ C gives A ⊆ C, and A ⊆ B with B ∩ C = ∅ gives A ∩ C = ∅.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.domains.bits import bits

ACTIVE = 0
_ACTIVE = 1


@dataclass(frozen=True, slots=True)
class Groups:
    """One key per name: `inside[a]` is the set of groups that contain `a` (but itself), `apart[a]` those that share no thread with it."""

    inside: Mapping[int, int]
    apart: Mapping[int, int]

    @property
    def names(self) -> int:
        """Return the set of names that may stand for a non-empty set."""
        out = 0
        for name in self.inside:
            out |= 1 << name
        return out


class GroupDomain:
    """The lattice of emptiness facts: fewer facts and more names are higher."""

    bottom = Groups({}, {})
    start = Groups({ACTIVE: 0}, {ACTIVE: 0})
    """Only the active threads, nothing known."""

    def leq(self, a: Groups, b: Groups) -> bool:
        """Say whether every fact of `b` holds in `a`."""
        inside, apart = b.inside, b.apart
        if a.inside == inside and a.apart == apart:
            return True
        names = a.names
        for name, row in a.inside.items():
            if name not in inside or inside[name] & ~row or apart[name] & ~a.apart[name] & names:
                return False
        return True

    def explain(self, a: Groups, b: Groups) -> str:
        """Return the first fact of `b` that `a` does not have, or the first name that `b` holds empty."""
        absent = ~a.names
        for name, inside in a.inside.items():
            if name not in b.inside:
                return f"group {name} is empty on the right"
            for other in bits(b.inside[name] & ~inside):
                return f"{name} inside {other}"
            for other in bits(b.apart[name] & ~a.apart[name] & ~absent):
                return f"{name} apart from {other}"
        return ""

    def join(self, a: Groups, b: Groups) -> Groups:
        """Return the facts of both, an absent name read as empty: A ⊆ X and A ∩ X = ∅ survive its absence, X ⊆ A does not."""
        if a.inside.keys() == b.inside.keys():
            return Groups(_meet(a.inside, b.inside), _meet(a.apart, b.apart))
        names_a, names_b = a.names, b.names
        inside: dict[int, int] = {}
        apart: dict[int, int] = {}
        only_a, only_b = names_a & ~names_b, names_b & ~names_a
        for name, row in a.inside.items():
            if name in b.inside:
                inside[name] = row & b.inside[name]
                apart[name] = (a.apart[name] | only_b) & (b.apart[name] | only_a)
            else:
                inside[name], apart[name] = row, a.apart[name] | only_b
        for name in bits(only_b):
            inside[name], apart[name] = b.inside[name], b.apart[name] | only_a
        return Groups(inside, apart)

    def push_token(self, groups: Groups, point: int) -> Groups:
        """Return the facts after the active mask is pushed at `point`: the group becomes what it was, united with the active threads."""
        above, clear, bit = groups.inside[ACTIVE] | _ACTIVE, groups.apart[ACTIVE], 1 << point
        if point in groups.inside:
            above, clear = groups.inside[point] & above, groups.apart[point] & clear
        inside = {name: row | bit if row & _ACTIVE or name == ACTIVE else row for name, row in groups.inside.items()}
        return self._with(inside, groups.apart, point, above & ~bit, clear & ~bit)

    def push_side(self, groups: Groups, point: int) -> Groups:
        """Return the facts after the active threads split and those that do not go on are pushed at `point`."""
        above, clear, bit = groups.inside[ACTIVE], groups.apart[ACTIVE] | _ACTIVE, 1 << point
        if point in groups.inside:
            above, clear = groups.inside[point] & above, groups.apart[point] & clear
        inside = {name: row & ~_ACTIVE for name, row in groups.inside.items()}
        return self._with(inside, groups.apart, point, above & ~bit, clear & ~bit)

    def leave(self, groups: Groups, passed: int, below: int, *, some: bool) -> Groups:
        """Return the facts after threads T left: T is the active set, or with `some` a proper part of it, and the rest is active now.

        Every mask of a point that is `passed` and not also `below` loses T. So X ⊆ A survives where A lost threads only if X is apart
        from T or lost the same threads.
        """
        cut = passed & ~below
        clear = groups.apart[ACTIVE]
        inside: dict[int, int] = {}
        for name, row in groups.inside.items():
            safe = name == ACTIVE or (cut | clear) >> name & 1
            row_out = row if safe else row & ~passed
            if some and not cut >> name & 1:
                row_out &= ~_ACTIVE
            inside[name] = row_out
        return Groups(inside, groups.apart)

    def resume(self, groups: Groups, point: int, left: int, *, disjoint: bool = False) -> Groups:
        """Return the facts after an entry of `point` becomes the active threads; `left` is the set of points still on the stack.

        When the point may remain, its group was a union: the entry is inside whatever the union is inside of, and nothing is known to be
        inside the entry, nor inside what remains. `disjoint` says that entries of this point share no threads.
        """
        remains = left >> point & 1
        others = left & ~(1 << point)
        # What was said of the point is now said of the active threads, whose bit is the lowest.
        entry = 0 if remains else _ACTIVE
        inside = {name: row & others | row >> point & entry for name, row in groups.inside.items() if left >> name & 1}
        apart = {name: row & left | row >> point & _ACTIVE for name, row in groups.apart.items() if left >> name & 1}
        inside[ACTIVE], apart[ACTIVE] = groups.inside[point] & others, groups.apart[point] & others
        resumed = Groups(inside, apart)
        return self.separate(resumed, ACTIVE, point) if remains and disjoint else resumed

    def withdraw(self, groups: Groups, who: int, points: int, *, sure: bool) -> Groups:
        """Return the facts after some threads of the group `who`, or with `sure` all, left the groups of `points`."""
        clear = groups.apart[who]
        inside = dict(groups.inside)
        for name, row in groups.inside.items():
            if name == who or not clear >> name & 1:
                inside[name] = row & ~points
        out = Groups(inside, groups.apart)
        for point in bits(points if sure else 0):
            out = self.separate(out, who, point)
        return out

    def separate(self, groups: Groups, left: int, other: int) -> Groups:
        """Return the facts when two groups share no thread."""
        if groups.apart[left] >> other & 1:
            return groups
        apart = dict(groups.apart)
        insides = [name for name, row in groups.inside.items() if name == other or row >> other & 1]
        for name in [name for name, row in groups.inside.items() if name == left or row >> left & 1]:
            for apart_from in insides:
                if name != apart_from:
                    apart[name] |= 1 << apart_from
                    apart[apart_from] |= 1 << name
        return Groups(groups.inside, apart)

    def enclose(self, groups: Groups, small: int, big: int) -> Groups:
        """Return the facts when all threads of `small` are in `big` too."""
        if groups.inside[small] >> big & 1:
            return groups
        inside, apart = dict(groups.inside), dict(groups.apart)
        above, clear = inside[big] | 1 << big, apart[big]
        for name, row in groups.inside.items():
            if name == small or row >> small & 1:
                inside[name] = (row | above) & ~(1 << name)
                apart[name] |= clear
                for other in bits(clear):
                    apart[other] |= 1 << name
        return Groups(inside, apart)

    def rename(self, groups: Groups, old: int, new: int) -> Groups:
        """Return the facts when the threads of the point `old` are counted to `new`."""
        bit, other = 1 << old, 1 << new
        inside = {name: row & ~bit | other if row & bit else row for name, row in groups.inside.items() if name != old}
        above, clear = groups.inside[old], groups.apart[old]
        if new in inside:
            above, clear = above & inside[new], clear & groups.apart[new]
        apart = {name: row & ~bit for name, row in groups.apart.items() if name != old}
        return self._with(inside, apart, new, above & ~(bit | other), clear & ~(bit | other))

    @staticmethod
    def _with(inside: dict[int, int], others: Mapping[int, int], point: int, above: int, clear: int) -> Groups:
        """Return the matrices with the rows of `point` set, the symmetric column of `apart` in step with them."""
        bit = 1 << point
        apart = {name: row | bit if clear >> name & 1 else row & ~bit for name, row in others.items()}
        inside[point], apart[point] = above, clear
        return Groups(inside, apart)


def _meet(a: Mapping[int, int], b: Mapping[int, int]) -> dict[int, int]:
    return {name: row & b[name] for name, row in a.items()}
