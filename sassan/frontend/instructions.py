"""From the text of one instruction to guard, opcode and operands; a plain parser, and a fast one that is tested against it.

The plain parser reads every instruction with the grammar: some 200 us each. The fast one caches, for one input, each
guard-and-opcode, each operand, and each *shape* of operand (its text without the digits): only a new shape is parsed with the grammar.
Whatever does not match `_SIMPLE`, an error in particular, is left to the plain parser.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sassan.frontend.grammar import Grammar, SyntaxProblem, instruction_grammar
from sassan.frontend.operands import Makers
from sassan.ir import Guard, Immediate, Operand, Register, Target
from sassan.isa import spelling

if TYPE_CHECKING:
    from lark import Token, Tree


class ParsedInstruction(NamedTuple):
    """An instruction before its address is known; `opens` and `closes` are the braces of a dual issue."""

    text: str
    guard: Guard | None
    opcode: str
    condition: str
    operands: tuple[Operand, ...]
    notes: tuple[str, ...]
    opens: bool
    closes: bool
    leads: bool
    """Whether an operand may be a code address, to be resolved when all labels are known."""
    indent: int
    """Where `text` starts in the body."""


class Parser(Protocol):
    """Reads the part of an instruction line between the address and the encoding; raises SyntaxProblem."""

    def parse(self, body: str) -> ParsedInstruction:
        """Return the instruction in `body`."""
        ...


class PlainParser:
    """Parses every instruction with the grammar."""

    def __init__(self) -> None:
        """Load the grammar."""
        self._grammar = instruction_grammar()

    def parse(self, body: str) -> ParsedInstruction:
        """Return the instruction in `body`; raises SyntaxProblem with a position in `body`."""
        tree = self._grammar.parse(body, "instruction")
        tokens = [child for child in tree.children if isinstance(child, str)]
        kinds = {token.type: token for token in tokens}
        opcode = kinds["OPCODE"]
        first = kinds.get("GUARD", opcode).start_pos or 0
        end = next(token.start_pos or 0 for token in tokens if token.type in _AFTER)
        makers = Makers({})
        operands = [makers.operand(operand)(()) for group in tree.children if not isinstance(group, str) for operand in _trees(group)]
        condition, rest = _condition(tuple(operands))
        guard = guard_of(kinds["GUARD"]) if "GUARD" in kinds else None
        notes = tuple(str(token) for token in tokens if token.type in ("SCHEDULE", "NOTE"))
        text = " ".join(body[first:end].split())
        leads = _leads(str(opcode), rest)
        return ParsedInstruction(text, guard, str(opcode), condition, rest, notes, "OPEN" in kinds, "CLOSE" in kinds, leads, first)


_AFTER = frozenset(("SCHEDULE", "NOTE", "HALF", "SEMICOLON", "CLOSE"))

# Blanks are single here, and every repetition of a class is possessive: no input makes this pattern backtrack far. Groups are not: Python
# before 3.11.5 loses matches of possessive groups (python/cpython#106052).
_SIMPLE = re.compile(
    r"(\{ )?"
    r"((?:@!?U?P[0-9T] )?[A-Z]\w*+(?:\.\w++)*)(?=[ ;}])"
    r"([^&?;`\"(){}@]*+(?:(?:`\([\w.$]++\)|\{[0-9,]++\}) ?)?)"
    r"((?:[&?]\w++(?:=(?:0x[0-9a-f]++|[0-9]++|\{[0-9,]*+\}))? ?)*)"
    r"(\(\*\"[\w .,$]++\"\*\) ?)?"
    r"(?:;(?: (\}))?|(\}))",
    re.ASCII,
)
_SCHEDULE = re.compile(r"[&?][^&? ]++")
_HOLE = re.compile(
    r"((?<=0x)[0-9a-f]++(?!\w)"
    r"|(?:(?<=(?<![\w.$])[RPB])|(?<=(?<![\w.$])U[RP])|(?<=(?<![\w.$])SB))[0-9]{1,3}+(?![\w$])"
    r"|(?<=`\(\.L_x_)[0-9]++(?=\))"
    r"|(?<![\w.])[0-9]++\.[0-9]++(?:e[-+]?[0-9]{1,3})?(?![\w@]))"
)

_Shape = tuple[Callable[[list[str]], Operand], ...]


class TemplateParser:
    """The fast parser; it caches the instructions of one input, so each input needs its own."""

    def __init__(self) -> None:
        """Start with empty caches."""
        self._plain = PlainParser()
        self._grammar: Grammar = instruction_grammar()
        self._bodies: dict[str, ParsedInstruction] = {}
        self._heads: dict[str, tuple[Guard | None, str]] = {}
        self._operands: dict[str, tuple[Operand, ...]] = {}
        self._shapes: dict[str, _Shape | None] = {}

    def parse(self, body: str) -> ParsedInstruction:
        """Return the instruction in `body`; raises SyntaxProblem with a position in `body`."""
        parsed = self._bodies.get(body)
        if parsed is None:
            self._bodies[body] = parsed = self._parse(body)
        return parsed

    def _parse(self, body: str) -> ParsedInstruction:
        # Printable: the only blanks in it are spaces, so that `split` agrees with the grammar on what is a blank.
        match = _SIMPLE.fullmatch(" ".join(body.split())) if body.isprintable() else None
        if match is None:
            return self._plain.parse(body)
        opens, head, middle, schedule, note, closes_after, closes = match.groups()
        listed = middle.strip()
        try:
            guard, opcode = self._heads.get(head) or self._head(head)
            operands = self._list(listed) if listed else ()
        except SyntaxProblem:
            return self._plain.parse(body)
        condition = ""
        if operands and type(operands[0]) is Register and operands[0].file == "CC":
            condition, operands = _condition(operands)
        notes = (*_SCHEDULE.findall(schedule), *((note.rstrip(),) if note else ())) if schedule or note else ()
        text = f"{head} {listed}" if listed else head
        indent = len(body) - len(body.lstrip(" \t{"))
        both = opens is not None, (closes_after or closes) is not None
        return ParsedInstruction(text, guard, opcode, condition, operands, notes, *both, _leads(opcode, operands), indent)

    def _head(self, head: str) -> tuple[Guard | None, str]:
        before, _, opcode = head.rpartition(" ")
        made = (guard_of(before) if before else None), opcode
        self._heads[head] = made
        return made

    def _list(self, listed: str) -> tuple[Operand, ...]:
        out: list[Operand] = []
        operands = self._operands
        for piece in listed.split(", "):
            group = operands.get(piece)
            if group is None:
                operands[piece] = group = self._group(piece)
            out += group
        return tuple(out)

    def _group(self, piece: str) -> tuple[Operand, ...]:
        """Return the operands between two commas: nearly always one."""
        parts = _HOLE.split(piece)
        shape = "\0".join(parts[::2])
        if shape not in self._shapes:
            self._shapes[shape] = self._learn(piece, parts)
        makers = self._shapes[shape]
        if makers is None:
            return tuple(make([]) for make in self._make(piece, {})[0])
        digits = parts[1::2]
        return tuple([make(digits) for make in makers])

    def _learn(self, piece: str, parts: list[str]) -> _Shape | None:
        """Return the makers of this shape, or None if a hole is not at a number."""
        holes: dict[int, int] = {}
        position = 0
        for number, part in enumerate(parts):
            if number % 2:
                holes[position] = number // 2
            position += len(part)
        makers, filled = self._make(piece, holes)
        return makers if filled == len(holes) else None

    def _make(self, piece: str, holes: dict[int, int]) -> tuple[_Shape, int]:
        build = Makers(holes)
        trees = _trees(self._grammar.parse(piece, "operands"))
        makers = tuple([build.operand(tree) for tree in trees])
        return makers, build.filled


def guard_of(text: str) -> Guard | None:
    """Return the guard `@!P0`; None for `@PT`, which always holds."""
    negated = text.startswith("@!")
    file = "UP" if "U" in text else "P"
    index = None if text.endswith("T") else int(text[-1])
    return None if index is None and not negated else Guard(file, index, negated)


def ends_in_address(opcode: str, operands: tuple[Operand, ...]) -> bool:
    """Return whether the last operand is a number that is a code address."""
    if not operands or type(operands[-1]) is not Immediate:
        return False
    name, *modifiers = opcode.split(".")
    return spelling.ends_in_address(name, modifiers, alone=len(operands) == 1)


def _leads(opcode: str, operands: tuple[Operand, ...]) -> bool:
    return Target in map(type, operands) or ends_in_address(opcode, operands)


def _condition(operands: tuple[Operand, ...]) -> tuple[str, tuple[Operand, ...]]:
    """Split off the CC test before the operands of a control instruction: `BRA CC.NEU, L`, `EXIT CC.EQ`."""
    match operands:
        case (Register(file="CC", modifiers=(test,)), *rest):
            return f"CC.{test}", tuple(rest)
        case _:
            return "", operands


def _trees(tree: "Tree[Token]") -> "list[Tree[Token]]":
    return [child for child in tree.children if not isinstance(child, str)]
