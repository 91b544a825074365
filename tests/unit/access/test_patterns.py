"""The kernels of `memory_patterns`, compiled for every architecture: their transactions are known from their source."""

import os
from functools import lru_cache
from pathlib import Path

import pytest

import cubins
from budget import some
from samples import EVERY, SAMPLES, explored
from sassan.access import Access, accesses
from sassan.access.opcodes import MemorySpace
from sassan.frontend import load, read
from sassan.ir import Program
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.parameters import Setting, layout
from sassan.values import with_values
from sassan.warpcfg import explore

LINE, SQUARE, TILE = (256, 1, 1), (32, 32, 1), (16, 16, 1)
N = 1024


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cubins.recorder(tmp_path_factory.mktemp("tools"), *(f"{arch}/memory_patterns" for arch in EVERY))


@pytest.fixture(autouse=True)
def disassembler(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH."""
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tools / "cache"))


@lru_cache(maxsize=8)
def _program(arch: str) -> Program:
    """Return the cubin: it says which parameters are pointers."""
    return read(load(str(SAMPLES / arch / "memory_patterns.cubin")))


def found(arch: str, name: str, block: Shape, place: int | None = None) -> dict[str, list[Access]]:
    """Return the accesses of a kernel by opcode without modifiers, in program order; `place` is that of n among the parameters."""
    kernel = next(each for each in _program(arch).functions if each.name == name)
    where = layout(arch)
    assert where is not None
    settings = () if place is None else (Setting("", where.parameters + place, N, 4),)
    values = with_values(
        explored(kernel), tables.load(arch).facts, LaunchConfiguration(block, None, settings), lambda facts: explore(kernel, facts)
    )
    assert values is not None
    out: dict[str, list[Access]] = {}
    for access in accesses(values):
        out.setdefault(access.opcode.split(".")[0], []).append(access)
    return out


def counts(some: list[Access]) -> list[tuple[int, int | None]]:
    """Return (transactions, the fewest that suffice) of accesses that are known exactly."""
    assert all(access.exact for access in some)
    return [(access.transactions.most, access.ideal) for access in some if access.transactions is not None]


@pytest.mark.parametrize("arch", some(EVERY, of=3))
@pytest.mark.parametrize(
    ("name", "block", "place", "expected"),
    [
        ("transpose_naive", SQUARE, 16, ([(4, 4)], [(32, 4)])),
        ("transpose_tile", SQUARE, 16, ([(4, 4)], [(4, 4)])),
        ("transpose_pad", SQUARE, 16, ([(4, 4)], [(4, 4)])),
        ("array_of_structures", LINE, None, ([(16, 4)], [(16, 4)])),
        ("structure_of_arrays", LINE, None, ([(4, 4)], [(4, 4)])),
        ("strided_copy", LINE, 16, ([(8, 4)], [(4, 4)])),
        ("shifted_copy", LINE, None, ([(5, 4)], [(4, 4)])),
        ("vector_copy", LINE, None, ([(16, 16)], [(16, 16)])),
        ("daxpy", LINE, 24, ([(8, 8), (8, 8)], [(8, 8)])),
        ("matmul", TILE, 24, ([(4, 4), (4, 4)], [(4, 4)])),
        ("matmul_conflicts", TILE, 24, ([(4, 4), (4, 4)], [(4, 4)])),
    ],
)
def test_sectors_of_global_memory(arch: str, name: str, block: Shape, place: int | None, expected: tuple[list[tuple[int, int]], ...]):
    of = found(arch, name, block, place)
    assert (counts(of["LDG"]), counts(of["STG"])) == expected


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize(
    ("name", "block", "place", "expected"),
    [
        ("transpose_tile", SQUARE, 16, ({(32, 1)}, {(1, 1)})),
        ("transpose_pad", SQUARE, 16, ({(1, 1)}, {(1, 1)})),
        ("matmul", TILE, 24, ({(1, 1)}, {(1, 1)})),
        ("matmul_conflicts", TILE, 24, ({(1, 1), (8, 1)}, {(1, 1)})),
    ],
)
def test_passes_over_the_banks(arch: str, name: str, block: Shape, place: int, expected: tuple[set[tuple[int, int]], ...]):
    of = found(arch, name, block, place)
    assert (set(counts(of["LDS"])), set(counts(of["STS"]))) == expected


@pytest.mark.parametrize("arch", EVERY)
def test_the_warps_of_a_block_touch_what_their_threads_do(arch: str):
    (load,), (store,) = (found(arch, "structure_of_arrays", (48, 1, 1))[opcode] for opcode in ("LDG", "STG"))
    assert [access.sectors for access in load.warps] == [access.sectors for access in store.warps] == [(4, 4), (2, 2)]
    assert load.sectors == (2, 4)


@pytest.mark.parametrize("arch", EVERY)
def test_rows_that_begin_within_warps_conflict_in_each_warp_as_they_lie(arch: str):
    # Of the 80 threads of the block, 32, 32 and 16 are in a warp.
    reads = found(arch, "matmul_conflicts", (20, 4, 1), 24)["LDS"]
    assert {len(access.warps) for access in reads} == {3}
    assert all(access.passes is not None and access.passes.most == max(one.passes.most for one in access.warps) for access in reads)


@pytest.mark.parametrize("arch", EVERY)
def test_a_gather_may_go_anywhere(arch: str):
    index, gathered = found(arch, "gather", LINE)["LDG"]
    assert counts([index]) == [(4, 4)]
    assert (gathered.sectors, gathered.ideal, gathered.exact) == ((1, 32), 4, False)


@pytest.mark.parametrize("arch", EVERY)
def test_a_histogram_may_meet_at_one_address(arch: str):
    of = found(arch, "histogram", LINE)
    (bin_,) = of["ATOMS"]
    assert (bin_.passes, bin_.collisions) == ((1, 32), 32)
    atomic = [access for access in of.get("RED", []) + of.get("REDG", []) if access.space is MemorySpace.GLOBAL]
    assert [(access.sectors, access.collisions) for access in atomic] == [((4, 4), 1)]


@pytest.mark.parametrize("arch", EVERY)
def test_without_the_row_length_a_column_may_cost_most(arch: str):
    (store,) = found(arch, "transpose_naive", SQUARE)["STG"]
    assert store.sectors is not None
    assert store.sectors.most == 32
