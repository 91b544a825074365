"""The cubins of a report, and the devices described by its sessions.

source    {1: id, 4: cubin, 5: major compute capability, 6: capability as major << 16 | minor, 9: symbols}
symbols   {1: function {1: name, 2: address, 3: index in the cubin} …, 2: others, likewise}
session   {6: device {1: id, 2: name, 3: attribute {1: name, 2: value} …} …, 8: version {1: of, 2: version}, …}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.errors import InputError
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.image import MAGIC, Image
from sassan.recorded.faults import bad, has_control_characters, shown
from sassan.recorded.ncu.container import NcuReport
from sassan.recorded.ncu.metrics import value_of
from sassan.recorded.ncu.protobuf import Message
from sassan.recorded.types import RecordedDevice, Value

_FIELDS = range(1, 16)
_KHZ = 1000
_TEXT = ".text."


@dataclass(frozen=True, slots=True)
class RecordedCubin:
    """A cubin of a report: its bytes, the load addresses of its functions, and their code sizes in bytes (empty if unreadable)."""

    id: int
    code: bytes
    capability: tuple[int, int]
    addresses: Mapping[str, int]
    sizes: Mapping[str, int]
    place: str
    notes: tuple[str, ...] = field(default=())


def read_cubin(path: str, source: Message) -> RecordedCubin | None:
    """Return the cubin of a source, None for another kind of source.

    Raises InputError if its fields or the ELF headers are damaged.
    """
    code, capability = source.blob(4), source.whole(6)
    identity = source.needed(1)
    notes: list[str] = []
    if unknown := source.unknown(_FIELDS):
        notes.append(f"{source.place}: a source has the unknown fields {unknown}: a newer version, or damage")
    if not code or not code.startswith(MAGIC["ELF"]):
        return None
    if capability is None or source.whole(5) != capability >> 16:
        notes.append(f"{source.place}: a source has the contradictory compute capabilities {source.whole(5)} and {capability or 0:#x}")
        capability = capability or 0
    symbols = source.message(9, "the symbols of a source")
    addresses = _functions(path, symbols) if symbols else {}
    sizes, more = _sizes(path, code, capability, source.place)
    missing = [name for name in addresses if sizes and name not in sizes]
    notes.extend(f"{source.place}: the cubin has no code for '{name}', which the report lists" for name in missing)
    return RecordedCubin(identity, code, (capability >> 16, capability & 0xFFFF), addresses, sizes, source.place, (*notes, *more))


def read_devices(report: NcuReport) -> dict[int, RecordedDevice]:
    """Return the devices by their index in the report."""
    out: dict[int, RecordedDevice] = {}
    for session in report.sessions:
        for device in session.messages(6, "a device"):
            index = device.needed(1)
            attributes = dict(
                filter(None, (_attribute(report.path, attribute) for attribute in device.messages(3, "an attribute of a device")))
            )
            name = device.text(2) or ""
            if has_control_characters(name):
                raise bad(report.path, device.place, "the name of a device contains control characters")
            described = described_by(attributes, name)
            if out.setdefault(index, described) != described:
                report.notes.append(f"{device.place}: device {index} has two different descriptions; the first one is used")
    return out


def described_by(attributes: Mapping[str, Value], name: str = "") -> RecordedDevice:
    """Return the device described by the attributes `device__attribute_…`."""
    major, minor, sms, khz = (
        _number(attributes.get(f"device__attribute_{key}"))
        for key in ("compute_capability_major", "compute_capability_minor", "multiprocessor_count", "clock_rate")
    )
    named = attributes.get("device__attribute_display_name", "")
    return RecordedDevice(
        name or (named if isinstance(named, str) else ""),
        (int(major), int(minor)) if major is not None and minor is not None else None,
        int(sms) if sms else None,
        khz * _KHZ if khz else None,
    )


def _number(value: Value | None) -> float | None:
    return value if isinstance(value, int | float) and 0 <= value < float("inf") else None


def _attribute(path: str, message: Message) -> tuple[str, Value] | None:
    """Return the name and the value of an attribute, None if it has none; raises InputError for a value of an unknown kind."""
    name, content = message.text(1), message.message(2, "the value of an attribute")
    value = value_of(path, content) if content else None
    return (name, value) if name is not None and value is not None else None


def _functions(path: str, symbols: Message) -> dict[str, int]:
    out: dict[str, int] = {}
    for function in symbols.messages(1, "a function of a source"):
        name = function.text(1) or ""
        if not name or has_control_characters(name) or name in out:
            raise bad(path, function.place, f"a function of a source has no unique name ('{shown(name)}')")
        out[name] = function.needed(2)
    return out


def _sizes(path: str, code: bytes, capability: int, place: str) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the code size of each function in bytes; none, and a note, for an unsupported cubin."""
    try:
        elf = Elf(Image(path, code))
        sizes = {section.name.removeprefix(_TEXT): section.size for section in elf.code}
        sm = elf.sm
    except InputError as error:
        if error.code != "unsupported-elf":
            raise bad(path, place, f"the cubin of a source is damaged: {error.message}") from None
        return {}, (f"{place}: the cubin cannot be checked: {error.message}",)
    claimed = (capability >> 16) * 10 + (capability & 0xFFFF)
    if sm != claimed:
        return sizes, (f"{place}: a cubin is for sm_{claimed} according to the report, but for sm_{sm} according to its header",)
    return sizes, ()
