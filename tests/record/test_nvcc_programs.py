"""A real program of nvcc: its fatbin is taken apart, and its launches are analyzed with their arguments."""

import shutil
import subprocess
from pathlib import Path

import pytest

from budget import some
from cli.shell import Sassan
from record.programs import needs_compiler
from sassan.frontend.cubin.tools import tools
from sassan.launches import read as read_launches

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
  if (cudaError_t error = cudaGetLastError()) return error;
  large<<<blocks, 1024, 0>>>(x);
  return back == 2 ? cudaDeviceSynchronize() : 1;
}
"""


CODE = ("-gencode", "arch=compute_86,code=sm_86")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "k.cu").write_text(SOURCE)
    assert NVCC is not None
    if subprocess.run([NVCC, *CODE, "-c", "k.cu", "-o", "k.o"], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("this nvcc makes no program for sm_86")
    return folder / "k.o"


@pytest.fixture(scope="module", params=some(["shared", "static"]))
def program(request: pytest.FixtureRequest, compiled: Path) -> Path:
    made = compiled.with_name(request.param)
    assert NVCC is not None
    subprocess.run([NVCC, "--cudart", request.param, *CODE, "-o", str(made), str(compiled)], check=True)
    return made


def test_templates_structures_constants_and_occupancy_are_recorded_and_analyzed(sassan: Sassan, program: Path, tmp_path: Path):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--", program).status == 0
    first, second = read_launches(str(output)).launches
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
    code = read_launches(str(output)).launches[0].code
    output.write_text(text.replace(str(code), "sha256:" + "0" * 64))
    (row, *_) = sassan("analyze", program, "--launches", output, "--json").document["launches"]
    assert [gap["code"] for gap in row["gaps"]] == ["other-code"]


def test_a_device_that_the_code_is_not_for_refuses_its_launches(sassan: Sassan, program: Path, tmp_path: Path):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--sm", "9.0", "--", program).codes == ["no-launches"]
    result = read_launches(str(output))
    assert (result.status, result.total) == (209, 0)
    assert [note for note in result.notes if "neither code for the device nor PTX" in note]


TENSORS = """
#include <cuda.h>
#include <dlfcn.h>
#include <cstring>
using Get = CUresult (*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
struct Both { int n; CUtensorMap first, second; };
__global__ void copy(const __grid_constant__ CUtensorMap map, const CUtensorMap *stored, float *out, int n) {
  __shared__ alignas(128) float tile[64 * 32];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(BYTES));
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                   ::"r"(to), "l"(i % 2 ? stored : &map), "r"(32 * i), "r"(0), "r"(at) : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ::"r"(at), "r"(i & 1) : "memory");
    out[i * 128 + threadIdx.x] = tile[threadIdx.x];
    __syncthreads();
  }
}
__global__ void both(const __grid_constant__ Both maps, float *out) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&maps.second));
  out[threadIdx.x] = maps.n;
}
__global__ void __cluster_dims__(2, 1, 1) pairs(float *out) { out[threadIdx.x] = 1; }
int main(int, char **words) {
  void *encode = nullptr, *get = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUdriverProcAddressQueryResult status;
  if (!strcmp(words[1], "version")) cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  if (!strcmp(words[1], "plain")) cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
  if (!strcmp(words[1], "library")) encode = dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuTensorMapEncodeTiled");
  if (!strcmp(words[1], "driver")) {
    cudaGetDriverEntryPointByVersion("cuGetProcAddress", &get, 12000, cudaEnableDefault, &found);
    if (((Get)get)("cuTensorMapEncodeTiled", &encode, 12000, 0, &status)) return 1;
  }
  if (encode == nullptr) return 2;
  float *x, *out;
  CUtensorMap *stored;
  cudaMalloc(&x, 1 << 20), cudaMalloc(&out, 1 << 16), cudaMalloc(&stored, sizeof(CUtensorMap));
  CUtensorMap map;
  cuuint64_t extents[] = {256, 1024}, strides[] = {1024};
  cuuint32_t box[] = {32, 64}, steps[] = {1, 1};
  if (((decltype(&cuTensorMapEncodeTiled))encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, extents, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) return 3;
  cudaMemcpy(stored, &map, sizeof map, cudaMemcpyHostToDevice);
  copy<<<4, 128>>>(map, stored, out, 8);
  both<<<1, 32>>>(Both{3, map, map}, out);
  cudaLaunchAttribute serial;
  serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  serial.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 4, config.blockDim = 32, config.attrs = &serial, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, pairs, out);
}
"""


@pytest.fixture(scope="module", params=some(["shared", "static"]))
def tensors(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tensors")
    (folder / "k.cu").write_text(TENSORS)
    assert NVCC is not None
    code = ["-gencode", "arch=compute_90a,code=sm_90a", "-DBYTES=8192" if request.param == "shared" else "-DBYTES=4096"]
    options = ["--cudart", request.param, *code, "-Wno-deprecated-declarations", "-ldl"]
    if "sm_90" not in subprocess.run([NVCC, "--list-gpu-code"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("this nvcc makes no program for sm_90a")
    subprocess.run([NVCC, *options, "-o", str(folder / "k"), str(folder / "k.cu")], capture_output=True, check=True)
    return folder / "k"


@pytest.mark.parametrize("how", some(["version", "driver", "library", "plain"], of=4))
def test_tensor_maps_are_recorded_however_a_program_gets_at_the_driver(sassan: Sassan, tensors: Path, tmp_path: Path, how: str):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--", tensors, how).status == 0
    copy, both, pairs = read_launches(str(output)).launches
    assert [str(each) for _, each in copy.maps] == [
        "tensor map of float32, 256 x 1024, boxes of 32 x 64 (8192 bytes), swizzled by 128 bytes"
    ]
    first = both.arguments[0].offset if both.arguments is not None else 0
    assert [offset - first for offset, _ in both.maps] == [128, 256]
    assert (pairs.cluster, pairs.programmatic, copy.cluster, copy.programmatic) == ((2, 1, 1), True, None, False)
    assert "tensor map of float32" in output.read_text()


def test_an_estimate_compares_what_a_barrier_is_told_with_the_boxes_that_arrive_there(sassan: Sassan, tensors: Path, tmp_path: Path):
    output = tmp_path / "launches.toml"
    assert sassan("record", "-q", "-o", output, "--", tensors, "version").status == 0
    wrong = b"libcudart.so" not in tensors.read_bytes()
    result = sassan("estimate", tensors, "--launches", output, "--gpu", "H100 PCIe", "-f", "copy")
    assert result.status == 0
    assert ("expects 4096 bytes" in result.out) == wrong
    assert ("the boxes of its copies have 8192" in result.out) == wrong
