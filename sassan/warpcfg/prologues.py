"""Functions that clear the barrier registers once per warp: code for sm_87 begins so where it is debugged or linked.

    ISETP.NE.U32.AND P0, PT, RZ, UR2, PT
    @P0 BRA cleared
    BMOV.32 B0, 0xffffffff ...
    UMOV UR2, 0x1
    cleared:

Behind the first of them UR2 is not 0: the branch was taken because of that, or the number was written. Where nothing else writes UR2, that
stays so, and every later branch is taken. Functions that the input does not hold are taken to leave it, as the registers that callees save
(`externals.py`, where that is an assumption).
"""

from dataclasses import replace
from itertools import pairwise

from sassan.ir import Function, Guard, Immediate, Instruction, Register
from sassan.isa.facts import Flow
from sassan.isa.registers import bit
from sassan.warpcfg.blocks import FactsOf

_TEST, _WRITE = "ISETP.NE.U32.AND", "UMOV"
_FILE = "UR"


def with_known_prologues(function: Function, facts_of: FactsOf) -> Function:
    """Return a function in which the branch over such a prologue is taken, but for that of the entry."""
    pairs = [(_tested(test, branch, facts_of), branch) for test, branch in pairwise(function.instructions)]
    tested = [(register, branch) for register, branch in pairs if register is not None]
    first = next((register for register, branch in tested if _begins(function, branch)), None)
    later = {branch.address for register, branch in tested if register == first and not _begins(function, branch)}
    if first is None or not later or not all(_keeps(instruction, first, facts_of) for instruction in function.instructions):
        return function
    taken = [replace(each, guard=None) if each.address in later else each for each in function.instructions]
    return replace(function, instructions=tuple(taken))


def _begins(function: Function, branch: Instruction) -> bool:
    """Say whether a branch is the second instruction of a function that is entered at its begin."""
    entry = next((each for each in function.instructions if each.address == function.entry), None)
    return entry is not None and entry.following == branch.address


def _tested(test: Instruction, branch: Instruction, facts_of: FactsOf) -> int | None:
    """Return the register that decides a branch if it is not 0, None for any other pair of instructions."""
    if test.opcode != _TEST or test.guard is not None or test.following != branch.address:
        return None
    known = facts_of(branch)
    if known is None or known.flow is not Flow.BRANCH:
        return None
    match test.operands:
        case (
            Register("P", int(predicate)),
            Register("P", None),
            Register("R", None),
            Register(file, int(index), negated=False),
            Register("P", None, negated=False),
        ) if file == _FILE and branch.guard == Guard("P", predicate, negated=False):
            return index
        case _:
            return None


def _keeps(instruction: Instruction, index: int, facts_of: FactsOf) -> bool:
    """Say whether an instruction leaves a register of the warp as it is, or writes a number into it that is not 0."""
    known = facts_of(instruction)
    if known is None or not known.writes & bit(_FILE, index):
        return known is not None
    match instruction.operands:
        case (_, Immediate(value)):
            return instruction.opcode == _WRITE and value != 0
        case _:
            return False
