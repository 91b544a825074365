"""What changed between two builds: functions that came, went, were renamed, and what each of the others says of itself now."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sassan.app.builds.saved_results import BOUNDS, Measure, SavedResult
from sassan.fields.kinds import address

_LAUNCH = ("block-dim", "grid", "param")
_Key = tuple[str, str, int]
_Same = Callable[[SavedResult], tuple[str, ...] | None]
_Pairing = tuple[Callable[[Mapping[_Key, SavedResult], Mapping[_Key, SavedResult], _Same], dict[_Key, SavedResult]], _Same]


class ChangeState(StrEnum):
    """What became of a function."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class NumberChange:
    """A number that differs; None where it is not known."""

    measure: Measure
    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class ListDifference:
    """What a function listed before and lists no longer, and what it lists only now; `what` names the list."""

    what: str
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """One function: `old` is None where it was added, `new` where it was removed. `code` says whether its instructions differ.

    `code` is None where a document does not tell the instructions.
    """

    state: ChangeState
    old: SavedResult | None
    new: SavedResult | None
    numbers: tuple[NumberChange, ...] = ()
    lines: tuple[ListDifference, ...] = ()
    code: bool | None = None

    @property
    def latest(self) -> SavedResult:
        """Return the function as it is now, or as it was before it was removed."""
        latest = self.new or self.old
        assert latest is not None
        return latest


def changes(old: Sequence[SavedResult], new: Sequence[SavedResult]) -> tuple[FunctionChange, ...]:
    """Return what became of every function, in the order of the new build, removed ones behind.

    Functions go by name and architecture; of several launches of one those with the same arguments, of several with one name
    those of one file, or else with the same instructions, are the same, and
    what is left goes in order. One whose name is gone is the same as a new one with the same instructions; where a name is left on both
    sides once, with another architecture, it is the same function.
    """
    before, after = _numbered(old), _numbered(new)
    pairs, gone = _paired(before, after, ((_in_order, _launched), *_SURE, (_in_order, _named), (_matched, _code), (_matched, _name)))
    current = [
        _change(pairs[key], result) if key in pairs else FunctionChange(ChangeState.ADDED, None, result) for key, result in after.items()
    ]
    return (*current, *(FunctionChange(ChangeState.REMOVED, result, None) for result in gone.values()))


def counterparts(
    old: Sequence[SavedResult], new: Sequence[SavedResult]
) -> tuple[tuple[tuple[SavedResult, ...], ...], tuple[SavedResult, ...]]:
    """Return what each function of the new build is held to, and what of the old one holds none.

    Functions are paired as in `changes`, but never under another name or for another architecture. Where those that are left of one
    name are as many on both sides, they go in order; else it is unknown which was which, and each is held to all.
    """
    before, after = _numbered(old), _numbered(new)
    pairs, gone = _paired(before, after, _SURE)
    held: dict[_Key, tuple[SavedResult, ...]] = {key: (result,) for key, result in pairs.items()}
    left, came = _groups(gone, _named), _groups({key: result for key, result in after.items() if key not in pairs}, _named)
    for group, keys in came.items():
        was = left.pop(group, [])
        alike = len(was) == len(keys)
        held.update({key: (gone[was[place]],) if alike else tuple(gone[index] for index in was) for place, key in enumerate(keys)})
    unused = {key for keys in left.values() for key in keys}
    return tuple(held[key] for key in after), tuple(result for key, result in gone.items() if key in unused)


def _paired(
    before: Mapping[_Key, SavedResult], after: Mapping[_Key, SavedResult], pairings: Sequence[_Pairing]
) -> tuple[dict[_Key, SavedResult], dict[_Key, SavedResult]]:
    """Return the old function of each new one that has one, by the first pairing that finds it, and the old ones that are left."""
    pairs: dict[_Key, SavedResult] = {}
    gone, came = dict(before), dict(after)
    for match, same in pairings:
        for key, counterpart in match(gone, came, same).items():
            pairs[key] = counterpart
            del came[key]
        gone = _left(before, pairs.values())
    return pairs, gone


def _numbered(results: Iterable[SavedResult]) -> dict[_Key, SavedResult]:
    """Return the functions by name, architecture, and how many of these come before."""
    numbered: dict[_Key, SavedResult] = {}
    for result in results:
        number = 0
        while (result.name, result.arch, number) in numbered:
            number += 1
        numbered[result.name, result.arch, number] = result
    return numbered


def _left(before: Mapping[_Key, SavedResult], taken: Iterable[SavedResult]) -> dict[_Key, SavedResult]:
    gone = {id(result) for result in taken}
    return {key: result for key, result in before.items() if id(result) not in gone}


def _place(result: SavedResult) -> tuple[str, ...]:
    return (result.name, result.arch, result.file)


def _launch(result: SavedResult) -> tuple[str, ...] | None:
    """Return the place of a launched kernel and its launch: one kernel may be launched in several ways."""
    launch = [result.given(option) for option in _LAUNCH]
    return (*_place(result), *(text or "" for text in launch)) if any(launch) else None


def _launched(result: SavedResult) -> tuple[str, ...] | None:
    """Return the same without the file, for one of several launches of a function."""
    return None if result.launch is None else (*_named(result), *(result.given(option) or "" for option in _LAUNCH))


def _named_code(result: SavedResult) -> tuple[str, ...] | None:
    return None if result.text is None else (result.name, result.arch, result.text)


def _named(result: SavedResult) -> tuple[str, ...]:
    return (result.name, result.arch)


def _code(result: SavedResult) -> tuple[str, ...] | None:
    return None if result.text is None else (result.text, result.arch)


def _name(result: SavedResult) -> tuple[str, ...] | None:
    return (result.name,)


def _matched(gone: Mapping[_Key, SavedResult], came: Mapping[_Key, SavedResult], same: _Same) -> dict[_Key, SavedResult]:
    """Return, of those that came, the ones that are the same as exactly one that is gone, and that alone."""
    left, right = _groups(gone, same), _groups(came, same)
    return {keys[0]: gone[left[group][0]] for group, keys in right.items() if len(keys) == len(left.get(group, ())) == 1}


def _in_order(gone: Mapping[_Key, SavedResult], came: Mapping[_Key, SavedResult], same: _Same) -> dict[_Key, SavedResult]:
    """Return, of those that came, the ones that are the same as one that is gone, the first as the first."""
    left, right = _groups(gone, same), _groups(came, same)
    return {key: gone[was] for group, keys in right.items() for was, key in zip(left.get(group, ()), keys, strict=False)}


def _groups(results: Mapping[_Key, SavedResult], same: _Same) -> dict[tuple[str, ...], list[_Key]]:
    groups: dict[tuple[str, ...], list[_Key]] = {}
    for key, result in results.items():
        group = same(result)
        if group is not None:
            groups.setdefault(group, []).append(key)
    return groups


_SURE: tuple[_Pairing, ...] = ((_matched, _launch), (_matched, _place), (_matched, _named_code))
"""The pairings of functions of one name and architecture that are certain."""


def _change(old: SavedResult, new: SavedResult) -> FunctionChange:
    numbers = tuple(NumberChange(measure, old.number(measure), new.number(measure)) for measure in Measure if _differs(measure, old, new))
    lines = tuple(listing for listing in _lists(old, new) if listing.removed or listing.added)
    code = None if old.text is None or new.text is None else old.text != new.text
    renamed = old.name != new.name
    differs = bool(numbers or lines or code)
    state = ChangeState.RENAMED if renamed else ChangeState.CHANGED if differs else ChangeState.SAME
    return FunctionChange(state, old, new, numbers, lines, code)


def _differs(measure: Measure, old: SavedResult, new: SavedResult) -> bool:
    """Say whether a number changed; one that the input of one side does not tell, such as registers of a listing, did not."""
    numbers = old.number(measure), new.number(measure)
    return numbers[0] != numbers[1] and (measure in BOUNDS or None not in numbers)


def _lists(old: SavedResult, new: SavedResult) -> Iterator[ListDifference]:
    yield _difference("architecture", [old.arch], [new.arch])
    yield _difference("cost model", [old.model], [new.model])
    yield _difference("warps", _known(old.warps), _known(new.warps))
    yield _difference("threads of a block", _known(old.block), _known(new.block))
    yield _difference("blocks and SMs", _known(old.grid), _known(new.grid))
    yield _difference("string", _known(old.string), _known(new.string))
    yield _difference("loops", _loops(old), _loops(new))
    yield _difference("gaps", *([f"{address(gap.address)} {gap.code}" for gap in result.gaps] for result in (old, new)))
    yield _difference("assumptions", old.assumptions, new.assumptions)


def _known(value: object) -> list[str]:
    return [] if value is None else [str(value)]


def _loops(result: SavedResult) -> list[str]:
    return [
        f"{address(loop.head)}{''.join(f' in {address(site)}' for site in loop.context)}: "
        + ("no bound" if loop.bound is None else f"bound {loop.bound} ({loop.source})")
        for loop in result.loops
    ]


def _difference(subject: str, old: Sequence[str], new: Sequence[str]) -> ListDifference:
    """Return what only one side lists; one that is listed twice counts twice."""
    removed, added = list(old), list(new)
    for text in old:
        if text in added:
            added.remove(text)
            removed.remove(text)
    return ListDifference(subject, tuple(removed), tuple(added))
