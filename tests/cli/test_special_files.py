"""What is no plain file is one error at once, wherever a command takes a file: found from the options, so that none is forgotten."""

import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.shell import SAMPLES, Sassan
from cli.test_rank import tuner_cache
from sassan.cli.group import SUMMARIES, command
from sassan.system import reading

SAXPY = str(SAMPLES / "sm_61" / "saxpy.cuobjdump.sass")
TABLE = str(SAMPLES / "measure" / "synthetic-durations.csv")
CONFIG = str(SAMPLES / "evolve" / "fir.toml")
SECONDS = 20
BASE = {
    **dict.fromkeys(("analyze", "cfg", "blocks", "strings", "listing", "memory", "ipet", "export"), (SAXPY,)),
    "init": (SAXPY,),
    "batch": (SAXPY, "--executor", "serial"),
    "check": (SAXPY, "--no-gaps"),
    "serve": (SAXPY, "--export", "page.html"),
    "estimate": (SAXPY, "--gpu", "T4", "--block-dim", "64", "--grid", "2"),
    "report": (SAXPY, "-o", "page.html"),
    "makespan": ("LCL", "-W", "2"),
    "diff": (SAXPY, SAXPY),
    "rank": (CONFIG,),
    "evolve": (CONFIG,),
    "measure": (TABLE,),
    "record": ("true",),
    "validate": ("times.csv",),
    "task": (SAXPY, "--gpu", "GTX 1080", "--launches", "launches.toml"),
    "verify-certificate": ("c.json",),
    "gpus": (),
}
"""The arguments of a command that works."""
OTHERS = {
    ("estimate", "--launches"): (SAXPY, "--gpu", "T4"),
    ("task", "--launches"): (SAXPY, "--gpu", "GTX 1080"),
    ("rank", "--source"): ("tuned.json",),
    ("measure", "--output"): ("tuned.cu",),
    ("makespan", "--bounds"): (SAXPY, "-W", "2"),
    ("makespan", "--project"): (SAXPY, "-W", "2"),
    ("diff", "--output"): (SAXPY, SAXPY, "--sass"),
}
"""The same where an option does not go with those."""
NO_FILES = re.compile(
    r"[A-Z]|US|NAME(\|GLOB)?|TEXT|EXPR|ADDRESS|CMD…|COMMAND…|MHZ|GIB|BYTES|PERCENT|sm_90|[0-9]\.[0-9]|5%\|N|all\|loop\|worst\|0x120"
    r"|[A-Z]+(\[?=[^.]*)|[XS](\[?,.*)"
    r"|registers=.*|L=1,C=4|N\|NAME|SIZE|MIB|recorded\|assume-none|TIME|RATE(\|outside)?"
)
"""Values that are no files."""
LATE = {
    ("record", "--images"),
    ("batch", "--parquet"),
    *((name, f"--tls-{file}") for name in ("rank", "evolve") for file in ("ca-file", "cert", "key")),
}
"""What is used after much work: a folder that is made after a recording, a cluster that compiles a space."""
SERVED = frozenset({("mcp", "--root")})
"""A folder whose files are served until standard input ends: tests/cli/test_mcp.py."""
AFTER_WORK = frozenset({("rank", "--output"), ("measure", "--output"), ("validate", "--output")})
"""Outputs of work that is not done here: a pipe and a device may take them, and are opened when there is something to write."""
FILES = re.compile(r"FILE|DIR|PATH|OLD|NEW|OTHER|CODE|RECORDING|CACHE|[.][a-z]+")
PRODUCTS = frozenset({("analyze", "--gpu"), ("gpus", "")})
"""Names of GPUs, which may be files, too."""
TAKE_FOLDERS = frozenset({("serve", ""), ("batch", ""), ("evolve", "--output")})
OUTPUTS = frozenset({"--output", "--certificate", "--export", "--lp", "--proof", "--junit", "--sarif", "--summary"})
FOLDERS = frozenset({"--source", "--plots"})
CLUSTER = ("--executor", "dask", "--scheduler", "tls://127.0.0.1:1")
BESIDE = {
    **dict.fromkeys(("--tls-ca-file", "--tls-cert", "--tls-key"), CLUSTER),
    "--measurements": ("--model", "measured"),
    "--export": (),
    "--compare": (),
    "--lp": ("--engine", "ilp"),
    "--parquet": ("-o", "results.jsonl"),
}
"""What has to stand beside an option, so that its file is read."""


class Place(NamedTuple):
    """Where a command takes a file: an option or, by its number, an argument."""

    command: str
    option: str
    argument: int
    suffix: str


def places() -> Iterator[Place]:
    for name in SUMMARIES:
        arguments = 0
        for parameter in command(name).params:
            metavar = parameter.metavar
            option = parameter.opts[-1] if parameter.param_type_name == "option" else ""
            if metavar is None or (name, option) in LATE | SERVED or (NO_FILES.fullmatch(metavar) and (name, option) not in PRODUCTS):
                continue
            if (name, option) in PRODUCTS:
                metavar = "NAME.toml"
            assert FILES.search(metavar), f"{name} {option}: say whether {metavar} is a file"
            suffix = re.search(r"\.[a-z]+", metavar)
            yield Place(name, option, -1 if option else arguments, suffix[0] if suffix else "")
            arguments += not option


@pytest.fixture
def special(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(reading, "BEGIN_SECONDS", 0.02)
    monkeypatch.chdir(tmp_path)
    tuner_cache(tmp_path)
    Path("times.csv").write_text("kernel,grid,block,time_us\nsaxpy,1024,256,10\n")
    Path("launches.toml").write_text('[[launch]]\nkernel = "saxpy"\ngrid = [2, 1, 1]\nblock = [64, 1, 1]\n')
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))

    def late(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def made(kind: str, folder: Path, suffix: str) -> str:
    path = folder / f"{kind}{suffix}"
    if path.exists():
        return path.name
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path.name)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to(f"/dev/{kind}")
    return path.name


def line(place: Place, value: str) -> list[str]:
    words = list(OTHERS.get((place.command, place.option), BASE[place.command]))
    if place.argument >= 0:
        words[place.argument : place.argument + 1] = [value]
        return [place.command, *words]
    option = [*BESIDE.get(place.option, ()), place.option, value]
    # What follows the program of `record` is its own.
    return [place.command, *option, *words] if place.command == "record" else [place.command, *words, *option]


EVERY = list(places())
FIRST = list({(place.option, place.command if place.argument >= 0 else "", place.argument): place for place in reversed(EVERY)}.values())[
    ::-1
]


@pytest.mark.parametrize(
    "place", EVERY if os.environ.get("SASSAN_FULL") else FIRST[::2], ids=lambda place: f"{place.command}{place.option or place.argument}"
)
def test_what_is_no_plain_file_is_one_error_at_once(place: Place, special: Path, sassan: Sassan):
    output = place.option in OUTPUTS or (place.option in FOLDERS and place.option != "--source")
    streams = () if (place.command, place.option) in AFTER_WORK else ("pipe", "full" if output else "zero")
    for kind in ("socket", "folder", *streams):
        value = made(kind, special, place.suffix)
        if kind == "folder" and (place.option in FOLDERS or (place.command, place.option) in TAKE_FOLDERS):
            continue
        signal.alarm(SECONDS)
        result = sassan(*line(place, value))
        signal.alarm(0)
        said = result.err + result.out
        assert result.status in (2, 3, 4), (kind, said)
        assert "internal" not in result.codes, said
        assert value in said, said


@pytest.mark.parametrize(
    "place",
    [place for place in EVERY if place.option in OUTPUTS and (place.command, place.option) not in TAKE_FOLDERS],
    ids=lambda place: f"{place.command}{place.option}",
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    place: Place, special: Path, sassan: Sassan, monkeypatch: pytest.MonkeyPatch
):
    def work(*_: object) -> None:
        raise AssertionError("it reads its input")

    monkeypatch.setattr(sys.modules["sassan.frontend.load"], "read_bytes", work)
    for value in (f"none/out{place.suffix}", made("folder", special, place.suffix)):
        result = sassan(*line(place, value))
        assert (result.status, result.out) == (2, ""), result.err
        assert value in result.err or "none" in result.err
        assert "wrote" not in result.err
