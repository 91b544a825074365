"""The site: docs/ with what its pages link in the rest of the repository, built by MkDocs in strict mode."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"""(\]\(|src=")([^)"#\s]+)((?:#[^)"\s]*)?)([)"])""")
_ELSEWHERE = "repository"
"""The folder of the site that holds linked files from outside docs/."""


def build(output: Path) -> bool:
    """Build the site into a folder; False where MkDocs warns, as of a link that leads nowhere."""
    from mkdocs.commands.build import build as run  # noqa: PLC0415 - an extra
    from mkdocs.config import load_config  # noqa: PLC0415 - an extra
    from mkdocs.exceptions import Abort  # noqa: PLC0415 - an extra

    with tempfile.TemporaryDirectory() as scratch:
        stage(Path(scratch))
        config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=scratch, site_dir=str(output.resolve()), strict=True)
        try:
            run(config)
        except Abort:
            return False
    return True


def stage(folder: Path) -> None:
    """Copy docs/ into a folder, and whatever it links outside, directly or not, with links that fit."""
    places = {path: folder / path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()}
    waiting = list(places)
    while waiting:
        path = waiting.pop()
        for target in linked(path):
            if target not in places:
                places[target] = folder / _ELSEWHERE / target.relative_to(ROOT)
                waiting.append(target)
    for path, place in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            place.write_text(_LINK.sub(lambda link, path=path: _rewritten(link, path, places), path.read_text("utf-8")), "utf-8")
        else:
            shutil.copy(path, place)


def linked(path: Path) -> Iterator[Path]:
    """The files of the repository that a page links; of a folder its README."""
    if path.suffix == ".md":
        for _, target, _, _ in _LINK.findall(path.read_text("utf-8")):
            if "://" not in target and (file := _file(path, target)) is not None:
                yield file


def _file(path: Path, target: str) -> Path | None:
    file = Path(os.path.normpath(path.parent / target))
    file = file / "README.md" if file.is_dir() else file
    return file if file.is_file() else None


def _rewritten(link: re.Match[str], path: Path, places: dict[Path, Path]) -> str:
    before, target, anchor, after = link.groups()
    file = None if "://" in target else _file(path, target)
    return link.group() if file is None else f"{before}{os.path.relpath(places[file], places[path].parent)}{anchor}{after}"
