"""Reads `launches.toml`; every complaint is an InputError `launches-value` or `launches-syntax` that names the file and the key."""

import re
from pathlib import Path
from typing import cast

from sassan.errors import InputError
from sassan.launches.model import Argument, Buffer, Launches, ProgramDevice, ProgramLaunch
from sassan.machine.fields import Fields
from sassan.machine.launch import BLOCK_LIMITS, BLOCK_THREADS, GRID_LIMITS, Shape

LIMIT = 32 * 1024 * 1024
"""The largest file, in bytes: some 80,000 launches."""
_PARAMETER_BYTES = 32768
"""Of one kernel, all parameters together (since CUDA 12.1)."""
_MANY = 2**63 - 1
_HINT = "sassan record writes such a file"
_VALUE = re.compile("0x[0-9a-fA-F]+", re.ASCII)
_CODE = re.compile("sha256:[0-9a-f]{64}", re.ASCII)
_ARCH = re.compile("sm_[0-9]{2,3}[a-z]?", re.ASCII)
_LONGEST = 100_000
"""Characters of a name or a note."""


class _Fields(Fields):
    code = "launches-value"
    hint = _HINT

    def number(self, key: str, default: int | None = None, *, least: int = 0, most: int = _MANY) -> int:
        """Return the whole number under a key."""
        value = self.values.get(key, default)
        if value is None:
            raise self.fail(key, "is missing")
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.fail(key, f"must be a whole number from {least} to {most}, not {_shown(value)}")
        return value

    def words(self, key: str, default: str | None = None) -> str:
        """Return the text under a key."""
        value = self.text(key, default)
        if len(value) > _LONGEST:
            raise self.fail(key, f"has {len(value)} characters, at most {_LONGEST} are read")
        return value

    def shape(self, key: str, limits: Shape) -> Shape:
        """Return the three extents under a key."""
        value = self.values.get(key)
        rows = cast("list[object]", value) if isinstance(value, list) else []
        if len(rows) != len(limits):
            raise self.fail(
                key, f"must be three whole numbers such as [256, 1, 1], not {_shown(value)}" if value is not None else "is missing"
            )
        for extent, limit in zip(rows, limits, strict=True):
            if not isinstance(extent, int) or isinstance(extent, bool) or not 1 <= extent <= limit:
                raise self.fail(key, f"has the extent {_shown(extent)}: it must be a whole number from 1 to {limit}")
        x, y, z = cast("list[int]", rows)
        return x, y, z


def read(path: str) -> Launches:
    """Return the recording in the file at `path`.

    Raises InputError `launches-file` where it cannot be read, and what `parse` raises.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        raise InputError("launches-file", f"'{path}' cannot be read: {error}", hint=_HINT) from None
    if len(data) > LIMIT:
        raise InputError("launches-file", f"'{path}' is larger than {LIMIT // 1024 // 1024} MiB", hint="record fewer: --max-launches")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("launches-syntax", f"{path}: byte {error.start} is not UTF-8", hint=_HINT) from None
    return parse(path, text)


def parse(name: str, text: str) -> Launches:
    """Return the recording of a TOML text that the user called `name`.

    Raises InputError `launches-value` or `launches-syntax`.
    """
    file = _parsed(name, text)
    file.only("schema", "program", "arguments", "status", "cut", "notes", "device", "launch")
    if file.number("schema", 1, least=1) != 1:
        raise file.fail("schema", "is of a newer sassan; this one reads 1")
    device = file.table("device") if "device" in file.values else None
    return Launches(
        tuple(_launch(table) for table in file.tables("launch")),
        file.words("program", ""),
        file.texts("arguments"),
        _device(device) if device is not None else None,
        file.number("status", least=-(2**31), most=2**31) if "status" in file.values else None,
        file.words("cut", ""),
        file.texts("notes"),
    )


def _parsed(name: str, text: str) -> _Fields:
    try:
        return _Fields.parse(name, text)
    except InputError as error:
        raise InputError("launches-syntax", error.message, hint=_HINT) from None
    except ValueError as error:  # a number of thousands of digits: tomllib passes on what int() says
        raise InputError("launches-syntax", f"{name}: no TOML: {error}", hint=_HINT) from None


def _device(table: _Fields) -> ProgramDevice:
    table.only("name", "arch", "sms", "memory")
    arch = table.words("arch")
    if _ARCH.fullmatch(arch) is None:
        raise table.fail("arch", f"is {_shown(arch)}: it must be an architecture such as sm_86")
    return ProgramDevice(table.words("name"), arch, table.number("sms", least=1, most=10_000), table.number("memory"))


def _launch(table: _Fields) -> ProgramLaunch:
    table.only("kernel", "grid", "block", "shared", "params", "count", "code", "stream", "cluster", "cooperative")
    block = table.shape("block", BLOCK_LIMITS)
    threads = block[0] * block[1] * block[2]
    if threads > BLOCK_THREADS:
        raise table.fail("block", f"has {threads} threads, and {BLOCK_THREADS} at most can be launched")
    code = table.words("code") if "code" in table.values else None
    if code is not None and _CODE.fullmatch(code) is None:
        raise table.fail("code", 'must be "sha256:" and 64 hexadecimal digits')
    return ProgramLaunch(
        table.words("kernel"),
        table.shape("grid", GRID_LIMITS),
        block,
        table.number("shared", 0, most=2**31 - 1),
        _arguments(table) if "params" in table.values else None,
        table.number("count", 1, least=1),
        code,
        table.number("stream", 0),
        table.shape("cluster", BLOCK_LIMITS) if "cluster" in table.values else None,
        table.flag("cooperative"),
    )


def _arguments(table: _Fields) -> tuple[Argument, ...]:
    value = table.values["params"]
    if not isinstance(value, list):
        raise table.fail("params", "must be an array of tables")
    arguments = tuple(_argument(argument) for argument in table.tables("params"))
    end = 0
    for argument in sorted(arguments, key=lambda argument: argument.offset):
        if argument.offset < end:
            raise table.fail("params", f"has two values for the byte at {argument.offset}")
        end = argument.offset + argument.size
    return arguments


def _argument(table: _Fields) -> Argument:
    table.only("offset", "size", "value", "pointer")
    offset = table.number("offset", most=_PARAMETER_BYTES - 1)
    size = table.number("size", least=1, most=_PARAMETER_BYTES - offset)
    value = table.text("value")
    if len(value) > 2 * size + 2 or _VALUE.fullmatch(value) is None:
        raise table.fail(
            "value", f'is {_shown(value)}: it must be a hexadecimal number of at most {size} bytes such as "0x{0:0{2 * min(size, 4)}x}"'
        )
    pointer = table.table("pointer") if "pointer" in table.values else None
    return Argument(offset, size, int(value, 16), _buffer(pointer) if pointer is not None else None)


def _buffer(table: _Fields) -> Buffer:
    table.only("buffer", "offset", "size")
    size = table.number("size")
    return Buffer(table.number("buffer", least=1), table.number("offset", most=size), size)


def _shown(value: object) -> str:
    """Return a value as a message shows it: a hostile one may be long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line's worth
