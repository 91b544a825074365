"""Reads `launches.toml`; every complaint is an InputError `launches-value` or `launches-syntax` that names the file and the key."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from sassan.checked import Fields, Format, shown
from sassan.errors import InputError, UsageError
from sassan.launches.data import DataFile
from sassan.launches.model import Argument, Buffer, Launches, MemoryWrite, ProgramDevice, ProgramLaunch
from sassan.machine.launch import BLOCK_LIMITS, BLOCK_THREADS, GRID_LIMITS, Shape
from sassan.machine.parameters import Setting, setting
from sassan.system.reading import read as read_bytes

LIMIT = 32 * 1024 * 1024
"""The largest file, in bytes: some 80,000 launches."""
_PARAMETER_BYTES = 32768
"""Of one kernel, all parameters together (since CUDA 12.1)."""
_HINT = "sassan record writes such a file"
_ADDRESS = 18
"""Characters of an address."""
_VALUE = re.compile("0x[0-9a-fA-F]+", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w{0,499}")
_CODE = re.compile("sha256:[0-9a-f]{64}", re.ASCII)
_ARCH = re.compile("sm_[0-9]{2,3}[a-z]?", re.ASCII)
_FORMAT = Format("launches-value", _HINT, syntax="launches-syntax")


def read(path: str) -> Launches:
    """Return the recording in the file at `path`.

    Raises InputError `launches-file` where it cannot be read, and what `parse` raises.
    """
    try:
        data = read_bytes(path, LIMIT)
    except (OSError, ValueError) as error:
        raise InputError("launches-file", f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}", hint=_HINT) from None
    if len(data) > LIMIT:
        raise InputError("launches-file", f"'{path}' is larger than {LIMIT // 1024 // 1024} MiB", hint="record fewer: --max-launches")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("launches-syntax", f"{path}: byte {error.start} is not UTF-8", hint=_HINT) from None
    return parse(path, text, Path(path).parent)


def parse(name: str, text: str, folder: Path | None = None) -> Launches:
    """Return the recording of a TOML text that the user called `name`; `folder` is that of the file with its data, None for none.

    Raises InputError `launches-value` or `launches-syntax`.
    """
    return _document(_FORMAT.toml(name, text), folder)


def launches_of(file: Fields) -> Launches:
    """Return the launches that stand in a document of another kind, as its tables `launch`; raises its error."""
    return Launches(tuple(_launch(launch) for launch in file.tables("launch")))


def _document(file: Fields, folder: Path | None) -> Launches:
    file.only("schema", "program", "arguments", "status", "cut", "notes", "data", "device", "launch")
    if file.whole("schema", 1) != 1:
        raise file.fail("schema", "is of a newer sassan; this one reads 1")
    device = file.table("device") if "device" in file else None
    return Launches(
        tuple(_launch(launch) for launch in file.tables("launch")),
        file.text("program", ""),
        file.texts("arguments"),
        _device(device) if device is not None else None,
        file.whole("status", least=-(2**31), most=2**31) if "status" in file else None,
        file.text("cut", ""),
        file.texts("notes"),
        _data(file, folder),
    )


def _data(file: Fields, folder: Path | None) -> Mapping[str, bytes]:
    name = file.text("data", "")
    if not name or folder is None:
        return {}
    if Path(name).name != name or name == os.pardir:
        raise file.fail("data", f"is {shown(name)}: it must be the name of a file in the same folder")
    return DataFile(folder / name)


def _device(table: Fields) -> ProgramDevice:
    table.only("name", "arch", "sms", "memory")
    arch = table.text("arch")
    if _ARCH.fullmatch(arch) is None:
        raise table.fail("arch", f"is {shown(arch)}: it must be an architecture such as sm_86")
    return ProgramDevice(table.text("name"), arch, table.whole("sms", most=10_000), table.whole("memory", least=0))


def _launch(table: Fields) -> ProgramLaunch:
    table.only(
        *("kernel", "grid", "block", "shared", "params", "param", "count", "code", "stream", "writes"),
        *("cluster", "preferred_cluster", "cooperative", "programmatic", "carveout"),
    )
    block = _shape(table, "block", BLOCK_LIMITS)
    threads = block[0] * block[1] * block[2]
    if threads > BLOCK_THREADS:
        raise table.fail("block", f"has {threads} threads, and {BLOCK_THREADS} at most can be launched")
    code = table.text("code") if "code" in table else None
    if code is not None and _CODE.fullmatch(code) is None:
        raise table.fail("code", 'must be "sha256:" and 64 hexadecimal digits')
    return ProgramLaunch(
        table.text("kernel"),
        _shape(table, "grid", GRID_LIMITS),
        block,
        table.whole("shared", 0, most=2**31 - 1, least=0),
        _arguments(table) if "params" in table else None,
        table.whole("count", 1),
        code,
        table.whole("stream", 0, least=0),
        _shape(table, "cluster", BLOCK_LIMITS) if "cluster" in table else None,
        table.flag("cooperative"),
        _given(table),
        tuple(_write(write) for write in table.tables("writes")) if "writes" in table else (),
        preferred_cluster=_shape(table, "preferred_cluster", BLOCK_LIMITS) if "preferred_cluster" in table else None,
        programmatic=table.flag("programmatic"),
        carveout=table.whole("carveout", most=100, least=0) if "carveout" in table else None,
    )


def _write(table: Fields) -> MemoryWrite:
    table.only("address", "size", "data", "source")
    data = table.text("data", "")
    if data and _CODE.fullmatch(data) is None:
        raise table.fail("data", 'must be "sha256:" and 64 hexadecimal digits')
    source = _place(table, "source") if "source" in table else None
    return MemoryWrite(_place(table, "address"), table.whole("size", most=2**48), data, source)


def _place(table: Fields, key: str) -> int:
    text = table.text(key)
    if len(text) > _ADDRESS or _VALUE.fullmatch(text) is None:
        raise table.fail(key, f"is {shown(text)}: it must be an address such as 0x200000000000")
    return int(text, 16)


def _given(table: Fields) -> tuple[Setting, ...]:
    """Return the integer parameters that are written as on the command line: `n=64`."""
    if "param" in table and "params" in table:
        raise table.fail("param", "and params exclude each other")
    try:
        return tuple(map(setting, table.texts("param")))
    except UsageError as error:
        raise table.fail("param", error.message) from None


def _arguments(table: Fields) -> tuple[Argument, ...]:
    arguments = tuple(_argument(parameter) for parameter in table.tables("params"))
    end = 0
    for argument in sorted(arguments, key=lambda argument: argument.offset):
        if argument.offset < end:
            raise table.fail("params", f"has two values for the byte at {argument.offset}")
        end = argument.offset + argument.size
    return arguments


def _argument(table: Fields) -> Argument:
    table.only("offset", "size", "value", "pointer", "name")
    offset = table.whole("offset", most=_PARAMETER_BYTES - 1, least=0)
    size = table.whole("size", most=_PARAMETER_BYTES - offset)
    value = table.text("value")
    if len(value) > 2 * size + 2 or _VALUE.fullmatch(value) is None:
        raise table.fail(
            "value", f'is {shown(value)}: it must be a hexadecimal number of at most {size} bytes such as "0x{0:0{2 * min(size, 4)}x}"'
        )
    pointer = table.table("pointer") if "pointer" in table else None
    name = table.text("name", "")
    if name and _NAME.fullmatch(name) is None:
        raise table.fail("name", f"is {shown(name)}: it must be a name of a source")
    return Argument(offset, size, int(value, 16), _buffer(pointer) if pointer is not None else None, name)


def _buffer(table: Fields) -> Buffer:
    table.only("buffer", "offset", "size", "host", "managed")
    size = table.whole("size", least=0)
    return Buffer(table.whole("buffer"), table.whole("offset", most=size, least=0), size, table.flag("host"), table.flag("managed"))


def _shape(table: Fields, key: str, limits: Shape) -> Shape:
    """Return the three extents under a key."""
    extents = table.items(key)
    if len(extents) != len(limits):
        raise table.fail(key, f"must be three whole numbers such as [256, 1, 1], not {shown(list(extents))}")
    for extent, limit in zip(extents, limits, strict=True):
        if not isinstance(extent, int) or isinstance(extent, bool) or not 1 <= extent <= limit:
            raise table.fail(key, f"has the extent {shown(extent)}: it must be a whole number from 1 to {limit}")
    x, y, z = cast("tuple[int, int, int]", extents)
    return x, y, z
