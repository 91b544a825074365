"""Flow facts in words: each one that is given is printed as an assumption."""

from collections.abc import Iterable, Iterator

from sassan.ipet.facts.model import Constraint, Exclusive, FunctionFacts, LoopName, Total
from sassan.ipet.facts.places import spelled
from sassan.plurals import count_of


def assumptions(facts: FunctionFacts) -> Iterator[str]:
    """Yield one line per fact, except for bounds of loops."""
    yield from (f"flow fact: {_total(total)}" for total in facts.totals)
    yield from (f"flow fact: the block at {spelled(address)} is never executed" for address in facts.never)
    yield from (f"flow fact: {_exclusive(exclusive)}" for exclusive in facts.exclusive)
    yield from (f"flow fact: {_constraint(constraint)}" for constraint in facts.constraints)
    for address, targets in facts.targets:
        yield f"flow fact: the branch or call at {spelled(address)} leads to {_listed(targets)} and nowhere else"
    for address, limit in facts.accesses:
        yield from (f"flow fact: {text}" for text in limit.describe(address))


def _total(total: Total) -> str:
    times = f"at most {count_of(total.bound, 'time')}"
    event = f"takes back edges of the loop at {spelled(total.counted)}" if total.back else f"executes the block at {spelled(total.counted)}"
    return f"a thread {event} {times} {_scope(total.per, 'per entry of')}"


def _exclusive(exclusive: Exclusive) -> str:
    return f"a thread executes at most one of the blocks at {_listed(exclusive.blocks)} {_scope(exclusive.within, 'per iteration of')}"


def _scope(name: LoopName | None, of: str) -> str:
    return "in one run of the function" if name is None else f"{of} the loop at {spelled(name)}"


def _constraint(constraint: Constraint) -> str:
    terms = " ".join(f"{'-' if factor < 0 else '+'} {abs(factor)} x({spelled(address)})" for address, factor in constraint.terms)
    return f"{terms.removeprefix('+ ')} {constraint.sense} {constraint.limit}, x the executions of a block by one warp"


def _listed(addresses: Iterable[int]) -> str:
    return ", ".join(map(spelled, addresses))
