"""The file with recorded bytes: the same for the same bytes, and refused where it was changed."""

import hashlib
import io
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from sassan.errors import InputError
from sassan.launches import Launches, MemoryWrite, ProgramLaunch, archive
from sassan.launches import parse as parse_launches
from sassan.launches import read as read_launches
from sassan.launches import text as launches_text
from sassan.launches.data import DataFile


def named(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def archived(data: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    archive(data, out)
    return out.getvalue()


DATA = {named(data): data for data in (b"", b"row pointers" * 100, bytes(5000))}
WRITES = (MemoryWrite(0x200000000000, 1200, named(b"row pointers" * 100)), MemoryWrite(0x200000001000, 8, source=0x200000000000))
RECORDING = Launches((ProgramLaunch("k", (1, 1, 1), (32, 1, 1), writes=WRITES),), data=DATA)


def test_bytes_come_back_by_their_name(tmp_path: Path):
    (tmp_path / "x.data").write_bytes(archived(DATA))
    assert dict(DataFile(tmp_path / "x.data")) == DATA
    assert archived(dict(reversed(DATA.items()))) == archived(DATA)


def test_a_recording_names_the_file_beside_it(tmp_path: Path):
    (tmp_path / "x.data").write_bytes(archived(DATA))
    (tmp_path / "x.toml").write_text(launches_text(RECORDING, "x.data"))
    read = read_launches(str(tmp_path / "x.toml"))
    assert (read, dict(read.data)) == (RECORDING, DATA)


def test_bytes_that_do_not_shrink_are_stored_as_they_are():
    noise, text = random.Random(1).randbytes(100_000), b"row pointers" * 10_000
    entries = zipfile.ZipFile(io.BytesIO(archived({named(data): data for data in (noise, text)}))).infolist()
    assert {entry.file_size: entry.compress_type for entry in entries} == {100_000: zipfile.ZIP_STORED, 120_000: zipfile.ZIP_DEFLATED}


@pytest.mark.parametrize("name", ["../x.data", "/x.data", "a/b", ".."])
def test_a_file_elsewhere_is_refused(tmp_path: Path, name: str):
    (tmp_path / "x.toml").write_text(launches_text(RECORDING, name))
    with pytest.raises(InputError, match="same folder"):
        read_launches(str(tmp_path / "x.toml"))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("missing", "cannot be read"),
        ("cut", "is damaged"),
        ("garbage", "is damaged"),
        ("bits", "is damaged"),
        ("folder", "cannot be read"),
        ("other", "holds other bytes"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, kind: str, why: str):
    path, whole = tmp_path / "x.data", archived(DATA)
    if kind == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif kind == "bits":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(named(b"words" * 500).removeprefix("sha256:"), b"words" * 500)
        packed = bytearray(path.read_bytes())
        packed[94 + 4 : 94 + 12] = b"\xff" * 8  # behind the head of the entry, and its name of 64 bytes
        path.write_bytes(packed)
    elif kind == "garbage":
        path.write_bytes(bytes(range(256)) * 20)
    elif kind == "folder":
        path.mkdir()
    elif kind == "other":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(next(iter(DATA)).removeprefix("sha256:"), b"others")
    with pytest.raises(InputError, match=why) as error:
        dict(DataFile(path))
    assert (error.value.code, "x.data" in error.value.message) == ("launches-data", True)


@pytest.mark.parametrize(
    "write",
    [
        'address = "8", size = 1',
        'address = "0x10", size = 0',
        'address = "0x10", size = 4, data = "sha256:0"',
        "size = 4",
        'address = "0x10", size = 4, x = 1',
        'address = "0x11111111111111111", size = 4',
    ],
)
def test_a_write_that_is_none_is_refused(write: str):
    text = f'[[launch]]\nkernel = "k"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\nwrites = [{{{write}}}]\n'
    with pytest.raises(InputError) as error:
        parse_launches("x", text)
    assert error.value.code == "launches-value"
