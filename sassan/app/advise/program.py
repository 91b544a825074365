"""Advice for the kernels of a program that take most of its time."""

from collections.abc import Callable, Iterable, Sequence

from sassan.app.advise.trying import AdvisedLaunch, advised
from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
from sassan.estimate.policy import Policy

_KERNELS = 5
"""Kernels for which advice is sought, at most."""
_MOST = 0.95
"""The part of the time of a program behind which kernels do not matter."""
Steps = Callable[[Iterable[tuple[EstimateResult, float]], int], Iterable[tuple[EstimateResult, float]]]
"""Shows the progress of so many steps."""


def advised_program(
    launches: Sequence[LaunchResult],
    estimates: Sequence[EstimateResult | None],
    *,
    policy: Policy = Policy.OLDEST,
    steps: Steps = lambda each, _: each,
) -> tuple[AdvisedLaunch, ...]:
    """Return what is advised for the longest launch of each kernel that matters; the other launches of it are taken to gain as much."""
    us: dict[str, float] = {}
    longest: dict[str, EstimateResult] = {}
    missing: dict[str, EstimateResult] = {}
    for launch, result in zip(launches, estimates, strict=True):
        name = launch.launch.kernel
        if result is None:
            continue
        if result.estimate is None:
            missing.setdefault(name, result)
            continue
        us[name] = us.get(name, 0.0) + launch.launch.count * result.estimate.us
        known = longest.get(name)
        if known is None or known.estimate is None or known.estimate.us < result.estimate.us:
            longest[name] = result
    total, chosen, before = sum(us.values()), list[tuple[EstimateResult, float]](), 0.0
    for name in sorted(us, key=lambda each: -us[each])[:_KERNELS]:
        if before < _MOST * total:
            chosen.append((longest[name], us[name]))
        before += us[name]
    out = [
        advised(result, policy=policy, times=of_kernel / result.estimate.us, total=total)
        for result, of_kernel in steps(chosen, len(chosen))
        if result.estimate is not None
    ]
    return (*out, *(AdvisedLaunch(result) for result in missing.values()))
