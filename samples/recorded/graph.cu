// Why: pointers that data hold: levels of a search, lists, a tree.
#include "device.h"

extern "C" __global__ void level(int nodes, const int *edge, const int *to, const int *frontier, int size, int *distance, int depth) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size) return;
    int node = frontier[at];
    for (int k = edge[node]; k < edge[node + 1]; k++)
        if (distance[to[k]] < 0) distance[to[k]] = depth;
}

struct Item {
    int value, next;
};

extern "C" __global__ void lists(const Item *item, const int *first, int *sum) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    for (int place = first[at]; place >= 0; place = item[place].next) total += item[place].value;
    sum[at] = total;
}

struct Quad {
    float x, y;
    int child[4];
};

extern "C" __global__ void quadtree(const Quad *quad, const float2 *point, int *leaf) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, place = 0;
    float2 where = point[at];
    while (quad[place].child[0] >= 0) place = quad[place].child[(where.x > quad[place].x) + 2 * (where.y > quad[place].y)];
    leaf[at] = place;
}

#ifndef __CUDACC_RTC__
static int split(std::vector<Quad> &quads, float x, float y, float half, int depth) {
    int place = int(quads.size());
    quads.push_back({x, y, {-1, -1, -1, -1}});
    for (int i = 0; i < 4 && (depth > 3 || (depth && below(3))); i++) {
        int child = split(quads, x + (i & 1 ? half : -half), y + (i & 2 ? half : -half), half / 2, depth - 1);
        quads[place].child[i] = child;
    }
    for (int i = 0; i < 4; i++)
        if (quads[place].child[i] < 0)
            for (int k = 0; k < 4; k++) quads[place].child[k] = -1;
    return place;
}

int main() {
    const int nodes = 256;
    std::vector<int> edge{0}, to, frontier, first;
    for (int n = 0; n < nodes; n++) {
        for (int k = n == 100 ? 30 : below(5); k > 0; k--) to.push_back(below(nodes));
        edge.push_back(int(to.size()));
        if (n % 2 == 0) frontier.push_back(n);
    }
    level<<<1, 128>>>(nodes, device(edge), device(to), device(frontier), 128, device<int>(nodes), 3);
    std::vector<Item> items;
    for (int list = 0; list < 128; list++) {
        first.push_back(int(items.size()));
        for (int left = list == 40 ? 50 : 1 + below(6); left > 0; left--) items.push_back({below(100), left > 1 ? int(items.size()) + 1 : -1});
    }
    lists<<<1, 128>>>(device(items), device(first), device<int>(128));
    std::vector<Quad> quads;
    split(quads, 0.5f, 0.5f, 0.25f, 5);
    std::vector<float2> points;
    for (int i = 0; i < 128; i++) points.push_back({below(1000) / 1000.0f, below(1000) / 1000.0f});
    quadtree<<<1, 128>>>(device(quads), device(points), device<int>(128));
    return cudaDeviceSynchronize();
}
#endif
