"""What a thread reads beside registers and memory: the constant bank with launch and parameters, and special registers."""

from dataclasses import dataclass, field

from sassan.domains import ranges
from sassan.ipet.loop_bounds.values import Origins, Value, constant, unknown
from sassan.ir import Function
from sassan.machine.launch import BLOCK_LIMITS, GRID_LIMITS, Launch, Shape
from sassan.machine.parameters import Layout, layout, name_at, places

_AXES = "xyz"
_WARP = 32
_BANK = 1 << 16
"""Bytes of a constant bank: more than all parameters of a kernel."""
BLOCK, GRID = "--block-dim", "--grid"
PARAMETER = "parameter "


def _values(shape: Shape | None, limits: Shape, option: str) -> tuple[Value, ...]:
    if shape is not None:
        return tuple(map(constant, shape))
    return tuple(unknown(ranges.span(1, limit), frozenset({option}), shared=True) for limit in limits)


def _indices(shape: Shape | None, limits: Shape, option: str) -> tuple[Value, ...]:
    origins: Origins = frozenset() if shape is not None else frozenset({option})
    return tuple(unknown(ranges.span(0, extent - 1), origins, shared=True) for extent in shape or limits)


@dataclass(slots=True)
class LaunchEnvironment:
    """The launch as a thread sees it; the same word is the same value wherever it is read."""

    function: Function
    launch: Launch
    _bytes: dict[int, int] = field(default_factory=dict[int, int])
    _words: dict[int, Value] = field(default_factory=dict[int, Value])
    _special: dict[str, Value] = field(default_factory=dict[str, Value])
    _starts: dict[str, int] = field(default_factory=dict[str, int])
    """Of PTX, which has no constant bank: the place of each parameter, numbered as in a bank of its own, by name."""

    def __post_init__(self) -> None:
        """Lay out what is given."""
        block = _values(self.launch.block, BLOCK_LIMITS, BLOCK)
        grid = _values(self.launch.grid, GRID_LIMITS, GRID)
        thread = _indices(self.launch.block, BLOCK_LIMITS, BLOCK)
        place = _indices(self.launch.grid, GRID_LIMITS, GRID)
        for axis, name in enumerate(_AXES):
            upper = name.upper()
            self._special |= {f"SR_TID.{upper}": thread[axis], f"SR_CTAID.{upper}": place[axis]}
            self._special |= {f"%tid.{name}": thread[axis], f"%ctaid.{name}": place[axis]}
            self._special |= {f"%ntid.{name}": block[axis], f"%nctaid.{name}": grid[axis]}
            self._special |= {f"SR_NTID.{upper}": block[axis], f"SR_NCTAID.{upper}": grid[axis]}
        lane = unknown(ranges.span(0, _WARP - 1), shared=True)
        self._special |= {"SRZ": constant(0), "SR_LANEID": lane, "%laneid": lane}
        if self.function.frames:
            kernels = (frame for frame in self.function.frames if frame.name == self.function.name)
            self._starts = {parameter.name: (index + 1) * _BANK for frame in kernels for index, parameter in enumerate(frame.parameters)}
        starts = {parameter.name: (index + 1) * _BANK for index, parameter in enumerate(places(self.function))}
        where = _layout(self.function)
        if where is not None:
            self._words |= {where.block + 4 * axis: size for axis, size in enumerate(block)}
            self._words |= {where.grid + 4 * axis: size for axis, size in enumerate(grid)}
        for given, spot in self.launch.placed(self.function):
            start = spot.offset if spot.offset >= 0 else starts.get(spot.name)
            if start is not None:
                word = given.value % (1 << 8 * spot.size)
                self._bytes |= {start + index: word >> 8 * index & 255 for index in range(spot.size)}

    def constant(self, offset: int, size: int = 4, *, is_signed: bool = False) -> Value:
        """Return the word of constant bank 0 that is read with this width in bytes at an offset."""
        known = [self._bytes.get(offset + index) for index in range(size)]
        given = [byte for byte in known if byte is not None]
        if len(given) == size:
            word = sum(byte << 8 * index for index, byte in enumerate(given))
            return constant(word - (1 << 8 * size) if is_signed and word >> 8 * size - 1 else word)
        if size != 4:  # noqa: PLR2004  # bytes of a word
            half = 1 << 8 * size - 1
            narrow = ranges.span(-half, half - 1) if is_signed else ranges.span(0, 2 * half - 1)
            return unknown(narrow, self._named(offset))
        if offset not in self._words:
            self._words[offset] = unknown(ranges.EVERY, self._named(offset), shared=True)
        return self._words[offset]

    def parameter(self, name: str, offset: int, size: int, *, is_signed: bool = False) -> Value | None:
        """Return the word, or the narrower number, at an offset of a parameter of PTX; None where the kernel has no such parameter."""
        start = self._starts.get(name)
        return None if start is None else self.constant(start + offset, size, is_signed=is_signed)

    def special(self, name: str) -> Value:
        """Return a special register; one that nothing is known of may differ at each read."""
        return self._special.get(name) or unknown(ranges.EVERY, frozenset({f"special register {name}"}))

    def _named(self, offset: int) -> Origins:
        if self.function.frames:
            return frozenset({f"{PARAMETER}{places(self.function)[offset // _BANK - 1].called}"})
        where = layout(self.function.arch)
        if where is None or offset < where.parameters:
            return frozenset({f"constant c[0x0][0x{offset:x}]"})
        return frozenset({f"{PARAMETER}{name_at(self.function, offset, self.launch.named)}"})


def _layout(function: Function) -> Layout | None:
    """Return the layout of constant bank 0, None where the input says that it is another one."""
    default, facts = layout(function.arch), function.compiler
    if default is None or facts is None or facts.parameter_base in {None, default.parameters}:
        return default
    return None
