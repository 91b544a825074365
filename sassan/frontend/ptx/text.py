"""From records back to PTX text: read again, it gives the same records."""

from collections.abc import Iterator

from sassan.frontend.ptx.syntax import (
    Address,
    Declarator,
    Directive,
    Function,
    Group,
    Header,
    Instruction,
    Item,
    Label,
    Module,
    Name,
    Not,
    Number,
    Operand,
    Parameter,
    Prototype,
    Scope,
    Statement,
    Sum,
    Table,
    Variable,
)

_CLOSING = {"{": "}", "(": ")"}
_INDENT = "\t"


def module_text(module: Module) -> str:
    """Return a module as PTX; a fragment has no frame, and prints as the statements alone."""
    return "".join(f"{line}\n" for item in module.items for line in _item(item))


def instruction_text(one: Instruction) -> str:
    """Return an instruction without its `;`: `@!%p1 bra L`."""
    guard = f"@{one.guard} " if one.guard else ""
    operands = ", ".join(map(operand_text, one.operands))
    return f"{guard}{one.opcode} {operands}".rstrip()


def operand_text(operand: Operand) -> str:
    """Return an operand as it is written."""
    match operand:
        case Name(text) | Number(text):
            return text
        case Not(name):
            return f"!{name}"
        case Sum(name, offset):
            return f"{name}+{offset}"
        case Group("|", items):
            return "|".join(map(operand_text, items))
        case Group(opening, items):
            return f"{opening}{', '.join(map(operand_text, items))}{_CLOSING[opening]}"
        case Address(base, offset, items):
            distance = f"+{offset}" if offset else ""
            return f"[{', '.join((f'{base.text}{distance}', *map(operand_text, items)))}]"


def _item(item: Item) -> Iterator[str]:
    match item:
        case Header(keyword, words):
            yield f"{keyword} {', '.join(words)}{';' if keyword == '.alias' else ''}"
        case Directive(text):
            yield text
        case Variable():
            yield _variable(item)
        case Function(name="", body=Scope(statements)):
            for one in statements:
                yield from _statement(one, "")
        case Function():
            yield from _function(item)


def _function(one: Function) -> Iterator[str]:
    kind = (".entry",) if one.kernel else (".func", *one.attributes)
    returns = () if one.returns is None else (_parameters(one.returns),)
    parameters = "" if one.parameters is None else _parameters(one.parameters)
    yield " ".join((*one.linkage, *kind, *returns, one.name + parameters))
    yield from one.tuning
    if one.body is None:
        yield ";"
        return
    yield from _statement(one.body, "")


def _statement(one: Statement, indent: str) -> Iterator[str]:
    match one:
        case Instruction():
            yield f"{indent}{instruction_text(one)};"
        case Label(name):
            yield f"{name}:"
        case Table(name, kind, items):
            yield f"{indent}{name}: {kind} {', '.join(items)};"
        case Prototype():
            yield indent + _prototype(one)
        case Variable():
            yield indent + _variable(one)
        case Directive(text):
            yield indent + text
        case Scope(statements):
            yield indent + "{"
            for inner in statements:
                yield from _statement(inner, indent + _INDENT)
            yield indent + "}"


def _prototype(one: Prototype) -> str:
    words = [f"{one.name}: .callprototype"]
    if one.returns is not None:
        words.append(_parameters(one.returns))
    words.append(one.callee + ("" if one.parameters is None else f" {_parameters(one.parameters)}"))
    return " ".join((*words, *one.attributes)) + ";"


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(one: Parameter) -> str:
    return " ".join((one.space, *one.kinds, one.name)) + _dimensions(one.dimensions)


def _variable(one: Variable) -> str:
    return " ".join((*one.linkage, one.space, *one.kinds, ", ".join(map(_declarator, one.names)))) + ";"


def _declarator(one: Declarator) -> str:
    count = f"<{one.count}>" if one.count else ""
    initial = f" = {one.initial}" if one.initial else ""
    return f"{one.name}{count}{_dimensions(one.dimensions)}{initial}"


def _dimensions(dimensions: tuple[str, ...]) -> str:
    return "".join(f"[{one}]" for one in dimensions)
