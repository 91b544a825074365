"""The memory of a GPU in the bound of a grid."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sassan.access.traffic import Moved, Traffic
from sassan.ipet.sm.gpu import GpuMemory, access_time, cold_start, demand, kept, memory_of, memory_time
from sassan.ir import Constant, Instruction, Register
from sassan.products import Product, find, products
from sassan.source import Span

MEMORY = GpuMemory(dram=Fraction(256), l2=Fraction(1024), capacity=4096, launch=100, miss=500)
LOAD = Moved(cycles=2, sectors=64, fetched=4096)


def taken(*moved: Moved) -> tuple[Fraction, Fraction]:
    """Return what one node takes whose instructions move so much: where every access goes to DRAM, and where L2 keeps all."""
    code = [Instruction(16 * place, 16 * place + 16, "LDG.E", (), None, Span(1, 1, 1)) for place, _ in enumerate(moved)]
    found = demand([code], {instruction.address: each for instruction, each in zip(code, moved, strict=True)}, MEMORY)
    return found.uncached[0], found.cached[0]


def test_what_passes_both_takes_as_long_as_the_slower_one():
    assert taken(LOAD) == (16, 2)
    assert taken(replace(LOAD, fetched=128)) == (2, 2)


def test_accesses_that_are_apart_add_up():
    slow_in_l2 = Moved(sectors=320, fetched=1024)
    assert taken(LOAD, slow_in_l2) == (16 + 10, 2 + 10)


def test_an_atomic_operation_takes_dram_twice_and_its_unit_as_long_as_its_rate_says():
    assert taken(Moved(sectors=1, fetched=64, written=64, atomics=64)) == (Fraction(1, 4) + Fraction(1, 4) + 64, Fraction(1, 32) + 64)


def test_l2_keeps_pieces_of_code_where_those_of_all_warps_fit():
    code = [Instruction(16 * place, 16 * place + 16, "STG.E", (), None, Span(1, 1, 1)) for place in range(3)]
    once, again = Moved(sectors=32, written=2048), Moved(sectors=32, again=2048)
    load = Moved(sectors=32, fetched=64, again=192)
    moved = {0: once, 16: again, 32: load}
    together = MEMORY.capacity // (2048 + 64)
    assert kept([code], moved, MEMORY, together) == moved
    assert kept([code[:2], code[2:]], moved, MEMORY, together + 1) == moved
    lost = kept([code], moved, MEMORY, together + 1)
    assert [(each.fetched + each.written, each.again) for each in lost.values()] == [(2048, 0), (2048, 0), (256, 0)]


def test_code_that_is_fetched_again_passes_l2():
    code = [Instruction(0, 16, "FFMA", (), None, Span(1, 1, 1))]
    found = demand([code, code], {}, MEMORY, (0, 2048))
    assert found.uncached == found.cached == (0, 2)


def test_no_buffer_holds_local_memory():
    assert taken(replace(LOAD, apart=True)) == (16, 16)


@pytest.mark.parametrize(("allocated", "time"), [(None, 160), (8192, 160), (1024, 20 + 8), (4096, 20 + 32)])
def test_what_fits_l2_is_fetched_and_written_back_once(allocated: int | None, time: int):
    assert memory_time(Fraction(16), Fraction(2), 10, MEMORY, allocated) == time


def test_where_sms_may_run_slower_than_at_boost_clock_l2_and_atomic_units_do_too_and_dram_does_not():
    slower = replace(MEMORY, slowdown=Fraction(3, 2))
    atomic = Moved(sectors=32, fetched=64, written=64, atomics=32)
    assert access_time(atomic, slower, cached=True) == Fraction(3, 2) * access_time(atomic, MEMORY, cached=True)
    assert access_time(LOAD, slower, cached=False) == access_time(LOAD, MEMORY, cached=False) == 16
    assert memory_of(find("RTX 3080")).slowdown == Fraction(1710, 1440)


@pytest.mark.parametrize(("buffers", "pages"), [(None, 3), ((1,), 2), ((1, 1), 3), ((3 << 21,), 3)])
def test_a_cold_start_misses_no_more_pages_than_the_buffers_have(buffers: tuple[int, ...] | None, pages: int):
    code = [Instruction(16 * place, 16 * place + 16, "LDG.E", (), None, Span(1, 1, 1)) for place in range(3)]
    traffic = Traffic({instruction.address: LOAD for instruction in code})
    assert cold_start(code, traffic, MEMORY, buffers) == MEMORY.miss * (1 + 1) + 1029 * pages


def test_a_cold_start_misses_each_line_of_constants_that_the_code_names():
    words = [Constant(0, (), 0x160), Constant(0, (), 0x17C), Constant(0, (), 0x180), Constant(3, (), 0x160)]
    code = [Instruction(16 * place, 16 * place + 16, "MOV", (word,), None, Span(1, 1, 1)) for place, word in enumerate(words)]
    indexed = replace(code[0], operands=(Constant(3, (Register("R", 4),), 0x160),))
    assert cold_start(code, Traffic({}), MEMORY) == MEMORY.miss * (1 + 3)
    assert cold_start([*code, indexed], Traffic({}), MEMORY) == MEMORY.miss * (1 + 4)


def test_the_memory_of_a_product_is_in_cycles_at_its_clock():
    slow, fast = (memory_of(replace(find("RTX 3070"), boost_clock=clock)) for clock in (1000, 2000))
    assert slow.dram == 2 * fast.dram == Fraction("389.76")
    assert (slow.launch, fast.launch) == (2000, 4000)
    assert slow.l2 == fast.l2


@pytest.mark.parametrize("product", products(), ids=lambda product: product.name)
def test_l2_is_no_slower_than_the_dram_behind_it(product: Product):
    memory = memory_of(product)
    assert memory.l2 >= memory.dram


@pytest.mark.parametrize("name", ["H200", "B200"])
def test_a_stream_is_not_held_to_one_load_of_each_thread(name: str):
    assert memory_of(find(name)).dram / find(name).dram_bytes_per_cycle == Fraction(4, 5)
