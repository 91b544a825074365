"""Collecting the messages of the stand-in libraries: launches in order, with counts of equal consecutive ones, memory, notes."""

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sassan.errors import InputError, SassanError
from sassan.launches import Argument, Buffer, MemoryWrite, ProgramLaunch
from sassan.launches.read import LIMIT
from sassan.plurals import count_of
from sassan.record import protocol
from sassan.record.devices import SimulatedDevice
from sassan.record.images import ImageCode, Images, KernelFacts, threads_of
from sassan.record.protocol import RawLaunch
from sassan.record.transfers import KeptData, Transfers

_POINTER = 8
_MOST_NOTES = 100
_SEVERAL = 2
_ROW, _ARGUMENT = 500, 150
"""Upper limits of the bytes of a launch and an argument in the file, without names and values."""


class Allocations:
    """The allocations of a process, numbered in order."""

    def __init__(self) -> None:
        """Create an empty state."""
        self._starts: list[int] = []
        self._buffers: dict[int, tuple[int, int, bool, bool]] = {}
        self._count = 0

    def add(self, address: int, size: int, *, host: bool = False, managed: bool = False) -> None:
        """Add an allocation of `size` bytes; `host`: of memory that the host holds, or, `managed`, that moves between host and GPU."""
        self._count += 1
        if address not in self._buffers:
            self._starts.insert(bisect_right(self._starts, address), address)
        self._buffers[address] = (self._count, size, host, managed)

    def remove(self, address: int) -> None:
        """Remove a freed allocation."""
        if self._buffers.pop(address, None) is not None:
            del self._starts[bisect_right(self._starts, address) - 1]

    def buffer(self, address: int) -> Buffer | None:
        """Return the allocation that an address points into, None if there is none."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        start = self._starts[at]
        number, size, host, managed = self._buffers[start]
        return Buffer(number, address - start, size, host, managed) if address - start < size else None


class ProcessState:
    """The images and the memory of a process of the program."""

    def __init__(self) -> None:
        """Create an empty state."""
        self.number = 0
        self.images: dict[int, bytes] = {}
        self.memory = Allocations()
        self.transfers = Transfers()
        self.last: tuple[bytes, int] | None = None
        """The last launch message, and its index among the launches."""


class Recorder:
    """Collects the launches of all processes; `ended` is set when a limit is reached or an error ends the recording."""

    def __init__(self, device: SimulatedDevice, runtime: int, driver: int, most: int, data: int = 0) -> None:
        """Record at most `most` launches that differ from the previous one, and keep at most `data` bytes of what the host writes."""
        self.ended = threading.Event()
        self.cut = ""
        self.error: SassanError | None = None
        self.processes: list[int] = []
        self._device = device
        self._hello = protocol.device(device.numbers(runtime, driver), device.device.name)
        self._images = Images(device.machine)
        self._most = most
        self._data = KeptData(data)
        self._launching: set[int] = set()
        self._size = 0
        self._lock = threading.Lock()
        self._rows: list[ProgramLaunch] = []
        self._counts: list[int] = []
        self._unsupported: Counter[str] = Counter()
        self._notes: dict[str, None] = {}

    def fail(self, error: SassanError) -> None:
        """End the recording with an error; the first error is kept."""
        self.error = self.error or error
        self.ended.set()

    def stop(self, why: str) -> None:
        """End the recording with a reason."""
        with self._lock:
            self._end_early(why)

    def launches(self) -> tuple[ProgramLaunch, ...]:
        """Return the launches so far, in order; those of several processes without writes: each has a memory of its own."""
        with self._lock:
            alone = len(self._launching) < _SEVERAL
            rows = (launch if alone else replace(launch, writes=()) for launch in self._rows)
            return tuple(replace(launch, count=count) for launch, count in zip(rows, self._counts, strict=True))

    def images(self) -> tuple[tuple[str, bytes], ...]:
        """Return the hash and the bytes of the images whose kernels were launched."""
        with self._lock:
            used = {launch.code for launch in self._rows}
            return tuple(image for image in self._images.images() if image[0] in used)

    def data(self) -> Mapping[str, bytes]:
        """Return the bytes that writes name."""
        named = {write.data for launch in self.launches() for write in launch.writes}
        with self._lock:
            return {name: data for name, data in sorted(self._data.bytes.items()) if name in named}

    def notes(self) -> tuple[str, ...]:
        """Return notes for the user."""
        with self._lock:
            names = [
                f"{name} is not supported: {count_of(count, 'call')} returned an error" for name, count in sorted(self._unsupported.items())
            ]
            return (*self._notes, *names[:_MOST_NOTES])

    def answer(self, process: ProcessState, kind: str, payload: bytes) -> bytes | None:
        """Process a message and return its answer, None if no answer is expected.

        Raises protocol.ProtocolError.
        """
        with self._lock:
            match kind:
                case "L":
                    self._launch(process, payload)
                case "D" | "M" | "S" | "B":
                    self._data.transfer(process.transfers, kind, protocol.transfer(payload))
                case "A":
                    address, size, kind_of = protocol.block(payload)
                    process.memory.add(address, size, host=kind_of in protocol.HOST, managed=kind_of == protocol.MANAGED)
                    process.transfers.allocated(address, size, managed=kind_of == protocol.MANAGED)
                case "F":
                    process.memory.remove(protocol.block(payload)[0])
                case "I":
                    number, data = protocol.image(payload)
                    process.images[number] = data
                case "U":
                    self._unsupported[protocol.name_of(payload)] += 1
                case "N":
                    self._note(protocol.name_of(payload))
                case _:
                    return self._question(process, kind, payload)
        return None

    def _question(self, process: ProcessState, kind: str, payload: bytes) -> bytes:
        match kind:
            case "H":
                process.number = protocol.hello(payload)
                self.processes.append(process.number)
                return self._hello
            case "K":
                return self._kernel(process, *protocol.named(payload))
            case "G":
                image, name = protocol.named(payload)
                code = self._code(process, image)
                return protocol.number(code.variables.get(name, 0) if code is not None else 0)
            case "O":
                image, name, threads, shared = protocol.occupancy_query(payload)
                kernel = self._facts(process, image, name)
                return protocol.blocks(self._images.resident(kernel, threads, shared) if kernel is not None else 0)
            case _:
                raise protocol.ProtocolError

    def _kernel(self, process: ProcessState, image: int, name: str) -> bytes:
        facts = self._facts(process, image, name)
        if facts is None:
            return self._refusal(process.images[image])
        threads = threads_of(facts, self._device.machine)
        numbers = (facts.registers, facts.shared, facts.local, facts.constant, threads, facts.arch)
        return protocol.kernel(numbers, facts.cluster or (0, 0, 0), facts.parameters)

    def _refusal(self, data: bytes) -> bytes:
        """Return the answer for a kernel that is not in an image."""
        try:
            self._images.code(data)
        except InputError as error:
            return protocol.NO_IMAGE if error.code == "no-image" else protocol.UNREADABLE
        except SassanError:
            return protocol.UNREADABLE
        return protocol.NO_KERNEL

    def _facts(self, process: ProcessState, image: int, name: str) -> KernelFacts | None:
        code = self._code(process, image)
        facts = code.kernels.get(name) if code is not None else None
        if code is not None and facts is None:
            self._note(f"kernel {name} is not in the image that the program registered for it")
        return facts

    def _code(self, process: ProcessState, image: int) -> ImageCode | None:
        data = process.images.get(image)
        if data is None:
            raise protocol.ProtocolError
        try:
            return self._images.code(data)
        except InputError as error:
            unknown = "its kernels cannot be launched" if error.code == "no-image" else "arguments of its kernels are unknown"
            self._note(f"a GPU image cannot be used, so {unknown}: {error.message}")
            return None
        except SassanError as error:
            self.fail(error)
            return None

    def _launch(self, process: ProcessState, payload: bytes) -> None:
        if self.ended.is_set():
            return
        self._launching.add(process.number)
        if len(self._launching) == _SEVERAL:
            self._note("several processes launched kernels: what they wrote into memory is not kept")
        writes = process.transfers.taken()
        if process.last == (payload, len(self._rows) - 1) and _repeats(writes, self._rows[-1]):
            self._counts[-1] += 1
            return
        if len(self._rows) == self._most:
            self._end_early(f"{self._most} distinct consecutive launches (--max-launches)")
            return
        raw = protocol.launch(payload)
        row = self._row(process, raw, writes)
        process.transfers.launched(host=_reaches_host(process.memory, raw))
        self._size += _ROW + _ARGUMENT * (len(row.arguments or ()) + len(writes)) + 2 * len(payload)
        if self._rows and replace(row, writes=self._rows[-1].writes) == self._rows[-1] and _repeats(writes, self._rows[-1]):
            self._counts[-1] += 1
        elif self._size > LIMIT:
            self._end_early(f"the file would be larger than {LIMIT // 1024 // 1024} MiB")
            return
        else:
            self._rows.append(row)
            self._counts.append(1)
        process.last = (payload, len(self._rows) - 1)

    def _row(self, process: ProcessState, raw: RawLaunch, writes: tuple[MemoryWrite, ...]) -> ProgramLaunch:
        code = self._code(process, raw.image) if raw.arguments is not None else None
        facts = code.kernels.get(raw.kernel) if code is not None else None
        arguments = None if raw.arguments is None else tuple(_argument(process.memory, *argument) for argument in raw.arguments)
        return ProgramLaunch(
            raw.kernel,
            raw.grid,
            raw.block,
            raw.shared,
            arguments,
            1,
            facts.code if facts is not None else None,
            raw.stream,
            raw.cluster,
            raw.cooperative,
            writes=writes,
            preferred_cluster=raw.preferred_cluster,
            programmatic=raw.programmatic,
            carveout=raw.carveout,
        )

    def _end_early(self, why: str) -> None:
        self.cut = self.cut or f"after {sum(self._counts)} launches: {why}"
        self.ended.set()

    def _note(self, text: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes[text] = None


def _repeats(writes: tuple[MemoryWrite, ...], launch: ProgramLaunch) -> bool:
    """Say whether a launch after these writes finds what the one before found: nothing was written, or the same bytes once more."""
    copies = any(write.source is not None for write in (*writes, *launch.writes))
    return not writes or (writes == launch.writes and not copies)


def _reaches_host(memory: Allocations, raw: RawLaunch) -> bool:
    """Say whether an argument, or a part of one, points to memory of the host."""
    pieces = (data[at : at + _POINTER] for _, data in raw.arguments or () for at in range(0, len(data) - _POINTER + 1, _POINTER))
    buffers = (memory.buffer(int.from_bytes(piece, "little")) for piece in pieces)
    return any(buffer is not None and buffer.host for buffer in buffers)


def _argument(memory: Allocations, offset: int, data: bytes) -> Argument:
    value = int.from_bytes(data, "little")
    return Argument(offset, len(data), value, memory.buffer(value) if len(data) == _POINTER else None)
