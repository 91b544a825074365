"""Each remedy as a change in CUDA C++."""

from collections.abc import Mapping

from sassan.app.advise.remedy import AdviceCode

EXAMPLES: Mapping[AdviceCode, str] = {
    AdviceCode.COALESCE: """\
// lanes of a warp access addresses that follow each other
int i = blockIdx.x * blockDim.x + threadIdx.x;
x[i] = ...;                        // not x[i * stride], not particle[i].x: one array per member
// a transpose: read rows into __shared__ float tile[32][33], __syncthreads(), write rows""",
    AdviceCode.BANK_CONFLICT: """\
__shared__ float tile[32][32 + 1]; // one word more per row: a column lies in 32 banks
// or exchange columns: tile[row][column ^ row]""",
    AdviceCode.OCCUPANCY: """\
__global__ void __launch_bounds__({threads}, {blocks}) kernel(...)  // the compiler keeps to so many registers
// or nvcc -maxrregcount""",
}
