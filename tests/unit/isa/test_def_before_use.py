"""An oracle for widths that knows no table: on every path, compiled code writes a register before it reads it.

A destination taken too narrow, or a source taken too wide, shows as a read of a register that some path to it leaves unwritten. A guarded
write counts as one (its reader is guarded alike). What callers pass to a function and what a call leaves behind counts as written.
"""

from collections.abc import Iterator

import pytest

from budget import FULL, some
from samples import SAMPLES, names, program
from sassan.ir import Function
from sassan.isa.facts import Facts, Flow
from sassan.isa.loading import data_text, read_letters, read_table
from sassan.isa.registers import EVERY, span
from sassan.isa.registers import names as listed
from sassan.isa.tables import Isa, load

ARCHS = sorted(path.name for path in SAMPLES.glob("sm_*"))
ARGUMENTS_IN_REGISTERS = {"_Z7collatzi", "_Z9rectangleff", "_Z8triangleff", "_Z6squareff"}
"""Device functions that stand in a section of their own."""
BARRIERS = span("B", 0, 16)
CALLS = {Flow.CALL, Flow.INDIRECT_CALL}
LEAVES = {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.EXIT, Flow.RETURN}
TOKENS = {"SYNC", "BRK", "CONT", "RET"}


def successors(function: Function, facts: list[Facts]) -> list[list[int]]:
    """Return, per instruction, the places where a thread may go on, calls stepped over."""
    place = {one.address: index for index, one in enumerate(function.instructions)}
    out: list[list[int]] = []
    for index, (one, fact) in enumerate(zip(function.instructions, facts, strict=True)):
        jumps = {*one.targets, *([fact.target] if fact.flow is Flow.BRANCH and fact.target is not None else [])}
        found = [place[address] for address in sorted(jumps) if address in place]
        out.append([*found, *([index + 1] if goes_on(fact) and index + 1 < len(facts) else [])])
    return out


def goes_on(fact: Facts) -> bool:
    """Return whether a thread may reach the next instruction; since Volta a BSYNC is followed by the target of its BSSY."""
    leaves = fact.flow in LEAVES or (fact.flow is Flow.POP and fact.tag in TOKENS)
    return fact.condition != 0 or not fact.guard_alone or not leaves


def written_before(function: Function, facts: list[Facts]) -> list[int | None]:
    """Return, per instruction, the registers that every path to it writes; None where no path leads."""
    after = successors(function, facts)
    place = {one.address: index for index, one in enumerate(function.instructions)}
    before: list[int | None] = [None] * len(facts)
    for address, _ in function.symbols:
        before[place[address]] = EVERY
    before[place[function.entry]] = 0
    pending = [index for index, found in enumerate(before) if found is not None]
    while pending:
        index = pending.pop()
        known = EVERY if facts[index].flow in CALLS else (before[index] or 0) | facts[index].writes
        for each in after[index]:
            old = before[each]
            new = known if old is None else old & known
            if new != old:
                before[each] = new
                pending.append(each)
    return before


def unwritten(function: Function, isa: Isa) -> Iterator[str]:
    """Yield every read of a register that nothing has written; a convergence barrier that nobody holds may be cleared."""
    facts = [found for one in function.instructions if (found := isa.facts(one)) is not None]
    assert len(facts) == len(function.instructions)
    for one, fact, before in zip(function.instructions, facts, written_before(function, facts), strict=True):
        missing = 0 if before is None else (fact.reads | fact.guard) & ~before & ~BARRIERS
        if missing:
            yield f"{function.name} {one.address:#06x} {one.text}: {' '.join(listed(missing))}"


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(ARCHS))
def test_no_sample_reads_a_register_that_some_path_leaves_unwritten(arch: str):
    functions = [function for name in some(names(arch), of=3) for function in program(arch, name).functions]
    kernels = [one for one in functions if one.name not in ARGUMENTS_IN_REGISTERS]
    assert len(kernels) >= (24 if FULL else 8)
    assert [found for one in kernels for found in unwritten(one, load(arch))] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("S16 = 1, 32 = 1, 64 = 2, 128 = 4 }", "S16 = 1, 32 = 1, 64 = 1, 128 = 1 }"),
        ('forms = ["d2 s2 s2 s2"]', 'forms = ["d s2 s2 s2"]'),
        ('forms = ["q q s s p"]', 'forms = ["q q s2 s p"]'),
    ],
    ids=["loads", "double", "wide-source"],
)
def test_a_wrong_width_is_noticed(old: str, new: str):
    text = data_text("maxwell_pascal.toml")
    assert old in text
    isa = Isa(read_table("narrow.toml", text.replace(old, new), {}.get), read_letters("letters.toml", data_text("letters.toml"), "timing"))
    functions = (function for name in names("sm_61") for function in program("sm_61", name).functions)
    assert any(found for one in functions for found in unwritten(one, isa))
