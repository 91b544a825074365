"""Architecture files: `data/*.toml`, and those of the folder SASSAN_ARCHITECTURES. docs/reference/files.md describes the format."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar, cast

from sassan.checked import Fields, Format
from sassan.errors import UsageError
from sassan.system import reading

FOLDER = "SASSAN_ARCHITECTURES"
"""The environment variable that names a folder of further architecture files."""
SECTIONS = ("code", "sm", "units", "memory", "atomics", "fetch", "allocation", "parameters", "latencies", "hazards", "distances")
FORMAT = Format("bad-table", "docs/reference/files.md describes architecture files")
_SHIPPED = Path(__file__).parent / "data"
_SM = "sm_"
P = ParamSpec("P")
T = TypeVar("T")
_STEM = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class FactRow:
    """One fact or group of facts with one source; `source` is the text of the sources that it names. A row equals itself only."""

    fields: Fields
    source: str


Rows = Mapping[str, FactRow]
"""The rows of a section by their dotted path in it, '' for a section that is one row; those of an SM before those of its generation."""


@dataclass(frozen=True, slots=True)
class File:
    """One architecture file: what it extends, and its own rows by section.

    `generation` is the file of what is shared with other SMs, '' for none; `donor` the SM from which the sections `inherits` are taken.
    """

    name: str
    generation: str
    donor: str
    inherits: tuple[str, ...]
    own: Mapping[str, Rows]


def further() -> str:
    """Return the folder of further architecture files, '' for none."""
    return os.environ.get(FOLDER, "")


def content_digest(paths: Iterable[Path]) -> str:
    """The SHA-256 of the names of TOML files and of the values that they hold: comments and layout do not change it."""
    return hashlib.sha256(" ".join(f"{path.name} {_content(path)}" for path in paths).encode("utf-8", "surrogateescape")).hexdigest()


def _content(path: Path) -> str:
    """Return the values of a TOML file in their order, which rows depend on; the text of a file that is none, which its reader refuses."""
    text = reading.text(path, errors="surrogateescape")
    try:
        return json.dumps(tomllib.loads(text), default=str)
    except (ValueError, RecursionError):
        return text


def further_digest() -> str:
    """The `content_digest` of further architectures and their opcodes, '' without a folder: results of others are not to be mixed."""
    folder = Path(further())
    return content_digest(sorted([*folder.glob("*.toml"), *folder.glob("opcodes/*.toml")])) if further() else ""


@lru_cache(maxsize=64)
def digest(name: str) -> str:
    """The `content_digest` of the shipped files behind an SM: its own, those that it extends, and those of its generation."""
    return content_digest(_behind(_SHIPPED / f"{name}.toml"))


def _behind(path: Path) -> list[Path]:
    if not path.is_file():
        return []
    file = tomllib.loads(reading.text(path))
    parents = [_SHIPPED / f"{file[key]}.toml" for key in ("generation", "extends") if key in file]
    return [path, *(further for parent in parents for further in _behind(parent))]


def names() -> tuple[str, ...]:
    """Return the SMs that have a file, by number; raises UsageError where the folder of further ones cannot be read."""
    stems = {path.stem for folder in _folders() for path in folder.glob(f"{_SM}*.toml")}
    return tuple(sorted((name for name in stems if name.removeprefix(_SM).isdecimal()), key=lambda name: int(name.removeprefix(_SM))))


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of architectures that keeps its results, for each folder of further architecture files."""

    @lru_cache(maxsize=1024)
    def kept(folder: str, *args: Hashable, **kwargs: Hashable) -> T:
        del folder
        return cast("Callable[..., T]", function)(*args, **kwargs)

    @wraps(function)
    def looked_up(*args: Hashable, **kwargs: Hashable) -> T:
        return kept(further(), *args, **kwargs)

    return cast("Callable[P, T]", looked_up)


@cached
def find(name: str) -> File | None:
    """Return the file of an SM or a generation, None where there is none; raises InputError `bad-table`, UsageError."""
    paths = [path for place in _folders() if (path := place / f"{name}.toml").is_file()]
    if not paths:
        return None
    if len(paths) > 1:
        raise FORMAT.refused(f"{paths[1]}: {name} is described already; choose another name")
    label = paths[0].name if paths[0].parent == _SHIPPED else str(paths[0])
    try:
        return read(name, label, reading.text(paths[0]))
    except (OSError, UnicodeDecodeError) as error:
        raise FORMAT.refused(f"{label}: cannot be read: {error}") from None


def _folders() -> Iterator[Path]:
    yield _SHIPPED
    folder = further()
    if folder:
        if not Path(folder).is_dir():
            raise UsageError("architectures", f"{FOLDER}: '{folder}' is not a folder", hint="name a folder of architecture files")
        yield Path(folder)


def read(name: str, label: str, text: str) -> File:
    """Return the checked file of an SM (`sm_90`) or a generation; `label` is what errors call it.

    Raises InputError `bad-table` that names the file and the key: of a fact without a source, an unknown section, a missing donor.
    """
    file = FORMAT.toml(label, text)
    is_sm = name.startswith(_SM)
    file.only(*(("generation", "extends", "inherits") if is_sm else ("extends",)), "sources", *SECTIONS)
    parent, inherits = _stem(file, "extends"), file.texts("inherits")
    if inherits and not parent.startswith(_SM):
        raise file.fail("extends", "must name the SM from which 'inherits' takes sections, such as sm_90")
    if parent.startswith(_SM) != bool(inherits):
        raise file.fail("inherits", f"must name sections to take from {parent}: {', '.join(SECTIONS)}" if is_sm else f"{parent} is an SM")
    for section in inherits:
        if section not in SECTIONS:
            raise file.fail("inherits", f"unknown section '{section}' (known: {', '.join(SECTIONS)})")
    if is_sm and parent and not inherits:
        raise file.fail("extends", "an SM extends an SM; what is shared with others is its 'generation'")
    sources = file.table("sources")
    texts = {key: sources.text(key) for key in sources.values}
    rows = {section: MappingProxyType(dict(_rows(file.table(section), "", texts))) for section in SECTIONS if section in file}
    generation = _stem(file, "generation") if is_sm else parent
    return File(name, generation, parent if is_sm else "", inherits, MappingProxyType(rows))


def _stem(file: Fields, key: str) -> str:
    """Return the name of another file, '' for none."""
    name = file.text(key, "")
    if name and _STEM.fullmatch(name) is None:
        raise file.fail(key, "must be the name of an architecture file without '.toml'")
    return name


def _rows(fields: Fields, path: str, sources: Mapping[str, str]) -> Iterator[tuple[str, FactRow]]:
    if "source" in fields:
        yield path, FactRow(fields, fields.citation(sources))
        return
    for key, value in fields.values.items():
        if not isinstance(value, dict):
            raise fields.fail(key, "has no source: its table needs one")
        yield from _rows(fields.table(key), f"{path}.{key}" if path else key, sources)
