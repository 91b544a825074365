"""Damaged caches and tables are refused, or named in a note, or give the same numbers: as far as a text holds a number twice.

Of a text, punctuation, line ends and the names of keys and columns are structure: a flipped bit there may cost numbers, and never changes
one without a note. Digits are values: a cache of Kernel Tuner holds most of them twice (keys, means), KTT its times, tables none.
"""

import json
import re
import tracemalloc
from random import Random

import pytest

from budget import FULL, part
from mutations import damaged, flipped
from recordings import CACHE, DETAILS, KTT, T4, details, raw
from sassan.errors import InputError
from sassan.recorded import Recording, TuningSpace
from sassan.recorded.read import content

TABLE = """\
kernel,block,grid,time_ns_min,time_ns_median,time_ns_max,cycles,launches
"k(int)","256,1,1","8,1,1",10,20.5,31,700,2
j,32,4,1,2,3,99,1
"""
ROWS = details(("Duration", "us", "249.22"), ("Elapsed Cycles", "cycle", "379,490"), ("Threads", "thread", "1,024"))
METRICS = (
    ("sm__cycles_elapsed.max", "cycle", "379,490"),
    ("gpu__time_duration.sum", "us", "249.22"),
    ("launch__thread_count", "thread", "1,024"),
)
TEXTS = {
    "kernel-tuner": json.dumps(CACHE, indent=0),
    "t4": json.dumps(T4, indent=0),
    "ktt": json.dumps(KTT, indent=0),
    "table": TABLE,
    "details": DETAILS + ROWS + details(("Duration", "us", "1.50"), identity=1),
    "raw": raw(*METRICS),
}
CASES = 5000 if FULL else 300
KEY = re.compile(r'"[^"\n]*"(?=:)')


def read(data: bytes) -> Recording | TuningSpace | None:
    try:
        return content("file", data)
    except InputError:
        return None


def numbers(recording: Recording | TuningSpace) -> list[tuple[object, ...]]:
    """The numbers of each launch or configuration; names are no numbers."""
    if isinstance(recording, TuningSpace):
        return [
            (*configuration.values, configuration.times_ms or None, configuration.recorded_ms, configuration.grid, configuration.block)
            for configuration in recording.configurations
        ]
    return [
        (launch.grid, launch.block, launch.cycles, launch.time_ns, launch.time_range_ns, launch.instructions, launch.count)
        for launch in recording.launches
    ]


def changed(original: list[tuple[object, ...]], damaged: Recording | TuningSpace | None) -> bool:
    """Whether a number differs from those of every undamaged row, and nothing says so; a number that is absent does not differ."""
    if damaged is None or damaged.notes:
        return False

    def like(other: tuple[object, ...], row: tuple[object, ...]) -> bool:
        return len(other) == len(row) and all(here in (None, there) for here, there in zip(other, row, strict=True))

    return not all(any(like(number, row) for row in original) for number in numbers(damaged))


def structure(name: str, text: str) -> list[int]:
    if name in ("kernel-tuner", "t4", "ktt"):
        keys = {at for match in KEY.finditer(text) for at in range(*match.span())}
        quoted = {at for match in re.finditer(r'"[^"\n]*"', text) for at in range(match.start() + 1, match.end() - 1)}
        return [at for at, letter in enumerate(text) if at in keys or (letter in '{}[],:"\n' and at not in quoted)]
    head = next(match for match in re.finditer(r".*ernel.*\n", text))
    inside = {at for match in re.finditer(r'"[^"\n]*"', text) for at in range(match.start() + 1, match.end() - 1)}
    return [at for at, letter in enumerate(text) if head.start() <= at < head.end() or (letter in ',"\n' and at not in inside)]


@pytest.mark.parametrize("name", TEXTS)
def test_no_flipped_bit_of_the_structure_changes_a_number_without_a_note(name: str) -> None:
    data = TEXTS[name].encode()
    undamaged = read(data)
    assert undamaged is not None
    assert undamaged.notes == ()
    every = [(at, bit) for at in structure(name, TEXTS[name]) for bit in range(8)]
    some = every if len(every) <= CASES else Random(17).sample(every, CASES)
    assert [bad for at, bit in some if changed(numbers(undamaged), read(bad := flipped(data, at, bit)))] == []


@pytest.mark.parametrize(("name", "share"), [("kernel-tuner", 0.01), ("ktt", 0.2)])
def test_most_flipped_digits_of_a_cache_are_noticed(name: str, share: float) -> None:
    data = TEXTS[name].encode()
    undamaged = read(data)
    assert undamaged is not None
    digits = [at for at, letter in enumerate(TEXTS[name]) if letter.isdigit()]
    every = [(at, bit) for at in digits for bit in range(8)]
    unnoticed = sum(changed(numbers(undamaged), read(flipped(data, at, bit))) for at, bit in every)
    assert unnoticed / len(every) < share


@pytest.mark.parametrize("name", TEXTS)
def test_any_damage_is_refused_or_read(name: str) -> None:
    for data in damaged(TEXTS[name].encode(), Random(19), CASES):
        read(data)


@pytest.mark.parametrize("name", TEXTS)
def test_the_memory_for_a_damaged_text_is_bounded_by_its_size(name: str) -> None:
    for data in damaged(TEXTS[name].encode(), Random(23), part(40)):
        tracemalloc.start()
        read(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200 * len(data) + (4 << 20)
