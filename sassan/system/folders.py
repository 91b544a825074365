"""Folders: those that may be trusted with what is loaded, and names that are plain.

The rule of what is loaded (a library, compiled code, an entry of a cache): its folder is this user's, no other user may write it, it is no
link; and no other may put another folder in its place, because the same holds for the folders above (which may be root's, too), or they
keep what is another user's (sticky, as /tmp). The folders above are all that the system looks into on the way: those of links, too.
"""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE = 0o700
_LINKS = 40
"""Links on the way to a file, as many as Linux follows."""
_PLAIN = re.compile(r"[A-Za-z0-9_./+@-]{0,200}")
_PLACES = ("/tmp", "/var/tmp")  # noqa: S108 - where the system's temporary files go when TMPDIR names no place that is fit
_NOBODY = 65534
"""Whom the folders above belong to where the system knows no name for their owner: root's in a container, on a network drive."""
_ANY = "sassan"
"""A name in a folder: the rule is about the folders above one."""


def trusted(folder: Path) -> bool:
    """Say whether only this user (and root) can have put anything into a folder; False where there is none."""
    if not hasattr(os, "getuid"):
        return True
    try:
        return _is_private(folder.lstat(), stat.S_ISDIR) and _kept(folder)
    except (OSError, ValueError):
        return False


def trusted_file(path: Path) -> bool:
    """Say whether a file is a plain one of this user that no other user may write, in a folder that is `trusted`."""
    if not hasattr(os, "getuid"):
        return path.is_file()
    try:
        return own_file(path.lstat()) and trusted(path.parent)
    except (OSError, ValueError):
        return False


def own_file(status: os.stat_result) -> bool:
    """Say whether what was found is a plain file of this user that no other user may write."""
    return _is_private(status, stat.S_ISREG) if hasattr(os, "getuid") else stat.S_ISREG(status.st_mode)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, each for this user alone whatever the umask allows. Raises OSError."""
    try:
        folder.mkdir(_PRIVATE, exist_ok=True)
    except FileNotFoundError:
        if folder == folder.parent:
            raise
        make_private(folder.parent)
        folder.mkdir(_PRIVATE, exist_ok=True)


def open_to_all(path: Path) -> bool:
    """Say whether any other user may write an installed program or library, or put another one in its place.

    This is a weaker rule than `trusted`: programs belong to root, or to whoever installs them for all, and groups may write them.
    """
    if not hasattr(os, "getuid"):
        return False
    try:
        if path.stat().st_mode & stat.S_IWOTH:
            return True
        return any(folder.stat().st_mode & stat.S_IWOTH and not _keeps(folder, entry) for folder, entry in _way(path))
    except (OSError, ValueError):
        return True


def is_plain(text: str) -> bool:
    """Say whether a name means nothing but itself, to a shell, to another program that splits it, and on a terminal."""
    return _PLAIN.fullmatch(text) is not None


def temporary_place() -> Path:
    """Return the first folder for temporary files whose path is plain, and where others cannot exchange what is ours; raises OSError."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir())
    for folder in (tempfile.gettempdir(), *_PLACES):
        path = os.path.realpath(folder)
        if is_plain(path) and os.access(path, os.W_OK | os.X_OK) and _kept(Path(path) / _ANY):
            return Path(path)
    message = f"no folder is fit for temporary files: others may exchange what is in '{tempfile.gettempdir()}', or its name is not plain"
    raise OSError(message)


def _is_private(status: os.stat_result, kind: Callable[[int], bool]) -> bool:
    return kind(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & _OTHERS


def _kept(path: Path) -> bool:
    """Say whether no other user can exchange what stands at a path, by any of the folders on the way to it."""
    fit = {0, os.getuid(), Path(os.sep).stat().st_uid, _NOBODY}
    way = [(folder, entry, folder.stat()) for folder, entry in _way(path)]
    return all(status.st_uid in fit and (not _shared(status) or _keeps(folder, entry)) for folder, entry, status in way)


def _keeps(folder: Path, entry: Path) -> bool:
    """Say whether a folder that others may write keeps an entry: it is sticky, and the entry is root's, ours, or not there yet."""
    try:
        return bool(folder.stat().st_mode & stat.S_ISVTX) and entry.lstat().st_uid in {0, os.getuid()}
    except FileNotFoundError:
        return True


def _way(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each folder that the system looks into on the way to a path, with what it looks for there. Raises OSError."""
    place, left, links = Path(os.sep), list(reversed(path.absolute().parts[1:])), 0
    while left:
        name = left.pop()
        if name == os.pardir:
            place = place.parent
            continue
        entry = place / name
        yield place, entry
        if not entry.is_symlink():
            place = entry
            continue
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = entry.readlink()
        if target.is_absolute():
            place = Path(os.sep)
        left += reversed([part for part in target.parts if part != target.anchor])


def _shared(status: os.stat_result) -> bool:
    """Say whether others may write a folder: its group counts unless it is root's, or has the user's name and no other member."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and status.st_gid != 0 and not _private_group(status.st_gid)


def _private_group(number: int) -> bool:
    import grp  # noqa: PLC0415 - there is none on Windows
    import pwd  # noqa: PLC0415

    with suppress(KeyError):
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid()).pw_name
        return group.gr_name == user and set(group.gr_mem) <= {user}
    return False
