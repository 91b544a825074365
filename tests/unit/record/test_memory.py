"""What an address of a recorded argument points to."""

from sassan.launches import Buffer
from sassan.record.recorder import Allocations


def memory() -> Allocations:
    allocations = Allocations()
    allocations.add(0x1000, 100)
    allocations.add(0x3000, 50)
    return allocations


def test_an_address_inside_an_allocation_has_its_number_and_offset():
    assert memory().buffer(0x3010) == Buffer(2, 0x10, 50)


def test_the_byte_behind_an_allocation_is_not_in_it():
    assert memory().buffer(0x1000 + 100) is None


def test_memory_of_the_host_is_told_apart():
    allocations = memory()
    allocations.add(0x5000, 8, host=True)
    assert [allocations.buffer(address) for address in (0x3000, 0x5000)] == [Buffer(2, 0, 50), Buffer(3, 0, 8, host=True)]


def test_memory_that_moves_between_host_and_gpu_is_told_apart_from_what_stays():
    allocations = memory()
    allocations.add(0x5000, 8, host=True, managed=True)
    assert allocations.buffer(0x5000) == Buffer(3, 0, 8, host=True, managed=True)


def test_an_address_before_all_is_in_none():
    assert memory().buffer(0xFFF) is None


def test_memory_that_was_freed_is_in_none_and_its_number_is_not_given_again():
    allocations = memory()
    allocations.remove(0x1000)
    assert allocations.buffer(0x1000) is None
    allocations.add(0x1000, 8)
    assert allocations.buffer(0x1000) == Buffer(3, 0, 8)
