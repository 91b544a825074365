"""From the parse tree of a module to its records; runs of plain lines are left to the parser of lines."""

import re
from typing import TYPE_CHECKING

from sassan.errors import InputError
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.ptx.grammar import ptx_grammar
from sassan.frontend.ptx.lines import LineParser
from sassan.frontend.ptx.operands import DEEPEST, guard_text, literal, operand_of, parts
from sassan.frontend.ptx.syntax import (
    Declarator,
    Directive,
    FunctionDeclaration,
    Header,
    InstructionStatement,
    Item,
    Label,
    Module,
    ParameterDeclaration,
    Prototype,
    Scope,
    Statement,
    TargetTable,
    VariableDeclaration,
)
from sassan.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

_HINT = "pass the unchanged PTX of nvcc, NVRTC or cuobjdump -ptx"
_SPACES = re.compile(r"[ \t\n]+")
_QUOTED = re.compile(r'("[^"\n]*")')


class Text:
    """One module inside a source: `first` is the line of the source on which it starts, from 0."""

    def __init__(self, source: Source, text: str, first: int) -> None:
        """Locate the module in its source."""
        self.source = source
        self.text = text
        self.first = first

    def span(self, line: int, column: int, width: int) -> Span:
        """Return a span of the source; `line` and `column` count from 1 in the module."""
        return Span(line + self.first, column, max(1, width))

    def problem(self, position: int, problem: SyntaxProblem) -> InputError:
        """Return the error for a problem at a position of the module, from 0."""
        position = min(position, len(self.text.rstrip()))
        line = self.text.count("\n", 0, position)
        column = position - (self.text.rfind("\n", 0, position) + 1)
        expected = f"; expected {', '.join(problem.expected)}" if problem.expected else ""
        code = "truncated" if problem.at_end else "syntax"
        return InputError(code, f"{problem.message}{expected}", source=self.source, span=self.span(line + 1, column + 1, 1), hint=_HINT)


def build(text: Text, lines: LineParser, *, start: str = "module") -> Module:
    """Return the records of a module, or of a fragment as one function without a name; raises InputError."""
    try:
        tree = ptx_grammar().parse(text.text, start)
    except SyntaxProblem as problem:
        raise text.problem(problem.position, problem) from None
    builder = _Builder(text, lines)
    if start == "module":
        return Module(tuple([builder.item(child) for child in parts(tree)[1]]))
    body = Scope(tuple(builder.statements(tree)))
    return Module((FunctionDeclaration((), True, (), None, "", None, (), body, text.span(1, 1, 1)),))


class _Builder:
    def __init__(self, text: Text, lines: LineParser) -> None:
        self._text = text
        self._parse = lines.parse

    def item(self, tree: "Tree[Token]") -> Item:
        tokens, _ = parts(tree)
        match tree.data:
            case "version" | "target" | "size" | "alias":
                return Header(str(tokens[0]), tuple(map(str, tokens[1:])), self._span(tokens[0]))
            case "directive":
                return _directive(tokens)
            case "variable":
                return self._variable(tree)
            case _:
                return self._function(tree)

    def _span(self, token: "Token") -> Span:
        return self._text.span(token.line or 1, token.column or 1, len(token))

    def _function(self, tree: "Tree[Token]") -> FunctionDeclaration:
        tokens, trees = parts(tree)
        linkage = tuple(map(str, tokens))
        head, rest = trees[0], trees[1:]
        words, below = parts(head)
        name = next(token for token in words if token.type == "NAME")
        lists = {str(child.data): child for child in below}
        returns = parts(lists["returns"])[1][0] if "returns" in lists else None
        attributes = parts(lists["attributes"])[0] if "attributes" in lists else []
        body = next((child for child in rest if child.data == "body"), None)
        return FunctionDeclaration(
            linkage,
            head.data == "entry",
            tuple(map(str, attributes)),
            None if returns is None else self._parameters(returns),
            str(name),
            self._parameters(lists["parameters"]) if "parameters" in lists else None,
            tuple(_words(child) for child in rest if child.data == "tuning"),
            None if body is None else Scope(tuple(self.statements(body))),
            self._span(name),
        )

    def _parameters(self, tree: "Tree[Token]") -> tuple[ParameterDeclaration, ...]:
        return tuple(self._parameter(child) for child in parts(tree)[1])

    def _parameter(self, tree: "Tree[Token]") -> ParameterDeclaration:
        tokens, trees = parts(tree)
        return ParameterDeclaration(str(tokens[0]), _kinds(trees[0]), str(tokens[1]), _dimensions(trees), self._span(tokens[1]))

    def _variable(self, tree: "Tree[Token]") -> VariableDeclaration:
        tokens, trees = parts(tree)
        names = tuple(self._declarator(child) for child in trees[1:])
        return VariableDeclaration(tuple(map(str, tokens[:-1])), str(tokens[-1]), _kinds(trees[0]), names)

    def _declarator(self, tree: "Tree[Token]") -> Declarator:
        tokens, trees = parts(tree)
        below = {str(child.data): child for child in trees}
        count = str(parts(below["count"])[0][0]) if "count" in below else ""
        try:
            initial = _initial(below["initial"]) if "initial" in below else ""
        except SyntaxProblem as problem:
            raise self._text.problem(tokens[0].start_pos or 0, problem) from None
        return Declarator(str(tokens[0]), count, _dimensions(trees), initial, self._span(tokens[0]))

    def statements(self, tree: "Tree[Token]", depth: int = 0) -> "Iterator[Statement]":
        """Yield the statements of a body."""
        if depth > DEEPEST:
            raise self._too_deep()
        for child in tree.children:
            if isinstance(child, str):
                yield from self._run(child) if child.type == "RUN" else (Label(child[:-1].rstrip(), self._span(child)),)
            elif child.data == "body":
                yield Scope(tuple(self.statements(child, depth + 1)))
            elif child.data == "instruction":
                yield self._instruction(child)
            else:
                yield self._statement(child)

    def _too_deep(self) -> InputError:
        return self._text.problem(0, SyntaxProblem(f"brackets are nested more than {DEEPEST} deep", 0, ("_END",)))

    def _statement(self, tree: "Tree[Token]") -> Statement:
        tokens, trees = parts(tree)
        match tree.data:
            case "directive":
                return _directive(tokens)
            case "table":
                return TargetTable(tokens[0][:-1].rstrip(), str(tokens[1]), tuple(map(str, tokens[2:])), self._span(tokens[0]))
            case "prototype":
                return self._prototype(tokens, trees)
            case _:
                return self._variable(tree)

    def _prototype(self, tokens: "list[Token]", trees: "list[Tree[Token]]") -> Prototype:
        below = {str(child.data): child for child in trees}
        returns = parts(below["returns"])[1][0] if "returns" in below else None
        return Prototype(
            tokens[0][:-1].rstrip(),
            None if returns is None else self._parameters(returns),
            str(tokens[2]),
            self._parameters(below["parameters"]) if "parameters" in below else None,
            tuple(map(str, parts(below["attributes"])[0])),
            self._span(tokens[0]),
        )

    def _instruction(self, tree: "Tree[Token]") -> InstructionStatement:
        tokens, trees = parts(tree)
        first, opcode = tokens[0], tokens[-1]
        guard = guard_text(first) if first.type == "GUARD" else ""
        end = self._text.text.index(";", opcode.end_pos or 0)
        start = first.start_pos or 0
        width = len(self._text.text[start:end].split("\n", 1)[0])
        span = self._text.span(first.line or 1, first.column or 1, width)
        try:
            operands = tuple([operand_of(child) for child in trees])
        except SyntaxProblem as problem:
            raise self._text.problem(start, problem) from None
        return InstructionStatement(guard, str(opcode), operands, span)

    def _run(self, token: "Token") -> "Iterator[InstructionStatement]":
        """Yield the instructions of whole lines."""
        parse, first = self._parse, self._text.first
        column, position = (token.column or 1) - 1, token.start_pos or 0
        for line, text in enumerate(token.split("\n"), (token.line or 1) + first):
            end = text.find(";")
            if end >= 0:
                try:
                    guard, opcode, operands = parse(text[: end + 1])
                except SyntaxProblem as problem:
                    raise self._text.problem(position + min(problem.position, end), problem) from None
                indent = len(text) - len(text.lstrip())
                yield InstructionStatement(guard, opcode, operands, Span(line, column + indent + 1, end - indent))
            position += len(text) + 1
            column = 0


def _directive(tokens: "list[Token]") -> Directive:
    """Return a directive as text, blanks outside of strings squeezed."""
    if tokens[0].type == "PRAGMA":
        return Directive(f"{tokens[0]} {', '.join(tokens[1:])};")
    if tokens[0].type == "SECTION":
        return Directive("\n".join(" ".join(line.split()) for line in tokens[0].split("\n")))
    pieces = _QUOTED.split(tokens[0].strip())
    return Directive("".join(piece if piece.startswith('"') else _SPACES.sub(" ", piece) for piece in pieces))


def _kinds(tree: "Tree[Token]") -> tuple[str, ...]:
    return tuple([str(child) if isinstance(child, str) else _words(child) for child in tree.children])


def _words(tree: "Tree[Token]") -> str:
    """Return a short directive as text: `.maxntid 256, 1, 1`, `.align 16`, `.attribute(.managed)`, `.pragma "nounroll";`."""
    tokens, trees = parts(tree)
    first = str(tokens[0]) if tokens else _words(trees[0])
    rest = list(map(str, tokens[1:]))
    if not rest:
        return first
    if first == ".attribute":
        numbers = f"({', '.join(rest[1:])})" if rest[1:] else ""
        return f"{first}({rest[0]}{numbers})"
    return f"{first} {', '.join(rest)}{';' if first == '.pragma' else ''}"


def _dimensions(trees: "list[Tree[Token]]") -> tuple[str, ...]:
    dimensions = [parts(child)[0] for child in trees if child.data == "dimension"]
    return tuple(str(tokens[0]) if tokens else "" for tokens in dimensions)


def _initial(tree: "Tree[Token]", depth: int = 0) -> str:
    """Return an initial value as text."""
    tokens, trees = parts(tree)
    if depth > 2 * DEEPEST:
        raise SyntaxProblem(f"brackets are nested more than {DEEPEST} deep", 0, ("_END",))
    if tokens and trees:
        inner = _initial(trees[0], depth + 1)
        return f"{tokens[0]} = {inner}" if trees[0].data == "initial" else f"{tokens[0]}({inner})"
    if tree.data == "list":
        return f"{{{', '.join([_initial(child, depth + 1) for child in trees])}}}"
    if not tokens:
        return _initial(trees[0], depth + 1)
    return _leaf(str(tree.data), tokens)


def _leaf(kind: str, tokens: "list[Token]") -> str:
    if kind == "sum":
        return f"{tokens[0]}+{literal(tokens[1])}"
    if kind == "number":
        return literal(tokens[0])
    return ", ".join(_SPACES.sub("", number) for number in tokens[0].split(",")) if tokens[0].type == "NUMBERS" else str(tokens[0])
