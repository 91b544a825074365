"""The syntax of a PTX text, before names are resolved: frozen records, which print as they were read.

The equality of records ignores their positions in the text (`span`).
"""

from dataclasses import dataclass, field

from sassan.source import Span

NOWHERE = Span(1, 1, 1)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A register, a variable, a label, a function, a special register (`%tid.x`), a part of a register (`%v.x`), or the sink `_`."""

    text: str


@dataclass(frozen=True, slots=True)
class NumericLiteral:
    """A literal as written: `-1`, `0x1FU`, `0f3F800000`, `1.5e-3`."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """`!%p1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """`table+8`: an address and an offset in bytes, a literal."""

    name: str
    offset: str


@dataclass(frozen=True, slots=True)
class OperandTuple:
    """Several operands in one place: `opening` is `{` (a vector), `(` (parameters of a call) or `|` (two destinations)."""

    opening: str
    items: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[%rd1+-8]`, `[param0]`, `[0x10]`, `[image, {%f1, %f2}]`: `offset` is a literal or '', `items` are the coordinates."""

    base: Identifier | NumericLiteral
    offset: str
    items: tuple["Operand", ...] = ()


Operand = Identifier | NumericLiteral | Not | Sum | OperandTuple | Address


@dataclass(frozen=True, slots=True)
class InstructionStatement:
    """`guard` is `%p1`, `!%p1` or ''; `opcode` has all its modifiers."""

    guard: str
    opcode: str
    operands: tuple[Operand, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Label:
    """A target of branches."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TargetTable:
    """`ts: .branchtargets L1, L2;` or `.calltargets`."""

    name: str
    kind: str
    items: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ParameterDeclaration:
    """`.param .align 8 .b8 x[16]`; `dimensions` are literals, '' for a missing one."""

    space: str
    kinds: tuple[str, ...]
    name: str
    dimensions: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Prototype:
    """`p: .callprototype (.param .b32 _) _ (.param .b64 _);`."""

    name: str
    returns: tuple[ParameterDeclaration, ...] | None
    callee: str
    parameters: tuple[ParameterDeclaration, ...] | None
    attributes: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Declarator:
    """One name of a declaration: `%r<8>` has a `count`, `x[2][3] = {1, 2}` dimensions and an initial value, blanks squeezed."""

    name: str
    count: str = ""
    dimensions: tuple[str, ...] = ()
    initial: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class VariableDeclaration:
    """`.extern .shared .align 16 .b8 x[];`, `.reg .pred %p<3>;`."""

    linkage: tuple[str, ...]
    space: str
    kinds: tuple[str, ...]
    names: tuple[Declarator, ...]


@dataclass(frozen=True, slots=True)
class Directive:
    """`.loc`, `.file`, `.pragma`, a `.section` with its data: kept as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Statements in braces; their declarations are local."""

    statements: tuple["Statement", ...]


Statement = InstructionStatement | Label | TargetTable | Prototype | VariableDeclaration | Directive | Scope


@dataclass(frozen=True, slots=True)
class FunctionDeclaration:
    """A kernel (`.entry`) or a device function (`.func`); a declaration has the `body` None. `tuning` is text: `.maxntid 256, 1, 1`."""

    linkage: tuple[str, ...]
    kernel: bool
    attributes: tuple[str, ...]
    returns: tuple[ParameterDeclaration, ...] | None
    name: str
    parameters: tuple[ParameterDeclaration, ...] | None
    tuning: tuple[str, ...]
    body: Scope | None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Header:
    """`.version 8.8`, `.target sm_90, debug`, `.address_size 64`, `.alias a, b`: a keyword and its words."""

    keyword: str
    words: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


Item = Header | Directive | VariableDeclaration | FunctionDeclaration


@dataclass(frozen=True, slots=True)
class Module:
    """One `.version` and all that follows it; a fragment has no header, and its statements form one function without a name."""

    items: tuple[Item, ...]
