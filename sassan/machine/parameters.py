"""Kernel parameters as a user gives them, and where they stand in constant bank 0.

A cubin says where each parameter stands and how wide it is, but only one that was compiled with `-G` says what it is called; the source
says it of others, where it is at hand. A listing says neither, and PTX only the names.
"""

import re
import struct
from dataclasses import dataclass, replace

from sassan.arch import cached, named, rows
from sassan.errors import UsageError
from sassan.ir import Function, Language
from sassan.machine.widths import WORD, widths

_PARAMETER_BYTES = 32764
"""Since CUDA 12.1 and sm_70; 4 KB before."""
_LONG = 8
_FORMATS = {2: "<e", 4: "<f", 8: "<d"}
"""Numbers in floating point by their bytes."""


@dataclass(frozen=True, slots=True)
class BankLayout:
    """Byte offsets in constant bank 0: block and grid extents (x, y and z, a word each), and the first kernel parameter.

    `address`: where the address of that parameter stands, two words. `cluster`: where the extents of a cluster stand; behind them, three
    words each, their reciprocals in single precision and the extents of the grid in clusters. `cluster_blocks`: the blocks of a cluster.
    None where nothing says it.
    """

    block: int
    grid: int
    parameters: int
    address: int | None = None
    cluster: int | None = None
    cluster_blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter as given: by `name`, or '' where `offset` is its place in constant bank 0; `size` in bytes, 0 where not given.

    Of a number with a point, `value` is that in single precision, and `real` the number: how wide it is, its place says.
    """

    name: str
    offset: int
    value: int
    size: int = 0
    real: float | None = None

    def __str__(self) -> str:
        """Return what the user wrote."""
        size = f":{self.size}" if self.size else ""
        return f"{self.name or f'0x{self.offset:x}{size}'}={self.value if self.real is None else self.real}"

    def at(self, place: "ParameterLocation") -> "Setting":
        """Return the parameter with a value as wide as its place; raises UsageError `parameter` where no number of that size is it."""
        return self if self.real is None else replace(self, value=_bits(str(self), self.real, place.size))


@dataclass(frozen=True, slots=True)
class Named:
    """What a user calls the parameter of a function that begins at `offset` of constant bank 0."""

    function: str
    name: str
    offset: int


def setting(text: str) -> Setting:
    """Return the parameter of `0x140=64`, `0x140:2=64` (its width in bytes), `param_0=64`, `n=64` or `x=0.5`.

    The value is decimal or hexadecimal, or one in floating point.

    Raises UsageError `parameter`.
    """
    where, _, number = text.rpartition("=")
    place = re.fullmatch(r"(0x[0-9a-fA-F]{1,4})(?::([1248]))?", where, re.ASCII)
    name = re.fullmatch(r"[A-Za-z_$][\w$]{0,499}", where, re.ASCII)
    real = re.fullmatch(r"-?(?:[0-9]{1,40}\.[0-9]{0,40}|[0-9]{1,40}(?=[eE]))(?:[eE][+-]?[0-9]{1,3})?", number, re.ASCII)
    if (place or name) is None or (not real and re.fullmatch(r"-?(?:[0-9]{1,20}|0x[0-9a-fA-F]{1,16})", number, re.ASCII) is None):
        raise UsageError(
            "parameter",
            f"'{text}' sets no parameter",
            hint="write it as n=64, param_0=64 (the first one), x=0.5 (floating point), 0x140=64 (its place in constant bank 0) or "
            "0x140:2=64 (a value of 2 bytes)",
        )
    if real:
        value, size = _bits(text, float(number), WORD), int(place[2] or 0) if place is not None else 0
        return (
            Setting("", int(place[1], 16), value, size, float(number)) if place is not None else Setting(where, -1, value, 0, float(number))
        )
    value = int(number, 0) if "x" in number else int(number)
    if not -(2**63) <= value < 2**64:
        raise UsageError("parameter", f"'{text}': no parameter is wider than 64 bits")
    return Setting("", int(place[1], 16), value, int(place[2] or 0)) if place is not None else Setting(where, -1, value)


def _bits(text: str, number: float, size: int) -> int:
    """Return a number in floating point as so many bytes hold it."""
    try:
        return int.from_bytes(struct.pack(_FORMATS[size], number), "little")
    except (KeyError, OverflowError):
        raise UsageError("parameter", f"'{text}': no number in floating point of {size} bytes is that") from None


@cached
def layout(arch: str) -> BankLayout | None:
    """Return where a launch stands in constant bank 0, None for an architecture whose file does not say.

    Raises InputError `bad-table` with the file and the key.
    """
    row = rows(named(arch)[0], "parameters").get("")
    if row is None:
        return None
    others = ("address", "cluster", "cluster_blocks")
    row.fields.only("block", "grid", "first", *others, "source")
    given = {name: row.fields.whole(name) for name in others if name in row.fields}
    return BankLayout(row.fields.whole("block", least=0), row.fields.whole("grid"), row.fields.whole("first"), **given)


def bank_layout(function: Function) -> BankLayout | None:
    """Return where the launch of a function stands in constant bank 0, None where its parameters begin elsewhere than this layout says."""
    default, facts = layout(function.arch), function.compiler
    known = default is None or facts is None or facts.parameter_base in {None, default.parameters}
    return default if known else None


@dataclass(frozen=True, slots=True)
class ParameterLocation:
    """Where a kernel parameter stands: `size` bytes at `offset` of constant bank 0, which PTX does not tell (-1).

    `name` counts from `param_0`; `source` is what the source calls it, '' where the input does not say.
    """

    name: str
    offset: int
    size: int
    source: str = ""

    @property
    def called(self) -> str:
        """Return its name wherever it is printed."""
        return self.source or self.name

    def __str__(self) -> str:
        """Return what a user needs to set it."""
        name = f"{self.source} ({self.name})" if self.source else self.name
        return f"{name} at 0x{self.offset:x} ({self.size} bytes)" if self.offset >= 0 else f"{name} ({self.size} bytes)"


def places(function: Function) -> tuple[ParameterLocation, ...]:
    """Return the parameters of a kernel in order; none where the input does not tell them."""
    frame = next((frame for frame in function.frames if frame.name == function.name), None)
    if frame is not None:
        counted = [f"param_{index}" for index in range(len(frame.parameters))]
        # Compilers keep no names in PTX, either: `KERNEL_param_0` is not a name of the source.
        sources = ["" if each.name == f"{frame.name}_{name}" else each.name for each, name in zip(frame.parameters, counted, strict=True)]
        return tuple(
            ParameterLocation(name, -1, each.size, source) for name, each, source in zip(counted, frame.parameters, sources, strict=True)
        )
    facts = function.compiler
    if facts is None or facts.parameter_base is None:
        return ()
    base, ordered = facts.parameter_base, sorted(facts.parameters, key=lambda parameter: parameter.ordinal)
    return tuple(ParameterLocation(f"param_{each.ordinal}", base + each.offset, each.size, each.name) for each in ordered)


def place_of(function: Function, setting: Setting, named: tuple[Named, ...] = ()) -> ParameterLocation | None:
    """Return where a setting goes in the constant bank of a kernel, None where the kernel has no such parameter.

    A name is what the user calls the parameter (`named`), else what the source does, else `param_0` or, as PTX has it, `KERNEL_param_0`.
    Raises UsageError `parameter-width` where nothing says how wide the value at an offset is.
    """
    alias = next((alias for alias in named if (alias.function, alias.name) == (function.name, setting.name)), None)
    if alias is not None:
        return _at(function, Setting("", alias.offset, setting.value))
    if not setting.name:
        return _at(function, setting)
    known = places(function)
    counted = (setting.name, setting.name.removeprefix(f"{function.name}_"))
    return next((place for place in known if place.source == setting.name), None) or next(
        (place for place in known if place.name in counted), None
    )


def name_at(function: Function, offset: int, named: tuple[Named, ...] = ()) -> str:
    """Return the name by which a user sets the parameter that is read at an offset of constant bank 0.

    The user's own name (`named`), else that of the source, else `param_0`, else the offset: in a listing, and in a structure.
    """
    held = next((place for place in places(function) if place.offset <= offset < place.offset + place.size <= place.offset + _LONG), None)
    if held is not None and widths(function, held.offset, held.size, whole=True).behind:
        held = None
    start = offset if held is None else held.offset
    alias = next((alias.name for alias in named if (alias.function, alias.offset) == (function.name, start)), "")
    return alias or (f"0x{offset:x}" if held is None else held.called)


def _at(function: Function, setting: Setting) -> ParameterLocation | None:
    """Return the parameter at an offset, or as many bytes as were given, or else as the code reads there."""
    name, space = f"0x{setting.offset:x}", _space(function, setting.offset)
    whole = next((place for place in places(function) if place.offset == setting.offset and place.size <= _LONG), None)
    if not space or setting.size > space:
        return None
    if setting.size:
        return ParameterLocation(name, setting.offset, setting.size)
    size = whole.size if whole is not None else WORD if -(2**31) <= setting.value < 2**32 else _LONG
    read = widths(function, setting.offset, size, whole=whole is not None)
    narrow = {width for width in read.all if width < min(size, WORD)}
    # Of a whole parameter the input says where it ends; only a value that begins inside makes it a structure.
    if read.behind if whole is not None else narrow and len(read.all) > 1:
        raise _unclear(function, setting, read.all)
    if whole is not None:
        return whole
    size = min((size, *narrow))
    # What is not a word by itself ends with its parameter; a long that does not fit is none.
    return ParameterLocation(name, setting.offset, min(size, space)) if size <= max(space, WORD) else None


def _unclear(function: Function, setting: Setting, read: frozenset[int]) -> UsageError:
    """Return the refusal of a setting that may be meant for more bytes, or for fewer, than belong together."""
    where = f"0x{setting.offset:x}"
    some = ", ".join(map(str, sorted(read)))
    return UsageError(
        "parameter-width",
        f"parameter {setting}: its width is not clear from {function.name}, which reads parts of {some} bytes there",
        hint=f"pass the size of the value in bytes, 1, 2, 4 or 8: --param {where}:{min(read)}={setting.value}",
    )


def _space(function: Function, offset: int) -> int:
    """Return how many bytes there are from an offset to the end of the parameters, or of the one it is in; 0 outside."""
    first, last = _area(function)
    known = places(function)
    if known and first:
        return next((place.offset + place.size - offset for place in known if place.offset <= offset < place.offset + place.size), 0)
    return last - offset if first <= offset < last else 0


def _area(function: Function) -> tuple[int, int]:
    """Return where the parameters of a kernel begin and end."""
    facts, known = function.compiler, layout(function.arch)
    if function.language is Language.PTX:
        return 0, 0
    if facts is not None and facts.parameter_base is not None and facts.parameter_size is not None:
        return facts.parameter_base, facts.parameter_base + facts.parameter_size
    return (known.parameters, known.parameters + _PARAMETER_BYTES) if known is not None else (0, 0)


def describe(function: Function) -> str:
    """Return how the parameters of a kernel can be set."""
    known = places(function)
    if known:
        without = "; names are those of the source beside a build with -lineinfo, of a build with -G, or of a file for --bounds"
        names = "" if any(place.source or place.offset < 0 for place in known) else without
        return f"{function.name}: {', '.join(map(str, known))}{names}"
    first, last = _area(function)
    if not last:
        return f"the place of parameters of {function.arch} is unknown"
    return f"a listing does not name parameters; those of {function.arch} begin at 0x{first:x} of constant bank 0: --param 0x{first:x}=V"
