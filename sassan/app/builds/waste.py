"""The gate of wasted memory transactions: `max-waste`, and where they are wasted."""

from collections.abc import Iterator, Sequence

from sassan.access import Access
from sassan.access.opcodes import MemorySpace
from sassan.app.builds.gates import Failure, Gate, GateRule
from sassan.app.memory import MemoryResult, most_wasted


def failures(memory: MemoryResult, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every gate that the transactions of a function fail; behind the first one every access that wastes some."""
    wasted = most_wasted(memory)
    failed = [gate for gate in gates if gate.limit is not None and (wasted is None or wasted > gate.limit)]
    for gate in failed:
        limit = f"the limit {gate.limit} of {gate.source}"
        if wasted is None:
            address, why = _unknown(memory)
            message = f"how many transactions of memory a warp wastes is unknown ({why}), and unknown is not below {limit}"
            yield Failure(gate.rule, message, address, limit=gate.limit)
        else:
            yield Failure(gate.rule, f"a warp wastes up to {wasted} transactions of memory, above {limit}", value=wasted, limit=gate.limit)
    for row in memory.rows if failed else ():
        if row.reason:
            yield Failure(_rule(row.access), row.reason + _times(row.executions), row.access.address, value=row.access.waste)


def _times(executions: int | None) -> str:
    if executions is None:
        return ""
    return f", {'once' if executions == 1 else f'{executions} times'} on the worst path"


def _rule(access: Access) -> GateRule:
    return GateRule.BANK_CONFLICT if access.space is MemorySpace.SHARED else GateRule.UNCOALESCED_ACCESS


def _unknown(memory: MemoryResult) -> tuple[int | None, str]:
    gaps = memory.gaps or memory.analysis.gaps
    if gaps:
        return gaps[0].address, f"{gaps[0].code} at 0x{gaps[0].address:04x}"
    for row in memory.rows:
        if row.access.waste is None:
            return row.access.address, f"{row.access.opcode} at 0x{row.access.address:04x} is not an access of lanes"
    return None, "the path that wastes most was not proved"
