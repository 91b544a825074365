"""Rules of `simt.integers` and `simt.cross_lane` against definitions in plain numbers, for random words and those at the edges."""

import random

import numpy as np
import pytest

from assembly import instruction
from integer_step import number, run
from sassan.isa.tables import load
from sassan.simt.code import Operation
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.values import LANES, Moment

WORD = 1 << 32
EDGES = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


def words(seed: int, count: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.choice([draw.choice(EDGES), draw.randrange(WORD), draw.randrange(64)]) for _ in range(count)]


def signed(word: int) -> int:
    return word - WORD if word >> 31 else word


@pytest.mark.parametrize("seed", range(60))
def test_a_scaled_sum_of_two_words_each_is_that_of_64_bits(seed: int):
    low, high, base, above = words(seed, 4)
    places = random.Random(f"places {seed}").randrange(1, 32)
    first = run(f"LEA R0, P0, R1, R3, {places:#x}", R1=low, R3=base)
    late = run(f"LEA.HI.X R0, R1, R4, R2, {places:#x}, P0", R1=low, R2=high, R4=above, P0=first[number("P0")])
    expected = ((high * WORD + low << places) + above * WORD + base) % (1 << 64)
    assert first[number("R0")] + late[number("R0")] * WORD == expected


@pytest.mark.parametrize("seed", range(60))
def test_a_difference_of_a_scaled_number_is_that_of_64_bits(seed: int):
    low, high, base, above = words(seed, 4)
    places = random.Random(f"places {seed}").randrange(1, 32)
    first = run(f"LEA R0, P0, -R1, R3, {places:#x}", R1=low, R3=base)
    shifted = run(f"SHF.L.U64.HI R0, R1, {places:#x}, R2", R1=low, R2=high)
    late = run("IADD3.X R0, ~R5, R4, RZ, P0, !PT", R5=shifted[number("R0")], R4=above, P0=first[number("P0")])
    expected = (above * WORD + base - (high * WORD + low << places)) % (1 << 64)
    assert first[number("R0")] + late[number("R0")] * WORD == expected


@pytest.mark.parametrize("seed", range(60))
def test_a_scaled_sum_of_a_signed_word_is_that_of_64_bits(seed: int):
    low, base, above = words(seed, 3)
    places = random.Random(f"places {seed}").randrange(1, 32)
    first = run(f"LEA R0, P0, R1, R3, {places:#x}", R1=low, R3=base)
    late = run(f"LEA.HI.X.SX32 R0, R1, R4, {places:#x}, P0", R1=low, R4=above, P0=first[number("P0")])
    expected = ((signed(low) << places) + above * WORD + base) % (1 << 64)
    assert first[number("R0")] + late[number("R0")] * WORD == expected


@pytest.mark.parametrize("seed", range(60))
def test_a_scaled_difference_of_a_signed_word_is_that_of_64_bits(seed: int):
    """What decides a loop over 2^28 words had no value: warps were taken to leave it at once, and an estimate was 0.001 of the time."""
    low, high, base, above = words(seed, 4)
    places = random.Random(f"places {seed}").randrange(1, 32)
    first = run(f"LEA R0, P0, R1, -R3, {places:#x}", R1=low, R3=base)[number("P0")]
    lower = ((low << places) - base) % WORD
    late = run(f"LEA.HI.X.SX32 R0, R1, ~R4, {places:#x}, P0", R1=low, R4=above, P0=first)
    whole = above * WORD + base
    assert lower + late[number("R0")] * WORD == ((signed(low) << places) - whole) % (1 << 64)
    late = run(f"LEA.HI.X R0, R1, ~R4, R2, {places:#x}, P0", R1=low, R2=high, R4=above, P0=first)
    assert lower + late[number("R0")] * WORD == ((high * WORD + low << places) - whole) % (1 << 64)


@pytest.mark.parametrize("seed", range(40))
def test_bits_are_reversed_and_turned(seed: int):
    low, high, places = words(seed, 3)
    assert run("BREV R0, R1", R1=low)[number("R0")] == int(f"{low:032b}"[::-1], 2)
    turned = ((high * WORD + low) << (places % 32)) // WORD % WORD
    assert run("SHF.L.W.U32.HI R0, R1, R3, R2", R1=low, R2=high, R3=places)[number("R0")] == turned


@pytest.mark.parametrize("seed", range(40))
def test_a_word_without_its_sign(seed: int):
    (word,) = words(seed, 1)
    assert run("I2I.S32.S32 R0, |R1|", "sm_61", R1=word)[number("R0")] == abs(signed(word)) % WORD
    assert run("I2I.S32.S32 R0, -|R1|", "sm_61", R1=word)[number("R0")] == -abs(signed(word)) % WORD


def exchange(text: str, held: dict[str, list[int]], executing: list[bool]) -> tuple[dict[int, list[int]], bool]:
    """Return what the lanes of a warp write, and whether a rule says it."""
    parsed = instruction(text)
    facts = load("sm_80").facts(parsed)
    assert facts is not None
    reads, writes = ([index for index in range(560) if registers >> index & 1] for registers in (facts.reads, facts.writes))
    by_number = {number(name): line for name, line in held.items()}
    inputs = tuple(np.array([by_number[register]], np.uint32) for register in reads)
    at = Moment(np.array([0]), np.array([0], np.uint32), np.array([executing]))
    place = WarpInputs(np.array([7], np.uint32), {}, lambda offset: np.array([offset], np.uint32))
    out, sure = Integers(place, exchanges=True).results(Operation(parsed, 0, tuple(reads), tuple(writes)), inputs, at)
    return {register: line[0].tolist() for register, line in zip(writes, out, strict=True)}, bool(np.all(sure))


def _source(mode: str, lane: int, places: int, limits: int) -> int:
    """Return the lane that a shuffle reads, as the PTX ISA defines it."""
    clamp, segment, places = limits & 31, limits >> 8 & 31, places & 31
    last, first = (lane & segment) | (clamp & ~segment & 31), lane & segment
    other = {"UP": lane - places, "DOWN": lane + places, "BFLY": lane ^ places, "IDX": first | (places & ~segment & 31)}[mode]
    return other if (other >= last if mode == "UP" else other <= last) else lane


@pytest.mark.parametrize("mode", ["IDX", "UP", "DOWN", "BFLY"])
@pytest.mark.parametrize("seed", range(12))
def test_a_shuffle_finds_what_the_other_lane_holds(mode: str, seed: int):
    draw = random.Random(f"{mode} {seed}")
    width = draw.choice([32, 16, 8])
    limits = (32 - width) << 8 | (0 if mode == "UP" else 31)
    held, places, executing = words(seed, LANES), [draw.randrange(32)] * LANES, [draw.random() < 0.9 or seed < 6 for _ in range(LANES)]
    found, sure = exchange(f"SHFL.{mode} P0, R0, R1, R2, {limits:#x}", {"R1": held, "R2": places}, executing)
    sources = [_source(mode, lane, places[lane], limits) for lane in range(LANES)]
    assert sure == all(executing[sources[lane]] for lane in range(LANES) if executing[lane])
    if sure:
        assert [found[number("R0")][lane] for lane in range(LANES) if executing[lane]] == [
            held[sources[lane]] for lane in range(LANES) if executing[lane]
        ]


@pytest.mark.parametrize("seed", range(20))
def test_votes_and_reductions_are_over_the_lanes_that_take_part(seed: int):
    draw = random.Random(seed)
    executing = [draw.random() < 0.8 for _ in range(LANES)]
    executing[draw.randrange(LANES)] = True
    truths, held = [draw.randrange(2) for _ in range(LANES)], words(seed, LANES)
    here = [lane for lane in range(LANES) if executing[lane]]
    ballot, sure = exchange("VOTE.ANY R0, P0, P1", {"P1": truths}, executing)
    assert sure
    assert set(ballot[number("R0")]) == {sum(truths[lane] << lane for lane in here)}
    assert set(ballot[number("P0")]) == {int(any(truths[lane] for lane in here))}
    every, _ = exchange("VOTE.ALL P0, !P1", {"P1": truths}, executing)
    assert set(every[number("P0")]) == {int(not any(truths[lane] for lane in here))}
    most, _ = exchange("REDUX.MAX.S32 UR4, R1", {"R1": held}, executing)
    assert set(most[number("UR4")]) == {max(signed(held[lane]) for lane in here) % WORD}
    total, _ = exchange("REDUX.SUM UR4, R1", {"R1": held}, executing)
    assert set(total[number("UR4")]) == {sum(held[lane] for lane in here) % WORD}
