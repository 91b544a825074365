"""The language of effects: what an opcode computes of its operands, as a row of the table says it.

    [op.effect]
    "U32|S32?" = "d = a * b + c"
    "HI U32|S32?" = "d = high(a, b, c, c[1], signed)"

A key lists the modifiers that the effect covers: each word one modifier (`A|B`: one of them, `@group`: one of a group, `?`: may be absent).
An opcode with any other modifier has no effect, so that its results are unknown.

A value is one or several assignments in the syntax of Python (restricted to `_OPERATORS`, `FUNCTIONS` and conditional expressions). Names:

    d, q         destination word and predicate (second one: q2); `d[1]` is the register behind d; readable once assigned
    a, b, c      the first three word sources (slots `s`); `a[1]` is the register behind a
    p, p2, p3    predicate sources;  i, i2  immediates;  x  a special register
    cc, zf       carry and zero flag (until Pascal); a destination only where the operand d has `.CC`
    signed       false with U32 or U64;  relation  the comparison (LT ...);  boolean, boolean2  AND, OR, XOR in the order of the opcode
    X, HI ...    in capitals: whether the opcode has this modifier
    unknown      nothing is known of it
    any other    a value that is used again

A source that the instruction does not have makes what is computed of it unknown.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sassan.isa.forms import Form

RELATIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")
BOOLEANS = ("AND", "OR", "XOR")


class ExpressionKind(StrEnum):
    """What a part of an effect stands for."""

    WORD = "a word"
    TRUTH = "a predicate"
    FIXED = "known from the instruction"
    OPERAND = "an operand"


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a truth value, or a word of the language."""

    value: int | bool | str


@dataclass(frozen=True, slots=True)
class Name:
    """An operand (`place` counts the registers behind it), a flag, a modifier or a value that was assigned before."""

    name: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function of the language."""

    function: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """`first` where the condition holds, else `second`: a value, or one for every target where the condition is not `fixed`."""

    condition: "Expression"
    first: tuple["Expression", ...]
    second: tuple["Expression", ...]
    fixed: bool


Expression = Literal | Name | Call | Conditional


@dataclass(frozen=True, slots=True)
class Assignment:
    """Values for targets: as many values as targets, or one for all."""

    targets: tuple[Name, ...]
    values: tuple[Expression, ...]

    @property
    def functions(self) -> frozenset[str]:
        """Return the operators and functions that it uses."""
        return frozenset(name for value in self.values for name in _functions(value))


@dataclass(frozen=True, slots=True)
class Effect:
    """What opcodes with certain modifiers compute; `modifiers` are pairs of alternatives and whether there may be none."""

    key: str
    modifiers: tuple[tuple[frozenset[str], bool], ...]
    assignments: tuple[Assignment, ...]
    functions: frozenset[str]
    """Operators and functions that the assignments use."""
    word_functions: frozenset[str]
    """Those of the values of d."""

    def covers(self, modifiers: Sequence[str]) -> bool:
        """Return whether the effect is that of an opcode with exactly these modifiers."""
        left = list(self.modifiers)
        for modifier in modifiers:
            word = next((word for word in left if modifier in word[0]), None)
            if word is None:
                return False
            left.remove(word)
        return all(optional for _, optional in left)

    def covers_in_order(self, modifiers: Sequence[str]) -> bool:
        """Return whether the effect is that of an opcode with exactly these modifiers in the order of its words, as PTX has them."""
        left = list(modifiers)
        for names, optional in self.modifiers:
            if left and left[0] in names:
                left.pop(0)
            elif not optional:
                return False
        return not left


@dataclass(frozen=True, slots=True)
class Signature:
    """Kinds of the parameters of a function and of its result; with `repeats`, the last parameter may stand any number of times."""

    parameters: tuple[ExpressionKind, ...]
    result: ExpressionKind
    repeats: bool = False

    def of(self, count: int) -> tuple[ExpressionKind, ...]:
        """Return the kinds of so many arguments, fewer or more of them where the function does not take so many."""
        return self.parameters[:1] * count if self.repeats and count else self.parameters


_W, _T, _F, _O = ExpressionKind.WORD, ExpressionKind.TRUTH, ExpressionKind.FIXED, ExpressionKind.OPERAND
FUNCTIONS: Mapping[str, Signature] = {
    "add": Signature((_W, _W), _W),
    "subtract": Signature((_W, _W), _W),
    "multiply": Signature((_W, _W), _W),
    "bit_and": Signature((_W, _W), _W),
    "bit_or": Signature((_W, _W), _W),
    "bit_xor": Signature((_W, _W), _W),
    "shift_left": Signature((_W, _W), _W),
    "equal": Signature((_W, _W), _T),
    "conjunction": Signature((_T, _T), _T),
    "disjunction": Signature((_T, _T), _T),
    "difference": Signature((_T, _T), _T),
    "negation": Signature((_T,), _T),
    "as_float": Signature((_O,), _W),  # an operand of a floating-point instruction: a number is that in single precision
    "abs": Signature((_W,), _W),  # magnitude of a signed word
    "bit": Signature((_T,), _W),  # 1 where the predicate holds, else 0; 0 without the operand
    "borrowed": Signature((_F, _T, _T), _T),  # comparison of low words, from the flags of their difference: relation, carry, zero
    "borrowing": Signature((_O,), _O),  # an operand of a sum with carry, where -x stands for ~x
    "carry": Signature((_O,), _T, repeats=True),  # carry of a sum of operands; of -x: that nothing is borrowed
    "carries": Signature((_O,), _T, repeats=True),  # one of the two carries of a sum: which one, where it has one, is not known
    "combine": Signature((_F, _T, _T), _T),  # AND, OR, XOR
    "compare": Signature((_F, _W, _W, _F), _T),  # relation, words, whether they are signed
    "constant": Signature((_O, _F, _F, _F), _W),  # constant bank: operand, bytes behind it, size in bytes, signed
    "extended": Signature((_F, _W, _W, _T, _F), _T),  # comparison of pairs: relation, high words, comparison of the low words, signed
    "extract": Signature((_W, _F), _W),  # unsigned field of a word: its place in bits 0-7, its width in bits 8-15
    "extract_signed": Signature((_W, _F), _W),  # the same field, with the sign of its highest bit
    "float_halves": Signature((_O, _O), _W),  # two immediates in half precision, the first in the high half
    "float_of": Signature((_W, _F, _F), _W),  # single precision of an integer, whether it is signed, rounded RN or RP (up)
    "float_product": Signature((_W, _W), _W),  # in single precision, rounded to the nearest
    "funnel_left": Signature((_W, _W, _W), _W),  # high word of a pair (high, low), shifted left by 0 to 31 places
    "funnel_right": Signature((_W, _W, _W), _W),  # low word of a pair (high, low), shifted right by 0 to 63 places
    "half": Signature((_O,), _W),  # half word that the operand selects (.H1), else the low one
    "high": Signature((_W, _W, _W, _W, _F), _W),  # high word of a product plus a pair (low, high); signed
    "highest_one": Signature((_W,), _W),  # place of the highest bit that is 1, -1 of 0
    "integer_of": Signature((_W, _F, _F), _W),  # integer of a single-precision number, whether it is signed, TRUNC, FLOOR, CEIL or ROUND
    "lane": Signature((_W,), _W),  # the word of one of the threads
    "lop3": Signature((_W, _W, _W, _F), _W),  # bitwise function of three words by its truth table
    "masked": Signature((_W, _F), _W),  # the word where the byte mask is full
    "maybe": Signature((_W,), _T),  # a predicate of which no more is known than the word that it depends on
    "permute": Signature((_W, _W, _W), _W),  # bytes of two words (first and third argument), as the second one selects
    "plop3": Signature((_T, _T, _T, _F), _T),  # function of three predicates by its truth table
    "picked": Signature((_W,), _W),  # the word of the thread that an operand names, or of this one
    "popc": Signature((_W,), _W),  # number of ones
    "reciprocal": Signature((_W,), _W),  # in single precision, as the special-function unit approximates it
    "same": Signature((_T, _T), _T),  # both hold, or neither
    "shuffled": Signature((_W,), _W),  # the word of another thread, of each another, or of this one
    "shift_right": Signature((_W, _W, _F), _W),  # word, places, whether it is signed
    "short": Signature((_O,), _O),  # an immediate of 20 bits that is printed without its sign
    "special": Signature((_O,), _W),  # special register
    "uncertain": Signature((_F,), _T),  # a predicate that depends on what is not followed, which the argument names
    "whole": Signature((_O,), _W),  # the register without its part selector
    "bare": Signature((_O,), _F, repeats=True),  # no operand is negated or inverted
    "given": Signature((_O,), _F),  # the instruction has the operand
    "minus": Signature((_O,), _F, repeats=True),  # one of the operands is negated, and none is inverted
    "number": Signature((_O,), _F),  # the operand is an immediate
    "single": Signature((_O, _O), _F),  # at most one of two destinations is a register
    "zero": Signature((_O,), _F, repeats=True),  # all operands are RZ
}
"""The operators and functions of the language."""
ABOUT_OPERANDS = frozenset({"bare", "given", "minus", "number", "single", "zero"})
"""Functions that the text of an instruction decides."""

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.BitAnd: "bit_and",
    ast.BitOr: "bit_or",
    ast.BitXor: "bit_xor",
    ast.LShift: "shift_left",
    ast.And: "conjunction",
    ast.Or: "disjunction",
}
_ROLES = {"s": ("a", "b", "c"), "d": ("d",), "q": ("q", "q2"), "p": ("p", "p2", "p3"), "i": ("i", "i2"), "x": ("x",)}
"""Names of the slots of a role, in order."""
_KINDS = {"s": _W, "d": _W, "q": _T, "p": _T, "i": _F, "x": _O}
_LOGIC = frozenset({"conjunction", "disjunction", "negation"})
_FLAGS = ("cc", "zf")
_FIXED = ("signed", "relation", "boolean", "boolean2")
_MODIFIER = re.compile(r"[A-Z0-9][A-Z0-9_]*")


class BadEffect(Exception):  # noqa: N818 - the loader of tables says where, and raises InputError
    """A text that is not an effect; the message says what is expected."""


def slot_names(form: Form) -> Iterator[tuple[int, str]]:
    """Yield place and name of each slot of a form that an effect may name."""
    counts: dict[str, int] = {}
    for place, slot in enumerate(form):
        count = counts[slot.role] = counts.get(slot.role, 0) + 1
        names = _ROLES.get(slot.role, ())
        if count <= len(names):
            yield place, names[count - 1]


def parse_effect(key: str, text: str, forms: Sequence[Form], groups: Mapping[str, Sequence[str]], modifiers: frozenset[str]) -> Effect:
    """Return the checked effect of a row with these forms and modifiers; raises BadEffect."""
    words = tuple(_word(word, groups) for word in key.split())
    for alternatives, _ in words:
        for modifier in sorted(alternatives - modifiers):
            raise BadEffect(f"modifiers of the row, not '{modifier}'")
    operands = {name: _KINDS[form[place].role] for form in forms for place, name in slot_names(form)}
    assignments = _Reader(operands, modifiers).read(text)
    functions = [(assignment.functions, assignment.targets[0].name == "d") for assignment in assignments]
    everything = frozenset[str]().union(*(names for names, _ in functions))
    return Effect(key, words, assignments, everything, frozenset[str]().union(*(names for names, of_word in functions if of_word)))


def _word(word: str, groups: Mapping[str, Sequence[str]]) -> tuple[frozenset[str], bool]:
    alternatives: list[str] = []
    for name in word.removesuffix("?").split("|"):
        alternatives += groups.get(name, (name,))
    return frozenset(alternatives), word.endswith("?")


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[ast.stmt, ...]:
    return tuple(ast.parse(text).body)


class _Reader:
    """Translates the text of one effect into assignments; `operands` are the names of the slots, with their kinds."""

    def __init__(self, operands: Mapping[str, ExpressionKind], modifiers: frozenset[str]) -> None:
        self.operands = operands
        self.modifiers = modifiers
        self.assigned: dict[str, ExpressionKind] = {}
        self.chosen = False

    def read(self, text: str) -> tuple[Assignment, ...]:
        try:
            statements = _parsed(text)
        except SyntaxError as error:
            raise BadEffect(f"assignments ({error.msg})") from None
        if not statements:
            raise BadEffect("an assignment")
        return tuple(self._assignment(statement) for statement in statements)

    def _assignment(self, statement: ast.stmt) -> Assignment:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise BadEffect("assignments")
        (left,) = statement.targets
        targets = tuple(self._target(node) for node in (left.elts if isinstance(left, ast.Tuple) else [left]))
        values, kinds = self._values(statement.value)
        choice = values[0] if isinstance(values[0], Conditional) and not values[0].fixed else None
        if self.chosen:
            raise BadEffect("nothing behind a choice at run time")
        self.chosen = choice is not None
        if len(values) not in {1, len(targets)} or (choice is not None and len(choice.first) != len(targets)):
            raise BadEffect("a value for each target")
        for index, target in enumerate(targets):
            kind = kinds[index if len(kinds) > 1 else 0]
            expected = _T if target.name in _FLAGS else self.operands.get(target.name, kind)
            if not _fits(expected, kind):
                raise BadEffect(f"{expected} for {target.name}, not {kind}")
            self.assigned[target.name] = expected
        return Assignment(targets, values)

    def _target(self, node: ast.expr) -> Name:
        name = self._name(node)
        if name.name in {*_FIXED, "unknown"} or (name.name in self.operands and name.name[0] not in "dq") or _MODIFIER.fullmatch(name.name):
            raise BadEffect(f"a destination, not '{name.name}'")
        return name

    def _name(self, node: ast.expr) -> Name:
        match node:
            case ast.Name(id=name):
                return Name(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))) if name in self.operands:
                return Name(name, place)
            case _:
                raise BadEffect(f"a name, not '{ast.unparse(node)}'")

    def _values(self, node: ast.expr) -> tuple[tuple[Expression, ...], list[ExpressionKind]]:
        """Return the values of the right side, and their kinds; a choice at run time stands for all of them."""
        if isinstance(node, ast.Tuple):
            parts = [self._expression(element) for element in node.elts]
            return tuple(part for part, _ in parts), [kind for _, kind in parts]
        if isinstance(node, ast.IfExp):
            condition, kind = self._expression(node.test)
            if kind is _T:
                (first, kinds), (second, others) = self._values(node.body), self._values(node.orelse)
                if any(not _fits(_W, each) for each in [*kinds, *others]) or len(kinds) != len(others):
                    raise BadEffect("words to choose from")
                return (Conditional(condition, first, second, fixed=False),), [_W] * len(kinds)
        value, kind = self._expression(node)
        return (value,), [kind]

    def _expression(self, node: ast.expr) -> tuple[Expression, ExpressionKind]:
        called = _called(node)
        if called is not None:
            return self._call(*called)
        match node:
            case ast.Constant(value=bool() | int() | str() as value):
                return Literal(value), _F
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return Literal(-value), _F
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                return Call("negation", (self._call("equal", [left, right])[0],)), _T
            case ast.IfExp():
                return self._fixed_choice(node)
            case ast.Name() | ast.Subscript():
                return self._named(self._name(node))
            case _:
                raise BadEffect(f"an operator or a function of the language, not '{ast.unparse(node)}'")

    def _fixed_choice(self, node: ast.IfExp) -> tuple[Expression, ExpressionKind]:
        parts = [self._expression(part) for part in (node.test, node.body, node.orelse)]
        (condition, decided), (first, kind), (second, other) = parts
        if decided is not _F or not (_fits(kind, other) or _fits(other, kind)):
            raise BadEffect(f"a condition that is known from the instruction, not '{ast.unparse(node.test)}'")
        return Conditional(condition, (first,), (second,), fixed=True), other if kind is _F else kind

    def _named(self, name: Name) -> tuple[Expression, ExpressionKind]:
        text = name.name
        if text in self.assigned:
            return name, self.assigned[text]
        if text in self.operands and text[0] not in "dq":
            return name, self.operands[text]
        if text in _FLAGS:
            return name, _T
        if text in _FIXED or text == "unknown" or text in self.modifiers:
            return name, _F
        raise BadEffect(f"an operand of a form, a modifier of the row or a value assigned before, not '{text}'")

    def _call(self, function: str, arguments: Sequence[ast.expr]) -> tuple[Expression, ExpressionKind]:
        signature = FUNCTIONS[function]
        expected = signature.of(len(arguments))
        if len(expected) != len(arguments):
            raise BadEffect(f"{len(expected)} arguments of {function}")
        parts: list[Expression] = []
        kinds: list[ExpressionKind] = []
        for kind, argument in zip(expected, arguments, strict=True):
            operand = isinstance(argument, ast.Name) and argument.id in self.operands and kind is _O
            value, actual = (Name(argument.id), _O) if isinstance(argument, ast.Name) and operand else self._expression(argument)
            if not _fits(kind, actual):
                raise BadEffect(f"{kind} as argument of {function}, not '{ast.unparse(argument)}'")
            parts.append(value)
            kinds.append(actual)
        fixed = function in _LOGIC and all(kind is _F for kind in kinds)
        return Call(function, tuple(parts)), _F if fixed else signature.result


def _fits(expected: ExpressionKind, actual: ExpressionKind) -> bool:
    return actual is expected or (actual is _F and expected is not _O) or (actual is _O and expected is _W)


def _called(node: ast.expr) -> tuple[str, Sequence[ast.expr]] | None:
    """Return function and arguments of an operator or a call, None for what is neither."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)], [left, right]
        case ast.BoolOp(op=op, values=[left, right]):
            return _OPERATORS[type(op)], [left, right]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return "negation", [operand]
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return "equal", [left, right]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return name, arguments
        case _:
            return None


def _functions(node: Expression) -> Iterator[str]:
    """Yield the operators and functions of an expression."""
    match node:
        case Call(function, arguments):
            yield function
            for part in arguments:
                yield from _functions(part)
        case Conditional(condition, first, second, _):
            for part in (condition, *first, *second):
                yield from _functions(part)
        case _:
            pass
