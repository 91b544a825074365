"""The memory accesses of a function, with what the user knows of some of them."""

from collections.abc import Mapping, Sequence

from sassan.access import Access, accesses
from sassan.access.accesses import NOTHING_GIVEN
from sassan.access.limits import Limit, limited
from sassan.access.opcodes import L2_ATOMICS
from sassan.app.settings import Settings
from sassan.errors import InputError, UsageError
from sassan.ir import Function
from sassan.values import WarpValues


def launch_accesses(values: WarpValues, settings: Settings, alignments: Mapping[str, int] = NOTHING_GIVEN) -> tuple[Access, ...]:
    """Return the accesses of a graph by address, some of them limited by flow facts and by `distinct` of the settings.

    `alignments` are those of single pointers, in bytes.
    Raises InputError `facts-access` for a fact of an instruction that makes no such access.
    """
    function = values.cfg.function
    facts = settings.facts.of(function.name) if settings.facts is not None else None
    limits = dict(facts.accesses) if facts is not None else {}
    known = accesses(values, alignments)
    for address, limit in limits.items():
        problem = _problem([access for access in known if access.address == address], limit)
        if problem:
            where = settings.facts.name if settings.facts is not None else ""
            raise InputError("facts-access", f"{where}: {function.name!r}: the instruction at 0x{address:04x} {problem}")
    spread = {address: Limit(distinct=units) for address, units in settings.distinct if address in _atomics(function)}
    return limited(limited(known, limits), spread)


def _problem(known: Sequence[Access], limit: Limit) -> str:
    """Return why a limit can be said of none of the accesses of an instruction, '' where it can be of one."""
    problems = [limit.mismatch(access) for access in known] or ["accesses no memory, or is not reached"]
    return "" if "" in problems else problems[0]


def check_distinct(settings: Settings, functions: Sequence[Function]) -> None:
    """Refuse addresses where no function has an atomic operation of L2.

    Raises UsageError `distinct`.
    """
    known = sorted({address for function in functions for address in _atomics(function)})
    missing = next((address for address, _ in settings.distinct if address not in known), None)
    if missing is not None:
        listed = ", ".join(f"0x{address:04x}" for address in known[:12])
        hint = f"atomic operations: {listed}" if known else "the input has no atomic operation on global memory"
        raise UsageError("distinct", f"no atomic operation on global memory stands at 0x{missing:04x}", hint=hint)


def _atomics(function: Function) -> frozenset[int]:
    return frozenset(each.address for each in function.instructions if each.opcode.partition(".")[0] in L2_ATOMICS)
