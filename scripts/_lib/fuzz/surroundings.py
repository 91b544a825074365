"""What surrounds an input: its name, the names of its functions, its folder, the environment and the limits of a process."""

import json
import os
import resource
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random

from _lib.fuzz.format import SAMPLES, Answer, Format, answer

_PIECES = (
    *("a", "k", "saxpy", "x" * 60, " ", "  ", ".", "..", "-", "--json", "-f", "~", "#", "%s", "%n", "{}", "{name}", "{0.__class__}"),
    *("$(touch PWNED)", "`touch PWNED`", "${IFS}", "$PATH", ";touch PWNED;", "|touch PWNED", "&&touch PWNED", ">PWNED", "'", '"', "\\"),
    *("\n", "\r", "\t", "\x00", "\x07", "\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x7f", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028"),
    *("<script>alert(1)</script>", "</script>", "<!--", "&amp;", "]]>", "=cmd|' /C calc'!A0", "@SUM(1)", "*", "?", "[a-z]", "**", "!"),
    *("\udc80", "\udcff", "ü", "日本", "😀", "İ", "ß", ".sass", ".cubin", ".cu", ".toml", "CON", "NUL", "[", "]", "=", ",", ":"),
)
_STEERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff")
_OUTSIDE = "outside-of-the-folder"
_CODE = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
_CUBIN = SAMPLES / "sm_80" / "saxpy.cubin"
_LONGEST = 250
"""Bytes of a name that file systems take, with space for an ending."""


def _name(draw: Random) -> str:
    return "".join(draw.choice(_PIECES) for _ in range(draw.choice((1, 1, 2, 3, 5, 9))))


def _file_name(draw: Random) -> str:
    """A name that a file can have."""
    data = os.fsencode(_name(draw).replace("/", "_").replace("\0", "_"))[:_LONGEST]
    return os.fsdecode(b"_" if data in {b"", b".", b".."} else data)


def _packed(value: object) -> bytes:
    return json.dumps(value).encode()


def _finding(said: Answer) -> str:
    """What is wrong with an answer: as of every answer, and characters that steer a terminal or turn a line around."""
    if wrong := said.finding:
        return wrong
    if Path("PWNED").exists():
        return "a name was executed"
    steering = {char for char in said.out + said.err if char in _STEERING or (char < " " and char not in "\n\t") or "\x7f" <= char < "\xa0"}
    return f"characters that steer a terminal: {sorted(map(ascii, steering))}" if steering else ""


@contextmanager
def _folder() -> Iterator[Path]:
    """Work in a new folder, beside which there is a file that no command names."""
    before, place = Path.cwd(), Path("place")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    Path(_OUTSIDE).write_text(_OUTSIDE, "utf-8")
    os.chdir(place)
    try:
        yield place
    finally:
        os.chdir(before)
        shutil.rmtree(place, ignore_errors=True)


def _of_name(draw: Random) -> bytes:
    return _packed([_file_name(draw), draw.choice((".sass", ".cubin", ".toml", "")), draw.randrange(1 << 16)])


def _check_name(data: bytes, choice: int) -> str:
    """A file of any name: read, drawn, batched, and named as an output."""
    name, suffix, _ = json.loads(data)
    with _folder():
        path = Path(name + suffix)
        shutil.copy(_CUBIN if suffix == ".cubin" else _CODE, path)
        given = f"./{path}" if choice % 2 else str(path)
        lines = (
            ("analyze", given),
            ("listing", given, "--csv"),
            ("cfg", given, "-o", f"{given}.svg"),
            ("batch", ".", "--executor", "serial", "-o", "out.jsonl"),
            ("analyze", str(path.absolute()), "--json"),
            ("ipet", given, "-o", f"{given}.lp"),
            ("check", given, "--no-gaps", "--sarif", "out.sarif"),
            ("report", given, "-o", "out.html"),
        )
        return _finding(answer(*lines[choice // 2 % len(lines)]))


def _of_function(draw: Random) -> bytes:
    return _packed([_name(draw).replace("\0", "_"), draw.choice(("mangled", "plain"))])


@cache
def _saxpy() -> str:
    return _CODE.read_text("utf-8")


def _check_function(data: bytes, choice: int) -> str:
    """A listing whose function has any name."""
    name, _ = json.loads(data)
    with _folder():
        Path("k.sass").write_bytes(_saxpy().replace("saxpy", name).encode("utf-8", "surrogateescape"))
        lines = (
            ("analyze", "k.sass"),
            ("analyze", "k.sass", "--mangled", "--csv"),
            ("cfg", "k.sass", "-o", "{name}.svg"),
            ("cfg", "k.sass", "-o", "{name}.dot"),
            ("ipet", "k.sass", "-o", "{name}.lp"),
            ("report", "k.sass", "-o", "out.html"),
            ("listing", "k.sass"),
            ("strings", "k.sass"),
            ("memory", "k.sass"),
            ("batch", "k.sass", "--executor", "serial", "-o", "out.jsonl"),
            ("diff", "k.sass", str(_CODE)),
            ("check", "k.sass", "--no-gaps", "--junit", "out.xml"),
        )
        wrong = _finding(answer(*lines[choice % len(lines)]))
        page = Path("out.html").read_text("utf-8") if Path("out.html").exists() else ""
        return wrong or ("a name is markup in the page" if "<script>alert(1)" in page else "")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


_KINDS: dict[str, Callable[[Path], object]] = {
    "code": lambda path: shutil.copy(_CODE, path),
    "cubin": lambda path: shutil.copy(_CUBIN, path),
    "empty": lambda path: path.touch(),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 4),
    "folder": lambda path: path.mkdir(),
    "fifo": _fifo,
    "socket": _socket,
    "outside": lambda path: path.symlink_to(Path("..") / _OUTSIDE),
    "circle": lambda path: path.symlink_to(path.name),
    "up": lambda path: path.symlink_to(".."),
    "nothing": lambda path: path.symlink_to("nothing"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "closed": lambda path: path.touch(0),
    "project": lambda path: path.write_text("[project]\nfiles = ['**/*']\n", "utf-8"),
}
_NAMES = ("k.sass", "k.cubin", "k.cu", "k.ptx", "sassan.toml", "k", "sub", "sub/k.sass", "sub/sub", ".k.sass", "launches.toml", "k.fatbin")


def _of_folder(draw: Random) -> bytes:
    return _packed([[draw.choice(_NAMES), draw.choice(list(_KINDS))] for _ in range(draw.randrange(1, 8))])


def _check_folder(data: bytes, choice: int) -> str:
    """A folder with anything in it."""
    with _folder():
        for name, kind in json.loads(data):
            with suppress(OSError):
                if not os.path.lexists(name):
                    _KINDS[kind](Path(name))
        lines = (
            ("batch", ".", "--executor", "serial", "-o", "out.jsonl"),
            ("batch", "**/*", "--executor", "serial", "--json"),
            ("analyze", "k.sass"),
            ("analyze", "k.cubin", "--json"),
            ("analyze", "k.sass", "--bounds", "launches.toml"),
            ("analyze", "k.sass", "--launches", "k"),
            ("analyze", "k.sass", "--project", "sassan.toml"),
            ("cfg", "k.sass", "-o", "sub"),
            ("check", "k.sass", "k.cubin", "--no-gaps"),
            ("listing", "k.sass", "--source", "."),
            ("diff", "k.sass", "sub/k.sass"),
            ("init", "k.sass"),
            ("report", "k.sass", "k.cubin", "-o", "k"),
        )
        said = answer(*lines[choice % len(lines)])
        return _finding(said) or ("what is outside of the folder is shown" if _OUTSIDE in said.out else "")


_VARIABLES = (
    *("TMPDIR", "TMP", "HOME", "SASSAN_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR", "PATH", "CUDA_HOME"),
    *(
        "CUDA_PATH",
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
        "CC",
        "LANG",
        "LC_ALL",
        "TERM",
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
    ),
    *("SOURCE_DATE_EPOCH", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SASSAN_ARCHITECTURES", "GRAPHVIZ_DOT", "BASH_ENV"),
)
_SETTINGS = (
    "",
    "0",
    "-1",
    "nothing",
    "/nothing",
    "/dev/null",
    "/dev/full",
    "/proc",
    "/",
    ".",
    "relative/folder",
    "1e9",
    "C",
    "xx_YY.UTF-8",
    "dumb",
)
_LIMITS = {"size": resource.RLIMIT_FSIZE, "files": resource.RLIMIT_NOFILE, "core": resource.RLIMIT_CORE}


def _of_environment(draw: Random) -> bytes:
    values = [
        [draw.choice(_VARIABLES), draw.choice(_SETTINGS) if draw.randrange(3) else _name(draw).replace("\0", "")]
        for _ in range(draw.choice((0, 1, 1, 2, 4)))
    ]
    limit = draw.choice(([], [], ["size", draw.choice((0, 1, 512, 4096, 65536))], ["files", draw.choice((24, 32, 64))], ["core", 0]))
    return _packed([values, limit])


@contextmanager
def _limited(limit: list[object]) -> Iterator[None]:
    if not limit:
        yield
        return
    kind = _LIMITS[str(limit[0])]
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (int(str(limit[1])), hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def _check_environment(data: bytes, choice: int) -> str:
    """Variables with any value, and limits of files."""
    import tempfile  # noqa: PLC0415 - its folder is chosen anew

    variables, limit = json.loads(data)
    before, place = dict(os.environ), tempfile.tempdir
    with _folder():
        shutil.copy(_CODE, "k.sass")
        shutil.copy(_CUBIN, "k.cubin")
        lines = (
            ("analyze", "k.sass"),
            ("analyze", "k.cubin"),
            ("analyze", "k.cubin", "--no-cache", "--json"),
            ("cfg", "k.sass", "-o", "out.svg"),
            ("report", "k.sass", "-o", "out.html"),
            ("batch", ".", "--executor", "serial", "-o", "out.jsonl"),
            ("ipet", "k.sass", "-o", "out.lp"),
            ("listing", "k.cubin"),
        )
        try:
            os.environ.update(dict(variables))
            tempfile.tempdir = None
            with _limited(limit):
                said = answer(*lines[choice % len(lines)])
        finally:
            os.environ.clear()
            os.environ.update(before)
            tempfile.tempdir = place
        return _finding(said)


FORMATS = (
    Format("name", ".json", ("sassan.cli.output", "sassan.names"), _of_name, _check_name),
    Format("function", ".json", ("sassan.names", "sassan.render"), _of_function, _check_function),
    Format("folder", ".json", ("sassan.batch", "sassan.system"), _of_folder, _check_folder),
    Format("environment", ".json", ("sassan.system", "sassan.scratch", "sassan.files"), _of_environment, _check_environment),
)
