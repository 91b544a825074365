"""What the oracle knows of sm_50-sm_62 instructions: written from the ISA and docs/concepts/warp-states.md, sharing no line with `isa/`.

The analyser's tables and this file must be wrong in the same way before the machine misses a false agreement. The default is never: an
operation tells lanes apart unless it is listed here.
"""

from sassan.errors import SassanError
from sassan.ir import Constant, Function, Immediate, Instruction, Memory, Operand, Register, Special, Target, Word
from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, Condition, ControlTransfer, Decoded, Operation, Push, Test, number
from sassan.simt.values import key

LANEWISE = frozenset(
    """
    MOV MOV32I SEL PRMT IADD IADD32I IADD3 ISCADD ISCADD32I LEA XMAD IMAD IMAD32I IMUL IMUL32I SHL SHR SHF LOP LOP32I LOP3
    BFE BFI FLO POPC IMNMX ISETP ISET ICMP PSETP PSET P2R R2P FADD FADD32I FMUL FMUL32I FFMA FFMA32I FMNMX FSETP FSET FCMP
    FCHK MUFU RRO DADD DMUL DFMA DMNMX DSETP DSET HADD2 HMUL2 HFMA2 HSETP2 HSET2 I2F F2I F2F I2I VMNMX VADD VMAD VABSDIFF
    VSETP VSHL VSHR LDC
    """.split()  # noqa: SIM905 - a list of words
)
"""Results that depend on the operands alone."""

SHARED_MEMORY = frozenset({"LDG", "LDS"})
"""Loads of which every lane sees one value at one address, another one next time."""

OWN = frozenset({"LD", "LDL", "ATOM", "ATOMS", "SHFL", "VOTE", "FSWZADD"})
"""Results that may differ between lanes on equal operands; VOTE and SHFL.IDX have rules of their own."""

EFFECTLESS = frozenset(
    "NOP STG STL STS ST RED BAR MEMBAR DEPBAR CCTL CCTLL CCTLT TEXDEPBAR ERRBAR".split()  # noqa: SIM905 - a list of words
)
"""No register changes, and no thread moves (a BAR does not move threads before Volta)."""

STEADY = frozenset(
    [f"SR_{name}.{axis}" for name in ("CTAID", "NTID", "NCTAID") for axis in "XYZ"]
    + ["SR_SMID", "SR_NSMID", "SR_WARPID", "SR_NWARPID", "SR_GRIDID"]
)
CLOCKS = frozenset({"SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI"})

INDIRECT_CALL = '(*"INDIRECT_CALL"*)'
"""The note of a disassembler at a BRX or JMX that calls."""
PUSHES = {"SSY": "SYNC", "PBK": "BRK", "PCNT": "CONT", "PRET": "RET"}
POPS = frozenset({"SYNC", "BRK", "CONT", "RET"})
DOUBLE = frozenset({"DADD", "DMUL", "DFMA", "DMNMX", "DSETP", "DSET"})
CONVERSIONS = frozenset({"I2F", "F2I", "F2F", "I2I"})
TWO_PREDICATES = frozenset({"ISETP", "FSETP", "DSETP", "PSETP", "HSETP2", "VSETP"})
_TYPES = frozenset([f"{kind}{size}" for kind in "FUS" for size in (8, 16, 32, 64)])
_SEGMENT = 0x1F00
_CC = number("CC", 0)
_ALL_PREDICATES = tuple(number("P", index) for index in range(7))


class Maxwell:
    """The decoder of the oracle for Maxwell and Pascal; a call through a register may enter any device function of the code."""

    def __init__(self, function: Function | None = None) -> None:
        self._functions = tuple(address for address, _ in function.symbols if address != function.entry) if function is not None else ()

    def decode(self, instruction: Instruction) -> Decoded:
        """Return what the instruction does; an unknown one raises `oracle-unknown-opcode`."""
        root, *modifiers = instruction.opcode.split(".")
        condition = _condition(instruction)
        if INDIRECT_CALL in instruction.notes and self._functions:
            selector = tuple(bit for one in instruction.operands for bit in _reads(one, 1))
            return ControlTransfer(Flow.INDIRECT_CALL, condition, targets=self._functions, selector=selector, key=key("CALL"))
        control = _control(instruction, root, condition)
        if control is not None:
            return control
        if root in EFFECTLESS or (root == "BPT" and "TRAP" not in modifiers):
            return None
        return _operation(instruction, root, modifiers, condition)


def _refuse(instruction: Instruction, why: str) -> SassanError:
    return SassanError("oracle-unknown-opcode", f"{instruction.opcode} at {instruction.address:#x}: {why}")


def _condition(instruction: Instruction) -> Condition:
    guard = instruction.guard
    tests: list[Test] = []
    if guard is not None:
        register = number(guard.file, guard.index)
        if register is None and guard.negated:
            return Condition(never=True)
        if register is not None:
            tests.append(Test(register, guard.negated))
    if instruction.condition:
        assert _CC is not None
        name = instruction.condition.removeprefix("CC.")
        if name == "F":
            return Condition(never=True)
        if name != "T":
            tests.append(Test(_CC, flags=key(f"CC {name}")))
    return _and(tests, instruction) if instruction.opcode.split(".")[0] in {"BRA", "JMP"} else _all(tests)


def _and(tests: list[Test], instruction: Instruction) -> Condition:
    """`BRA P2, L` is taken where the guard, the CC test and P2 hold."""
    for one in instruction.operands:
        if isinstance(one, Register) and one.file == "P":
            register = number(one.file, one.index)
            if register is not None:
                tests.append(Test(register, one.negated))
            elif one.negated:
                return Condition(never=True)
    return _all(tests)


def _all(tests: list[Test]) -> Condition:
    return Condition(tuple(tests)) if tests else ALWAYS


def _control(instruction: Instruction, root: str, condition: Condition) -> Decoded:
    if root in PUSHES or root in {"CAL", "JCAL"}:
        if condition != ALWAYS:
            raise _refuse(instruction, "guarded")
        target = _target(instruction)
        return Push(PUSHES[root], target) if root in PUSHES else ControlTransfer(Flow.CALL, tag="RET", target=target)
    if root in {"BRA", "JMP"}:
        return ControlTransfer(Flow.BRANCH, condition, target=_target(instruction))
    if root in {"BRX", "JMX"}:
        if not instruction.targets:
            raise _refuse(instruction, "no table of targets")
        selector = tuple(bit for one in instruction.operands for bit in _reads(one, 1))
        return ControlTransfer(Flow.INDIRECT_BRANCH, condition, targets=instruction.targets, selector=selector, key=key("BRX"))
    if root in POPS:
        return ControlTransfer(Flow.POP, condition, tag=root)
    if root in {"EXIT", "KIL"}:
        return ControlTransfer(Flow.EXIT, condition)
    return ControlTransfer(Flow.TRAP, condition) if instruction.opcode.startswith("BPT.TRAP") else None


def _target(instruction: Instruction) -> int:
    for one in instruction.operands:
        if isinstance(one, Target):
            return one.address
    raise _refuse(instruction, "no code address")


def _operation(instruction: Instruction, root: str, modifiers: list[str], condition: Condition) -> Operation:
    writes, sources = _destinations(instruction, root, modifiers)
    width = _source_width(root, modifiers)
    reads = [bit for one in sources for bit in _reads(one, _address_width(root, modifiers) if isinstance(one, Memory) else width)]
    if any(one.startswith("X") and one != "XOR" for one in modifiers) and _CC is not None:
        reads.append(_CC)
    gathered: list[int] = []
    if root == "VOTE":
        gathered, reads = reads, []
    elif instruction.opcode == "SHFL.IDX" and _whole_warp(sources):
        gathered, reads = list(_reads(sources[0], 1)), list(_reads(sources[1], 1))
    text = f"{instruction.opcode} {' '.join(_shape(one) for one in instruction.operands)}"
    lane, time = _tells_apart(instruction, root, modifiers, bool(gathered))
    return Operation(instruction, key(text), tuple(reads), writes, condition, lane, time, tuple(gathered))


def _tells_apart(instruction: Instruction, root: str, modifiers: list[str], gathered: bool) -> tuple[bool, bool]:
    """Return whether the result depends on the lane, and on the moment."""
    if root in {"S2R", "CS2R"}:
        name = next((one.name for one in instruction.operands if isinstance(one, Special)), "")
        return name not in STEADY | CLOCKS, name not in STEADY
    if root == "VOTE":
        # Another set of executing threads gets another result: the moment stands for it.
        return modifiers[0] not in {"ANY", "ALL", "EQ"}, True
    if root == "SHFL" and gathered:
        return False, True
    if root in LANEWISE:
        return False, False
    if root in SHARED_MEMORY or instruction.opcode == "B2R.RESULT":
        return False, True
    if root in OWN:
        return True, True
    raise _refuse(instruction, "on no list")


def _destinations(instruction: Instruction, root: str, modifiers: list[str]) -> tuple[tuple[int, ...], list[Operand]]:
    operands = list(instruction.operands)
    if root == "R2P":
        return tuple(bit for bit in _ALL_PREDICATES if bit is not None), operands[1:]
    first = operands[0]
    if not isinstance(first, Register):
        raise _refuse(instruction, "no destination register")
    both = root in TWO_PREDICATES | {"VOTE", "B2R"} or (first.file == "P" and root != "FCHK")
    count = 2 if both and len(operands) > 1 else 1
    writes: list[int] = []
    for one in operands[:count]:
        assert isinstance(one, Register)
        writes += _span(one, _width(root, modifiers))
        if "CC" in one.modifiers and _CC is not None:
            writes.append(_CC)
    return tuple(writes), operands[count:]


def _span(register: Register, count: int) -> list[int]:
    first = number(register.file, register.index)
    return [] if first is None else list(range(first, first + (count if register.file == "R" else 1)))


def _width(root: str, modifiers: list[str]) -> int:
    """Return how many registers a destination spans."""
    if root in CONVERSIONS:
        return 2 if _types(modifiers)[:1] in (["F64"], ["U64"], ["S64"]) else 1
    if root in {"DADD", "DMUL", "DFMA", "DMNMX"} or (root == "CS2R" and "32" not in modifiers):
        return 2
    if root[:2] == "LD" or root[:4] == "ATOM":
        return 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    return 1


def _source_width(root: str, modifiers: list[str]) -> int:
    if root in CONVERSIONS:
        return 2 if _types(modifiers)[1:2] in (["F64"], ["U64"], ["S64"]) else 1
    return 2 if root in DOUBLE else 1


def _types(modifiers: list[str]) -> list[str]:
    return [one for one in modifiers if one in _TYPES]


def _address_width(root: str, modifiers: list[str]) -> int:
    return 2 if "E" in modifiers and root in {"LD", "LDG", "ATOM"} else 1


def _reads(operand: Operand, width: int) -> tuple[int, ...]:
    match operand:
        case Register():
            return tuple(_span(operand, width))
        case Memory(base=base):
            return tuple(bit for one in base for bit in _span(one, width))
        case Constant(base=base):
            return tuple(bit for one in base for bit in _span(one, 1))
        case Word(text="PR"):
            return tuple(bit for bit in _ALL_PREDICATES if bit is not None)
        case _:
            return ()


def _whole_warp(sources: list[Operand]) -> bool:
    """Say whether the third operand of a SHFL is a constant that does not cut the warp into segments."""
    clamp = sources[2] if len(sources) > 2 else None
    return isinstance(clamp, Immediate) and isinstance(clamp.value, int) and not clamp.value & _SEGMENT


def _shape(operand: Operand) -> str:
    """Return everything of an operand but which register it names: that part of the function the instruction computes."""
    match operand:
        case Register(index=index, modifiers=modifiers):
            signs = f"{operand.negated:d}{operand.absolute:d}{operand.inverted:d}"
            return f"{operand.file}{'Z' if index is None else ''}{signs}{'.'.join(one for one in modifiers if one != 'reuse')}"
        case Memory(offset=offset):
            return f"[{offset}]"
        case Constant(bank=bank, offset=offset, modifiers=modifiers):
            return f"c[{bank}][{offset}]{operand.negated:d}{operand.absolute:d}{operand.inverted:d}{'.'.join(modifiers)}"
        case _:
            return str(operand)
