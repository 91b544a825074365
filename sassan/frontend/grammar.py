"""The only user of lark: finds the grammar texts, builds parsers on first use, converts lark's errors to `SyntaxProblem`."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lark import Lark, Token, Tree

_NAMES = {
    "$END": "the end",
    "ALIAS": "a directive",
    "ALIGN": ".align",
    "ATTRIBUTE": ".attribute",
    "BANK": "a constant c[..][..]",
    "BAR": "|",
    "CLOSE": "}",
    "CODE": "'code for sm_NN'",
    "DECIMAL": "a number",
    "DIRECTIVE": "a directive",
    "DOTTED": "a type or another directive",
    "DWARF": "a directive",
    "END": "the dotted line that ends a function",
    "ENTRY": ".entry",
    "FILE": "a directive",
    "FUNC": ".func",
    "FUNCTION": "'Function : NAME'",
    "GUARD": "a guard such as @!P0",
    "HALF": "'SLOT 0' or 'SLOT 1'",
    "HEADER": ".headerflags",
    "HEX": "a number",
    "LABEL": "a label",
    "LINES": "instructions",
    "LINKAGE": "a declaration",
    "LOC": "a directive",
    "NAME": "a name",
    "NEGATIVE": "a number",
    "NONFINITE": "a number",
    "NOTE": 'a note (*"..."*)',
    "NUMBER": "a number",
    "NUMBERS": "numbers",
    "OPCODE": "an opcode",
    "OPEN": "{",
    "PRAGMA": "a directive",
    "PROSE": "text between functions",
    "PROTOTYPE": ".callprototype",
    "REGISTER": "a register",
    "RELOCATION": "a relocated address",
    "RUN": "an instruction",
    "SCHEDULE": "a schedule note",
    "SECTION": ".section",
    "SEMICOLON": "';'",
    "SET": "a set {0,1}",
    "SHAPE": "a word",
    "SIZE": ".address_size",
    "SPACE": "a memory operand, or a state space",
    "SPECIAL": "a special register",
    "STRING": "a string",
    "SUFFIX": "a suffix",
    "TABLE": ".branchtargets or .calltargets",
    "TARGET": ".target",
    "TEXT": ".section .text.NAME",
    "VERSION": ".version",
    "WORD": "a word",
    "_BAR": "'|'",
    "_BEGIN": "'{'",
    "_CLOSE": "')'",
    "_COMMA": "','",
    "_END": "'}'",
    "_EQUALS": "'='",
    "_GREATER": "'>'",
    "_LEFT": "'['",
    "_LESS": "'<'",
    "_NOT": "'!'",
    "_OPEN": "'('",
    "_PLUS": "'+'",
    "_RIGHT": "']'",
    "_SEMICOLON": "';'",
}


class SyntaxProblem(Exception):  # noqa: N818 - it becomes an InputError as soon as a span is known
    """A syntax error at `position` (from 0); `expected` lists what the grammar allows there, in words."""

    def __init__(self, message: str, position: int, expected: "Iterable[str]" = (), *, at_end: bool = False) -> None:
        """Create the error; `expected` holds names of terminals."""
        super().__init__(message)
        self.message = message
        self.position = position
        self.expected = tuple(sorted({_NAMES.get(name, name) for name in expected}))
        self.at_end = at_end


class Grammar:
    """A grammar that parses from any of its start symbols."""

    def __init__(self, parser: "Lark") -> None:
        """Wrap a parser of lark."""
        self._parser = parser

    def parse(self, text: str, start: str) -> "Tree[Token]":
        """Return the parse tree of `text`; raises SyntaxProblem."""
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken  # noqa: PLC0415 - lark is slow to import

        try:
            return self._parser.parse(text, start=start)
        except UnexpectedToken as error:
            at_end = error.token.type == "$END"
            position = len(text) if at_end else (error.token.start_pos or 0)
            message = "the text ends" if at_end else f"unexpected {str(error.token).strip()[:60]!r}"
            raise SyntaxProblem(message, position, error.accepts or error.expected, at_end=at_end) from None
        except UnexpectedCharacters as error:
            position = error.pos_in_stream or 0
            raise SyntaxProblem(f"unexpected {text[position]!r}", position, error.allowed or ()) from None


def grammar_text(name: str) -> str:
    """Return the text of `grammars/NAME`: from the installed wheel, or else from the checkout."""
    shipped = files("sassan").joinpath("_grammars", name)
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "grammars" / name).read_text(encoding="utf-8")


@cache
def grammar(name: str, starts: "Sequence[str]") -> Grammar:
    """Return the parser of `grammars/NAME.lark` for these start symbols; built once, 6 to 20 ms each."""
    from lark import Lark  # noqa: PLC0415 - lark is slow to import

    text = grammar_text(f"{name}.lark")
    return Grammar(Lark(text, parser="lalr", lexer="contextual", start=list(starts), maybe_placeholders=False))


def instruction_grammar() -> Grammar:
    """Return the grammar with the start symbols `instruction` and `operands`."""
    return grammar("sass_instruction", ("instruction", "operands"))


def listing_grammar(start: str) -> Grammar:
    """Return the grammar of a listing frame; `start` is `cuobjdump` or `nvdisasm`."""
    return grammar("sass_listing", (start,))
