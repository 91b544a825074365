"""Kernels that are run as a whole leave what plain Python says, and what cannot be run says why."""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import FULL
from listing import assemble
from samples import EVERY, SAMPLES
from sassan.frontend import load, read
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.simt.global_memory import GlobalMemory
from sassan.simt.kernel_run import NotRunError, RunBudget, run_kernel

ARCHS = EVERY if FULL else ("sm_61", "sm_80", "sm_120")
A, B, C, D = (0x7F0000000000 + (place << 24) for place in range(4))
Numbers = npt.NDArray[Any]


class Launched(NamedTuple):
    """A launch along x: blocks, threads of each, and its arguments: numbers, and addresses."""

    blocks: int
    threads: int
    arguments: Sequence[int]

    def configuration(self, arch: str) -> LaunchConfiguration:
        known = layout(arch)
        assert known is not None
        offset, settings = known.parameters, list[Setting]()
        for value in self.arguments:
            size = 8 if value >> 32 else 4
            offset = -(-offset // size) * size
            settings.append(Setting("", offset, value, size))
            offset += size
        return LaunchConfiguration((self.threads, 1, 1), (self.blocks, 1, 1), tuple(settings))


def ran(
    function: Function, launched: Launched, known: Mapping[int, Numbers], free: Mapping[int, int] | None = None, operations: int = 1 << 24
) -> dict[int, bytes]:
    """Return what a launch stored, by the address of each stretch; `known` are contents by address, `free` sizes of other buffers."""
    parts = tuple(KnownBytes(address, words.tobytes()) for address, words in sorted(known.items()))
    buffers = {**{part.address: len(part.data) for part in parts}, **(free or {})}
    memory = GlobalMemory([(first, first + size) for first, size in buffers.items()], Contents(parts, "test"))
    run_kernel(function, tables.load(function.arch).facts, launched.configuration(function.arch), memory, RunBudget(operations))
    return {part.address: part.data for part in memory.changes()}


def sample(arch: str, name: str) -> Function:
    (function,) = read(load(str(SAMPLES / arch / f"{name}.nvdisasm.sass"))).functions
    return function


def single(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


@pytest.mark.parametrize("arch", ARCHS)
def test_saxpy_stores_the_sums(arch: str):
    random = np.random.default_rng(1)
    x, y = random.random(300, np.float32), random.random(300, np.float32)
    out = ran(sample(arch, "saxpy"), Launched(3, 128, (300, single(2.5), A, B)), {A: x, B: y})
    sums = (2.5 * x.astype(np.float64) + y.astype(np.float64)).astype(np.float32)
    assert out == {B: sums.tobytes()}


@pytest.mark.parametrize("arch", ARCHS)
def test_a_tree_of_sums_goes_through_shared_memory(arch: str):
    x = np.arange(200, dtype=np.float32)
    out = ran(sample(arch, "reduce_shared"), Launched(2, 128, (A, B, 200)), {A: x}, {B: 8})
    assert out == {B: np.array([x[:128].sum(), x[128:].sum()], np.float32).tobytes()}


@pytest.mark.parametrize("arch", ARCHS)
def test_numbers_of_64_bits_are_divided(arch: str):
    """Routines of the compiler: what their products and sums carry decides quotients, and so how often loops iterate."""
    random, count = np.random.default_rng(1), 256
    a, b = (random.integers(-(1 << 63), (1 << 63) - 1, count, dtype=np.int64) >> random.integers(0, 63, count) for _ in range(2))
    b[b == 0] = 3
    out = ran(sample(arch, "int64_divide"), Launched(2, 128, (A, B, C, D, count)), {A: a, B: b}, {C: 8 * count, D: 8 * count})
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    quotients = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]
    remainders = [y % (1 << 64) % ((x | 1) % (1 << 64)) for x, y in pairs]
    assert out == {C: np.array(quotients, np.int64).tobytes(), D: np.array(remainders, np.uint64).tobytes()}


@pytest.mark.parametrize("arch", ARCHS)
def test_levels_of_a_graph_are_found_one_after_the_other(arch: str):
    random = np.random.default_rng(2)
    nodes = 200
    row = np.concatenate([[0], np.cumsum(random.integers(0, 5, nodes))]).astype(np.int32)
    column = random.integers(0, nodes, int(row[-1])).astype(np.int32)
    level = np.full(nodes, -1, np.int32)
    level[0] = 0
    expected = {0: 0}
    function = sample(arch, "bfs_step")
    for depth in range(6):
        out = ran(function, Launched(2, 128, (A, B, C, depth, nodes, D)), {A: row, B: column, C: level, D: np.zeros(1, np.int32)})
        front = [node for node, found in expected.items() if found == depth]
        for node in front:
            for other in column[row[node] : row[node + 1]].tolist():
                expected.setdefault(other, depth + 1)
        for address, data in out.items():
            if C <= address < D:
                level[(address - C) // 4 : (address - C + len(data)) // 4] = np.frombuffer(data, np.int32)
        assert {node: found for node, found in enumerate(level.tolist()) if found >= 0} == expected
        assert (D in out) == any(found == depth + 1 for found in expected.values())
    assert len(expected) > 20


def test_what_cannot_be_run_says_why():
    saxpy, x = sample("sm_80", "saxpy"), np.zeros(64, np.float32)
    arguments = (64, single(1.0), A, B)
    for known, free, operations, message in (
        ({A: x}, {B: 256}, 1 << 20, "reads memory that is not known"),
        ({A: x, B: x[:32]}, {}, 1 << 20, "reads memory that is not known"),
        ({A: x, B: x}, {}, 10, "more than the limit allows"),
    ):
        with pytest.raises(NotRunError, match=message):
            ran(saxpy, Launched(1, 64, arguments), known, free, operations)
    with pytest.raises(NotRunError, match="stores outside of the buffers"):
        ran(sample("sm_80", "reduce_shared"), Launched(1, 64, (A, B, 64)), {A: x})
    with pytest.raises(NotRunError, match="reads memory that is not known"):
        ran(sample("sm_80", "histogram_atomic"), Launched(1, 64, (A, 64, B)), {A: x}, {B: 1024})
    with pytest.raises(NotRunError, match="waits in a way that is not followed"):
        ran(sample("sm_80", "barrier_reduce"), Launched(1, 64, (A, 5)), {A: x})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MOV R4, c[0x3][0x0]", "no rule says what MOV"),  # constants of the user: who wrote them is not known
        ("MOV R4, c[0x0][0x170]", "no rule says what MOV"),  # no such argument is given
        ("LDGSTS.E [R4], [R2.64]", "no rule says what LDGSTS"),
        ("SUST.D.BA.2D.STRONG.SM.TRAP [R4], R2, UR6", "no rule says what SUST"),
        ("STL [R1], R4", "no rule says what STL"),
        ("CS2R R4, SR_CLOCKLO", "no rule says what CS2R"),
        ("SHFL.DOWN PT, R4, R0, 0x10, 0x1f", "no rule says what SHFL"),  # half of the warp has no threads
        ("@P0 BRA other\nBAR.SYNC.DEFER_BLOCKING 0x0\nEXIT\nother:\nBAR.SYNC.DEFER_BLOCKING 0x0", "come apart to the barrier"),
        ("@P0 BAR.SYNC.DEFER_BLOCKING 0x0", "waits in a way that is not followed"),
        ("loop:\nBRA loop", "more than the limit allows"),
    ],
)
def test_what_has_no_rule_or_is_not_known_ends_a_run(text: str, message: str):
    code = f"""
        S2R R0, SR_TID.X
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        ISETP.GE.AND P0, PT, R0, 0x8, PT
        {text}
        STG.E [R2.64], R4
        EXIT"""
    function = assemble(code, "sm_80").function
    memory = GlobalMemory([(A, A + 4)], None)
    launch = LaunchConfiguration((16, 1, 1), (1, 1, 1), (Setting("", 0x160, A, 8),))
    with pytest.raises(NotRunError, match=message):
        run_kernel(function, tables.load("sm_80").facts, launch, memory, RunBudget(10_000))


def test_memory_ends_where_its_ranges_end():
    memory = GlobalMemory([(A + 4, A + 12)], Contents((KnownBytes(B + 1, b"abc"),), "test"))
    places, inside = memory.places(np.array([A, A + 4, A + 8, A + 12, B, B + 1, B + 4], np.uint64), 4)
    assert inside.tolist() == [False, True, True, False, False, False, False]
    memory.store(places[1:2], np.array([0x11223344], np.uint32), 4)
    byte = memory.places(np.array([B + 2], np.uint64), 1)[0]
    memory.store(byte, np.array([0x7A], np.uint32), 1)
    assert [*memory.changes()] == [KnownBytes(A + 4, b"\x44\x33\x22\x11"), KnownBytes(B + 2, b"z")]


@pytest.mark.parametrize("arch", ARCHS)
def test_counters_in_shared_memory_become_a_histogram(arch: str):
    random = np.random.default_rng(3)
    data = random.integers(0, 40, 1000).astype(np.uint8)
    launched = Launched(3, 128, (A, 1000, B))
    out = ran(sample(arch, "histogram_atomic"), launched, {A: data, B: np.zeros(256, np.uint32)})
    assert out == {B: np.bincount(data, minlength=40).astype(np.uint32).tobytes()}


INTEGERS = ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "INC", "DEC", "CAS")


def after(name: str, old: int, word: int, other: int, is_signed: bool) -> int:
    """Return what an atomic operation leaves, one after the other."""

    def number(word: int) -> int:
        return (word ^ 1 << 31) - (1 << 31) if is_signed else word

    left: dict[str, Callable[[], int]] = {
        "ADD": lambda: (old + word) % (1 << 32),
        "MIN": lambda: min(old, word, key=number),
        "MAX": lambda: max(old, word, key=number),
        "AND": lambda: old & word,
        "OR": lambda: old | word,
        "XOR": lambda: old ^ word,
        "EXCH": lambda: word,
        "INC": lambda: 0 if old >= word else old + 1,
        "DEC": lambda: word if old == 0 or old > word else old - 1,
        "CAS": lambda: other if old == word else old,
    }
    return left[name]()


@given(
    st.sampled_from(INTEGERS),
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from((0, 1, 5, 1 << 31, (1 << 32) - 1)), st.integers(0, 3)), min_size=32, max_size=32),
)
def test_atomic_operations_follow_each_other(name: str, is_signed: bool, returns: bool, lanes: list[tuple[int, int, int]]):
    returns |= name in {"EXCH", "CAS"}
    form = f"{name}{'.S32' if is_signed and name in {'MIN', 'MAX'} else ''}.STRONG.GPU"
    given = "R9, R10" if name == "CAS" else "R9"
    text = f"""
        S2R R0, SR_TID.X
        IMAD.WIDE R2, R0, 0x10, c[0x0][0x160]
        LDG.E R8, [R2.64]
        LDG.E R9, [R2.64+0x4]
        LDG.E R10, [R2.64+0x8]
        IMAD.WIDE R4, R8, 0x4, c[0x0][0x168]
        {f"ATOMG.E.{form} PT, R11, [R4.64], {given}" if returns else f"RED.E.{form} [R4.64], {given}"}
        {"STG.E [R2.64+0xc], R11" if returns else "NOP"}
        EXIT"""
    function = assemble(text, "sm_80").function
    table = np.array([(place, word, other, 0) for place, word, other in lanes], np.uint32)
    memory = np.array([0, 1, 2, 3, 1 << 31, 5, 1 << 16, 7], np.uint32)
    parts = (KnownBytes(A, table.tobytes()), KnownBytes(B, memory.tobytes()))
    held = GlobalMemory([], Contents(parts, "test"))
    settings = (Setting("", 0x160, A, 8), Setting("", 0x168, B, 8))
    run_kernel(function, tables.load("sm_80").facts, LaunchConfiguration((32, 1, 1), (1, 1, 1), settings), held, RunBudget(1 << 20))
    expected, found = memory.tolist(), []
    for place, word, other in lanes:
        found.append(expected[place])
        expected[place] = after(name, expected[place], word, other, is_signed and name in {"MIN", "MAX"})
    addresses = np.arange(8, dtype=np.uint64) * np.uint64(4) + np.uint64(B)
    assert held.load(addresses, 4)[0].tolist() == expected
    if returns:
        back = np.arange(32, dtype=np.uint64) * np.uint64(16) + np.uint64(A + 12)
        assert held.load(back, 4)[0].tolist() == found
