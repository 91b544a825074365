"""Memory of the host: on an integrated GPU it is DRAM of the same chip, on any other one nothing is known of the time."""

from sassan.assumptions import published
from sassan.errors import Gap
from sassan.ipet.sm.residency import Grid
from sassan.ipet.wcet import WcetProblem

_ELSEWHERE = "an argument points to memory of the host, or to pages that move between host and GPU: what they take is unknown"
_ATOMICS = (
    "an argument points to pinned memory of the host, and there are atomic operations: what they take in memory that L2 does not keep is "
    "unknown"
)
_PINNED = published(
    "pinned memory of the host is DRAM of the chip, and no cache of the GPU keeps it (CUDA for Tegra, section Memory Management: quoted, "
    "not looked up again; walks on a Jetson TX2, CTU-IIG/tt-gpu): each sector that a warp accesses is an access of DRAM, half a line"
)
_COHERENT = "an access to pinned memory is answered within the latency of global memory, whichever cache of the CPU holds the line"
_MANAGED = (
    "managed memory is DRAM of the chip, which the GPU keeps in its caches as its own; what the driver does for that before the launch "
    "begins and after it ends (caches of CPU and GPU are written back) is not in the bound"
)


def host_gap(problem: WcetProblem, grid: Grid) -> tuple[Gap, ...]:
    """Return why a grid that accesses memory of the host has no bound; nothing where it has one."""
    if not grid.host:
        return ()
    atomics = any(moved.atomics for moved in problem.traffic.moved.values())
    why = _ELSEWHERE if not grid.shares_host else _ATOMICS if grid.pinned and atomics else ""
    return (Gap(problem.cfg.function.entry, "host-memory", why),) if why else ()


def of_host(grid: Grid) -> tuple[str, ...]:
    """Return what is taken for granted of memory of the host; nothing where none is accessed."""
    if not grid.host or not grid.shares_host:
        return ()
    return (_PINNED, _COHERENT, _MANAGED) if grid.pinned else (_MANAGED,)
