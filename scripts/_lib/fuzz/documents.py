"""Recorded runs, and files of settings of each kind: TOML, JSON, JSON Lines and CSV."""

import gzip
import json
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from _lib.fuzz import mutate
from _lib.fuzz.format import SAMPLES, Format, answer, reading

from ncu_report import report
from recordings import CACHE, DETAILS, KTT, T4, details, raw

_CODE = str(SAMPLES / "sm_61" / "saxpy.cuobjdump.sass")
_LOOP = str(SAMPLES / "sm_80" / "mandelbrot.cuobjdump.sass")
_METRICS = (("sm__cycles_elapsed.max", "cycle", "379,490"), ("gpu__time_duration.sum", "us", "249.22"))
_TABLE = 'kernel,block,grid,time_ns_min,time_ns_median,time_ns_max,cycles,launches\nsaxpy,"256,1,1","8,1,1",10,20.5,31,700,2\n'
_MEASUREMENTS = "function,text,start,cycles\nsaxpy,sha256:0,0x0008,12\n"
_HASH = "sha256:" + "0" * 64
_LAUNCH = {
    "kernel": "saxpy",
    "grid": [16, 1, 1],
    "block": [256, 1, 1],
    "shared": 0,
    "count": 3,
    "params": [
        {"offset": 0, "size": 4, "value": "0x00400000"},
        {"offset": 8, "size": 8, "value": "0x7f0000000000", "pointer": {"buffer": 1, "offset": 0, "size": 4096, "host": False}},
    ],
    "stream": 0,
    "cooperative": False,
    "cluster": [1, 1, 1],
}
_DOCUMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "gates": (
        {"function": {"*": {"max-wcet": 900, "require-bounded": True, "control": True}, "s*": {"max-makespan": 10, "no-gaps": True}}},
    ),
    "bounds": (
        {
            "external": {"vprintf": {"cost": 900}},
            "function": {
                "mandelbrot": {
                    "parameters": {"n": "0x160"},
                    "never": ["0x0110"],
                    "loop": [{"head": "0x0220", "bound": 64}],
                    "total": [{"head": "0x0220", "bound": 99}],
                    "exclusive": [{"blocks": ["0x0000", "0x0090"]}],
                    "constraint": [{"blocks": {"0x0000": 2, "0x00c0": -1}, "most": 3}],
                    "branch": [{"at": "0x0150", "targets": ["0x0160", "0x0180"]}],
                }
            },
        },
        {"function": {"mandelbrot": {"loop": [{"line": "k.cu:4", "bound": 1}]}}},
    ),
    "machine": (
        {
            "base": "6.1",
            "source": "x",
            "sm": {"warps": 32, "fp64": 8},
            "unit": {"fp64": {"cycles": 4, "scope": "sm"}},
            "latency": {"global": 900},
        },
    ),
    "gpu": (
        {
            "sources": {"a": "the board"},
            "product": {
                "Board": {
                    "aliases": ["B"],
                    "architecture": "sm_61",
                    "sms": 20,
                    "base_mhz": 1600,
                    "boost_mhz": 1700,
                    "dram": "GDDR5X",
                    "dram_gb": 8,
                    "dram_gb_per_s": 320,
                    "l2_kib": 2048,
                    "source": "a",
                    "measured": {"launch_us": 3.5, "dram_efficiency": 0.8, "source": "a"},
                }
            },
        },
    ),
    "launches": (
        {
            "schema": 1,
            "program": "p",
            "arguments": ["1"],
            "status": 0,
            "device": {"name": "T4", "arch": "sm_75", "sms": 40},
            "launch": [_LAUNCH],
        },
    ),
}
_COMMANDS: dict[str, tuple[Sequence[str], ...]] = {
    "gates": (("check", _CODE, "--gates", "{}", "--allow-unmatched"),),
    "bounds": (("ipet", _LOOP, "--bounds", "{}"), ("analyze", _LOOP, "--bounds", "{}", "--allow-unmatched")),
    "machine": (("analyze", _CODE, "--machine", "{}", "-W", "4"),),
    "gpu": (("analyze", _CODE, "--gpu", "{}", "--block-dim", "64", "--grid", "4"), ("gpus", "{}")),
    "launches": (("analyze", _CODE, "--launches", "{}", "--gpu", "GTX 1080", "--loop-bound", "2"),),
}


def _toml(samples: Callable[[], Sequence[dict[str, Any]]]) -> Callable[[Random], bytes]:
    def make(draw: Random) -> bytes:
        text = mutate.toml_text(mutate.document(draw, samples()))
        return (text if draw.randrange(4) else mutate.text(draw, [text])).encode("utf-8", "replace")

    return make


def _json(samples: Callable[[], Sequence[dict[str, Any]]]) -> Callable[[Random], bytes]:
    def make(draw: Random) -> bytes:
        text = json.dumps(mutate.document(draw, samples()), indent=1)
        return (text if draw.randrange(4) else mutate.text(draw, [text])).encode("utf-8", "replace")

    return make


def _texts(*samples: str) -> Callable[[Random], bytes]:
    return lambda draw: mutate.text(draw, samples).encode("utf-8", "replace")


@cache
def _examples(folder: str) -> list[dict[str, Any]]:
    return [tomllib.loads(path.read_text("utf-8")) for path in sorted((SAMPLES / folder).glob("*.toml"))]


@cache
def _results() -> list[dict[str, Any]]:
    return [json.loads(_anywhere(answer("analyze", code, "--json", "--loop-bound", "2").out)) for code in (_CODE, _LOOP)]


@cache
def _result_lines() -> list[str]:
    """A file of results of a batch, as its lines."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "results.jsonl"
        assert answer("batch", _CODE, "-o", str(written), "--executor", "serial").status == 0
        return _anywhere(written.read_text("utf-8")).splitlines()


def _anywhere(text: str) -> str:
    """The text without the folder of this checkout, so that inputs are the same on every machine."""
    return text.replace(f"{SAMPLES.parent}/", "")


def _results_of_a_batch(draw: Random) -> bytes:
    head, *rows = _result_lines()
    chosen = [head, *(json.dumps(mutate.document(draw, [json.loads(row)])) for row in rows)]
    if not draw.randrange(3):
        chosen[0] = json.dumps(mutate.document(draw, [json.loads(head)]))
    text = "\n".join(chosen) + "\n"
    return (text if draw.randrange(4) else mutate.text(draw, [text])).encode("utf-8", "replace")


def _recorded(draw: Random) -> bytes:
    match draw.randrange(4):
        case 0:
            return mutate.binary(draw, [report().data])
        case 1:
            return _texts(DETAILS + details(("Duration", "us", "249.22"), ("Threads", "thread", "1,024")), raw(*_METRICS), _TABLE)(draw)
        case _:
            data = _json(lambda: (CACHE, T4, KTT))(draw)
            return gzip.compress(data, mtime=0) if not draw.randrange(8) else data


def _evolve(draw: Random) -> bytes:
    return _toml(lambda: _examples("evolve"))(draw)


def _settings(name: str) -> Format:
    packages = {"gates": "sassan.app.builds.gates", "bounds": "sassan.ipet.facts", "machine": "sassan.machine", "gpu": "sassan.products"}
    package = packages.get(name, "sassan.launches")
    return Format(name, ".toml", ("sassan.checked", package), _toml(lambda: _DOCUMENTS[name]), reading(".toml", *_COMMANDS[name]))


_PLAIN = ("sassan.checked",)
FORMATS = (
    Format(
        "recorded",
        ".recorded",
        ("sassan.recorded",),
        _recorded,
        reading(".recorded", ("validate", "{}", _CODE), ("validate", "{}", _CODE, "--json"), ("rank", "{}", "--gpu", "T4")),
    ),
    *map(_settings, _DOCUMENTS),
    Format(
        "instance",
        ".toml",
        (*_PLAIN, "sassan.makespan.configuration"),
        _toml(lambda: _examples("makespan")),
        reading(
            ".toml",
            ("makespan", "--config", "{}", "--engine", "bounds", "--time-limit", "0.05"),
            ("makespan", "--config", "{}", "--time-limit", "0.05"),
        ),
    ),
    Format(
        "search", ".toml", (*_PLAIN, "sassan.evolve.space"), _evolve, reading(".toml", ("evolve", "{}", "--budget", "1", "-o", "found"))
    ),
    Format(
        "results",
        ".json",
        (*_PLAIN, "sassan.app.builds.saved_results", "sassan.app.builds.read_fields"),
        _json(_results),
        reading(".json", ("diff", "{}", _CODE), ("check", _CODE, "--no-gaps", "--baseline", "{}"), ("diff", _CODE, "{}", "--json")),
    ),
    Format(
        "batch",
        ".jsonl",
        (*_PLAIN, "sassan.batch"),
        _results_of_a_batch,
        reading(".jsonl", ("batch", _CODE, "-o", "{}", "--resume", "--executor", "serial"), ("diff", "{}", _CODE)),
    ),
    Format(
        "samples",
        ".csv",
        (*_PLAIN, "sassan.measure.read", "sassan.measure.rows"),
        _texts(
            "# device: x\ngroup,run,seconds,delay,size\n0,0,0.5,1,10\n0,1,0.25,1,10\n1,0,0.75,2,20\n1,1,0.5,2,20\n",
            '{"groups": [{"seconds": [0.5, 0.25], "delay": 1, "size": 10, "cycles": [5, 4]}, {"seconds": [0.75, 0.5]}]}',
            "[[0.5, 0.25], [0.75, 0.5]]",
        ),
        reading(".csv", ("measure", "{}"), ("measure", "{}", "--json")),
    ),
    Format(
        "measurements",
        ".csv",
        (*_PLAIN, "sassan.timing"),
        _texts(_MEASUREMENTS, mutate.toml_text({"function": {"saxpy": {"text": _HASH, "block": [{"start": "0x0008", "cycles": 9}]}}})),
        reading(".csv", ("analyze", _CODE, "--model", "measured", "--measurements", "{}")),
    ),
)
