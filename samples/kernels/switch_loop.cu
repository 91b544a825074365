// Why: an interpreter: a dense switch inside a loop, with cases that continue and one that leaves it; BRX on sm_100+ only.
extern "C" __global__ void switch_loop(const int *code, int *mem, int *out, int fuel) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int acc = i;
    int pc = 0;
    while (fuel-- > 0) {
        int word = code[pc++];
        int arg = word >> 4;
        switch (word & 15) {
        case 0: acc += arg; continue;
        case 1: acc = atomicAdd(&mem[arg], acc); break;
        case 2: acc = mem[acc & 255]; break;
        case 3: atomicExch(&mem[acc & 255], arg); break;
        case 4: if (acc == 0) pc = arg; continue;
        case 5: pc = acc & 63; break;
        case 6: acc = atomicXor(&mem[arg], acc); break;
        case 7: acc = acc * arg + 1; atomicMax(&mem[0], acc); break;
        case 8: acc = acc / (arg | 1); break;
        case 9: fuel -= 2; continue;
        case 10: goto done;
        case 11: acc = atomicMin(&mem[arg], acc); break;
        default: __threadfence(); break;
        }
        atomicAdd(&mem[256], 1);
    }
done:
    out[i] = acc;
}
