"""Faults in control codes, drawn by seed from all that there are, and whether the check finds them.

The population is defined by walks (`control_walks`), not by the check:

* **stall**: for every instruction, the smallest decrement of its stall after which some result of fixed latency is used, on some way
  that passes the instruction, closer to its producer than the tables say, or a barrier is waited for before it can be seen.
* **wait**: every bit of a wait mask that, on some way from an instruction that sets the barrier, is the first wait for it, and behind
  which, from its own instruction on, something depends on the access (reads or overwrites what is being written, overwrites what is
  being read) before the next wait for the same barrier.
* **renumber**: every instruction that sets a barrier, with each of the five other barriers.

Not every one of them makes the code wrong: another wait may protect the same use. `harmless` decides that by a second walk, over the
changed code, which knows what ends an access besides its own barrier. A fault is what is not harmless.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sassan.isa import tables
from sassan.isa.control import BARRIERS, ControlCode
from sassan.timing.hazards import is_note
from sassan.timing.scoreboards import check
from soundness.control_waits import WRITE, Access, first_waits, setters, unprotected, waits_soon, why_protected
from soundness.control_walks import Code, Use, uses

STALL, WAIT, RENUMBER = "stall", "wait", "renumber"
KINDS = (STALL, WAIT, RENUMBER)


@dataclass(frozen=True, slots=True)
class Fault:
    """A control code that is put in the place of another; `accesses` are those that it may leave unprotected."""

    code: Code
    kind: str
    index: int
    control: ControlCode
    accesses: tuple[Access, ...] = ()

    def __str__(self) -> str:
        """Return what it takes to see the fault again."""
        one = self.code.function.instructions[self.index]
        return f"{self.code.function.arch} {self.code.function.name} 0x{one.address:04x} {one.text}: {self.kind}, {self.control}"


def faults(code: Code, kind: str) -> Iterator[Fault]:
    """Yield every fault of one kind in a function."""
    return {STALL: _stalls, WAIT: _wait_bits, RENUMBER: _renumberings}[kind](code)


def _stalls(code: Code) -> Iterator[Fault]:
    decrement: dict[int, int] = {}
    for way, slack in (*_ways(code), *waits_soon(code)):
        for index in way:
            decrement[index] = min(decrement.get(index, slack + 1), slack + 1)
    for index, less in sorted(decrement.items()):
        stall = code.controls[index].stall - less
        if stall >= (not code.hazards.together):
            yield Fault(code, STALL, index, replace(code.controls[index], stall=stall))


def _ways(code: Code) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the ways from producers of fixed latency to uses, with the cycles that are left over."""
    for producer in range(len(code.controls)):
        if code.writes[producer] and code.fixed(producer):
            for use in uses(code, producer):
                need = max((needed(code, producer, use, kind) for kind in use.classes), default=0)
                if 0 < need <= use.distance:
                    yield use.way, use.distance - need


def needed(code: Code, producer: int, use: Use, kind: str) -> int:
    """Return the cycles that a use needs as far as enough observations tell, else 0."""
    need = code.hazards.distance(use.dependence, use.file, kind, code.kind(use.consumer))
    opcodes = (code.function.instructions[index].opcode.partition(".")[0] for index in (producer, use.consumer))
    return 0 if is_note(need, *opcodes) else need.cycles


def _wait_bits(code: Code) -> Iterator[Fault]:
    live: dict[tuple[int, int], set[Access]] = {}
    for access in setters(code):
        for index in first_waits(code, access):
            live.setdefault((index, access.barrier), set()).add(access)
    for (index, barrier), accesses in sorted(live.items()):
        control = code.controls[index]
        yield Fault(code, WAIT, index, replace(control, wait_mask=control.wait_mask & ~(1 << barrier)), tuple(sorted(accesses)))


def _renumberings(code: Code) -> Iterator[Fault]:
    for access in setters(code):
        for barrier in range(BARRIERS):
            if barrier != access.barrier:
                key = "write_barrier" if access.kind == WRITE else "read_barrier"
                control = replace(code.controls[access.producer], **{key: barrier})
                yield Fault(code, RENUMBER, access.producer, control, (replace(access, barrier=barrier),))


def found(fault: Fault) -> bool:
    """Return whether the check finds anything in the function with the fault; without it, it finds nothing."""
    function = fault.code.changed(fault.index, fault.control)
    isa = tables.load(function.arch)
    return bool(check(function, isa.facts, fault.code.hazards).findings)


def harmless(fault: Fault) -> str:
    """Return why the changed code is right all the same, by walks over it, '' where some access, this or another, is left open."""
    if fault.kind == STALL:
        return ""
    controls = list(fault.code.controls)
    controls[fault.index] = fault.control
    changed = replace(fault.code, controls=tuple(controls))
    reasons = [why_protected(changed, access) for access in fault.accesses]
    return "" if "" in reasons or unprotected(changed) else reasons[0]
