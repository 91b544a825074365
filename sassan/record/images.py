"""Reading the GPU images of a program: parameters, registers and shared memory of its kernels. Fatbins are extracted with cuobjdump."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from sassan.arch import unknown, with_code
from sassan.errors import InputError, UsageError
from sassan.frontend.cubin.elf import Elf, sm_of
from sassan.frontend.cubin.extract import cubins_or_none
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.cubin.tools import cuobjdump
from sassan.frontend.image import Image
from sassan.ir import CompilerFacts
from sassan.machine import Multiprocessor
from sassan.machine.launch import BLOCK_THREADS, Shape
from sassan.machine.occupancy import BlockDemand, occupancy, rules_of
from sassan.record.ptx import entries
from sassan.scratch import scratch
from sassan.source import Source
from sassan.system.processes import ToolLimits, ToolProblem, run

_LIMITS = ToolLimits(seconds=120, size=64 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """The properties of a kernel for the stand-in library: (offset, size) of each parameter; `code` is the hash of its image.

    Registers and shared memory of PTX are unknown before compilation: 0.
    """

    code: str
    parameters: tuple[tuple[int, int], ...]
    arch: int
    registers: int = 0
    shared: int = 0
    local: int = 0
    constant: int = 0
    barriers: int = 1
    cluster: Shape | None = None
    """The extents of a cluster that the code requires."""


@dataclass(frozen=True, slots=True)
class ImageCode:
    """The image that the device would run: its hash, its kernels by mangled name, and the size of each global variable in bytes."""

    code: str
    kernels: dict[str, KernelFacts]
    variables: dict[str, int]
    image: bytes
    """The cubin or PTX."""


class Images:
    """Reads images, each once; `machine` is the SM of the device, which selects the image of a fatbin."""

    def __init__(self, machine: Multiprocessor) -> None:
        """Prepare reading."""
        self._machine = machine
        self._read: dict[bytes, ImageCode] = {}

    def code(self, data: bytes) -> ImageCode:
        """Return the code of an image for the device.

        Raises InputError, with the code `no-image` if there is none for the device, and MissingToolError.
        """
        key = hashlib.sha256(data).digest()
        if key not in self._read:
            self._read[key] = self._code(data)
        return self._read[key]

    def images(self) -> Iterator[tuple[str, bytes]]:
        """Yield the hash and the bytes of every image that has been read."""
        yield from sorted({code.code: code.image for code in self._read.values()}.items())

    def resident(self, kernel: KernelFacts, threads: int, dynamic: int) -> int:
        """Return the number of resident blocks per SM, 0 if a launch is impossible."""
        rules = rules_of(self._machine)
        try:
            return occupancy(
                self._machine, BlockDemand(threads, kernel.registers, kernel.shared + dynamic, max(kernel.barriers, rules.barriers and 1))
            ).blocks
        except UsageError:
            return 0

    def _code(self, data: bytes) -> ImageCode:
        image = Image("a GPU image of the program", data)
        if image.kind == "ELF":
            return self._cubin(image)
        if image.kind != "fatbin":
            return _ptx(image, self._machine.number)
        fitting = [candidate for candidate in cubins_or_none(image) if self._runs(sm_of(candidate))]
        if fitting:
            return self._cubin(max(fitting, key=sm_of))
        return _ptx(Image(image.name, _ptx_of(image)), self._machine.number)

    def _runs(self, sm: int) -> bool:
        """Return whether the device runs code for `sm`: the same generation, and not newer."""
        return sm // 10 == self._machine.number // 10 and sm <= self._machine.number

    def _cubin(self, image: Image) -> ImageCode:
        elf = Elf(image)
        arch = with_code(f"sm_{elf.sm}")
        if arch is None:
            raise unknown(f"sm_{elf.sm}", Source(image.name, ""))
        code = _hash(image.data)
        rules = rules_of(self._machine)
        kernels = {
            name: _kernel(code, elf.sm, facts, rules.shared_reserved if rules.reserved_in_cubin else 0)
            for name, facts in compiler_facts(image, elf, arch).items()
            if facts.parameter_base is not None or facts.exits is not None
        }
        return ImageCode(code, kernels, elf.variables(), image.data)


def _kernel(code: str, sm: int, facts: CompilerFacts, reserved: int) -> KernelFacts:
    parameters = tuple(
        (parameter.offset, parameter.size) for parameter in sorted(facts.parameters, key=lambda parameter: parameter.ordinal)
    )
    return KernelFacts(
        code,
        parameters,
        sm,
        facts.registers or 0,
        facts.shared - (reserved if facts.shared >= reserved else 0),
        facts.frame_size or 0,
        0,
        facts.barriers if facts.barriers is not None else 1,
        facts.cluster_extents,
    )


def threads_of(kernel: KernelFacts, machine: Multiprocessor) -> int:
    """Return the largest number of threads per block that the registers of the kernel allow, in whole warps."""
    if not kernel.registers:
        return BLOCK_THREADS
    rules = rules_of(machine)
    unit = -(-32 * kernel.registers // rules.register_unit) * rules.register_unit
    warps = rules.registers_per_block // unit // rules.checked_partitions * rules.checked_partitions
    return min(BLOCK_THREADS, 32 * warps)


def _ptx(image: Image, newest: int) -> ImageCode:
    text = image.data.rstrip(b"\0").decode("utf-8", "replace")
    code = _hash(image.data)
    arch, kernels = entries(text)
    if not kernels:
        problem = "is not understood" if text.strip() else "has neither code for the device nor PTX"
        raise InputError("no-image" if not text.strip() else "unreadable-ptx", f"{image.name} {problem}", source=Source(image.name, ""))
    if arch > newest:
        raise InputError("no-image", f"{image.name} is PTX for sm_{arch}, newer than the device", source=Source(image.name, ""))
    return ImageCode(code, {name: KernelFacts(code, parameters, arch) for name, parameters in kernels.items()}, {}, image.data)


def _ptx_of(image: Image) -> bytes:
    """Return the last PTX of a fatbin, b'' if there is none."""
    tool = cuobjdump()
    with scratch() as place:
        folder = place / "ptx"
        folder.mkdir()
        source = place / "input.fatbin"
        source.write_bytes(image.data)
        try:
            run([tool.path, "-xptx", "all", str(source)], folder, _LIMITS)
        except ToolProblem as problem:
            raise InputError("cuobjdump-failed", f"the PTX cannot be extracted: {problem}", source=Source(image.name, "")) from None
        texts = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
        return texts[-1].read_bytes() if texts else b""


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
