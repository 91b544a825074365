"""Forms of loops as public code has them (samples/loops): each has a bound for its launch, or the name of what ends it.

The comments say how often the loops iterate, by the source. Bounds count back edges of what the compiler made of a loop: of 77 iterations,
four in each turn, 18 turns go back.
"""

import struct
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pytest

from budget import FULL, some
from samples import SAMPLES
from sassan.frontend import load, read
from sassan.ipet.loop_bounds import Ending, inference
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.warpcfg import explore

_MEMORY, _APART = 0x7F0000000000, 1 << 26


class Long(NamedTuple):
    """An argument of eight bytes."""

    value: int


class Known(NamedTuple):
    """A buffer of words that the host wrote."""

    words: Sequence[int]


class Buffer(NamedTuple):
    """A buffer of which nothing is known."""


Argument = int | Long | Known | Buffer
Found = int | Ending | None


class Form(NamedTuple):
    """A kernel of a file, its launch, and of each loop its bound or what ends it."""

    file: str
    threads: int
    blocks: int
    arguments: tuple[Argument, ...]
    sm_80: tuple[Found, ...]
    sm_120: tuple[Found, ...]


IOTA = Known(range(1 << 12))
FORMS = {
    # 256 - 100 = 156
    "count_8_wrap": Form("counters", 128, 8, (Buffer(),), (2,), (38,)),
    # by step 7 in 16 bits until 5 -> 65536 odd inverse
    "count_16_wrap": Form("counters", 128, 8, (Buffer(), 7), (4,), (4,)),
    # 77
    "countdown": Form("counters", 128, 8, (Buffer(), 77), (0, 3, 0), (3, 0)),
    # 5000/1024 -> 5
    "count_64": Form("counters", 128, 8, (Buffer(), Long(5000)), (2, 1), (1, 1)),
    # 5
    "count_64_unsigned": Form("counters", 128, 8, (Buffer(), Long(5000)), (4,), (4,)),
    # 8
    "pointer_end": Form("counters", 128, 4, (Buffer(), 1024), (7,), (0, 1)),
    # 100
    "pointer_ne": Form("counters", 128, 4, (Buffer(), 100), (2, 5, 0), (0, 5, 0)),
    # 7 (1..10^6)
    "times_ten": Form("counters", 128, 4, (Buffer(), 1000000), (6,), (6,)),
    # 10
    "halve_signed": Form("counters", 128, 4, (Buffer(), 777), (9,), (9,)),
    # 16 outer, 64 inner
    "tile_min": Form("counters", 128, 2, (Buffer(), 1000, 64), (15, 15), (15, 3, 1073741821)),
    # 20,20,20
    "triangular_3": Form("counters", 128, 1, (Buffer(), 20), (19, 19, 0), (19, 19, 0)),
    # 64: the guard
    "guarded_counter": Form("counters", 128, 8, (IOTA, Buffer(), 64), (63,), (63,)),
    # primes: i*i <= n -> 31
    "sqrt_loop": Form("counters", 128, 8, (Buffer(), 1000), (0,), (29,)),
    # state machine <= 100
    "switch_steps": Form("counters", 128, 4, (Buffer(), 100), (99,), (99,)),
    # 3*(64-49)=45 /128 -> 1; per thread rows
    "ragged": Form("recorded", 128, 8, (Buffer(), Known([3 * i * i for i in range(9)])), (1,), (1,)),
    # 5 with data / named
    "run_length": Form("recorded", 128, 8, (Known([i % 6 for i in range(1024)]), Buffer()), (0, 0, 2), (0,)),
    # 32 pages with data
    "paged": Form("recorded", 128, 4, (Known([100, 37, 512, 1]), IOTA, Buffer(), 16), (31, 0, 0), (31, 0)),
    # 28 (leader's length)
    "shuffle_bound": Form("recorded", 128, 4, (Known([i % 29 for i in range(512)]), Buffer()), (0, 0, 2), (0, 2)),
    # 28 with data
    "redux_bound": Form("recorded", 128, 4, (Known([i % 29 for i in range(512)]), Buffer()), (0, 0, 2), (0, 2)),
    # run with data / named
    "collatz_data": Form("recorded", 128, 8, (IOTA, Buffer()), (177,), (177,)),
    # with data / named mark
    "strlen": Form("recorded", 128, 1, (Known([1] * 10 + [0] * 100), Buffer()), (10,), (10,)),
    # <= 9 or named
    "hash_find": Form("recorded", 128, 8, (IOTA, Known([-1 if i % 9 == 8 else 7 * i for i in range(4096)]), Buffer(), 4095), (8,), (8,)),
    # 16
    "string_match": Form("recorded", 128, 8, (Known([65] * 1024), Known([65] * 8), Buffer(), 4000, 16), (15,), (15,)),
    # 5 phases, i*10 inner, thread 0 rewrites between barriers
    "shared_phases": Form("shared_words", 128, 4, (Buffer(), 5), (4, 9), (4, None)),
    # 100 via shared ring index
    "shared_tail": Form("shared_words", 128, 4, (Buffer(), 100), (5, 0, 5, 0, 5, 0, 5, 0), (3, None)),
    # scan in shared of lens, last element is the trip count: 288
    "prefix_in_shared": Form("shared_words", 128, 2, (Known([3, 1, 4, 1] * 32), Buffer()), (17, 0, 2), (None, 2)),
    # max of shared word from data
    "shared_count_data": Form("shared_words", 128, 4, (Known([i % 40 for i in range(512)]), Buffer()), (8, 2), (1, 2)),
    # 9 outer, up to 9 inner
    "bitonic": Form("shared_words", 512, 1, (Buffer(), 512), (8, 29), (8, 29)),
    # 8 (128..1)
    "half_reduce": Form("shared_words", 256, 4, (Buffer(),), (7,), (7,)),
    # 12
    "lengths_float_search": Form("searches", 128, 8, (Buffer(), Buffer(), 4096), (12,), (12,)),
    # 13
    "upper_bound_cub": Form("searches", 128, 8, (IOTA, Buffer(), 4096), (12,), (12,)),
    # 12
    "merge_path": Form("searches", 128, 8, (IOTA, IOTA, Buffer(), 2048, 2048), (10,), (10,)),
    # ends from memory: a word is halved 31 times until it is 0, 32 times without a sign
    "diagonal": Form("intervals", 128, 1, (Buffer(), Buffer(), Buffer()), (31,), (31,)),
    "rounded_diagonal": Form("intervals", 128, 1, (Buffer(), Buffer(), Buffer()), (31,), (31,)),
    # 4 * 127 = 508 at most, before what the guard finds is joined; where it is lost, any word
    "shared_diagonal": Form("intervals", 128, 1, (Buffer(), Buffer(), 900), (7, 10), (0, 1, 33)),
    "counted_search": Form("intervals", 128, 1, (Buffer(), Buffer(), Buffer()), (31,), (31,)),
    "search_in_row": Form("intervals", 128, 1, (Buffer(), Buffer(), Buffer()), (32,), (32,)),
    # first = mid: one word is left for ever
    "stays_apart": Form("intervals", 128, 1, (Buffer(), Buffer(), Buffer()), (Ending.CHAIN,), (Ending.CHAIN,)),
    # named search
    "hash_probe": Form("searches", 128, 8, (IOTA, Buffer(), 4095), (Ending.SWAP,), (Ending.SWAP,)),
    # named swap
    "spin_lock": Form("searches", 128, 4, (Buffer(), Buffer()), (Ending.SWAP,), (Ending.SWAP,)),
    # named wait
    "lookback_cub": Form("searches", 128, 64, (Buffer(), Buffer()), (Ending.VOTE, Ending.VOTE), (Ending.VOTE, Ending.VOTE)),
    # convergence
    "newton_converge": Form("searches", 128, 4, (Buffer(), 0x358637BD), (Ending.CONVERGENCE,), (Ending.CONVERGENCE,)),
    # convergence of a bisection
    "float_bisection": Form("searches", 128, 8, (Buffer(), 0x38D1B717), (Ending.CONVERGENCE,), (Ending.CONVERGENCE,)),
    # named rejection
    "lcg_reject": Form("searches", 128, 8, (Buffer(), 7), (Ending.CONVERGENCE,), (Ending.CONVERGENCE,)),
    # named draw
    "work_queue": Form("searches", 128, 16, (Buffer(), Buffer(), 1000), (Ending.VOTE,), (Ending.VOTE,)),
    # named chain
    "list_pointer": Form("searches", 64, 1, (Buffer(), Buffer()), (Ending.CHAIN,), (Ending.CHAIN,)),
}


@cache
def kernels(file: str, arch: str) -> dict[str, Function]:
    """Return the kernels of a file by name."""
    return {each.name: each for each in read(load(str(SAMPLES / "loops" / arch / f"{file}.cubin"))).functions if each.kernel}


def launch(function: Function, form: Form) -> LaunchConfiguration:
    """Return the launch of a form: buffers far apart, parameters one after the other."""
    where = layout(function.arch)
    assert where is not None
    place, settings, parts = where.parameters, list[Setting](), list[KnownBytes]()
    for number, argument in enumerate(form.arguments):
        if isinstance(argument, int):
            settings.append(Setting("", place, argument, 4))
            place += 4
            continue
        place = -(-place // 8) * 8
        address = _MEMORY + number * _APART
        settings.append(Setting("", place, argument.value if isinstance(argument, Long) else address, 8))
        place += 8
        if isinstance(argument, Known):
            parts.append(KnownBytes(address, struct.pack(f"<{len(argument.words)}i", *argument.words)))
    contents = Contents(tuple(parts), repr(form.arguments)) if parts else None
    return LaunchConfiguration((form.threads, 1, 1), (form.blocks, 1, 1), tuple(settings), contents=contents)


def found(name: str, arch: str) -> list[Found]:
    """Return what is known of each loop; bounds are held to runs of warps."""
    form = FORMS[name]
    function = kernels(form.file, arch)[name]
    facts, given = tables.load(arch).facts, launch(function, form)
    cfg = explore(function, facts)
    loops = inference(cfg, facts, given, reaching=False).loops
    assert not check_bounds(cfg, facts, given, loops).refuted
    wanted = [loop.loop for loop in loops if loop.bound is None]
    seen = whole_run(cfg, facts, given, wanted) if wanted else None
    edges = seen.back_edges if seen is not None else [None] * len(loops)
    assert all(loop.bound is None or most is None or most <= loop.bound for loop, most in zip(loops, edges, strict=True))
    return [
        loop.bound if loop.bound is not None else most if most is not None else loop.ended and loop.ended.ending
        for loop, most in zip(loops, edges, strict=True)
    ]


RUNS = [
    (name, arch)
    for place, name in enumerate(some(sorted(FORMS), 9))
    for number, arch in enumerate(("sm_80", "sm_120"))
    if FULL or place % 2 == number
]


@pytest.mark.parametrize(("name", "arch"), RUNS)
def test_a_form_of_public_code_has_a_bound_or_a_name(name: str, arch: str):
    form = FORMS[name]
    assert found(name, arch) == list(form.sm_80 if arch == "sm_80" else form.sm_120)
