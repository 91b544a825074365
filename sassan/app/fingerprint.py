"""What results depend on beside their input, spelled: equal where the results would be."""

import hashlib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import starmap
from typing import TYPE_CHECKING

from sassan.arch.files import digest, further_digest
from sassan.errors import SelfCheckError
from sassan.ipet.wcet import Setup
from sassan.isa.loading import tables_digest
from sassan.timing.measured import MeasuredCostModel

if TYPE_CHECKING:
    from sassan.app.result import AnalysisResult
    from sassan.app.settings import Settings
    from sassan.ir import Function

HASHED = "sha256:"
_SHOWN = 120
"""Characters of a setting that are kept as they are; longer ones are distinguished by their digest."""


def settings_of(result: "AnalysisResult") -> Mapping[str, str]:
    """What the numbers of a function rest on, by the names of options; an option that is not given, or not for the function, has no entry.

    `bounds` (its flow facts), `tables` (those of the architecture, of opcodes, of a machine file) and `measurements` are digests.
    """
    settings, function = result.settings, result.function
    exploration, launch = settings.exploration, settings.launch
    given: dict[str, object] = {
        "model": result.wcet.model,
        "order": exploration.order,
        "call-depth": exploration.call_depth,
        "letters": settings.letters,
        "loop-bound": settings.loop_bound,
        "distinct": ", ".join(f"0x{address:04x}={units}" for address, units in settings.distinct) or None,
        "bounds": _facts(settings, function.name),
        "block-dim": _extents(launch.block),
        "grid": _extents(launch.grid),
        "param": ", ".join(sorted(str(setting) for setting, _ in launch.placed(function))) or None,
        "buffers": ", ".join(map(str, launch.buffers)) or "none" if launch.buffers is not None else None,
        "host": "yes" if launch.host else None,
        **_machine(settings),
        "warps": settings.warps,
        "partition": "yes" if settings.partition else None,
        "solve": settings.setup.solver if settings.setup.solver != Setup().solver else None,
        "ablate": ", ".join(sorted(exploration.ablate)) or None,
        "paper-experiment": "yes" if settings.setup.paper else None,
        **_tables(settings, function),
    }
    return {name: str(value) for name, value in given.items() if value is not None}


def _facts(settings: "Settings", name: str) -> str | None:
    """The digest of the flow facts of a function, whatever its code and its parameters are called."""
    facts = settings.facts.of(name) if settings.facts is not None else None
    return _hash(_spelled(replace(facts, text="", parameters=()))) if facts is not None else None


def _machine(settings: "Settings") -> Mapping[str, object]:
    """What is given of the GPU and of what a launch takes of it."""
    gpu, resources, launch = settings.gpu, settings.resources, settings.launch
    return {
        "gpu": gpu.name if gpu is not None else None,
        "clock": f"{gpu.boost_clock} MHz" if gpu is not None and gpu.source("boost_clock") == "given" else None,
        "dram-share": f"{float(gpu.dram_share):.2%}" if gpu is not None and gpu.dram_share < 1 else None,
        "machine": settings.machine.sm.arch if settings.machine is not None and gpu is None else None,
        "registers": resources.registers if resources is not None else None,
        "shared": resources.shared if resources is not None else None,
        "sms": resources.sms if resources is not None and launch.grid is not None else None,
    }


def _tables(settings: "Settings", function: "Function") -> Mapping[str, object]:
    """The latencies that are given, and digests of all figures that costs are made of."""
    costs, machine = settings.costs, settings.machine
    latencies = costs.tables.given if costs.tables is not None else {}
    figures = (machine.sm, machine.latency) if machine is not None else None
    tables = f"{digest(function.arch)} {tables_digest()} {further_digest()} {_spelled(figures)} {_spelled(settings.gpu)}"
    return {
        "latency": ", ".join(f"{name}={cycles}" for name, cycles in sorted(latencies.items())) or None,
        "measurements": _hash(_spelled(costs.functions.get(function.name))) if isinstance(costs, MeasuredCostModel) else None,
        "tables": _hash(tables),
    }


def _extents(shape: tuple[int, int, int] | None) -> str | None:
    return None if shape is None else ",".join(map(str, shape))


def of_settings(settings: "Settings") -> Mapping[str, object]:
    """Everything that results depend on beside the functions, by the name of the setting.

    Raises SelfCheckError for a setting that is not a plain value.
    """
    return {each.name: short(getattr(settings, each.name)) for each in fields(settings)}


def short(value: object) -> object:
    """A plain value as JSON has it, or the digest of its spelling where that is long.

    Raises SelfCheckError.
    """
    text = _spelled(value)
    return _plain(value) if len(text) <= _SHOWN else _hash(text)


def _plain(value: object) -> object:  # noqa: PLR0911 - one for each kind of value
    """Return a value that has a spelling as JSON: an object names its type as `kind`."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case AbstractSet():
            return sorted(map(str, value))
        case Sequence() if not isinstance(value, bytes):
            return [_plain(item) for item in value]
        case _ if is_dataclass(value):
            held = {member.name: _plain(getattr(value, member.name)) for member in fields(value) if member.compare}
            return {"kind": type(value).__name__, **held}
        case _:
            return str(value)


def _hash(text: str) -> str:
    return HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _spelled(value: object) -> str:
    """Return one spelling for equal values, the same in every process: sets and mappings by the spelling of what they hold."""
    match value:
        case Enum():
            return f"{type(value).__name__}.{value.name}"
        case str() | bytes() | int() | float() | Fraction() | None:
            return repr(value)
        case Mapping():
            return "{" + ", ".join(sorted(starmap(_pair, value.items()))) + "}"
        case AbstractSet():
            return "{" + ", ".join(sorted(map(_spelled, value))) + "}"
        case Sequence():
            return "(" + ", ".join(map(_spelled, value)) + ")"
        case _ if is_dataclass(value):
            held = ", ".join(f"{member.name}={_spelled(getattr(value, member.name))}" for member in fields(value) if member.compare)
            return f"{type(value).__name__}({held})"
        case _:
            raise SelfCheckError("settings", f"a {type(value).__name__} among the settings cannot be distinguished from another")


def _pair(key: object, value: object) -> str:
    return f"{_spelled(key)}: {_spelled(value)}"
