"""The answers of the program that measures a target, read and checked.

    schema = 1
    device = "Orin"                     # as CUDA names it
    architecture = "sm_87"
    sms = 8
    driver = "12.6"
    runtime = "12.6"
    date = "2026-11-29"
    [figure.launch_us]                  # one of each figure: least, median and most of its runs
    least = 3.1
    median = 3.4
    most = 5.2
    runs = 199
    [end]
    complete = true                     # the program came to its end

Microseconds, MHz, GB/s, and cycles of the SMs. The file comes from another machine: nothing in it is believed that cannot be.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sassan.checked import Fields, Format
from sassan.products import Product

FORMAT = Format("bad-answers", "the program of 'sassan measure --assumptions --gpu NAME -o measure.cu' prints such a file")
LATENCY = "latency_"
"""The begin of the name of a latency, by the name of its class."""
LATENCIES = ("atomic", "barrier", "blockfence", "constant", "double", "fence", "global", "sfu", "shared", "shuffle", "tensor", "texture")
"""The classes of instructions whose latency the program measures."""
_NEEDED = (
    "clock_mhz",
    "launch_us",
    "between_us",
    "between_in_graph_us",
    "block_cycles",
    "dram_gb_per_s",
    "dram_gb_per_s_shared",
    "cpu_gb_per_s",
    "latency_global",
    "latency_global_shared",
)
_OPTIONAL = ("l2_bytes_per_cycle", *(f"{LATENCY}{name}" for name in LATENCIES if name != "global"))
_SCHEMA = 1
_MOST = 1_000_000
_ABOVE = 1.01
"""How far a measurement may be above what the product can do: clocks and timers have an error."""
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}", re.ASCII)
_DEVICE = re.compile(r"[\w ()./+-]{1,80}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TargetFigure:
    """The least, the median and the most of the `runs` of a measurement."""

    least: float
    median: float
    most: float
    runs: int


@dataclass(frozen=True, slots=True)
class TargetAnswers:
    """What the program measured: each figure by its name, and on what."""

    device: str
    driver: str
    runtime: str
    date: str
    figures: Mapping[str, TargetFigure]

    @property
    def share(self) -> float:
        """What the CPU left of DRAM at least, while all its cores copied memory: of its bandwidth, and by its latency."""
        alone, shared = self.figures["dram_gb_per_s"], self.figures["dram_gb_per_s_shared"]
        quick, slow = self.figures["latency_global"], self.figures["latency_global_shared"]
        return min(1.0, shared.least / alone.least, quick.most / slow.most)


def read(label: str, text: str, gpu: Product) -> TargetAnswers:
    """Return the answers of a TOML text, which `label` names in errors, for a product.

    Raises InputError `bad-answers` where the text is no such file or was cut off, where a figure is missing or cannot be, and where it was
    measured on another GPU, or in another power mode.
    """
    file = FORMAT.toml(label, text)
    file.only("schema", "device", "architecture", "sms", "driver", "runtime", "date", "figure", "end")
    if file.whole("schema") != _SCHEMA:
        raise file.fail("schema", f"must be {_SCHEMA}, not {file.whole('schema')}")
    if not file.table("end").flag("complete"):
        raise file.fail("end", "is missing: the program did not come to its end")
    if file.text("architecture") != gpu.architecture:
        raise file.fail("architecture", f"{file.text('architecture')} is another GPU than {gpu.name}, which is {gpu.architecture}")
    if file.whole("sms") != gpu.sms:
        raise file.fail("sms", f"{file.whole('sms')} SMs are another GPU, or another power mode, than {gpu.name}, which has {gpu.sms}")
    known = file.table("figure", required=True)
    known.only(*_NEEDED, *_OPTIONAL)
    figures = {name: _figure(known.table(name, required=True)) for name in (*_NEEDED, *(name for name in _OPTIONAL if name in known))}
    _possible(known, "clock_mhz", figures["clock_mhz"].most, gpu.boost_clock, f"MHz, and {gpu.name} has {gpu.boost_clock}")
    _possible(known, "dram_gb_per_s", figures["dram_gb_per_s"].most, gpu.dram_bandwidth, f"GB/s of {gpu.dram_bandwidth:g} of {gpu.name}")
    device, date = _plain(file, "device", _DEVICE), _plain(file, "date", _DATE)
    return TargetAnswers(device, _plain(file, "driver", _VERSION), _plain(file, "runtime", _VERSION), date, figures)


def _figure(fields: Fields) -> TargetFigure:
    fields.only("least", "median", "most", "runs")
    least, median, most = (fields.number(key, least=0, most=_MOST) for key in ("least", "median", "most"))
    if not 0 < least <= median <= most:
        raise fields.fail("median", f"must lie between the least and the most, which are more than 0, not {median:g}")
    return TargetFigure(least, median, most, fields.whole("runs"))


def _possible(fields: Fields, key: str, measured: float, limit: float, against: str) -> None:
    if measured > _ABOVE * limit:
        raise fields.fail(key, f"cannot be {measured:g} {against}: another power mode or product was measured")


def _plain(file: Fields, key: str, pattern: re.Pattern[str]) -> str:
    """Return a text that goes into a source: of plain characters, so that no page or file takes it for more."""
    text = file.text(key)
    if pattern.fullmatch(text) is None:
        raise file.fail(key, f"must be plain text such as a program prints it, not {text[:40]!r}")
    return text
