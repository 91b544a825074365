"""What GPUs do that no term of a bound charges in full: each phenomenon has a text, printed with every bound for a product."""

from collections.abc import Callable, Mapping

from sassan.products import Product

_KIB = 1024
ALONE_ON_DRAM = (
    "nothing else moves DRAM: neither the CPU, nor a camera, a display or another engine of the chip (integrated GPU); --dram-share or "
    "--co-runners say what they take"
)
_OTHER = "no other process, kernel of MPS, copy, peer or display takes SMs, L2 or DRAM during the launch, and the GPU is not a slice of MIG"
_SHARED = "no other process, kernel of MPS, copy, peer or display takes SMs or L2 during the launch, and the GPU is not a slice of MIG"
_PREEMPTION = "no preemption, context switch, time slice or debugger interrupts the launch"
_THROTTLING = "no limit of power or heat lowers a clock of SMs, L2 or DRAM below the one given"
_TRANSLATION = (
    "an access that misses the TLBs waits no longer than the latency of global memory, behind the first access to its page (cold start)"
)
_ERRORS = "DRAM has ECC as the boards had on which its bandwidth was measured, and corrects no error during the launch"
_REFRESH = (
    "refresh of DRAM is within its bandwidth and latency, and so are misses of its rows, whatever banks and channels addresses lie in"
)
_CONSTANTS = "a constant that the code names misses its caches once (cold start); they keep it from then on"
_FAULTS = "all memory is of the GPU and mapped: no page fault, no access over PCIe or NVLink"


def _partitions(product: Product) -> str:
    kept = f"{product.l2_size // 2} KiB" if product.l2_size else "nothing"
    return f"L2 keeps {kept} whatever sets addresses fall into, and a far partition answers within the latencies and at the bandwidth given"


def others_on(product: Product) -> str:
    """Return that no other work is on the GPU."""
    return _OTHER if product.dram_share == 1 else _SHARED


def sharing(product: Product) -> tuple[str, ...]:
    """Return who else moves DRAM, where the user says it, or where a CPU has the same DRAM."""
    if product.dram_share < 1:
        share = f"{float(product.dram_share):.1%}"
        left = f"whenever the GPU waits for DRAM, others leave it {share} of the bandwidth given"
        return (f"{left}, and no latency of DRAM is longer than that without others divided by {share}",)
    return (ALONE_ON_DRAM,) if product.integrated else ()


def dirty(product: Product) -> str:
    """Return that earlier kernels leave nothing behind in L2, with what it would take."""
    if not product.l2_size:
        return "L2 holds no dirty sectors of earlier kernels"
    us = float(product.l2_size * _KIB / product.dram_rate / 1000)
    costs = f"all its {product.l2_size} KiB would take DRAM {us:.1f} us more (add them to launch_us)"
    return f"L2 holds no dirty sectors of earlier kernels: {costs}"


PHENOMENA: Mapping[str, Callable[[Product], str]] = {
    "TLB misses": lambda _: _TRANSLATION,
    "ECC": lambda _: _ERRORS,
    "refresh": lambda _: _REFRESH,
    "constant caches": lambda _: _CONSTANTS,
    "partitions of L2": _partitions,
    "throttling": lambda _: _THROTTLING,
    "preemption": lambda _: _PREEMPTION,
    "other work": others_on,
    "dirty sectors": dirty,
    "page faults": lambda _: _FAULTS,
}
"""What is taken for granted of each, for a product (docs/reference/assumptions.md has what a bound charges, and what would refute it)."""


def hardware(product: Product) -> tuple[str, ...]:
    """Return what a bound takes for granted of the hardware beyond its terms."""
    return (*(text(product) for text in PHENOMENA.values()), *sharing(product))
