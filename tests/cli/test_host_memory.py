"""Launches that access pinned or managed memory of the host: on an integrated GPU it is DRAM of the same chip."""

from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan

SAXPY, HISTOGRAM = (SAMPLES / "sm_80" / f"{name}.cubin" for name in ("saxpy", "histogram_atomic"))
ORIN, A100 = "Jetson AGX Orin 64GB", "A100-PCIE-40GB"
N = 1 << 16
PINNED, MANAGED = ", host = true", ", host = true, managed = true"


def recording(folder: Path, x: str = "", y: str = "") -> Path:
    """Write a recorded launch of saxpy: `x` and `y` say what memory its buffers are."""
    pointer = '{{offset = {}, size = 8, value = "0x0000000{}00000000", pointer = {{buffer = {}, offset = 0, size = {}{}}}}}'
    buffers = [pointer.format(8 * at, at, at, 4 * N, kind) for at, kind in enumerate((x, y), 1)]
    numbers = [f'{{offset = 0, size = 4, value = "0x{N:08x}"}}', '{offset = 4, size = 4, value = "0x40000000"}']
    path = folder / "launches.toml"
    params = ", ".join((*numbers, *buffers))
    path.write_text(f'[[launch]]\nkernel = "saxpy"\ngrid = [{N // 256}, 1, 1]\nblock = [256, 1, 1]\nparams = [{params}]\n', "utf-8")
    return path


def launched(sassan: Sassan, folder: Path, x: str = "", y: str = "", gpu: str = ORIN) -> dict[str, Any]:
    [known] = sassan("analyze", SAXPY, "--launches", recording(folder, x, y), "--gpu", gpu, "--json").document["launches"]
    return known


def estimated(sassan: Sassan, folder: Path, x: str = "", y: str = "") -> float:
    [known] = sassan("estimate", SAXPY, "--launches", recording(folder, x, y), "--gpu", ORIN, "--json").document["launches"]
    return known["estimate"]["cycles"]


@pytest.mark.parametrize("kind", [PINNED, MANAGED])
def test_memory_of_the_host_is_a_gap_on_a_gpu_with_memory_of_its_own(kind: str, sassan: Sassan, tmp_path: Path):
    known = launched(sassan, tmp_path, x=kind, gpu=A100)
    assert known["bound"] is None
    assert [gap["code"] for gap in known["gaps"]] == ["host-memory"]


def test_managed_memory_of_an_integrated_gpu_is_its_own_with_what_the_driver_does_said(sassan: Sassan, tmp_path: Path):
    own, managed = launched(sassan, tmp_path), launched(sassan, tmp_path, x=MANAGED, y=MANAGED)
    assert managed["gaps"] == []
    assert own["bound"]["cycles"] <= managed["bound"]["cycles"] <= 1.05 * own["bound"]["cycles"]
    assert estimated(sassan, tmp_path, x=MANAGED) == estimated(sassan, tmp_path)
    shown = sassan("analyze", SAXPY, "--launches", recording(tmp_path, x=MANAGED), "--gpu", ORIN, "--assumptions").out
    assert "managed memory is DRAM of the chip" in shown
    assert "what the driver does for that before the launch begins" in shown
    assert "pinned memory" not in shown


def test_no_cache_keeps_pinned_memory_of_an_integrated_gpu(sassan: Sassan, tmp_path: Path):
    own, pinned = launched(sassan, tmp_path), launched(sassan, tmp_path, x=PINNED, y=PINNED)
    sectors = 3 * 4 * N // 32
    least = sectors * 64 / (0.7 * 204.8e9) * 1.3e9
    assert own["bound"]["cycles"] < pinned["bound"]["cycles"]
    assert pinned["bound"]["cycles"] > least, "each sector is half a line of DRAM"
    shown = sassan("analyze", SAXPY, "--launches", recording(tmp_path, x=PINNED), "--gpu", ORIN, "--assumptions").out
    assert "no cache of the GPU keeps it" in shown
    assert "whichever cache of the CPU holds the line" in shown


def test_an_estimate_takes_pinned_memory_from_dram_though_all_of_it_fits_l2(sassan: Sassan, tmp_path: Path):
    assert estimated(sassan, tmp_path, x=PINNED, y=PINNED) > 1.2 * estimated(sassan, tmp_path)


def test_atomic_operations_beside_pinned_memory_are_a_gap(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    pointers = [
        f'{{offset = {offset}, size = 8, value = "0x0000000{at}00000000", pointer = {{buffer = {at}, offset = 0, size = {N}{PINNED}}}}}'
        for at, offset in ((1, 0), (2, 16))
    ]
    params = f'[{pointers[0]}, {{offset = 8, size = 4, value = "0x00001000"}}, {pointers[1]}]'
    path.write_text(f'[[launch]]\nkernel = "histogram_atomic"\ngrid = [8, 1, 1]\nblock = [256, 1, 1]\nparams = {params}\n', "utf-8")
    [known] = sassan("analyze", HISTOGRAM, "--launches", path, "--gpu", ORIN, "--json").document["launches"]
    assert [gap["code"] for gap in known["gaps"]] == ["host-memory"]
    assert "atomic operations" in known["gaps"][0]["message"]


@pytest.mark.parametrize("kind", ["", PINNED, MANAGED])
def test_a_certificate_of_a_launch_that_accesses_memory_of_the_host_holds(kind: str, sassan: Sassan, tmp_path: Path):
    path, certificate = recording(tmp_path, x=kind, y=kind), tmp_path / "task.json"
    assert sassan("task", SAXPY, "--launches", path, "--gpu", ORIN, "--deadline", "5ms", "--certificate", certificate).status == 0
    assert sassan("verify-certificate", certificate).status == 0


@pytest.mark.parametrize("kind", ["", PINNED, MANAGED])
def test_small_pages_of_one_buffer_are_certified_alone_and_beside_another_stream(kind: str, sassan: Sassan, tmp_path: Path):
    path, certificate = recording(tmp_path, x=kind, y=kind), tmp_path / "task.json"
    one = path.read_text("utf-8").replace("buffer = 2,", "buffer = 1,").replace("0x0000000200000000", "0x0000000100000000")
    for text in (one, one + one.replace("block =", "stream = 1\nblock =")):
        path.write_text(text, "utf-8")
        assert sassan("task", SAXPY, "--launches", path, "--gpu", ORIN, "--certificate", certificate).status == 0
        assert sassan("verify-certificate", certificate).status == 0
