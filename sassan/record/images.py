"""What the images of a program say of its kernels: parameters, registers, shared memory. Fatbins are taken apart with cuobjdump."""

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sassan.arch import unknown, with_code
from sassan.errors import InputError, UsageError
from sassan.frontend.cubin.elf import Elf, sm_of
from sassan.frontend.cubin.extract import cubins
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.cubin.run import ToolLimits, ToolProblem, run
from sassan.frontend.cubin.tools import cuobjdump
from sassan.frontend.image import Image
from sassan.ir import CompilerFacts
from sassan.machine import Multiprocessor
from sassan.machine.launch import BLOCK_THREADS
from sassan.machine.occupancy import Demand, occupancy, rules_of
from sassan.record.ptx import entries
from sassan.source import Source

_LIMITS = ToolLimits(seconds=120, size=64 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """A kernel as the stand-in needs it: (offset, size) of each parameter; `code` is the hash of its image.

    Registers and shared memory of PTX are unknown before it is compiled: 0.
    """

    code: str
    parameters: tuple[tuple[int, int], ...]
    arch: int
    registers: int = 0
    shared: int = 0
    local: int = 0
    constant: int = 0
    barriers: int = 1


@dataclass(frozen=True, slots=True)
class Code:
    """The image that the device would run: its hash, its kernels by mangled name, and the bytes of each global variable."""

    code: str
    kernels: dict[str, KernelFacts]
    variables: dict[str, int]
    image: bytes
    """What ran: a cubin, or PTX."""


class Images:
    """Reads images, each once; `machine` is the device's SM, which says which image of a fatbin it would run."""

    def __init__(self, machine: Multiprocessor) -> None:
        """Start with nothing read."""
        self._machine = machine
        self._read: dict[bytes, Code] = {}

    def code(self, data: bytes) -> Code:
        """Return what an image holds for the device.

        Raises InputError, among them `no-image` where it holds nothing for the device, and MissingToolError.
        """
        key = hashlib.sha256(data).digest()
        if key not in self._read:
            self._read[key] = self._code(data)
        return self._read[key]

    def images(self) -> Iterator[tuple[str, bytes]]:
        """Yield the hash and the bytes of every image that has been read."""
        yield from sorted({one.code: one.image for one in self._read.values()}.items())

    def resident(self, kernel: KernelFacts, threads: int, dynamic: int) -> int:
        """Return how many blocks are resident on an SM, 0 where none can be."""
        rules = rules_of(self._machine)
        try:
            return occupancy(
                self._machine, Demand(threads, kernel.registers, kernel.shared + dynamic, max(kernel.barriers, rules.barriers and 1))
            ).blocks
        except UsageError:
            return 0

    def _code(self, data: bytes) -> Code:
        image = Image("a GPU image of the program", data)
        if image.kind == "ELF":
            return self._cubin(image)
        if image.kind != "fatbin":
            return _ptx(image, self._machine.number)
        fitting = [one for one in self._cubins(image) if self._runs(sm_of(one))]
        if fitting:
            return self._cubin(max(fitting, key=sm_of))
        return _ptx(Image(image.name, _ptx_of(image)), self._machine.number)

    def _cubins(self, image: Image) -> tuple[Image, ...]:
        try:
            return cubins(image)
        except InputError as error:
            if error.code != "no-gpu-code":
                raise
            return ()

    def _runs(self, sm: int) -> bool:
        """Say whether the device runs code for `sm`: its own generation, no newer member of that."""
        return sm // 10 == self._machine.number // 10 and sm <= self._machine.number

    def _cubin(self, image: Image) -> Code:
        elf = Elf(image)
        arch = with_code(f"sm_{elf.sm}")
        if arch is None:
            raise unknown(f"sm_{elf.sm}", Source(image.name, ""))
        code = _hash(image.data)
        rules = rules_of(self._machine)
        kernels = {
            name: _kernel(code, elf.sm, one, rules.shared_reserved if rules.reserved_in_cubin else 0)
            for name, one in compiler_facts(image, elf, arch).items()
            if one.parameter_base is not None or one.exits is not None
        }
        return Code(code, kernels, elf.variables(), image.data)


def _kernel(code: str, sm: int, facts: CompilerFacts, reserved: int) -> KernelFacts:
    parameters = tuple((one.offset, one.size) for one in sorted(facts.parameters, key=lambda parameter: parameter.ordinal))
    return KernelFacts(
        code,
        parameters,
        sm,
        facts.registers or 0,
        facts.shared - (reserved if facts.shared >= reserved else 0),
        facts.frame_size or 0,
        0,
        facts.barriers if facts.barriers is not None else 1,
    )


def threads_of(kernel: KernelFacts, machine: Multiprocessor) -> int:
    """Return how many threads a block of the kernel may have: what its registers allow, in whole warps."""
    if not kernel.registers:
        return BLOCK_THREADS
    rules = rules_of(machine)
    unit = -(-32 * kernel.registers // rules.register_unit) * rules.register_unit
    warps = rules.registers_per_block // unit // rules.checked_partitions * rules.checked_partitions
    return min(BLOCK_THREADS, 32 * warps)


def _ptx(image: Image, newest: int) -> Code:
    text = image.data.rstrip(b"\0").decode("utf-8", "replace")
    code = _hash(image.data)
    arch, found = entries(text)
    if not found:
        what = "is not understood" if text.strip() else "holds no code for the device, and no PTX"
        raise InputError("no-image" if not text.strip() else "unreadable-ptx", f"{image.name} {what}", source=Source(image.name, ""))
    if arch > newest:
        raise InputError("no-image", f"{image.name} is PTX for sm_{arch}, newer than the device", source=Source(image.name, ""))
    return Code(code, {name: KernelFacts(code, parameters, arch) for name, parameters in found.items()}, {}, image.data)


def _ptx_of(image: Image) -> bytes:
    """Return the PTX of a fatbin, the last text first in line: b'' where there is none."""
    tool = cuobjdump()
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        folder = Path(scratch) / "ptx"
        folder.mkdir()
        source = Path(scratch) / "input.fatbin"
        source.write_bytes(image.data)
        try:
            run([tool.path, "-xptx", "all", str(source)], folder, _LIMITS)
        except ToolProblem as problem:
            raise InputError("cuobjdump-failed", f"the PTX cannot be taken out: {problem}", source=Source(image.name, "")) from None
        found = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
        return found[-1].read_bytes() if found else b""


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
