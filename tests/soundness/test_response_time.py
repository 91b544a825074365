"""Random sequences with a write-back cache that writes back when it hurts most: never longer than what the sum charges (Proof 12)."""

import random

from sassan.app.task.response import dirty_bytes


def delays(l2: int, steps: list[tuple[int, int]], choice: random.Random, *, greedy: bool) -> int:
    """Return for how many bytes DRAM writes back what earlier work left while launches wait.

    Of each launch: the bytes that copies before it leave, and those that it leaves itself. The cache decides what it keeps: at a launch it
    writes back as much as it wants of what is there, or nothing, so that all is left to a later one.
    """
    dirty, total = choice.choice((l2, choice.randint(0, l2))), 0
    for copied, left in steps:
        dirty = min(l2, dirty + copied)
        written = dirty if greedy else choice.choice((0, choice.randint(0, dirty), dirty))
        total += written
        dirty = min(l2, dirty - written + choice.choice((left, choice.randint(0, left))))
    return total


def test_no_cache_delays_a_sequence_longer_than_it_is_charged():
    choice = random.Random(51)
    met = 0
    for _ in range(5000):
        l2 = choice.randint(1, 40)
        steps = [(choice.choice((0, choice.randint(0, 60))), choice.randint(0, l2)) for _ in range(choice.randint(1, 8))]
        charged = sum(first for first, _ in dirty_bytes(l2, steps))
        seen = delays(l2, steps, choice, greedy=choice.random() < 0.5)
        assert seen <= charged
        met += seen == charged
    assert met > 100, "what is charged is met by some"


def test_equal_launches_are_charged_what_each_leaves():
    choice = random.Random(52)
    for _ in range(500):
        l2, copied = choice.randint(1, 20), choice.randint(0, 9)
        left, count = choice.randint(0, l2), choice.randint(1, 6)
        ((first, again),) = dirty_bytes(l2, [(copied, left)])
        several = dirty_bytes(l2, [(copied, left)] * count)
        assert sum(each for each, _ in several) == first + (count - 1) * again


def test_a_charge_that_forgets_what_the_first_launch_finds_is_too_small():
    assert dirty_bytes(8, [(0, 2), (0, 2)]) == [(8, 2), (2, 2)]
    assert delays(8, [(0, 0)], random.Random(0), greedy=True) > sum(left for _, left in [(0, 0)])
