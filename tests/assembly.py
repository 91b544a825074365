"""Instructions from their text, for the tests of the instruction facts."""

from dataclasses import replace
from functools import lru_cache

from sassan.frontend.instructions import PlainParser
from sassan.ir import Immediate, Instruction, Symbol, Target
from sassan.isa.facts import Facts
from sassan.isa.registers import names
from sassan.isa.tables import load
from sassan.source import Span


@lru_cache(maxsize=1)
def _parser() -> PlainParser:
    return PlainParser()


def instruction(text: str, *notes: str) -> Instruction:
    """Return the instruction at address 0; a number as the target of a branch is an address."""
    parsed = _parser().parse(f"{text} ;")
    # A label is not resolved here: it stands for a symbol outside the listing.
    operands = tuple(
        Symbol(operand.label) if isinstance(operand, Target) and operand.address < 0 else operand for operand in parsed.operands
    )
    if parsed.leads and isinstance(operands[-1], Immediate):
        operands = (*operands[:-1], Target(int(operands[-1].value)))
    instruction = Instruction(0, 8, parsed.opcode, operands, parsed.guard, Span(1, 1, 1), condition=parsed.condition, text=parsed.text)
    return replace(instruction, notes=notes)


def facts(arch: str, text: str, *notes: str) -> Facts:
    """Return the facts of an instruction that the table of `arch` covers."""
    result = load(arch).facts(instruction(text, *notes))
    assert result is not None, text
    return result


def listed(registers: int) -> str:
    """Return the names of a set, sorted and separated by blanks."""
    return " ".join(names(registers))


def reads(arch: str, text: str) -> str:
    """Return the names of the registers that an instruction reads, without the guard."""
    return listed(facts(arch, text).reads)


def writes(arch: str, text: str) -> str:
    """Return the names of the registers that an instruction writes."""
    return listed(facts(arch, text).writes)


def agreement(arch: str, text: str) -> list[tuple[str, str | None]]:
    """Return the conditions for the uniformity of each group of written registers; None: never uniform, '': always."""
    return [(listed(effect.writes), None if effect.needs is None else listed(effect.needs)) for effect in facts(arch, text).effects]
