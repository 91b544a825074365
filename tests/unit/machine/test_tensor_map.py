"""Tensor maps: what was written is read, other bytes are none, and the bytes of a box are counted."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.tensor_map import SIZE, MapKind, TensorMap, map_in_memory, tensor_map, tensor_maps
from tensor_maps import ELEMENTS, encoded


@st.composite
def maps(draw: st.DrawFn) -> TensorMap:
    kind = draw(st.sampled_from(MapKind))
    rank = draw(st.integers(1 if kind is MapKind.TILED else 3, 5))

    def several(least: int, most: int, count: int = rank) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=count, max_size=count)))

    spatial = {MapKind.TILED: 0, MapKind.IM2COL: rank - 2, MapKind.IM2COL_WIDE: 1}[kind]
    tiled = kind is MapKind.TILED
    return TensorMap(
        kind,
        draw(st.sampled_from(ELEMENTS)),
        draw(st.integers(0, 2**64 - 1)),
        several(1, 2**32),
        several(0, 2**40 - 1, rank - 1),
        several(1, 8),
        several(1, 256) if tiled else (),
        0 if tiled else draw(st.integers(1, 256)),
        0 if tiled else draw(st.integers(1, 1024)),
        several(-32768, 32767, spatial),
        several(-32768, 32767, spatial),
        draw(st.integers(0, 2)),
        draw(st.integers(0, 6)),
        draw(st.integers(0, 3)),
        draw(st.integers(0, 1)),
        draw(st.integers(0, 1)),
    )


HALVES = TensorMap(MapKind.TILED, ELEMENTS[6], 0x1000, (4096, 1024), (8192,), (1, 1), (64, 128), swizzle=3)


@given(maps())
def test_a_map_is_read_as_it_was_written(each: TensorMap):
    assert tensor_map(encoded(each)) == each


@given(maps(), st.integers(0, SIZE * 8 - 1))
def test_a_map_with_another_bit_is_none(each: TensorMap, bit: int):
    data = bytearray(encoded(each))
    data[bit // 8] ^= 1 << bit % 8
    assert tensor_map(bytes(data)) is None


@given(st.binary(max_size=400) | st.binary(max_size=120).map(lambda data: b"sassanTM" + data))
def test_other_bytes_are_no_map(data: bytes):
    assert tensor_map(data) is None
    assert list(tensor_maps(data)) == []


@pytest.mark.parametrize(
    "change",
    [
        *({"extents": ()}, {"steps": (0, 1)}, {"steps": (1, 9)}, {"box": (0, 1)}, {"box": (64, 257)}, {"wide": 2}, {"interleave": 3}),
        *({"swizzle": 7}, {"promotion": 4}, {"fill": 2}, {"kind": MapKind.IM2COL}),
    ],
)
def test_a_map_beyond_the_limits_is_none_whatever_its_hash_says(change: dict[str, object]):
    assert tensor_map(encoded(HALVES)) == HALVES
    assert tensor_map(encoded(replace(HALVES, **change))) is None  # pyright: ignore[reportArgumentType]


@given(st.lists(maps(), min_size=1, max_size=3), st.integers(0, 5))
def test_maps_in_a_structure_are_found_where_they_begin(several: list[TensorMap], words: int):
    gap = bytes(8 * words)
    assert list(tensor_maps(b"".join(gap + encoded(each) for each in several))) == [
        ((index + 1) * len(gap) + index * SIZE, each) for index, each in enumerate(several)
    ]


def test_a_map_at_no_word_is_not_found():
    assert list(tensor_maps(b"\0" + encoded(HALVES))) == []


@given(maps())
def test_the_bytes_of_a_box_are_those_of_its_elements(each: TensorMap):
    tiled = replace(each, interleave=0)
    elements = tiled.channels * tiled.pixels
    if tiled.kind is MapKind.TILED:
        elements = 1
        for extent, step in zip(tiled.box, tiled.steps, strict=True):
            elements *= len(range(0, extent, step))
    assert (tiled.elements, tiled.box_bytes) == (elements, ceil(elements * tiled.element.bits / 8))
    assert (tiled.shared_bytes or 0) >= (tiled.box_bytes or 0)


@pytest.mark.parametrize(("element", "global_bytes", "shared"), [(13, 4096, 4096), (14, 4096, 8192), (15, 6144, 8192)])
def test_elements_below_a_byte_are_packed_in_global_memory(element: int, global_bytes: int, shared: int):
    each = replace(HALVES, element=ELEMENTS[element], box=(128, 64))
    assert (each.box_bytes, each.shared_bytes) == (global_bytes, shared)


def test_what_a_box_of_an_interleaved_tensor_moves_is_not_known():
    assert replace(HALVES, interleave=1).box_bytes is None


def test_a_map_says_in_words_what_it_is():
    assert str(HALVES) == "tensor map of float16, 4096 x 1024, boxes of 64 x 128 (16384 bytes), swizzled by 128 bytes"
    columns = TensorMap(MapKind.IM2COL, ELEMENTS[9], 0, (64, 56, 56, 8), (128, 7168, 401408), (1, 1, 1, 1), (), 64, 128, (0, 0), (0, 0))
    assert str(columns) == "tensor map of bfloat16, 64 x 56 x 56 x 8, columns of 64 channels x 128 pixels (16384 bytes)"


def test_a_map_in_memory_is_read_where_all_of_it_is_known():
    contents = Contents((KnownBytes(0x100, b"\1" * 8), KnownBytes(0x200, bytes(64) + encoded(HALVES))), "digest")
    assert map_in_memory(contents, 0x240) == HALVES
    assert [map_in_memory(contents, at) for at in (0x23F, 0x241, 0x100, 0x300, 0)] == [None] * 5
    assert map_in_memory(None, 0x240) is None
