"""Limits in time: of the bound of one launch, and of a recorded sequence of launches."""

from collections.abc import Iterator, Mapping, Sequence

from sassan.app.builds.build import Build
from sassan.app.builds.gates import Failure, Gate, GateRule, PatternGates
from sassan.app.inputs import matches
from sassan.app.launches import LaunchResult
from sassan.app.result import AnalysisResult
from sassan.timing import Quantity

_NAMED = 3


def failures(result: AnalysisResult, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every limit on the microseconds of a launch that a result fails."""
    for gate in gates:
        if gate.rule is not GateRule.MAX_US or gate.limit is None:
            continue
        us, limit = result.grid_us, f"the limit {gate.limit:g} of {gate.source}"
        if us is None:
            gaps = result.gaps
            message = f"the bound of the launch is unknown ({_why(result)}), and unknown is not below {limit}"
            yield Failure(gate.rule, message, gaps[0].address if gaps else None, limit=gate.limit)
        elif us > gate.limit:
            message = f"the launch of {_blocks(result)} takes up to {spelled(us, gate.limit)} us, above {limit}"
            yield Failure(gate.rule, message, value=us, limit=gate.limit)


def totals(build: Build, demands: Sequence[PatternGates]) -> Mapping[int, tuple[Failure, ...]]:
    """Return the limits on a whole sequence that fail, each with the function that takes the most of it, by its place in the results."""
    places = {id(result): place for place, result in enumerate(build.results)}
    out: dict[int, list[Failure]] = {}
    for demand in demands:
        for gate in demand.gates:
            if gate.rule is not GateRule.MAX_TOTAL_US or gate.limit is None:
                continue
            chosen = [launch for launch in build.sequence if matches(launch.launch.kernel, demand.pattern)]
            known = [launch for launch in chosen if launch.result is not None]
            failure, at = _total(chosen, gate, gate.limit, build.cut)
            if failure is not None and (at or known or build.results):
                held = at.result if at is not None else known[0].result if known else build.results[0]
                out.setdefault(places[id(held)], []).append(failure)
    return {place: tuple(several) for place, several in out.items()}


def _total(launches: Sequence[LaunchResult], gate: Gate, limit: float, cut: str) -> tuple[Failure | None, LaunchResult | None]:
    """Return the failure of one limit, if any, and the launch that it names first."""
    text = f"the limit {limit:g} of {gate.source}"
    lost = next((launch for launch in launches if launch.us is None), None)
    if lost is not None or cut or not launches:
        why = (
            f"{lost.launch.kernel}: {_why(lost.result)}" if lost is not None else f"the recording was cut off {cut}" if cut else "no launch"
        )
        message = f"how long the launches take is unknown ({why}), and unknown is not below {text}"
        return Failure(gate.rule, message, limit=limit), lost if lost is not None and lost.result is not None else None
    total = sum(launch.launch.count * (launch.us or 0) for launch in launches)
    if total <= limit:
        return None, None
    shares: dict[str, float] = {}
    for launch in launches:
        shares[launch.launch.kernel] = shares.get(launch.launch.kernel, 0) + launch.launch.count * (launch.us or 0)
    most = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    parts = ", ".join(f"{name} {spelled(us)} us" for name, us in most[:_NAMED])
    more = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
    count = sum(launch.launch.count for launch in launches)
    message = f"{count} launches take up to {spelled(total, limit)} us, one after the other, above {text}: {parts}{more}"
    first = max(
        (launch for launch in launches if launch.launch.kernel == most[0][0]), key=lambda launch: launch.launch.count * (launch.us or 0)
    )
    return Failure(gate.rule, message, value=total, limit=limit), first


def _why(result: AnalysisResult | None) -> str:
    if result is None:
        return "the inputs do not hold it"
    gaps = result.gaps
    if gaps:
        return f"{gaps[0].code} at 0x{gaps[0].address:04x}" + (f" and {len(gaps) - 1} more" if len(gaps) > 1 else "")
    if result.settings.gpu is None:
        return "no GPU is given"
    if result.settings.launch.grid is None:
        return "no launch is given"
    return "the unit model has no cycles" if result.quantity is Quantity.INSTRUCTIONS else "it has no bound"


def _blocks(result: AnalysisResult) -> str:
    grid = result.settings.launch.grid or (0, 0, 0)
    return f"{' x '.join(map(str, grid))} blocks"


def spelled(us: float, limit: float | None = None) -> str:
    """Return microseconds with three decimals, with all where these hide that a limit is passed."""
    text = f"{us:.3f}".rstrip("0").rstrip(".")
    return text if limit is None or float(text) > limit else repr(us)
