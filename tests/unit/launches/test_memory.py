"""Known bytes of device memory: as a plain table of single bytes has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.errors import InputError
from sassan.launches import MemoryWrite
from sassan.launches.memory import DeviceMemory
from sassan.machine.contents import Contents, KnownBytes

DATA = {f"sha256:{size}": bytes(np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)) for size in range(1, 17)}
WRITES = st.one_of(
    st.builds(lambda at, size: MemoryWrite(at, size, f"sha256:{size}"), st.integers(0, 40), st.integers(1, 16)),
    st.builds(MemoryWrite, st.integers(0, 40), st.integers(1, 16)),
    st.builds(lambda at, size, source: MemoryWrite(at, size, source=source), st.integers(0, 40), st.integers(1, 16), st.integers(0, 40)),
)


def plain(known: dict[int, int], write: MemoryWrite) -> None:
    moved = {} if write.source is None else {at: known.get(write.source + at) for at in range(write.size)}
    for at in range(write.size):
        byte = DATA[write.data][at] if write.data else moved.get(at)
        known.pop(write.address + at, None)
        if byte is not None:
            known[write.address + at] = byte


def held(contents: Contents | None) -> dict[int, int]:
    return {} if contents is None else {part.address + at: byte for part in contents.parts for at, byte in enumerate(part.data)}


@given(st.lists(WRITES, max_size=12), st.tuples(st.integers(0, 40), st.integers(1, 16)))
def test_writes_and_what_is_forgotten_leave_what_a_table_of_bytes_has(writes: list[MemoryWrite], gap: tuple[int, int]):
    memory, known = DeviceMemory(DATA), dict[int, int]()
    for write in writes:
        memory.write(write)
        plain(known, write)
    assert held(memory.contents()) == known
    first, size = gap
    rest = {at: byte for at, byte in known.items() if not first <= at < first + size}
    assert held(memory.contents([(first, first + size)])) == rest
    memory.forget(first, first + size)
    assert held(memory.contents()) == rest
    memory.clear()
    assert memory.contents() is None


@given(st.lists(WRITES, max_size=8), st.lists(st.integers(0, 60), min_size=1, max_size=8), st.sampled_from([1, 2, 4]))
def test_loads_find_what_is_known_as_a_whole(writes: list[MemoryWrite], places: list[int], size: int):
    memory, known = DeviceMemory(DATA), dict[int, int]()
    for write in writes:
        memory.write(write)
        plain(known, write)
    contents = memory.contents() or Contents((), "nothing")
    words, whole = contents.load(np.array(places, np.uint64), size)
    for place, word, is_known in zip(places, words.tolist(), whole.tolist(), strict=True):
        expected = [known.get(place + at) for at in range(size)]
        # Adjacent parts of memory are not joined: a word over both is unknown.
        assert not is_known or int.from_bytes(bytes(byte for byte in expected if byte is not None), "little") == word
        inside = any(part.address <= place and place + size <= part.address + len(part.data) for part in contents.parts)
        assert is_known == inside


def test_equal_contents_have_one_name_and_others_another():
    memory = DeviceMemory(DATA)
    memory.write(MemoryWrite(0, 8, "sha256:8"))
    first = memory.contents()
    memory.write(MemoryWrite(0, 8, "sha256:8"))
    assert memory.contents() == first
    memory.write(MemoryWrite(8, 4, "sha256:4"))
    assert memory.contents() != first


def test_data_that_are_too_short_are_refused():
    memory = DeviceMemory({"sha256:a": b"1234"})
    memory.write(MemoryWrite(0, 8, "sha256:a"))
    with pytest.raises(InputError, match="8 bytes, and its data 4"):
        memory.contents()


def test_parts_that_overlap_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        Contents((KnownBytes(0, b"1234"), KnownBytes(3, b"1")), "")
