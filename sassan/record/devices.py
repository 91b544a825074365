"""The GPU that a recorded program sees: one with the compute capability of its code, or as chosen by the user."""

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
"""The compute capability for programs without GPU code of their own, such as a Python interpreter."""
_GIB = 1024 * 1024 * 1024
_KIB = 1024
_KHZ = 1000
_BLOCK_SHARED = 48
"""Default limit of shared memory per block in kilobytes, without opt-in."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """The user's choice of device; None means the value of the table. Units: `memory` in bytes."""

    arch: str | None = None
    name: str | None = None
    sms: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class SimulatedDevice:
    """The device that the stand-in library reports. Units: `clock` and `memory_clock` in kHz, `bus` in bits, `l2` in bytes."""

    device: ProgramDevice
    machine: Multiprocessor
    clock: int
    memory_clock: int
    bus: int
    l2: int

    def numbers(self, runtime: int, driver: int) -> tuple[int, ...]:
        """Return the numbers of `struct device` in core.h, in its order; `runtime` and `driver` are versions such as 12090."""
        machine = self.machine
        per_sm, per_block = (_KIB * kilobytes for kilobytes in machine.shared)
        major, minor = divmod(machine.number, 10)
        return (
            *(major, minor, self.device.sms, self.device.memory, self.clock, self.memory_clock, self.bus, self.l2),
            *(per_sm, min(per_block, _KIB * _BLOCK_SHARED), per_block, rules_of(machine).shared_reserved),
            *(machine.warps * WARP_SIZE, machine.blocks, machine.registers, runtime, driver),
        )


def simulated_device(choice: DeviceChoice, capability: int) -> SimulatedDevice:
    """Return the device of a choice, of compute capability `capability` by default.

    Raises UsageError `no-device` for an unknown compute capability.
    """
    arch = choice.arch or f"sm_{capability}"
    known_device = _table().get(arch)
    if known_device is None:
        raise UsageError("no-device", f"no known device has the architecture {arch}", hint=f"pass --sm with one of {', '.join(_table())}")
    device = known_device.device
    changed = ProgramDevice(choice.name or device.name, device.arch, choice.sms or device.sms, choice.memory or device.memory)
    return replace(known_device, device=changed)


@cache
def _table() -> dict[str, SimulatedDevice]:
    file = FORMAT.toml("devices.toml", resources.files("sassan.record").joinpath("devices.toml").read_text("utf-8"))
    file.only("device")
    devices = file.table("device")
    return dict(_simulated_device(key, devices.table(key)) for key in devices.values)


def _simulated_device(capability: str, table: Fields) -> tuple[str, SimulatedDevice]:
    table.only("name", "sms", "memory", "clock", "memory_clock", "bus", "l2")
    arch, _ = named(capability)
    device = ProgramDevice(table.text("name"), arch, table.whole("sms"), table.whole("memory") * _GIB)
    clocks = table.whole("clock") * _KHZ, table.whole("memory_clock") * _KHZ
    return arch, SimulatedDevice(device, load(arch), *clocks, table.whole("bus"), table.whole("l2") * _KIB)
