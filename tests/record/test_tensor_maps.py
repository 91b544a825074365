"""The driver's tensor maps and launches with attributes, in programs in C: what they are told, what is refused, what is written down."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES
from record.programs import build, needs_compiler
from sassan.cli import main
from sassan.launches import read as read_launches
from sassan.machine.tensor_map import SIZE, MapKind, TensorMap, tensor_map

pytestmark = needs_compiler
FIRST = 0x200000000000


def test_maps_hold_what_the_program_said_and_arguments_beyond_the_limits_are_refused(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    made = build(tmp_path, "tensor_maps", "libcuda.so.1")
    output = tmp_path / "launches.toml"
    main.run(["record", "-q", "-o", str(output), "--sm", "9.0", "--", str(made)])
    written = capfdbinary.readouterr().out
    assert read_launches(str(output)).status == 0
    tiled, moved, columns, wide = (tensor_map(written[at : at + SIZE]) for at in range(0, 4 * SIZE, SIZE))
    assert tiled is not None
    assert moved is not None
    assert columns is not None
    assert wide is not None
    assert tiled == TensorMap(
        MapKind.TILED,
        ("float16", 16, 16),  # pyright: ignore[reportArgumentType] - equal to an Element
        FIRST,
        (4096, 1024, 7),
        (8192, 8388608),
        (1, 1, 1),
        (64, 128, 2),
        swizzle=3,
        promotion=2,
        fill=1,
    )
    assert (moved.address, moved.box_bytes) == (0x300000000010, 64 * 128 * 2 * 2)
    assert (columns.kind, columns.rank, columns.lower, columns.upper) == (MapKind.IM2COL, 5, (-1, -2, -16), (1, 2, 15))
    assert (columns.steps, columns.box_bytes) == ((1, 1, 2, 1, 1), 64 * 96 * 2)
    assert (wide.kind, wide.lower, wide.upper, wide.wide) == (MapKind.IM2COL_WIDE, (-3,), (4,), 1)
    assert wide.box_bytes == 32 * 128 * 2


def test_clusters_and_attributes_of_launches_and_of_nodes_of_graphs_are_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    made = build(tmp_path, "clusters")
    output, image = tmp_path / "launches.toml", SAMPLES / "sm_90" / "saxpy.cubin"
    assert main.run(["record", "-q", "-o", str(output), "--sm", "9.0", "--", str(made), str(image)]) == 0
    assert capfd.readouterr().out == "912 clusters, 8 and 16 blocks\n"
    recording = read_launches(str(output))
    assert recording.status == 0
    assert [
        (each.grid[0], each.cluster, each.programmatic, each.carveout, each.cooperative, each.preferred_cluster)
        for each in recording.launches
    ] == [
        (8, (2, 2, 1), False, None, False, None),
        (8, (2, 2, 1), True, 25, False, None),
        (8, (2, 2, 1), True, 25, True, None),
        (8, (2, 2, 1), True, 25, True, (4, 2, 1)),
        (8, (8, 2, 1), False, None, False, None),
        (16, (4, 1, 1), False, None, False, None),
        (24, (4, 1, 1), False, None, False, None),
    ]
