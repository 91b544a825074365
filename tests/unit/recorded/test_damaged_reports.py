"""Damaged reports are refused, or named in a note, or give the same numbers: as far as the format holds a number twice.

The writer marks which bytes are structure and which are values. A bit of structure that flips may cost numbers, and never changes one
without a note. Of the values, the test reports and bounds the share that is noticed; machine code, names and what a device is have no
second copy in the format.
"""

from random import Random

import pytest

from budget import FULL, part
from mutations import damaged, flipped, rearranged
from ncu_report import Launch, blocks, report
from sassan.errors import InputError
from sassan.recorded import RecordedLaunch, Recording
from sassan.recorded.ncu import protobuf
from sassan.recorded.read import content

TWO = report(Launch(1), Launch(5, cycles=4e5, time_ns=2.6e5, counts={0: 8, 16: 8, 32: 4}, grid=(1, 1, 1)))
CASES = 5000 if FULL else 400


def numbers(launch: RecordedLaunch) -> dict[str, object]:
    return {
        "kernel": launch.kernel,
        "grid": launch.grid,
        "block": launch.block,
        "shared": launch.shared,
        "cycles": launch.cycles,
        "time": launch.time_ns,
        "instructions": launch.instructions,
        "counts": launch.counts or None,
        "threads": launch.thread_counts or None,
        "image": launch.image,
        "sms": launch.device.sm_count if launch.device else None,
    }


def read(data: bytes) -> Recording | None:
    try:
        result = content("k.ncu-rep", data)
    except InputError:
        return None
    assert isinstance(result, Recording)
    return result


ORIGINAL = read(TWO.data)
assert ORIGINAL is not None
ORIGINALS = [numbers(launch) for launch in ORIGINAL.launches]


def changed(recording: Recording | None) -> bool:
    """Whether a number differs from every undamaged launch of its place, and nothing says so; a number that is absent does not differ."""
    if recording is None or recording.notes:
        return False
    for launch in recording.launches:
        if not any(all(value in (None, original[name]) for name, value in numbers(launch).items()) for original in ORIGINALS):
            return True
    return False


def flips(*, values: bool) -> list[bytes]:
    places = [at for at, mark in enumerate(TWO.values) if bool(mark) == values]
    every = [(at, bit) for at in places for bit in range(8)]
    some = every if FULL and len(every) <= CASES else Random(7 + values).sample(every, min(CASES, len(every)))
    return [flipped(TWO.data, at, bit) for at, bit in some]


@pytest.mark.slow
def test_no_flipped_bit_of_the_structure_changes_a_number_without_a_note() -> None:
    assert [data for data in flips(values=False) if changed(read(data))] == []


def test_most_flipped_bits_of_the_counts_and_sizes_are_noticed() -> None:
    code = TWO.data.index(b"\x7fELF")
    end = TWO.data.index(b"saxpy\x10", code)
    places = [at for at, mark in enumerate(TWO.values) if mark and not code <= at < end]
    some = Random(3).sample([(at, bit) for at in places for bit in range(8)], part(2000, of=24))
    unnoticed = sum(changed(read(flipped(TWO.data, at, bit))) for at, bit in some)
    assert unnoticed / len(some) < 0.05


def test_removed_doubled_or_swapped_blocks_change_no_number_without_a_note() -> None:
    parts = [block.data for block in blocks(Launch(1), Launch(5, cycles=4e5, time_ns=2.6e5, counts={0: 8, 16: 8, 32: 4}, grid=(1, 1, 1)))]
    assert [data for data in rearranged(parts, Random(11), part(800, of=16)) if changed(read(data))] == []


def test_any_damage_is_refused_or_read() -> None:
    for data in damaged(TWO.data, Random(5), CASES):
        read(data)


def test_the_work_on_a_damaged_report_is_bounded_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = 0
    original = protobuf.WireField

    def counted(wire: int, value: int, start: int, end: int) -> protobuf.WireField:
        nonlocal fields
        fields += 1
        return original(wire, value, start, end)

    monkeypatch.setattr(protobuf, "WireField", counted)
    for data in damaged(TWO.data, Random(13), part(400, of=16)):
        fields = 0
        read(data)
        assert fields <= 4 * len(data)
