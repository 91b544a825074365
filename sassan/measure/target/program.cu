// Measures on a GPU what a bound takes for granted of it. Written by `sassan measure --assumptions` for @GPU@.
//
//     @COMPILE@
//     ./measure > answers.toml
//     sassan measure --assumptions answers.toml --gpu "@GPU@" -o board.toml
//
// Set the power mode and the clocks of the deployment first, and stop whatever else uses the GPU. It takes a minute or two. Each figure is
// measured in many runs, and printed with the least, the median and the most of them; what is measured and how stands before each kernel.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#define CHECK(call)                                                                               \
    do {                                                                                          \
        cudaError_t error = (call);                                                               \
        if (error != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

constexpr int CHAIN = 64;      // instructions of a chain, each of which needs the result of the one before
constexpr int ACCESSES = 2048; // accesses of a chase, each timed by itself
constexpr int RUNS = 200;      // runs of a chain
constexpr int LAUNCHES = 100;  // launches one behind the other
constexpr int STREAM_RUNS = 20;
constexpr unsigned RING = 4096; // words of the constant and the shared ring

struct Statistics {
    double least, median, most;
    size_t runs;
};

static Statistics statistics(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values.front(), values[values.size() / 2], values.back(), values.size()};
}

static void print(const char *name, const Statistics &figure) {
    std::printf("[figure.%s]\nleast = %.9g\nmedian = %.9g\nmost = %.9g\nruns = %zu\n\n", name, figure.least, figure.median, figure.most,
                figure.runs);
    std::fflush(stdout);
}

__device__ __forceinline__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

// Keeps a stream busy, so that what is submitted behind it waits for nothing of the host.
__global__ void spin(unsigned long long ns) {
    const unsigned long long end = nanoseconds() + ns;
    while (nanoseconds() < end) {
    }
}

// ---- the clock of the SMs, and the step of the timer that all SMs read ----

__global__ void clock_rate(unsigned long long ns, double *mhz) {
    unsigned long long begin = nanoseconds(), now = begin;
    while ((now = nanoseconds()) == begin) { // a step of the timer begins
    }
    begin = now;
    const long long first = clock64();
    while ((now = nanoseconds()) < begin + ns) {
    }
    *mhz = 1000.0 * double(clock64() - first) / double(now - begin);
}

__global__ void timer_step(double *ns) {
    unsigned long long last = nanoseconds(), most = 0;
    for (int i = 0; i < 1000; ++i) {
        const unsigned long long now = nanoseconds();
        if (now != last) most = now - last > most ? now - last : most;
        last = now;
    }
    *ns = double(most);
}

// ---- latencies: cycles from an instruction to the next, which needs its result; one warp, and nothing else on the GPU ----

#define TIMED_CHAIN(name, prepare, step, result)                             \
    __global__ void latency_##name(long long *cycles, unsigned *sink, unsigned seed) { \
        prepare;                                                             \
        const long long begin = clock64();                                   \
        _Pragma("unroll") for (int i = 0; i < CHAIN; ++i) { step; }          \
        const unsigned kept = unsigned(result);                              \
        if (kept == 0xdeadbeefu) *sink = kept; /* the clock is read behind the last result */ \
        const long long end = clock64();                                     \
        if (threadIdx.x == 0) *cycles = end - begin;                         \
    }

TIMED_CHAIN(double, double x = seed, asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(x)), __double2loint(x))
TIMED_CHAIN(sfu, float x = float(seed) + 1.5f, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)), __float_as_uint(x))
TIMED_CHAIN(sfu_conversion, float x = float(seed) + 1.5f,
            asm volatile("{ .reg .s32 whole; cvt.rzi.s32.f32 whole, %0; mov.b32 %0, whole; }" : "+f"(x)), __float_as_uint(x))
TIMED_CHAIN(shuffle, unsigned x = seed + threadIdx.x, asm volatile("shfl.sync.idx.b32 %0, %0, %0, 31, -1;" : "+r"(x)), x)
TIMED_CHAIN(barrier, unsigned x = seed, asm volatile("bar.sync 0;" ::: "memory"), x)
TIMED_CHAIN(blockfence, unsigned x = seed, asm volatile("membar.cta;" ::: "memory"), x)
TIMED_CHAIN(fence, unsigned x = seed, asm volatile("membar.gl;" ::: "memory"), x)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
TIMED_CHAIN(tensor, float c[4] = {}; const unsigned a = seed,
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                         : "r"(a)),
            __float_as_uint(c[0] + c[1] + c[2] + c[3]))
#else
__global__ void latency_tensor(long long *, unsigned *, unsigned) {} // not launched
#endif

// A chase: each access reads the place of the next one, and its own cycles are kept. The store of the place waits for the access.
#define CHASE(name, prepare, access)                                                                          \
    __global__ void latency_##name(const unsigned *ring, cudaTextureObject_t texture, unsigned zero, unsigned *cycles) { \
        __shared__ volatile unsigned seen[1];                                                                 \
        prepare;                                                                                              \
        unsigned at = zero;                                                                                   \
        for (int i = 0; i < ACCESSES; ++i) {                                                                  \
            const unsigned begin = clock();                                                                   \
            access;                                                                                           \
            seen[0] = at;                                                                                     \
            cycles[i] = unsigned(clock()) - begin;                                                            \
        }                                                                                                     \
        (void)ring, (void)texture, (void)zero;                                                                \
    }

__constant__ unsigned constant_ring[RING];

CHASE(global, , at = __ldcg(ring + at))
CHASE(atomic, , at = atomicAdd(const_cast<unsigned *>(ring) + at, zero))
CHASE(texture, , at = tex1Dfetch<unsigned>(texture, int(at)))
CHASE(constant, , at = constant_ring[at])
CHASE(shared, __shared__ unsigned words[RING]; _Pragma("unroll 1") for (unsigned i = 0; i < RING; ++i) words[i] = (i + 33) % RING, at = words[at])

// ---- bandwidth: streams over memory with every warp resident, 16 bytes an access ----

__global__ void stream_init(uint4 *to, const uint4 *, const uint4 *, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) to[i] = {1, 2, 3, 4};
}

__global__ void stream_read(uint4 *to, const uint4 *from, const uint4 *, size_t count) {
    uint4 sum = {};
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        const uint4 word = __ldcg(from + i);
        sum = {sum.x ^ word.x, sum.y ^ word.y, sum.z ^ word.z, sum.w ^ word.w};
    }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0xdeadbeefu) *to = sum;
}

__global__ void stream_copy(uint4 *to, const uint4 *from, const uint4 *, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) to[i] = __ldcg(from + i);
}

__global__ void stream_triad(uint4 *to, const uint4 *from, const uint4 *other, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        const uint4 left = __ldcg(from + i), right = __ldcg(other + i);
        to[i] = {left.x + 3 * right.x, left.y + 3 * right.y, left.z + 3 * right.z, left.w + 3 * right.w};
    }
}

// What L2 delivers: a quarter of it, read again and again.
__global__ void reread(uint4 *to, const uint4 *from, size_t count, int times) {
    uint4 sum = {};
    for (int turn = 0; turn < times; ++turn) {
        for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
            const uint4 word = __ldcg(from + (i + size_t(turn) * 4096) % count);
            sum = {sum.x ^ word.x, sum.y ^ word.y, sum.z ^ word.z, sum.w ^ word.w};
        }
    }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0xdeadbeefu) *to = sum;
}

// ---- launches ----

__global__ void empty() {}

__global__ void stamped(unsigned long long *stamps) {
    stamps[0] = nanoseconds();
    __threadfence();
    stamps[1] = nanoseconds();
}

// ---- host ----

using Stream = void (*)(uint4 *, const uint4 *, const uint4 *, size_t);

struct Setup {
    cudaDeviceProp gpu;
    cudaStream_t stream;
    cudaEvent_t first, last;
    std::vector<unsigned> places; // the ring of the chase, one place in each line of 128 bytes
    unsigned *ring, *sink, *cycles;
    long long *chain;
    double *number;
    cudaTextureObject_t texture;
    uint4 *buffers[3];
    size_t bytes; // of each buffer
};

static double elapsed_us(Setup &on, const std::function<void()> &work) {
    spin<<<1, 1, 0, on.stream>>>(200000);
    CHECK(cudaEventRecord(on.first, on.stream));
    work();
    CHECK(cudaEventRecord(on.last, on.stream));
    CHECK(cudaStreamSynchronize(on.stream));
    CHECK(cudaGetLastError());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, on.first, on.last));
    return 1000.0 * ms;
}

static Statistics clock_mhz(Setup &on) {
    std::vector<double> values;
    for (int run = 0; run < STREAM_RUNS; ++run) {
        double mhz = 0;
        clock_rate<<<1, 1, 0, on.stream>>>(5000000ull, on.number);
        CHECK(cudaMemcpyAsync(&mhz, on.number, sizeof mhz, cudaMemcpyDeviceToHost, on.stream));
        CHECK(cudaStreamSynchronize(on.stream));
        if (run) values.push_back(mhz);
    }
    return statistics(values);
}

static double timer_us(Setup &on) {
    double ns = 0;
    timer_step<<<1, 1, 0, on.stream>>>(on.number);
    CHECK(cudaMemcpyAsync(&ns, on.number, sizeof ns, cudaMemcpyDeviceToHost, on.stream));
    CHECK(cudaStreamSynchronize(on.stream));
    return ns / 1000;
}

static void chain(Setup &on, const char *name, const std::vector<void (*)(long long *, unsigned *, unsigned)> &kernels) {
    std::vector<double> values;
    for (auto kernel : kernels) {
        for (int run = 0; run < RUNS; ++run) {
            long long cycles = 0;
            kernel<<<1, 32, 0, on.stream>>>(on.chain, on.sink, 0);
            CHECK(cudaMemcpyAsync(&cycles, on.chain, sizeof cycles, cudaMemcpyDeviceToHost, on.stream));
            CHECK(cudaStreamSynchronize(on.stream));
            if (run) values.push_back(double(cycles) / CHAIN);
        }
    }
    print(name, statistics(values));
}

static Statistics chase(Setup &on, void (*kernel)(const unsigned *, cudaTextureObject_t, unsigned, unsigned *)) {
    std::vector<double> values;
    std::vector<unsigned> cycles(ACCESSES);
    for (int run = 0; run < STREAM_RUNS; ++run) {
        kernel<<<1, 1, 0, on.stream>>>(on.ring, on.texture, 0, on.cycles);
        CHECK(cudaMemcpyAsync(cycles.data(), on.cycles, ACCESSES * sizeof(unsigned), cudaMemcpyDeviceToHost, on.stream));
        CHECK(cudaStreamSynchronize(on.stream));
        if (run) values.insert(values.end(), cycles.begin(), cycles.end());
    }
    return statistics(values);
}

// GB/s of the slowest stream over memory: the least of all runs of all streams.
static Statistics bandwidth(Setup &on) {
    const struct {
        Stream kernel;
        int buffers;
    } streams[] = {{stream_init, 1}, {stream_read, 1}, {stream_copy, 2}, {stream_triad, 3}};
    const unsigned blocks = unsigned(on.gpu.multiProcessorCount * (on.gpu.maxThreadsPerMultiProcessor / 256));
    std::vector<Statistics> all;
    for (const auto &each : streams) {
        std::vector<double> values;
        for (int run = 0; run < STREAM_RUNS; ++run) {
            const double us = elapsed_us(on, [&] {
                each.kernel<<<blocks, 256, 0, on.stream>>>(on.buffers[0], on.buffers[1], on.buffers[2], on.bytes / sizeof(uint4));
            });
            if (run) values.push_back(double(on.bytes) * each.buffers / us / 1000);
        }
        all.push_back(statistics(values));
    }
    return *std::min_element(all.begin(), all.end(), [](const Statistics &a, const Statistics &b) { return a.least < b.least; });
}

static void l2_bytes_per_cycle(Setup &on, double mhz) {
    const size_t count = size_t(on.gpu.l2CacheSize) / 4 / sizeof(uint4);
    const unsigned blocks = unsigned(on.gpu.multiProcessorCount * (on.gpu.maxThreadsPerMultiProcessor / 256));
    std::vector<double> values;
    for (int run = 0; count && run < STREAM_RUNS; ++run) {
        const double us = elapsed_us(on, [&] { reread<<<blocks, 256, 0, on.stream>>>(on.buffers[0], on.buffers[1], count, 200); });
        if (run) values.push_back(double(count) * sizeof(uint4) * 200 / (us * mhz));
    }
    if (!values.empty()) print("l2_bytes_per_cycle", statistics(values));
}

static void launches(Setup &on, double mhz) {
    std::vector<double> values;
    for (int run = 0; run < RUNS; ++run) values.push_back(elapsed_us(on, [&] { empty<<<1, 32, 0, on.stream>>>(); }));
    values.erase(values.begin());
    print("launch_us", statistics(values)); // with what the two events take

    const unsigned blocks = 1u << 20;
    values.clear();
    for (int run = 0; run < STREAM_RUNS; ++run) {
        const double us = elapsed_us(on, [&] { empty<<<blocks, 32, 0, on.stream>>>(); });
        if (run) values.push_back(us * mhz * on.gpu.multiProcessorCount / blocks);
    }
    print("block_cycles", statistics(values));
}

// From the end of a kernel to the start of the next one of its stream, in which both drain and start; the step of the timer is added.
static std::vector<double> gaps(const std::vector<unsigned long long> &stamps, double step) {
    std::vector<double> out;
    for (int i = 1; i < LAUNCHES; ++i) out.push_back(double(stamps[size_t(2 * i)] - stamps[size_t(2 * i - 1)]) / 1000 + step);
    return out;
}

static void between(Setup &on, double step) {
    std::vector<unsigned long long> stamps(2 * LAUNCHES);
    unsigned long long *written;
    CHECK(cudaMalloc(&written, stamps.size() * sizeof stamps[0]));
    const auto all = [&] {
        for (int i = 0; i < LAUNCHES; ++i) stamped<<<1, 1, 0, on.stream>>>(written + 2 * i);
    };
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeGlobal));
    all();
    CHECK(cudaStreamEndCapture(on.stream, &graph));
#if CUDART_VERSION >= 12000
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
#else
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
#endif
    for (const bool in_graph : {false, true}) {
        std::vector<double> values;
        for (int run = 0; run < STREAM_RUNS; ++run) {
            spin<<<1, 1, 0, on.stream>>>(20000000ull);
            if (in_graph) {
                CHECK(cudaGraphLaunch(ready, on.stream));
            } else {
                all();
            }
            CHECK(cudaMemcpyAsync(stamps.data(), written, stamps.size() * sizeof stamps[0], cudaMemcpyDeviceToHost, on.stream));
            CHECK(cudaStreamSynchronize(on.stream));
            const auto known = gaps(stamps, step);
            if (run) values.insert(values.end(), known.begin(), known.end());
        }
        print(in_graph ? "between_in_graph_us" : "between_us", statistics(values));
    }
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(written));
}

// All cores of the CPU copy memory: what they move, what streams of the GPU then get, and how long its accesses then take.
static void co_runners(Setup &on) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const size_t words = (size_t(64) << 20) / sizeof(uint64_t);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> moved{0};
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> threads;
    for (unsigned core = 0; core < cores; ++core) {
        threads.emplace_back([&] {
            std::vector<uint64_t> from(words, 1), to(words, 2);
            ++ready;
            while (!stop) {
                for (size_t begin = 0; begin < words && !stop; begin += words / 16) {
                    std::copy_n(from.begin() + long(begin), words / 16, to.begin() + long(begin));
                    moved += 2 * (words / 16) * sizeof(uint64_t);
                }
                std::swap(from, to);
            }
        });
    }
    while (ready < cores) std::this_thread::yield();
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t before = moved;
    const Statistics streams = bandwidth(on), latency = chase(on, latency_global);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double rate = double(moved - before) / seconds / 1e9;
    stop = true;
    for (auto &thread : threads) thread.join();
    std::printf("# %u threads of the CPU copied memory meanwhile\n", cores);
    print("cpu_gb_per_s", {rate, rate, rate, 1});
    print("dram_gb_per_s_shared", streams);
    print("latency_global_shared", latency);
}

static Setup prepared() {
    Setup on{};
    CHECK(cudaGetDeviceProperties(&on.gpu, 0));
    CHECK(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&on.first));
    CHECK(cudaEventCreate(&on.last));
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    on.bytes = std::min(std::max(size_t(128) << 20, size_t(on.gpu.l2CacheSize) * 8), available / 8) & ~size_t(4095);
    for (auto &buffer : on.buffers) {
        CHECK(cudaMalloc(&buffer, on.bytes));
        CHECK(cudaMemset(buffer, 1, on.bytes));
    }
    // A ring through one word of each line of 128 bytes, in an order that no prefetch follows.
    const size_t words = std::min(on.bytes / sizeof(unsigned), size_t(1) << 26), lines = words / 32;
    std::vector<unsigned> order(lines), host(words, 0);
    for (size_t i = 0; i < lines; ++i) order[i] = unsigned(i);
    uint64_t state = 88172645463325252ull;
    for (size_t i = lines - 1; i > 0; --i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::swap(order[i], order[state % (i + 1)]);
    }
    for (size_t i = 0; i < lines; ++i) host[order[i] * size_t(32)] = order[(i + 1) % lines] * 32;
    CHECK(cudaMalloc(&on.ring, words * sizeof(unsigned)));
    CHECK(cudaMemcpy(on.ring, host.data(), words * sizeof(unsigned), cudaMemcpyHostToDevice));
    std::vector<unsigned> ring(RING);
    for (unsigned i = 0; i < RING; ++i) ring[i] = (i + 1024 + 17) % RING;
    CHECK(cudaMemcpyToSymbol(constant_ring, ring.data(), RING * sizeof(unsigned)));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = on.ring;
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
    resource.res.linear.sizeInBytes = words * sizeof(unsigned);
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&on.texture, &resource, &description, nullptr));
    CHECK(cudaMalloc(&on.sink, sizeof(unsigned)));
    CHECK(cudaMalloc(&on.cycles, ACCESSES * sizeof(unsigned)));
    CHECK(cudaMalloc(&on.chain, sizeof(long long)));
    CHECK(cudaMalloc(&on.number, sizeof(double)));
    return on;
}

static void head(const Setup &on) {
    int driver = 0, runtime = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    std::printf("# What `sassan measure --assumptions` reads: cycles are those of the SMs.\nschema = 1\n");
    std::printf("device = \"%s\"\narchitecture = \"sm_%d%d\"\nsms = %d\n", on.gpu.name, on.gpu.major, on.gpu.minor,
                on.gpu.multiProcessorCount);
    std::printf("driver = \"%d.%d\"\nruntime = \"%d.%d\"\ndate = \"%s\"\n\n", driver / 1000, driver % 1000 / 10, runtime / 1000,
                runtime % 1000 / 10, date);
}

int main() {
    Setup on = prepared();
    head(on);
    spin<<<1, 1, 0, on.stream>>>(500000000ull); // clocks rise
    const Statistics clock = clock_mhz(on);
    print("clock_mhz", clock);
    chain(on, "latency_double", {latency_double});
    chain(on, "latency_sfu", {latency_sfu, latency_sfu_conversion});
    chain(on, "latency_shuffle", {latency_shuffle});
    chain(on, "latency_barrier", {latency_barrier});
    chain(on, "latency_blockfence", {latency_blockfence});
    chain(on, "latency_fence", {latency_fence});
    if (10 * on.gpu.major + on.gpu.minor >= 75) chain(on, "latency_tensor", {latency_tensor});
    print("latency_shared", chase(on, latency_shared));
    print("latency_constant", chase(on, latency_constant));
    print("latency_global", chase(on, latency_global));
    print("latency_texture", chase(on, latency_texture));
    print("latency_atomic", chase(on, latency_atomic));
    print("dram_gb_per_s", bandwidth(on));
    l2_bytes_per_cycle(on, clock.most);
    launches(on, clock.most);
    between(on, timer_us(on));
    co_runners(on);
    std::printf("[end]\ncomplete = true\n");
    return 0;
}
