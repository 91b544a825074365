"""The metrics of a result of a report: values, and instances (per instruction, opcode, or device) if there are any.

metric    {1: index of the name, 2: value, 3: instance …, 4: how instances are grouped}
instance  {1: what it belongs to (a value), 2: value}
value     {1: text, 2: float, 3: double, 4: u32, 5: u64}
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.recorded.faults import bad, has_control_characters
from sassan.recorded.ncu.protobuf import Message
from sassan.recorded.types import Metric, Value
from sassan.recorded.units import unit_of

_METRIC = range(1, 5)
_VALUE = range(1, 6)
_INSTANCE = (1, 2)
_USED = ("launch__", "sm__cycles", "gpc__cycles", "gpu__time", "smsp__inst_executed", "inst_executed", "thread_inst_executed", "device__")
"""Prefixes of the metrics that the numbers of a launch come from; other metrics, such as of NVLink, may lack a value."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a result; `notes` list those that are damaged or lack a value."""

    values: Mapping[str, Metric]
    messages: Mapping[str, Message]
    notes: tuple[str, ...]
    path: str
    _parsed: dict[str, dict[Value, Value]] = field(default_factory=dict[str, dict[Value, Value]], repr=False)

    def number(self, name: str) -> float | None:
        """Return the numeric value of a metric, None if there is none."""
        metric = self.values.get(name)
        return float(metric.value) if metric and isinstance(metric.value, int | float) else None

    def whole(self, name: str) -> int | None:
        """Return the integer value of a metric, None if there is none."""
        value = self.number(name)
        return int(value) if value is not None and value.is_integer() else None

    def instances(self, name: str) -> dict[Value, Value]:
        """Return the instances of a metric, empty if there are none.

        Raises InputError if one is damaged or duplicated.
        """
        if name in self._parsed:
            return self._parsed[name]
        message = self.messages.get(name)
        out = self._parsed.setdefault(name, {})
        for instance in message.messages(3, f"an instance of {name}") if message else ():
            key, value = (
                value_of(self.path, part) if part else None for part in (instance.message(1, "a key"), instance.message(2, "a value"))
            )
            if key is None or value is None or instance.unknown(_INSTANCE):
                raise bad(self.path, instance.place, f"an instance of {name} is damaged: expected a key and a value")
            if key in out:
                raise bad(self.path, instance.place, f"two instances of {name} belong to {key}")
            out[key] = value
        return out

    def addresses(self, name: str) -> dict[int, int]:
        """Return the per-instruction instances of a metric, by address."""
        out: dict[int, int] = {}
        for key, value in self.instances(name).items():
            if not isinstance(key, int) or not isinstance(value, int | float) or value < 0 or value != int(value):
                raise bad(self.path, self.messages[name].place, f"{name} counts '{value}' for the address '{key}'")
            out[key] = int(value)
        return out


def read_metrics(path: str, result: Message, number: int, strings: list[str]) -> Metrics:
    """Return the metrics in a repeated field of a result.

    Raises InputError if one is damaged, or duplicated (unused metrics: only if the values differ).
    """
    values: dict[str, Metric] = {}
    messages: dict[str, Message] = {}
    notes: list[str] = []
    for message in result.messages(number, "a metric"):
        name = _name(path, message, strings)
        if unknown := message.unknown(_METRIC):
            notes.append(f"{message.place}: the metric {name} has the unknown fields {unknown}: a newer version, or damage")
        content = message.message(2, f"the value of {name}")
        if content and content.unknown(_VALUE):
            notes.append(f"{message.place}: the metric {name} has a value of an unknown kind and is omitted: a newer version, or damage")
            continue
        value = value_of(path, content) if content else None
        if value is None and name.startswith(_USED):
            notes.append(f"{message.place}: the metric {name} has no value")
        if isinstance(value, float) and not math.isfinite(value):
            notes.append(f"{message.place}: the metric {name} is {value} and is omitted")
            value = None
        if name in messages and (name.startswith(_USED) or values.get(name) != (None if value is None else Metric(value, unit_of(name)))):
            raise bad(path, message.place, f"duplicate metric {name}")
        messages.setdefault(name, message)
        if value is not None:
            values[name] = Metric(value, unit_of(name))
    return Metrics(values, messages, tuple(notes), path)


def value_of(path: str, message: Message) -> Value | None:
    """Return the value in a message, None if it is empty.

    Raises InputError if it has two values, or a value of an unknown kind.
    """
    if message.unknown(_VALUE):
        raise bad(path, message.place, f"{message.name} is damaged: it has the fields {message.unknown(_VALUE)}")
    kinds = (message.text(1), message.single(2), message.double(3), message.whole(4), message.whole(5))
    present = [value for value in kinds if value is not None]
    if len(present) > 1:
        raise bad(path, message.place, f"{message.name} is damaged: it has {len(present)} values")
    if present and isinstance(present[0], str) and has_control_characters(present[0]):
        return "".join(" " if has_control_characters(letter) else letter for letter in present[0])
    return present[0] if present else None


def _name(path: str, message: Message, strings: list[str]) -> str:
    index = message.needed(1)
    if index >= len(strings):
        raise bad(path, message.place, f"a metric has the name {index} of {len(strings)}")
    return strings[index]
