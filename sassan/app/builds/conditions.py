"""Under which other conditions a baseline was made: what its documents tell of all that their numbers rest on."""

from collections.abc import Iterable, Iterator, Mapping

from sassan.app.builds.checked import Remark
from sassan.app.builds.saved_results import Measure, SavedResult
from sassan.app.fingerprint import HASHED
from sassan.app.options import command_line

_MISSING = "what it rests on is not recorded: write it again"
_NO_CODE = "accesses and branches are not recorded: write it again"
_FOLLOWS_CODE = "bounds"
"""Flow facts name addresses: they change with the code, and are compared where it is the same."""
_FIGURES = {"tables": "figures of the architecture", "measurements": "measurements", "bounds": "flow facts"}


def other(old: SavedResult, new: SavedResult) -> tuple[str, ...]:
    """Return in what the conditions of two results differ: `--loop-bound 9, now 10`."""
    missing = (
        *((_MISSING,) if old.settings is None or new.settings is None else ()),
        *((_NO_CODE,) if old.code is None and new.code is not None else ()),
    )
    return (*different(old, new), *missing)


def differing(functions: Iterable[tuple[str, tuple[str, ...]]]) -> Remark:
    """Return what is to be said of functions, each with what `other` says of it."""
    names: dict[str, list[str]] = {}
    for name, texts in functions:
        for text in texts:
            names.setdefault(text, []).append(name)
    texts = tuple(f"{text} ({some[0]}{f' and {len(some) - 1} more' if len(some) > 1 else ''})" for text, some in names.items())
    return Remark("other-conditions", "the baseline was made under other conditions", texts)


def different(old: SavedResult, new: SavedResult) -> Iterator[str]:
    """Yield in what the conditions differ, as far as both results tell them."""
    if old.version and new.version and old.version != new.version:
        yield f"version {old.version}, now {new.version}"
    warps = old.number(Measure.OCCUPANCY), new.number(Measure.OCCUPANCY)
    if None not in warps and warps[0] != warps[1]:
        yield f"{Measure.OCCUPANCY} {warps[0]}, now {warps[1]}"
    before, after = old.settings, new.settings
    if before is None or after is None:
        return
    same_code = old.text is not None and old.text == new.text
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name) and (same_code or name != _FOLLOWS_CODE or name not in before or name not in after):
            yield _difference(name, before, after)


def _difference(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    was, now = before.get(name), after.get(name)
    if (was or now or "").startswith(HASHED):
        figure = _FIGURES.get(name, name)
        return f"other {figure}" if was and now else f"{figure} {'given' if was else 'not given'}, now {'given' if now else 'not given'}"
    option = command_line(name.replace("-", "_"))
    return f"{option} {was or 'not given'}, now {now or 'not given'}"
