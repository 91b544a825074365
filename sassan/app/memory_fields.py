"""What is said of the memory accesses of a function."""

from sassan.app.documents import HeadFields
from sassan.app.memory import AccessRow, MemoryResult
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, FLAG, LINE, OFFSET, STRING, TEXT, array, choice, merged, one
from sassan.fields.shared import GAPS, AssumedFields

_of_access, _of = Declare[AccessRow](), Declare[MemoryResult]()


def _transactions(row: AccessRow) -> str:
    count = row.access.transactions
    return NONE if count is None else str(count.most) if count.exact else f"<= {count.most}"


class AccessFields(Record[AccessRow]):
    """An access of memory."""

    address = _of_access(ADDRESS, "of the instruction", lambda row: row.access.address, csv=True, head="address")
    opcode = _of_access(STRING, "of the instruction", lambda row: row.access.opcode, csv=True, head="instruction", widest=24)
    space = _of_access(
        choice("global", "shared", "local", "constant", "generic", "texture", "bulk"),
        "the memory",
        lambda row: row.access.space.value,
        csv=True,
        head="space",
    )
    bytes = _of_access(BOUND, "of one lane", lambda row: row.access.bytes or None, csv=True)
    pattern = _of_access(
        STRING, "how the addresses of the lanes lie to each other", lambda row: row.access.pattern.value, csv=True, head="pattern"
    )
    stride = _of_access(OFFSET, "from lane to lane", lambda row: row.access.stride, unit="bytes", csv=True)
    sectors = _of_access(
        BOUND,
        "of one execution, at most where not `exact`",
        lambda row: row.access.sectors.most if row.access.sectors is not None else None,
        csv=True,
    )
    passes = _of_access(
        BOUND,
        "over the banks of shared memory, likewise",
        lambda row: row.access.passes.most if row.access.passes is not None else None,
        csv=True,
    )
    _transactions = _of_access(
        BOUND,
        "sectors or passes",
        lambda row: row.access.transactions.most if row.access.transactions else None,
        key=None,
        head="trans.",
        shown=_transactions,
    )
    ideal = _of_access(BOUND, "the fewest that the same bytes need", lambda row: row.access.ideal, csv=True, head="ideal")
    collisions = _of_access(BOUND, "lanes of an atomic on one address", lambda row: row.access.collisions, csv=True)
    executions = _of_access(BOUND, "by one warp on the worst path", csv=True, head="exec.")
    exact = _of_access(FLAG, "whether the transactions are exactly so many", lambda row: row.access.exact, csv=True)
    base = _of_access(TEXT, "the pointer", lambda row: row.access.base or None, csv=True)
    reason = _of_access(TEXT, "of the waste", lambda row: row.reason or None, csv=True)
    source = _of_access(LINE, "the line that it was made from", csv=True, head="line", head_after="address", sparse=True)


class MemoryFields(Record[MemoryResult]):
    """What `sassan memory` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda result: result.analysis)
    accesses = _of(array(one(AccessFields)), "by what a warp wastes", lambda result: result.rows)
    _assumed = _of(merged(AssumedFields), "what the numbers rest on", lambda result: result.assumptions)
    gaps = _of(GAPS, "why accesses are unknown")
