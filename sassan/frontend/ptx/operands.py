"""From parse trees to operands."""

from typing import TYPE_CHECKING

from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.ptx.syntax import Address, Identifier, Not, NumericLiteral, Operand, OperandTuple, Sum

if TYPE_CHECKING:
    from lark import Token, Tree

DEEPEST = 100
"""Limit on the nesting of brackets."""

_OPENING = {"vector": "{", "group": "(", "pair": "|"}


def operand_of(tree: "Tree[Token]", depth: int = 0) -> Operand:
    """Return the operand of a parse tree; raises SyntaxProblem if brackets are nested too deep."""
    tokens, _ = parts(tree)
    if depth > DEEPEST:
        raise SyntaxProblem(f"brackets are nested more than {DEEPEST} deep", 0, ("_END",))
    match tree.data:
        case "name":
            return Identifier(str(tokens[0]))
        case "number":
            return NumericLiteral(literal(tokens[0]))
        case "not":
            return Not(str(tokens[0]))
        case "sum":
            return Sum(str(tokens[0]), literal(tokens[1]))
        case _:
            return _composed(tree, depth)


def _composed(tree: "Tree[Token]", depth: int) -> Operand:
    _, trees = parts(tree)
    if tree.data == "address":
        return _address(trees, depth)
    return OperandTuple(_OPENING[str(tree.data)], tuple(operand_of(child, depth + 1) for child in trees))


def _address(trees: "list[Tree[Token]]", depth: int) -> Address:
    base = operand_of(trees[0])
    assert isinstance(base, Identifier | NumericLiteral)
    rest = trees[1:]
    offset = ""
    if rest and rest[0].data == "offset":
        offset = literal(parts(rest[0])[0][0])
        rest = rest[1:]
    return Address(base, offset, tuple(operand_of(child, depth + 1) for child in rest))


def literal(token: str) -> str:
    """Return a literal without blanks after its sign."""
    return "-" + token[1:].lstrip() if token.startswith("-") else str(token)


def guard_text(token: str) -> str:
    """Return `!%p1` for `@ ! %p1`."""
    return "".join(token[1:].split())


def parts(tree: "Tree[Token]") -> "tuple[list[Token], list[Tree[Token]]]":
    """Return the tokens and the trees below a tree, each in order."""
    tokens = [child for child in tree.children if isinstance(child, str)]
    return tokens, [child for child in tree.children if not isinstance(child, str)]
