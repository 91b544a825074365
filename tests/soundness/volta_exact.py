"""Results that are real numbers on the oracle's machine since Volta: what return addresses and stack pointers are made with.

Moves, sums and spills; everything else stays uninterpreted.
"""

from sassan.ir import CodeAddress, Immediate, Memory, Operand, Register, Target
from sassan.simt.code import Linear, LocalAccess, number

Exact = tuple[tuple[int, ...], Linear | LocalAccess]
"""The registers read, in the order in which the rule counts them."""

_SUMS = frozenset({"IADD3", "VIADD", "IADD", "UIADD3"})


def exact(root: str, modifiers: list[str], destinations: list[Operand], sources: list[Operand], width: int) -> Exact | None:
    """Return the exact rule of an instruction, None where it has none."""
    if root in {"LDL", "STL"}:
        return _local(root, modifiers, sources)
    if width != 1 or any(isinstance(one, Register) and one.file in {"P", "UP"} and one.index is not None for one in destinations):
        return None
    terms = _terms(root, modifiers, sources)
    if terms is None or _types(modifiers):
        return None
    return _sum(terms)


def _types(modifiers: list[str]) -> bool:
    return bool({"X", "SAT", "64", "HI", "CC"} & set(modifiers))


def _terms(root: str, modifiers: list[str], sources: list[Operand]) -> list[Operand] | None:
    """Return the operands whose sum is the result."""
    if root in {"MOV", "UMOV", "R2UR"}:
        return sources[:1]
    if root in _SUMS:
        return sources
    if root == "IMAD" and modifiers[:1] == ["MOV"]:
        return sources[2:]
    if root == "IMAD" and modifiers[:1] == ["IADD"]:
        return [sources[0], sources[2]]
    if root == "IMAD" and modifiers == ["U32"] and all(isinstance(one, Register) and one.index is None for one in sources[:2]):
        return sources[2:]
    return None


def _sum(terms: list[Operand]) -> Exact | None:
    constant, reads, factors = 0, [], []
    for one in terms:
        match one:
            case Immediate(value=int(value)):
                constant += value
            case CodeAddress(address=address, high=high):
                constant += 0 if high else address
            case Target(address=address):
                constant += address
            case Register(file="R" | "UR", absolute=False, inverted=False) if {"H0_H0", "H1_H1", "64"}.isdisjoint(one.modifiers):
                register = number(one.file, one.index)
                if register is not None:
                    reads.append(register)
                    factors.append(-1 if one.negated else 1)
            case _:
                return None
    return tuple(reads), Linear(constant, tuple(factors))


def _local(root: str, modifiers: list[str], sources: list[Operand]) -> Exact | None:
    place = sources[0]
    if not isinstance(place, Memory):
        return None
    base = [bit for bit in (number(one.file, one.index) for one in place.base) if bit is not None]
    whole = {"U8", "S8", "U16", "S16"}.isdisjoint(modifiers)
    if root == "LDL":
        return (tuple(base), LocalAccess(place.offset, len(base), store=False)) if whole else None
    count = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    data = sources[1]
    first = number(data.file, data.index) if isinstance(data, Register) else None
    if first is None:
        return tuple(base), LocalAccess(place.offset, len(base), store=True, whole=whole, zeros=count)
    return (*base, *range(first, first + count)), LocalAccess(place.offset, len(base), store=True, whole=whole)
