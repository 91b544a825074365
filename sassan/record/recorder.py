"""What a program does, as its stand-ins say it: launches in order, equal ones in a row counted, memory, what is not supported."""

import threading
from bisect import bisect_right
from collections import Counter
from dataclasses import replace

from sassan.errors import InputError, SassanError
from sassan.launches import Argument, Buffer, ProgramLaunch
from sassan.launches.read import LIMIT
from sassan.record import protocol
from sassan.record.devices import Product
from sassan.record.images import Code, Images, KernelFacts, threads_of
from sassan.record.protocol import RawLaunch

_POINTER = 8
_MOST_NOTES = 100
_ROW, _ARGUMENT = 500, 150
"""Bytes that a launch and an argument have in the file at most, beside names and values."""


class Memory:
    """What one process has allocated: a number for each allocation, in order."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._starts: list[int] = []
        self._buffers: dict[int, tuple[int, int]] = {}
        self._count = 0

    def add(self, address: int, size: int) -> None:
        """Note an allocation of `size` bytes."""
        self._count += 1
        if address not in self._buffers:
            self._starts.insert(bisect_right(self._starts, address), address)
        self._buffers[address] = (self._count, size)

    def remove(self, address: int) -> None:
        """Note that memory was freed."""
        if self._buffers.pop(address, None) is not None:
            del self._starts[bisect_right(self._starts, address) - 1]

    def buffer(self, address: int) -> Buffer | None:
        """Return where an address points to, None where to no allocation."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        start = self._starts[at]
        number, size = self._buffers[start]
        return Buffer(number, address - start, size) if address - start < size else None


class Process:
    """One process of the program: its images and its memory."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.number = 0
        self.images: dict[int, bytes] = {}
        self.memory = Memory()
        self.last: tuple[bytes, int] | None = None
        """The last launch as it came, and its place among the rows."""


class Recorder:
    """Collects the launches of all processes; `ended` is set when there are too many or an error ends the recording."""

    def __init__(self, product: Product, runtime: int, driver: int, most: int) -> None:
        """Record at most `most` launches that differ from the one before."""
        self.ended = threading.Event()
        self.cut = ""
        self.error: SassanError | None = None
        self.processes: list[int] = []
        self._product = product
        self._hello = protocol.device(product.numbers(runtime, driver), product.device.name)
        self._images = Images(product.machine)
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._rows: list[ProgramLaunch] = []
        self._counts: list[int] = []
        self._unsupported: Counter[str] = Counter()
        self._notes: dict[str, None] = {}

    def fail(self, error: SassanError) -> None:
        """End the recording with an error, the first of which counts."""
        self.error = self.error or error
        self.ended.set()

    def stop(self, why: str) -> None:
        """End the recording where it is, and say why."""
        with self._lock:
            self._cut(why)

    def launches(self) -> tuple[ProgramLaunch, ...]:
        """Return the launches so far, in order."""
        with self._lock:
            return tuple(replace(launch, count=count) for launch, count in zip(self._rows, self._counts, strict=True))

    def images(self) -> tuple[tuple[str, bytes], ...]:
        """Return the hash and the bytes of the images whose kernels were launched."""
        with self._lock:
            used = {launch.code for launch in self._rows}
            return tuple(image for image in self._images.images() if image[0] in used)

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know of the recording."""
        with self._lock:
            names = [
                f"{name} is not supported: {_times(count)} answered with an error" for name, count in sorted(self._unsupported.items())
            ]
            return (*self._notes, *names[:_MOST_NOTES])

    def answer(self, process: Process, kind: str, payload: bytes) -> bytes | None:
        """Take a message and return its answer, None where none is expected.

        Raises protocol.Broken.
        """
        with self._lock:
            match kind:
                case "L":
                    self._launch(process, payload)
                case "A":
                    address, size, _ = protocol.block(payload)
                    process.memory.add(address, size)
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

    def _question(self, process: Process, kind: str, payload: bytes) -> bytes:
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
                image, name, threads, shared = protocol.question(payload)
                kernel = self._facts(process, image, name)
                return protocol.blocks(self._images.resident(kernel, threads, shared) if kernel is not None else 0)
            case _:
                raise protocol.Broken

    def _kernel(self, process: Process, image: int, name: str) -> bytes:
        facts = self._facts(process, image, name)
        if facts is None:
            return self._refusal(process.images[image])
        threads = threads_of(facts, self._product.machine)
        return protocol.kernel((facts.registers, facts.shared, facts.local, facts.constant, threads, facts.arch), facts.parameters)

    def _refusal(self, data: bytes) -> bytes:
        """Return the answer about a kernel that was not found in an image."""
        try:
            self._images.code(data)
        except InputError as error:
            return protocol.NO_IMAGE if error.code == "no-image" else protocol.UNREADABLE
        except SassanError:
            return protocol.UNREADABLE
        return protocol.NO_KERNEL

    def _facts(self, process: Process, image: int, name: str) -> KernelFacts | None:
        code = self._code(process, image)
        facts = code.kernels.get(name) if code is not None else None
        if code is not None and facts is None:
            self._note(f"no kernel {name} is in the image that the program names for it")
        return facts

    def _code(self, process: Process, image: int) -> Code | None:
        data = process.images.get(image)
        if data is None:
            raise protocol.Broken
        try:
            return self._images.code(data)
        except InputError as error:
            unknown = "its kernels cannot be launched" if error.code == "no-image" else "arguments of its kernels are unknown"
            self._note(f"a GPU image cannot be used, so {unknown}: {error.message}")
            return None
        except SassanError as error:
            self.fail(error)
            return None

    def _launch(self, process: Process, payload: bytes) -> None:
        if self.ended.is_set():
            return
        if process.last is not None and process.last == (payload, len(self._rows) - 1):
            self._counts[-1] += 1
            return
        if len(self._rows) == self._most:
            self._cut(f"{self._most} of them different from the one before (--max-launches)")
            return
        raw = protocol.launch(payload)
        row = self._row(process, raw)
        self._size += _ROW + _ARGUMENT * len(row.arguments or ()) + 2 * len(payload)
        if self._rows and self._rows[-1] == row:
            self._counts[-1] += 1
        elif self._size > LIMIT:
            self._cut(f"the file would be larger than {LIMIT // 1024 // 1024} MiB")
            return
        else:
            self._rows.append(row)
            self._counts.append(1)
        process.last = (payload, len(self._rows) - 1)

    def _row(self, process: Process, raw: RawLaunch) -> ProgramLaunch:
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
        )

    def _cut(self, why: str) -> None:
        self.cut = self.cut or f"after {sum(self._counts)} launches: {why}"
        self.ended.set()

    def _note(self, text: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes[text] = None


def _argument(memory: Memory, offset: int, data: bytes) -> Argument:
    value = int.from_bytes(data, "little")
    return Argument(offset, len(data), value, memory.buffer(value) if len(data) == _POINTER else None)


def _times(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"
