"""Why a number grew: the differences of two builds of a function that explain it, in words and with their places."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sassan.app.builds.conditions import different
from sassan.app.builds.figures import GLOBAL, LOCAL, SHARED, CodeFigures, Site
from sassan.app.builds.saved_results import BOUNDS, CODE, Measure, SavedResult
from sassan.fields.kinds import address
from sassan.plurals import count_of

_NAMED = 3
"""Places that a sentence names; the others are counted."""
_PLAIN = {Measure.REGISTERS: "registers", Measure.INSTRUCTIONS: "instructions", Measure.LOCAL: "bytes of local memory"}
_SPACES = {Measure.PASSES: SHARED, Measure.SECTORS: GLOBAL}


@dataclass(frozen=True, slots=True)
class Explained:
    """What explains a change: a text that goes behind a message, and the places that it names, the first as the address of the change."""

    text: str = ""
    places: tuple[tuple[int, str], ...] = ()

    @property
    def address(self) -> int | None:
        """Return the first place, None where there is none."""
        return self.places[0][0] if self.places else None


def explained(old: SavedResult, new: SavedResult, measure: Measure) -> Explained:
    """Return what explains the change of a number; of a figure of the code its own places, then all that differs beside it."""
    if measure in BOUNDS:
        text, places = since(old, new)
        return Explained(f"; what differs: {text}" if text else "", places)
    detail = _detail(measure, old, new)
    beside = [each for each in _parts(old, new) if each[0] not in {measure, *_TOLD_BY.get(measure, ())}]
    text = "; ".join(text for _, text, _ in beside)
    return Explained((f": {detail.text}" if detail.text else "") + (f"; beside it: {text}" if text else ""), detail.places)


_TOLD_BY = {Measure.LOCAL: (Measure.STACK,), Measure.STACK: (Measure.LOCAL,)}
"""Figures that say the same."""


def since(old: SavedResult, new: SavedResult) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return everything that differs between two builds, '' where nothing does, with the places that it names."""
    parts = tuple(_parts(old, new))
    return "; ".join(text for _, text, _ in parts), tuple(place for _, _, places in parts for place in places)


def _parts(old: SavedResult, new: SavedResult) -> Iterator[tuple[Measure | None, str, tuple[tuple[int, str], ...]]]:
    """Yield what differs: options and launch, loops, then the figures of the code."""
    for text in different(old, new):
        yield None, text, ()
    for text in _loops(old, new):
        yield None, text, ()
    for measure in CODE:
        before, after = old.number(measure), new.number(measure)
        if measure is Measure.OCCUPANCY or before is None or after is None or before == after:
            continue  # of resident warps, the conditions say it
        detail = _detail(measure, old, new)
        if measure in _PLAIN:
            yield measure, f"{_PLAIN[measure]} {before} → {after}", detail.places
        elif detail.text:
            yield measure, detail.text, detail.places
        else:
            yield measure, f"{measure.value} {before} → {after}", ()


def _loops(old: SavedResult, new: SavedResult) -> Iterator[str]:
    """Yield the bounds of loops that changed, where there are as many loops as before."""
    if len(old.loops) == len(new.loops):
        for before, after in zip(old.loops, new.loops, strict=True):
            if before.bound != after.bound:
                bounds = ("none" if bound is None else str(bound) for bound in (before.bound, after.bound))
                yield f"bound of the loop at {address(after.head)} {' → '.join(bounds)}"


def _detail(measure: Measure, old: SavedResult, new: SavedResult) -> Explained:
    """Return the places of a change of one figure of the code."""
    if old.code is None or new.code is None:
        return Explained()
    match measure:
        case Measure.STACK | Measure.LOCAL:
            return _stack(old.code, new.code)
        case Measure.ACCESSES:
            return _accesses(old.code, new.code)
        case Measure.DIVERGENT:
            return _branches(old.code, new.code)
        case Measure.PASSES | Measure.SECTORS:
            return _transactions(old.code, new.code, measure)
        case _:
            return Explained()


def _stack(old: CodeFigures, new: CodeFigures) -> Explained:
    more = len(new.of(LOCAL)) - len(old.of(LOCAL))
    sites = new.of(LOCAL)
    if more <= 0 or not sites:
        return Explained()
    stores = sum(site.stem == "STL" for site in sites) - sum(site.stem == "STL" for site in old.of(LOCAL))
    kinds = f" ({stores} stores, {more - stores} loads)" if 0 <= stores <= more else ""
    text = f"{count_of(more, 'new stack access', 'new stack accesses')}{kinds}, the first at {sites[0].place}"
    return Explained(text, tuple((site.address, f"{site.opcode}: the stack") for site in sites[:_NAMED]))


def _accesses(old: CodeFigures, new: CodeFigures) -> Explained:
    """Return which opcodes access memory more often, and which less: a vector that fell apart, a load that is done twice."""
    before, after = (Counter(site.opcode for site in code.accesses or () if site.space not in LOCAL) for code in (old, new))
    changed = [opcode for opcode in dict.fromkeys((*before, *after)) if before[opcode] != after[opcode]]
    more = [site for site in new.accesses or () if after[site.opcode] > before[site.opcode] and site.space not in LOCAL]
    text = ", ".join(f"{opcode} {before[opcode]} → {after[opcode]}" for opcode in changed)
    where = ", ".join(dict.fromkeys(site.place for site in more[:_NAMED]))
    return Explained(text + (f" (at {where})" if where else ""), tuple((site.address, site.opcode) for site in more[:_NAMED]))


def _branches(old: CodeFigures, new: CodeFigures) -> Explained:
    more = len(new.divergent) - len(old.divergent)
    if more <= 0:
        return Explained()
    left = Counter(site.source for site in old.divergent)
    came: list[Site] = []
    for site in new.divergent:
        if left[site.source]:
            left[site.source] -= 1
        else:
            came.append(site)
    which = ", ".join(dict.fromkeys(site.place for site in (came or new.divergent)[:_NAMED]))
    text = f"{'one branch' if more == 1 else f'{more} branches'} became divergent: {which}"
    return Explained(text, tuple((site.address, "may split a warp") for site in (came or new.divergent)[:_NAMED]))


def _transactions(old: CodeFigures, new: CodeFigures, measure: Measure) -> Explained:
    """Return the accesses that take more passes or sectors than before, those that grew most first."""
    unit = "passes" if measure is Measure.PASSES else "sectors"
    grown: list[tuple[int, Site, int | None]] = []
    for site, was in _paired(old.of(_SPACES[measure]), new.of(_SPACES[measure])):
        before = was.transactions if was is not None else None
        growth = site.waste - (was.waste if was is not None else 0)
        if growth > 0:
            grown.append((growth, site, before))
    grown.sort(key=lambda each: (-each[0], each[1].address))
    places = tuple((site.address, f"{_now(site, unit)}{_was(before)}") for _, site, before in grown)
    texts = list(Counter(f"{site.stem} at {site.place} {_now(site, unit)}{_was(before)}" for _, site, before in grown).items())
    named = [f"{count} times {text}" if count > 1 else text for text, count in texts[:_NAMED]]
    more = [f"and {len(texts) - _NAMED} more"] if len(texts) > _NAMED else []
    assumed = f", for a block of {new.block.replace(',', ' x ')} (none is given)" if new.assumed and named else ""
    return Explained(", ".join([*named, *more]) + assumed, places[:_NAMED])


def _now(site: Site, unit: str) -> str:
    return f"now takes {'' if site.exact else 'up to '}{site.transactions} {unit}"


def _was(before: int | None) -> str:
    return " (new)" if before is None else f" (was {before})"


def _paired(old: Sequence[Site], new: Sequence[Site]) -> Iterator[tuple[Site, Site | None]]:
    """Yield each access with what it was: in the order of the code where an opcode stands as often as before, else by the source line."""
    for stem in dict.fromkeys(site.stem for site in new):
        before, after = ([site for site in sites if site.stem == stem] for sites in (old, new))
        if len(before) == len(after):
            yield from zip(after, before, strict=True)
            continue
        left = list(before)
        for site in after:
            was = next((each for each in left if each.source == site.source), None)
            if was is not None:
                left.remove(was)
            yield site, was
