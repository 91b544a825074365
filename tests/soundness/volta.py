"""What the oracle knows of sm_70-sm_120 control instructions, sharing no line with `isa/`.

Written from docs/concepts/warp-machine.md, docs/concepts/machine-code.md and listings.

What data instructions compute is in `volta_data.py`; where code addresses and spills need real numbers, in `volta_exact.py`.
"""

from sassan.ir import Function, Immediate, Instruction, Operand, Register, Target
from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, WARPSYNC_TAG, BarrierMove, Clear, Condition, ControlTransfer, Decoded, Push, Test, Unity, number
from sassan.simt.values import key
from soundness.volta_data import operation, refuse

EFFECTLESS = frozenset(
    """
    NOP STG STS ST RED REDG BAR MEMBAR DEPBAR LDGDEPBAR LDGSTS CCTL CCTLL CCTLT ERRBAR CGAERRBAR YIELD NANOSLEEP WARPSYNC ENDCOLLECTIVE
    BPT PMTRIG UCGABAR_ARV UCGABAR_WAIT ARRIVES FENCE ACQBULK SETCTAID PREEXIT UTMACMDFLUSH WARPARRIVE
    """.split()  # noqa: SIM905 - a list of words
)
"""No register changes, and no thread moves: a BAR waits for other warps, a WARPSYNC of some threads is taken not to merge."""

BRANCHES = frozenset({"BRA", "UBRA", "JMP"})
INDIRECT = frozenset({"BRX", "BRXU", "JMX", "JMXU"})
_WARP = 0xFFFFFFFF


class Volta:
    """The decoder of the oracle since Volta; a call through a register may enter any device function of the code."""

    def __init__(self, function: Function) -> None:
        self._functions = tuple(address for address, _ in function.symbols if address != function.entry)

    def decode(self, instruction: Instruction) -> Decoded:
        """Return what the instruction does; an unknown one raises `oracle-unknown-opcode`."""
        root, *modifiers = instruction.opcode.split(".")
        guard = guarded(instruction)
        for decode in (_barrier, _branch, self._call, _leaving):
            found = decode(instruction, root, modifiers, guard)
            if found is not None:
                return found
        return None if root in EFFECTLESS else operation(instruction, root, modifiers, guard)

    def _call(self, instruction: Instruction, root: str, modifiers: list[str], guard: Condition) -> Decoded:
        del modifiers
        if root != "CALL":
            return None
        through = next((one for one in instruction.operands if isinstance(one, Register) and one.file == "R"), None)
        if through is None:
            return ControlTransfer(Flow.CALL, _with_operands(guard, instruction.operands), target=_target(instruction))
        register = number(through.file, through.index)
        if register is None or not self._functions:
            raise refuse(instruction, "through a register, to nowhere")
        return ControlTransfer(Flow.INDIRECT_CALL, guard, targets=self._functions, selector=(register, register + 1), key=key("CALL"))


def guarded(instruction: Instruction) -> Condition:
    """Return the condition that the guard alone is."""
    guard = instruction.guard
    if guard is None:
        return ALWAYS
    register = number(guard.file, guard.index)
    if register is None:
        return Condition(never=True) if guard.negated else ALWAYS
    return Condition((Test(register, guard.negated),))


def _with_operands(guard: Condition, operands: tuple[Operand, ...]) -> Condition:
    """Return the guard and every predicate operand: `@P0 BRA P2, L` is taken where both hold."""
    tests, never = list(guard.tests), guard.never
    for one in operands:
        if isinstance(one, Register) and one.file in {"P", "UP"}:
            register = number(one.file, one.index)
            if register is not None:
                tests.append(Test(register, one.negated))
            never = never or (register is None and one.negated)
    return Condition(tuple(tests), never)


def _barrier(instruction: Instruction, root: str, modifiers: list[str], guard: Condition) -> Decoded:
    operands = instruction.operands
    match root:
        case "BSSY":
            if guard != ALWAYS:
                raise refuse(instruction, "guarded")
            return Push(_tag(operands[0], instruction), _target(instruction))
        case "BSYNC":
            return ControlTransfer(Flow.POP, _with_operands(guard, operands), tag=_tag(operands[-1], instruction))
        case "BREAK":
            return ControlTransfer(Flow.BREAK, _with_operands(guard, operands), tag=_tag(operands[-1], instruction))
        case "BMOV":
            return _move(instruction, modifiers, guard)
        case "WARPSYNC":
            return _warpsync(instruction, modifiers, guard)
        case _:
            return None


def _move(instruction: Instruction, modifiers: list[str], guard: Condition) -> Decoded:
    if "32" not in modifiers:
        raise refuse(instruction, "not of 32 bits")
    into, out = instruction.operands
    if isinstance(into, Register) and into.file == "B" and isinstance(out, Immediate) and isinstance(out.value, int):
        return ControlTransfer(Flow.NONE, guard, moves=BarrierMove(_tag(into, instruction), None, save=False, mask=out.value))
    if not isinstance(into, Register) or not isinstance(out, Register):
        raise refuse(instruction, "not between registers")
    if into.file == out.file == "B":
        moves = BarrierMove(_tag(into, instruction), None, save=False, clear="CLEAR" in modifiers, source=_tag(out, instruction))
        return ControlTransfer(Flow.NONE, guard, moves=moves)
    if into.file == "B":
        source = number(out.file, out.index)
        return ControlTransfer(Flow.NONE, guard, moves=BarrierMove(_tag(into, instruction), source, save=False))
    destination, tag = number(into.file, into.index), _tag(out, instruction)
    if destination is None and guard == ALWAYS and "CLEAR" in modifiers:
        return Clear(tag)
    return ControlTransfer(Flow.NONE, guard, moves=BarrierMove(tag, destination, save=True, clear="CLEAR" in modifiers))


def _warpsync(instruction: Instruction, modifiers: list[str], guard: Condition) -> Decoded:
    """Only a WARPSYNC of the whole warp merges; behind a collective one, all threads execute what it holds together."""
    if "COLLECTIVE" in modifiers:
        return None
    mask = instruction.operands[-1] if instruction.operands else None
    every = "ALL" in modifiers or (isinstance(mask, Immediate) and isinstance(mask.value, int) and mask.value & _WARP == _WARP)
    return ControlTransfer(Flow.WARP_BARRIER, _with_operands(guard, instruction.operands), tag=WARPSYNC_TAG) if every else None


def _branch(instruction: Instruction, root: str, modifiers: list[str], guard: Condition) -> Decoded:
    if root in INDIRECT:
        if not instruction.targets:
            raise refuse(instruction, "no table of targets")
        registers = [one for one in instruction.operands if isinstance(one, Register) and one.file in {"R", "UR"}]
        selector = tuple(bit for one in registers for bit in (number(one.file, one.index),) if bit is not None)
        condition = _with_operands(guard, instruction.operands)
        return ControlTransfer(Flow.INDIRECT_BRANCH, condition, targets=instruction.targets, selector=selector, key=key("BRX"))
    if root not in BRANCHES:
        return None
    condition = _with_operands(guard, instruction.operands)
    unity = Unity.EACH
    if "DIV" in modifiers or "CONV" in modifiers:
        unity = Unity.OPEN
    elif "U" in modifiers or root == "UBRA":
        unity = Unity.FIRST
    return ControlTransfer(Flow.BRANCH, condition, target=_target(instruction), unity=unity)


def _leaving(instruction: Instruction, root: str, modifiers: list[str], guard: Condition) -> Decoded:
    condition = _with_operands(guard, instruction.operands)
    match root:
        case "RET":
            where = instruction.operands[0]
            register = number(where.file, where.index) if isinstance(where, Register) else None
            if register is None:
                raise refuse(instruction, "not through a register")
            # A relative return counts from the start of the section.
            base = next((one.address for one in instruction.operands if isinstance(one, Target)), 0) if "REL" in modifiers else 0
            return ControlTransfer(Flow.RETURN, condition, selector=(register,), base=base)
        case "EXIT" | "KILL":
            return ControlTransfer(Flow.EXIT, condition)
        case "BPT":
            return ControlTransfer(Flow.TRAP, guard) if "TRAP" in modifiers else None
        case _:
            return None


def _tag(operand: Operand, instruction: Instruction) -> str:
    if isinstance(operand, Register) and operand.file == "B" and operand.index is not None:
        return f"B{operand.index}"
    raise refuse(instruction, "no barrier register")


def _target(instruction: Instruction) -> int:
    for one in instruction.operands:
        if isinstance(one, Target):
            return one.address
    raise refuse(instruction, "no code address")
