"""The GPU that a recorded program sees: a product of the compute capability that its code is for, or what the user names."""

from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from sassan.arch import named
from sassan.checked import Fields
from sassan.errors import UsageError
from sassan.launches import ProgramDevice
from sassan.machine import Multiprocessor, load
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.machine.occupancy import rules_of
from sassan.machine.user import FORMAT

DEFAULT = 86
"""The compute capability that a program sees whose own code does not say one, such as a Python interpreter."""
_GIB = 1024 * 1024 * 1024
_KIB = 1024
_KHZ = 1000
_BLOCK_SHARED = 48
"""Kilobytes of shared memory that a block has without asking for more."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """What the user says of the device; None is what is left to the table. Units: `memory` in bytes."""

    arch: str | None = None
    name: str | None = None
    sms: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A device as the stand-in shows it. Units: `clock` and `memory_clock` in kHz, `bus` in bits, `l2` in bytes."""

    device: ProgramDevice
    machine: Multiprocessor
    clock: int
    memory_clock: int
    bus: int
    l2: int

    def numbers(self, runtime: int, driver: int) -> tuple[int, ...]:
        """Return the numbers of `struct device` in core.h, in its order; `runtime` and `driver` are versions such as 12090."""
        machine = self.machine
        per_sm, per_block = (_KIB * one for one in machine.shared)
        major, minor = divmod(machine.number, 10)
        return (
            *(major, minor, self.device.sms, self.device.memory, self.clock, self.memory_clock, self.bus, self.l2),
            *(per_sm, min(per_block, _KIB * _BLOCK_SHARED), per_block, rules_of(machine).shared_reserved),
            *(machine.warps * WARP_SIZE, machine.blocks, machine.registers, runtime, driver),
        )


def product(choice: DeviceChoice, capability: int) -> Product:
    """Return the device of a choice, of `capability` where that names none.

    Raises UsageError `no-device` for a compute capability that no table knows.
    """
    arch = choice.arch or f"sm_{capability}"
    found = _table().get(arch)
    if found is None:
        raise UsageError("no-device", f"no device of {arch} is known", hint=f"name another with --sm; known: {', '.join(_table())}")
    device = found.device
    changed = ProgramDevice(choice.name or device.name, device.arch, choice.sms or device.sms, choice.memory or device.memory)
    return replace(found, device=changed)


@cache
def _table() -> dict[str, Product]:
    file = FORMAT.toml("devices.toml", resources.files("sassan.record").joinpath("devices.toml").read_text("utf-8"))
    file.only("device")
    devices = file.table("device")
    return dict(_product(key, devices.table(key)) for key in devices.values)


def _product(capability: str, one: Fields) -> tuple[str, Product]:
    one.only("name", "sms", "memory", "clock", "memory_clock", "bus", "l2")
    arch, _ = named(capability)
    device = ProgramDevice(one.text("name"), arch, one.whole("sms"), one.whole("memory") * _GIB)
    clocks = one.whole("clock") * _KHZ, one.whole("memory_clock") * _KHZ
    return arch, Product(device, load(arch), *clocks, one.whole("bus"), one.whole("l2") * _KIB)
