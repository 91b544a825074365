"""The library in a page: `python docs/tutorial/library.py`. Type checkers read every line of it."""

import sys
from pathlib import Path

import sassan

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def main() -> int:
    """Bound a kernel, look at what is missing, and ask how long a full SM takes."""
    try:
        kernels = sassan.analyze(SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass", loop_bound=10, warps=16)
    except sassan.SassanError as error:
        print(f"{error.code}: {error.message}; {error.hint}", file=sys.stderr)
        return error.status
    kernel = kernels["bfs_step"]
    print(kernel, "of 16 warps:", kernel.makespan)
    print("worst path:", kernel.worst_path)
    for loop in kernel.loops:
        print(f"loop at 0x{loop.head:04x}: {loop.bound} ({loop.source})")

    # Without a bound for its loop there is no number, and a gap says why.
    unbounded = sassan.analyze(kernel.function)
    print(unbounded.wcet, [gap.code for gap in unbounded.gaps])

    # The launch may tell what the code leaves open: occupancy, and with it the bound of a whole SM.
    full = sassan.analyze(kernel.function, loop_bound=10, launch=sassan.Launch(block=256, registers=16, shared=0))
    print(f"{full.warps} warps are resident: {full.makespan} cycles")

    # The graph, as a drawing, as data, or for algorithms.
    graph = kernel.graph.to_networkx()
    print(len(kernel.graph), "blocks,", graph.number_of_edges(), "edges; the drawing holds the name:", kernel.name in kernel.graph.svg())

    # How long can eight warps with this string take at most, and which schedule takes so long?
    longest = sassan.makespan_of("L5C9L2C9", warps=8, capacity={"L": 1, "C": 4}, issue=4)
    print("eight warps:", longest.exact)
    return 0


if __name__ == "__main__":
    sys.exit(main())
