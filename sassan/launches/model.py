"""The launches of one run of a program, in order, and the assumptions of the recording."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.machine.contents import Contents
from sassan.machine.launch import Shape
from sassan.machine.parameters import Setting
from sassan.machine.tensor_map import TensorMap, tensor_maps


@dataclass(frozen=True, slots=True)
class Buffer:
    """The target of a pointer argument: allocation `number` of the program (from 1), `offset` bytes into its `size` bytes.

    `host`: the pages are those of the host, or move between host and GPU: then it is `managed`, too.
    """

    number: int
    offset: int
    size: int
    host: bool = False
    managed: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument: `size` bytes at `offset` of the kernel's parameters, as one little-endian number.

    `buffer` is set where the value is an address inside memory that the program had allocated; `name` is what the source calls it, ''
    where that is unknown.
    """

    offset: int
    size: int
    value: int
    buffer: Buffer | None = None
    name: str = ""

    @property
    def data(self) -> bytes:
        """Return the bytes of the argument."""
        return self.value.to_bytes(self.size, "little")


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """What the host did to `size` bytes of device memory from `address` on.

    `data` names the bytes that it wrote (`sha256:…`); '' where they were not kept. `source`: it copied them from there, in device memory.
    """

    address: int
    size: int
    data: str = ""
    source: int | None = None


@dataclass(frozen=True, slots=True)
class ProgramLaunch:
    """One launch, `count` times in a row. Units: `shared` is dynamic shared memory in bytes.

    `arguments` is None if the kernel's parameters are unknown; `given` are integer parameters that somebody wrote down instead. `code`
    (`sha256:…` of the image that contains the kernel) is None likewise. `writes` are those of the host since the launch before, in order:
    before the first of the `count` launches, or before each. `cluster` are the extents of its clusters in blocks, where it has any, and
    `preferred_cluster` those of larger ones, where they fit. `programmatic`: it may begin before the launch ahead of it in its stream has
    ended. `carveout`: percent of the on-chip memory of an SM that the program wants as shared memory. `contents` of memory are known, and
    the launch does not change them; it `initial` others, too, which it may change.
    """

    kernel: str
    grid: Shape
    block: Shape
    shared: int = 0
    arguments: tuple[Argument, ...] | None = ()
    count: int = 1
    code: str | None = None
    stream: int = 0
    cluster: Shape | None = None
    cooperative: bool = False
    given: tuple[Setting, ...] = ()
    writes: tuple[MemoryWrite, ...] = ()
    contents: Contents | None = None
    initial: Contents | None = field(default=None, compare=False)
    preferred_cluster: Shape | None = None
    programmatic: bool = False
    carveout: int | None = None

    @property
    def maps(self) -> tuple[tuple[int, TensorMap], ...]:
        """Return the tensor maps in its arguments, by their offset among the parameters."""
        return tuple((argument.offset + at, each) for argument in self.arguments or () for at, each in tensor_maps(argument.data))


@dataclass(frozen=True, slots=True)
class ProgramDevice:
    """The GPU that the program saw. Units: `memory` in bytes."""

    name: str
    arch: str
    sms: int
    memory: int


@dataclass(frozen=True, slots=True)
class Launches:
    """A recording: `launches` in the order of the program; `cut` is the reason why it ends early, '' if the program ended by itself."""

    launches: tuple[ProgramLaunch, ...]
    program: str = ""
    arguments: tuple[str, ...] = ()
    device: ProgramDevice | None = None
    status: int | None = None
    cut: str = ""
    notes: tuple[str, ...] = ()
    data: Mapping[str, bytes] = field(default_factory=dict[str, bytes], compare=False, repr=False)
    """The bytes that writes name, as far as they are at hand."""

    @property
    def total(self) -> int:
        """Return the number of launches, repetitions included."""
        return sum(launch.count for launch in self.launches)
