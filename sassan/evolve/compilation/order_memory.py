"""Which PTX instructions may be reordered: arithmetic, and plain loads and stores with an explicit state space.

Source: PTX ISA 8.8, sections 5.1 (named state spaces do not overlap) and 8 (weak operations of a thread are ordered by
dependences and by fences). All other instructions (barriers, atomics, votes, volatile or generic accesses, the clock) keep their position,
and no instruction moves across them.
"""

from dataclasses import dataclass

from sassan.frontend.ptx.syntax import Address, Identifier, InstructionStatement, Operand, OperandTuple

PURE = frozenset(
    """
    add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind brev bfe bfi fns dp4a dp2a copysign testp fma rcp sqrt rsqrt sin
    cos lg2 ex2 tanh and or xor not cnot lop3 shf shl shr prmt cvt set setp selp slct cvta isspacep mov addc subc madc
    """.split()  # noqa: SIM905 - a list of words
)
"""Opcodes that compute from registers, immediates and special registers that are constant while a thread runs."""
_STEADY = ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%lanemask_")
_MOVING = ("%clock", "%globaltimer", "%pm", "%envreg", "%smid", "%warpid")
_SPACES = ("global", "shared", "shared::cta", "local", "const", "param")
_PLAIN = frozenset({"weak", "nc", "ca", "cg", "cs", "wb", "v2", "v4"})
_TYPES = frozenset({"b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16", "f32", "f64"})
_STORED = ("global", "shared", "local")


@dataclass(frozen=True, slots=True)
class StateSpaceAccess:
    """A memory access in a state space; '' if there is none."""

    space: str = ""
    store: bool = False


def access(instruction: InstructionStatement) -> StateSpaceAccess | None:
    """Return the memory access of an instruction, None if the instruction must keep its position."""
    mnemonic, *words = instruction.opcode.split(".")
    if mnemonic in PURE:
        return None if any(_unsteady(name) for name in _names(instruction.operands)) else StateSpaceAccess()
    space = next((word for word in words if word in _SPACES), "")
    if mnemonic not in {"ld", "st"} or not space or not _TYPES.union(_PLAIN, {space}).issuperset(words):
        return None
    space = space.partition("::")[0]
    if mnemonic == "st" and space not in _STORED:
        return None  # a parameter of a call
    return StateSpaceAccess(space, store=mnemonic == "st")


def commute(first: StateSpaceAccess, second: StateSpaceAccess) -> bool:
    """Return whether two accesses commute."""
    return first.space != second.space or not (first.store or second.store)


def _unsteady(name: str) -> bool:
    """Return whether a name may be a special register that changes; compiler variables end in digits."""
    if not name.startswith("%") or name.startswith(_STEADY):
        return False
    return name.startswith(_MOVING) or not any(letter.isdigit() for letter in name)


def _names(operands: tuple[Operand, ...]) -> list[str]:
    names: list[str] = []
    for operand in operands:
        match operand:
            case Identifier(text):
                names.append(text)
            case OperandTuple(_, items):
                names += _names(items)
            case Address(base, _, items):
                names += [base.text, *_names(items)]
            case _:
                pass
    return names
