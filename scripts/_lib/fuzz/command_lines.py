"""Command lines: options of each command, as the command declares them, with values that fit and values that do not."""

from functools import cache
from pathlib import Path
from random import Random
from shutil import copy

from _lib.fuzz import mutate
from _lib.fuzz.format import SAMPLES, Format, answer

from sassan.cli.group import SUMMARIES, command

_FILES = {
    "k.sass": "sm_61/saxpy.cuobjdump.sass",
    "loop.sass": "sm_80/mandelbrot.cuobjdump.sass",
    "two.sass": "sm_61/two_kernels.cuobjdump.sass",
    "k.ptx": "sm_80/saxpy.ptx",
    "k.cubin": "sm_80/saxpy.cubin",
    "i.toml": "makespan/figure-2.toml",
    "s.csv": "measure/synthetic-delays.csv",
}
_EXCLUDED = frozenset({"record", "evolve", "mcp", "serve", "warm", "experiment"})
"""They start programs, or a compiler, for seconds, and have formats and tests of their own; `experiment` runs another command."""
_VALUES = (
    *("0", "1", "-1", "4", "32", "1e9", "0.5", "nan", "inf", "-0", "1_000", "2147483648", "9" * 30, "99999999999"),
    *(
        "x",
        "",
        "-",
        "--",
        "*",
        "[",
        "**",
        "k.sass,k",
        "x=1",
        "param_3=1024",
        "=",
        "x=",
        "L=1,C=4",
        "L=0",
        "D=8",
        "64,2",
        "1,1,1,1",
        "256x2",
    ),
    *(
        "sm_61",
        "sm_80",
        "sm_999",
        "6.1",
        "T4",
        "RTX 3080",
        "saxpy",
        "s*",
        "mandelbrot",
        "LCL",
        "L2C(LC)^3",
        "(",
        "L999999999C",
        "LQ",
        "5%",
        "100%%",
    ),
    *(
        "out.json",
        "out.svg",
        "out.html",
        "out.lp",
        "{name}.dot",
        "missing/out.svg",
        "out.",
        ".",
        "nothing.toml",
        "\x1b[31m",
        "ü",
        "a" * 300,
    ),
    *("tcp://127.0.0.1:9", "unit", "table", "control", "exact", "all", "beam", "serial", "threads", "thread", "csv"),
)
_SEARCH = ("--time-limit", "0.2")
"""Of a search, which takes all the time that it has."""
_LIMITS = frozenset({"--time-limit", "--memory-limit"})


@cache
def _commands() -> dict[str, tuple[list[str], list[tuple[list[str], bool, list[str]]]]]:
    """For each command, how many arguments it has, and its options: names, whether they are flags, their choices."""
    out: dict[str, tuple[list[str], list[tuple[list[str], bool, list[str]]]]] = {}
    for name in (name for name in SUMMARIES if name not in _EXCLUDED):
        parameters = command(name).params
        options = [
            ([*each.opts, *each.secondary_opts], bool(getattr(each, "is_flag", False)), (each.metavar or "").strip("<>[]").split("|"))
            for each in parameters
            if each.param_type_name == "option"
        ]
        out[name] = [str(each.name) for each in parameters if each.param_type_name == "argument"], options
    return out


def _line(draw: Random) -> bytes:
    name = draw.choice(list(_commands()))
    arguments, options = _commands()[name]
    out = [name, *(_argument(draw, name) for _ in arguments)]
    for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 5, 8))):
        names, flag, choices = draw.choice(options)
        out.append(draw.choice(names))
        if not flag or not draw.randrange(20):
            out.append(draw.choice((*choices, *_VALUES) if draw.randrange(2) else choices or _VALUES))
    if not draw.randrange(6):
        draw.shuffle(out)
    if not draw.randrange(6):
        out.insert(draw.randrange(len(out) + 1), draw.choice((*_VALUES, *(word for word in mutate.WORDS if "/" not in word))))
    return "\0".join(out).encode("utf-8", "replace")


def _argument(draw: Random, name: str) -> str:
    if draw.randrange(8) == 0:
        return draw.choice(_VALUES)
    if name == "makespan":
        return draw.choice(("LCL", "L2C(LC)^3", "LLC", "k.sass", "loop.sass"))
    return draw.choice(("k.sass", "loop.sass", "k.sass", "two.sass", *_FILES))


def _check(data: bytes, choice: int) -> str:
    del choice
    for name, sample in _FILES.items():
        copy(SAMPLES / sample, name)
    line = data.decode("utf-8", "replace").split("\0")
    limits = _LIMITS.intersection(line)
    if line[0] == "makespan" and "--time-limit" not in limits:
        line[1:1] = _SEARCH
    try:
        said = answer(*line)
    finally:
        for path in Path().iterdir():
            if path.is_file() and path.name not in _FILES:
                path.unlink()
    return "" if limits and said.codes in (["time-limit"], ["memory-limit"]) else said.finding


FORMATS = (Format("command", ".args", ("sassan.cli",), _line, _check),)
