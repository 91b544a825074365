"""What data instructions of sm_70-sm_120 read and write, and which of them lanes with equal operands may see differently.

The default is never: an operation tells lanes apart unless it is listed here. Whatever is on no list is refused.
"""

from sassan.errors import SassanError
from sassan.ir import Constant, Immediate, Instruction, Memory, Operand, Register, Special, Word
from sassan.simt.code import Condition, Operation, number
from sassan.simt.values import key
from soundness.volta_exact import exact

LANEWISE = frozenset(
    """
    MOV SEL FSEL PRMT SGXT BMSK BREV FLO POPC IABS IADD IADD3 VIADD LEA IMAD IMUL IMNMX VIMNMX VIMNMX3 VIADDMNMX ISETP LOP3 PLOP3
    SHF SHL SHR IDP IDP4A P2R R2P FADD FMUL FFMA FMNMX FMNMX3 FSETP FSET FCHK FSWZ FADD32I MUFU DADD DMUL DFMA DMNMX DSETP HADD2
    HMUL2 HFMA2 HSETP2 HSET2 HMNMX2 I2F F2I F2F I2FP F2FP F2IP I2IP FRND LDC LDCU ULDC UMOV USEL UPRMT USGXT UBMSK UBREV UFLO UPOPC
    UIADD3 ULEA UIMAD UVIMNMX UISETP ULOP3 UPLOP3 USHF UFADD UFMUL UFFMA R2UR
    """.split()  # noqa: SIM905 - a list of words
)
"""Results that depend on the operands alone."""

SHARED_MEMORY = frozenset({"LDG", "LDS"})
"""Loads of which every lane sees one value at one address, another one next time."""

GATHERED = frozenset({"VOTE", "VOTEU", "REDUX", "CREDUX"})
"""Every executing lane contributes, and all of them see one result."""

OWN = frozenset({"LD", "LDL", "ATOM", "ATOMG", "ATOMS", "SHFL", "MATCH", "LDSM", "MOVM", "FSWZADD", "HMMA", "IMMA", "DMMA"})
"""Results that may differ between lanes on equal operands; SHFL.IDX has a rule of its own."""

STEADY = frozenset(
    [f"SR_{name}.{axis}" for name in ("CTAID", "NTID", "NCTAID") for axis in "XYZ"]
    + ["SR_SMID", "SR_NSMID", "SR_VIRTUALSMID", "SR_WARPID", "SR_NWARPID", "SR_GRIDID", "SR_CGACTAID", "SRZ"]
)
CLOCKS = frozenset({"SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI"})

TWO_PREDICATES = frozenset({"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "UISETP", "UPLOP3"})
DOUBLE = frozenset({"DADD", "DMUL", "DFMA", "DMNMX", "DSETP"})
PAIRS = frozenset({"IADD", "MOV", "SEL", "UMOV", "UIADD3", "IADD3", "USEL"})
"""With `.64`, every register operand is a pair."""
_SEGMENT = 0x1F00
_PREDICATES = 7


def refuse(instruction: Instruction, why: str) -> SassanError:
    return SassanError("oracle-unknown-opcode", f"{instruction.opcode} at {instruction.address:#x}: {why}")


def operation(instruction: Instruction, root: str, modifiers: list[str], condition: Condition) -> Operation:
    """Return the instruction as a function of its operands."""
    destinations, sources = _split(instruction, root)
    writes = _writes(instruction, root, modifiers, destinations)
    broadcast = _one_copy(instruction, destinations)
    found = exact(root, modifiers, destinations, sources, _width(root, modifiers))
    lane, time = _tells_apart(instruction, root, sources)
    text = f"{instruction.opcode} {' '.join(_shape(one) for one in instruction.operands)}"
    if found is not None:
        reads, how = found
        return Operation(instruction, key(text), reads, writes, condition, lane, time, broadcast=broadcast, exact=how)
    reads = tuple(_reads(root, modifiers, sources))
    gathered: tuple[int, ...] = ()
    if root in GATHERED:
        gathered, reads = reads, ()
    elif root == "SHFL" and not lane:
        gathered, reads = tuple(_span(sources[0], 1)), tuple(_span(sources[1], 1))
    return Operation(instruction, key(text), reads, writes, condition, lane, time, gathered, broadcast)


def _tells_apart(instruction: Instruction, root: str, sources: list[Operand]) -> tuple[bool, bool]:
    """Return whether the result depends on the lane, and on the moment."""
    if root in {"S2R", "S2UR", "CS2R"}:
        name = next((one.name for one in instruction.operands if isinstance(one, Special)), "SRZ")
        return name not in STEADY | CLOCKS, name not in STEADY
    if root in LANEWISE:
        return False, False
    if root in GATHERED or root in SHARED_MEMORY or instruction.opcode.startswith("B2R.RESULT"):
        # Another set of executing threads gets another result: the moment stands for it.
        return False, True
    if instruction.opcode == "SHFL.IDX" and _whole_warp(sources):
        return False, True
    if root in OWN:
        return True, True
    if root == "STL":
        return True, False
    raise refuse(instruction, "on no list")


def _whole_warp(sources: list[Operand]) -> bool:
    """Say whether the third operand of a SHFL is a constant that does not cut the warp into segments."""
    clamp = sources[2] if len(sources) > 2 else None
    if isinstance(clamp, Register) and clamp.index is None:
        return True
    return isinstance(clamp, Immediate) and isinstance(clamp.value, int) and not clamp.value & _SEGMENT


def _split(instruction: Instruction, root: str) -> tuple[list[Operand], list[Operand]]:
    """Return what is written and what is read."""
    operands = list(instruction.operands)
    if root == "STL":
        return [], operands
    if root == "R2P":
        return operands[:1], operands[1:]
    if root in {"VOTE", "VOTEU"}:
        return operands[:-1], operands[-1:]
    if root in TWO_PREDICATES:
        return operands[:2], operands[2:]
    if not operands or not isinstance(operands[0], Register):
        raise refuse(instruction, "no destination register")
    count = 1
    if operands[0].file in {"P", "UP"} and root != "FCHK":
        count = 2
    else:
        # `IADD3 R6, P0, PT, R0, R2, RZ`: the carries stand behind the result.
        while count < len(operands) and _is_predicate(operands[count]):
            count += 1
    return operands[:count], operands[count:]


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file in {"P", "UP"}


def _writes(instruction: Instruction, root: str, modifiers: list[str], destinations: list[Operand]) -> tuple[int, ...]:
    if root == "R2P":
        return tuple(_masked(instruction))
    out: list[int] = []
    for one in destinations:
        if not isinstance(one, Register):
            raise refuse(instruction, "a destination that is no register")
        out += _span(one, _width(root, modifiers))
    return tuple(out)


def _one_copy(instruction: Instruction, destinations: list[Operand]) -> bool:
    files = {one.file for one in destinations if isinstance(one, Register) and one.index is not None}
    if files & {"UR", "UP"} and files & {"R", "P"}:
        raise refuse(instruction, "writes registers of the warp and of its threads")
    return bool(files & {"UR", "UP"})


def _masked(instruction: Instruction) -> list[int]:
    """Return the predicates that the mask of a P2R or R2P selects."""
    mask = instruction.operands[-1]
    if not isinstance(mask, Immediate) or not isinstance(mask.value, int):
        raise refuse(instruction, "no mask")
    bits = (number("P", index) for index in range(_PREDICATES) if mask.value >> index & 1)
    return [bit for bit in bits if bit is not None]


_WIDTHS = {**dict.fromkeys(("DADD", "DMUL", "DFMA", "DMNMX"), 2), "CS2R": 2}


def _width(root: str, modifiers: list[str]) -> int:
    """Return how many registers a destination spans."""
    match root:
        case "F2I":
            wide = not {"S64", "U64"}.isdisjoint(modifiers)
        case "I2F":
            wide = "F64" in modifiers
        case "F2F" | "FRND":
            wide = _first_type(modifiers) == "F64"
        case "HMMA" | "IMMA" | "DMMA":
            return 2 if "F16" in modifiers else 4
        case "LDSM":
            return {"2": 2, "4": 4}.get(modifiers[-1], 1)
        case _:
            return 1 if "32" in modifiers and root == "CS2R" else _WIDTHS.get(root, _plain_width(root, modifiers))
    return 2 if wide else 1


def _plain_width(root: str, modifiers: list[str]) -> int:
    if "128" in modifiers:
        return 4
    wide = "64" in modifiers and (root in PAIRS or root.startswith(("LD", "ATOM", "ULD")))
    return 2 if wide or "WIDE" in modifiers else 1


def _first_type(modifiers: list[str]) -> str:
    return next((one for one in modifiers if one in {"F16", "F32", "F64", "BF16"}), "")


def _reads(root: str, modifiers: list[str], sources: list[Operand]) -> list[int]:
    out: list[int] = []
    for place, one in enumerate(sources):
        match one:
            case Memory(base=base, descriptor=descriptor):
                for register in base:
                    out += _span(register, 2 if "64" in register.modifiers else 1)
                del descriptor  # where a buffer lies, which is the same for all
            case Constant(bank=bank, base=base):
                out += [bit for register in base for bit in _span(register, 1)]
                out += _span(bank, 2) if isinstance(bank, Register) else []
            case Register():
                out += _span(one, _source_width(root, modifiers, place))
            case Word(text="PR"):
                out += [bit for bit in (number("P", index) for index in _selected(sources)) if bit is not None]
            case _:
                pass
    return out


def _selected(sources: list[Operand]) -> list[int]:
    mask = sources[-1]
    value = mask.value if isinstance(mask, Immediate) and isinstance(mask.value, int) else -1
    return [index for index in range(_PREDICATES) if value >> index & 1]


def _source_width(root: str, modifiers: list[str], place: int) -> int:
    if root in DOUBLE or ("64" in modifiers and root in PAIRS):
        return 2
    if root == "F2F":
        types = [one for one in modifiers if one in {"F16", "F32", "F64", "BF16"}]
        return 2 if types[1:2] == ["F64"] else 1
    if root in {"F2I", "FRND"}:
        return 2 if "F64" in modifiers else 1
    if root in {"I2F", "ISETP", "UISETP"}:
        return 2 if {"S64", "U64"} & set(modifiers) else 1
    # The addend of a wide or high multiplication has 64 bits.
    return 2 if root in {"IMAD", "UIMAD"} and {"WIDE", "HI"} & set(modifiers) and place == 2 else 1


def _span(operand: Operand, count: int) -> list[int]:
    if not isinstance(operand, Register):
        return []
    first = number(operand.file, operand.index)
    return [] if first is None else list(range(first, first + (count if operand.file in {"R", "UR"} else 1)))


def _shape(operand: Operand) -> str:
    """Return everything of an operand but which register it names: that part of the function the instruction computes."""
    match operand:
        case Register(index=index, modifiers=modifiers):
            signs = f"{operand.negated:d}{operand.absolute:d}{operand.inverted:d}"
            return f"{operand.file}{'Z' if index is None else ''}{signs}{'.'.join(one for one in modifiers if one != 'reuse')}"
        case Memory(offset=offset):
            return f"[{offset}]"
        case Constant(bank=bank, offset=offset, modifiers=modifiers):
            name = "" if isinstance(bank, Register) else bank
            return f"c[{name}][{offset}]{operand.negated:d}{operand.absolute:d}{operand.inverted:d}{'.'.join(modifiers)}"
        case _:
            return str(operand)
