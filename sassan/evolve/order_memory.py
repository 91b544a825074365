"""Which PTX instructions may change places at all: arithmetic, and plain loads and stores whose state space is spelled out.

Source: PTX ISA 8.8, sections 5.1 (named state spaces do not overlap) and 8 (weak operations of one thread are ordered by what they
depend on and by fences). Everything else (barriers, atomics, votes, volatile or generic accesses, the clock) keeps its place, and nothing
passes it.
"""

from dataclasses import dataclass

from sassan.frontend.ptx.syntax import Address, Group, Instruction, Name, Operand

PURE = frozenset(
    """
    add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind brev bfe bfi fns dp4a dp2a copysign testp fma rcp sqrt rsqrt sin
    cos lg2 ex2 tanh and or xor not cnot lop3 shf shl shr prmt cvt set setp selp slct cvta isspacep mov addc subc madc
    """.split()  # noqa: SIM905 - a list of words
)
"""They compute from registers, immediates and what never changes while a thread runs."""
_STEADY = ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%lanemask_")
_MOVING = ("%clock", "%globaltimer", "%pm", "%envreg", "%smid", "%warpid")
_SPACES = ("global", "shared", "shared::cta", "local", "const", "param")
_PLAIN = frozenset({"weak", "nc", "ca", "cg", "cs", "wb", "v2", "v4"})
_TYPES = frozenset({"b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16", "f32", "f64"})
_STORED = ("global", "shared", "local")


@dataclass(frozen=True, slots=True)
class Access:
    """Of memory, in one state space; '' is none of it."""

    space: str = ""
    store: bool = False


def access(one: Instruction) -> Access | None:
    """Return what an instruction does beside its registers, None where it keeps its place."""
    mnemonic, *words = one.opcode.split(".")
    if mnemonic in PURE:
        return None if any(_unsteady(name) for name in _names(one.operands)) else Access()
    space = next((word for word in words if word in _SPACES), "")
    if mnemonic not in {"ld", "st"} or not space or not _TYPES.union(_PLAIN, {space}).issuperset(words):
        return None
    space = space.partition("::")[0]
    if mnemonic == "st" and space not in _STORED:
        return None  # a parameter of a call
    return Access(space, store=mnemonic == "st")


def apart(one: Access, other: Access) -> bool:
    """Say whether the order of two instructions means nothing to memory."""
    return one.space != other.space or not (one.store or other.store)


def _unsteady(name: str) -> bool:
    """Say whether a name is, or may be, a special register that changes: variables of the compiler have digits behind their letters."""
    if not name.startswith("%") or name.startswith(_STEADY):
        return False
    return name.startswith(_MOVING) or not any(one.isdigit() for one in name)


def _names(operands: tuple[Operand, ...]) -> list[str]:
    found: list[str] = []
    for one in operands:
        match one:
            case Name(text):
                found.append(text)
            case Group(_, items):
                found += _names(items)
            case Address(base, _, items):
                found += [base.text, *_names(items)]
            case _:
                pass
    return found
