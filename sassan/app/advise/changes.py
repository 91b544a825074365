"""Changes of what an estimate takes: other costs of accesses, other instructions, other executions, another grid."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sassan.access.access import Access
from sassan.app.estimating import Prepared
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.launch import EstimatedKernel
from sassan.estimate.watch import Key
from sassan.strings.fold import Repeat
from sassan.strings.fold import Sequence as Folded


@dataclass(frozen=True, slots=True)
class KernelAccess:
    """An access, the `number`-th of its kernel, with what it did on average where warps were run and its addresses are known."""

    number: int
    access: Access
    key: Key | None = None
    average: AverageAccess | None = None


def accesses_of(kernel: EstimatedKernel) -> tuple[KernelAccess, ...]:
    """Return the accesses of a kernel, each with its average (in the order in which the estimate puts them together)."""
    keys: dict[int, list[Key]] = {}
    for each in sorted(kernel.accessed):
        keys.setdefault(each[0], []).append(each)
    out: list[KernelAccess] = []
    for number, access in enumerate(kernel.accesses):
        left = keys.get(access.address)
        key: Key | None = left.pop(0) if left else None
        average = kernel.accessed[key] if key is not None else None
        out.append(KernelAccess(number, access, key, None if average is None or average.drawn else average))
    return tuple(out)


def counts_of(kernel: EstimatedKernel) -> list[float]:
    """Return how often a warp visits each node on average."""
    folded, weights = kernel.path
    out = [0.0] * len(kernel.cfg.nodes)

    def count(items: Folded, times: int) -> None:
        for item in items:
            if isinstance(item, Repeat):
                count(item.body, times * item.times)
            else:
                out[item] += times * weights.get(item, 1.0)

    count(folded, 1)
    return out


def executions_of(kernel: EstimatedKernel) -> Mapping[int, float]:
    """Return how often a warp executes each instruction on average, by address."""
    out = dict[int, float]()
    for node, count in zip(kernel.cfg.nodes, counts_of(kernel), strict=True):
        for each in node.code:
            out[each.address] = out.get(each.address, 0.0) + count
    return out


def with_averages(prepared: Prepared, averages: Mapping[Key, AverageAccess]) -> Prepared:
    """Return a launch whose accesses do what these averages say, the others as before."""
    seen = prepared.kernel.sampled
    if seen is None:
        return prepared
    return replace(prepared, kernel=replace(prepared.kernel, sampled=replace(seen, accessed={**seen.accessed, **averages})))


def with_accesses(prepared: Prepared, accesses: Mapping[int, Access]) -> Prepared:
    """Return a launch with other accesses, by their numbers."""
    several = tuple(accesses.get(number, access) for number, access in enumerate(prepared.kernel.accesses))
    return replace(prepared, kernel=replace(prepared.kernel, accesses=several))


def with_places(prepared: Prepared, places: int) -> Prepared:
    """Return a launch of which an SM holds so many blocks at once."""
    return replace(prepared, grid=replace(prepared.grid, places=places))
