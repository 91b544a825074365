// Why: a spin on a volatile flag and on a compare-and-swap: loops that have no bound, with NANOSLEEP since sm_70.
extern "C" __global__ void spin_lock(volatile int *ready, int *lock, int *counter) {
    while (*ready == 0) {
#if __CUDA_ARCH__ >= 700
        __nanosleep(100);
#endif
    }
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
