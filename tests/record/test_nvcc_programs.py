"""A real program of nvcc: its fatbin is taken apart, and its launches are analyzed with their arguments."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.shell import Sassan
from record.programs import needs_compiler
from sassan import launches
from sassan.frontend.cubin.tools import tools

NVCC = shutil.which("nvcc")
pytestmark = [
    pytest.mark.slow,
    needs_compiler,
    pytest.mark.skipif(
        NVCC is None or not tools("cuobjdump") or not tools("nvdisasm"), reason="nvcc, cuobjdump or nvdisasm is not installed"
    ),
]
SOURCE = """
struct Pair { int a; double b; };
__constant__ float factor;
template <typename T> __global__ void scale(T *x, int n, Pair pair) {
  for (int i = 0; i < n; i++) x[i * blockDim.x + threadIdx.x] *= factor;
}
__global__ void large(float *x) { __shared__ float part[4096]; part[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[0] = part[1]; }
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  float two = 2, back = 0, *x;
  cudaMemcpyToSymbol(factor, &two, 4);
  cudaMemcpyFromSymbol(&back, factor, 4);
  cudaMalloc(&x, 40000);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 1024, 0);
  scale<float><<<properties.multiProcessorCount, 64>>>(x, 17, Pair{3, 4.0});
  large<<<blocks, 1024, 0>>>(x);
  return back == 2 ? cudaDeviceSynchronize() : 1;
}
"""


@pytest.fixture(scope="module", params=["shared", "static"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "k.cu").write_text(SOURCE)
    assert NVCC is not None
    command = [NVCC, "--cudart", request.param, "-arch=sm_86", "-o", str(folder / "k"), str(folder / "k.cu")]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this nvcc makes no program for sm_86")
    return folder / "k"


def test_templates_structures_constants_and_occupancy_are_recorded_and_analyzed(sassan: Sassan, program: Path, tmp_path: Path):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--", program).status == 0
    first, second = launches.read(str(output)).launches
    assert (first.kernel, first.grid, first.block) == ("_Z5scaleIfEvPT_i4Pair", (68, 1, 1), (64, 1, 1))
    assert (second.kernel, second.grid) == ("_Z5largePf", (1, 1, 1))
    assert first.arguments is not None
    assert [(argument.offset, argument.size) for argument in first.arguments] == [(0, 8), (8, 4), (16, 16)]
    assert first.arguments[1].value == 17
    assert first.arguments[2].value & 0xFFFFFFFF == 3
    rows = sassan("analyze", program, "--launches", output, "--json").document["launches"]
    assert [row["gaps"] for row in rows] == [[], []]


def test_a_stripped_program_with_a_static_runtime_is_refused(sassan: Sassan, program: Path, tmp_path: Path):
    shutil.copy(program, tmp_path / "k")
    subprocess.run([shutil.which("strip") or "", str(tmp_path / "k")], check=True)
    is_shared = b"libcudart.so" in program.read_bytes()
    result = sassan("record", "-q", "-o", tmp_path / "launches.toml", "--", tmp_path / "k")
    assert (result.status, result.codes) == ((0, []) if is_shared else (3, ["static-runtime"]))


def test_another_build_is_not_the_code_that_was_launched(sassan: Sassan, program: Path, tmp_path: Path):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--", program).status == 0
    text = output.read_text()
    code = launches.read(str(output)).launches[0].code
    output.write_text(text.replace(str(code), "sha256:" + "0" * 64))
    (row, *_) = sassan("analyze", program, "--launches", output, "--json").document["launches"]
    assert [gap["code"] for gap in row["gaps"]] == ["other-code"]


def test_a_device_that_the_code_is_not_for_refuses_its_launches(sassan: Sassan, tmp_path: Path):
    (tmp_path / "k.cu").write_text("__global__ void k() {} int main() { k<<<1, 1>>>(); return cudaGetLastError(); }")
    assert NVCC is not None
    code = ["-gencode", "arch=compute_86,code=sm_86"]
    subprocess.run([NVCC, "--cudart", "shared", *code, "-o", str(tmp_path / "k"), str(tmp_path / "k.cu")], check=True)
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--sm", "9.0", "--", tmp_path / "k").codes == ["no-launches"]
    result = launches.read(str(output))
    assert (result.status, result.total) == (209, 0)
    assert [note for note in result.notes if "neither code for the device nor PTX" in note]
