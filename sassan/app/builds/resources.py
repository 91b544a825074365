"""Gates of what a kernel takes of an SM: spills, shared and local memory, occupancy."""

from collections.abc import Iterator, Sequence

from sassan.app.builds import profile
from sassan.app.builds.gates import Failure, Gate, GateRule
from sassan.app.registers import registers_of
from sassan.app.result import AnalysisResult
from sassan.machine import machine_of

_WHAT = {
    GateRule.MAX_SPILLS: "number of accesses to places of the stack",
    GateRule.MAX_SHARED: "shared memory of a block in bytes",
    GateRule.MAX_LOCAL: "local memory of a thread in bytes",
    GateRule.MIN_OCCUPANCY: "occupancy of an SM in percent",
}


def failures(result: AnalysisResult, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every gate of these rules that a function fails; one that is not a kernel has no occupancy of its own."""
    for gate in gates:
        if gate.rule not in _WHAT or gate.limit is None or (gate.rule is GateRule.MIN_OCCUPANCY and not result.function.kernel):
            continue
        value, why = _value(result, gate.rule)
        least = gate.rule is GateRule.MIN_OCCUPANCY
        if value is None:
            side = "above" if least else "below"
            message = f"the {_WHAT[gate.rule]} is unknown ({why}), and unknown is not {side} the limit {gate.limit} of {gate.source}"
            yield Failure(gate.rule, message, limit=gate.limit)
        elif (value < gate.limit) if least else (value > gate.limit):
            message = f"the {_WHAT[gate.rule]} is {value}, {'below' if least else 'above'} the limit {gate.limit} of {gate.source}"
            yield Failure(gate.rule, message, value=value, limit=gate.limit)


def _value(result: AnalysisResult, rule: GateRule) -> tuple[int | None, str]:
    """Return the number that a rule limits, or why it is not known."""
    function, known = result.function, result.residency
    occupancy = known.occupancy if known is not None else None
    facts, cubin_only = function.compiler, "it is known of a cubin only"
    match rule:
        case GateRule.MAX_SPILLS:
            pressure = registers_of(function, result.isa.facts)
            return (
                (pressure.spills.loads + pressure.spills.stores, "") if pressure is not None else (None, "it is known of machine code only")
            )
        case GateRule.MAX_SHARED:
            if occupancy is not None:
                return occupancy.demand.shared, ""
            return (facts.shared, "") if facts is not None else (None, cubin_only)
        case GateRule.MAX_LOCAL:
            local = profile.local(function)
            return (local, "") if local is not None else (None, cubin_only)
        case _:
            if occupancy is None:
                return None, known.why if known is not None else "the shape of a block is not given"
            return 100 * occupancy.warps // machine_of(function.arch, result.settings.machine).warps, ""
