"""From records back to PTX text; reading it again gives the same records."""

from collections.abc import Iterator

from sassan.frontend.ptx.syntax import (
    Address,
    Declarator,
    Directive,
    FunctionDeclaration,
    Header,
    Identifier,
    InstructionStatement,
    Item,
    Label,
    Module,
    Not,
    NumericLiteral,
    Operand,
    OperandTuple,
    ParameterDeclaration,
    Prototype,
    Scope,
    Statement,
    Sum,
    TargetTable,
    VariableDeclaration,
)

_CLOSING = {"{": "}", "(": ")"}
_INDENT = "\t"


def module_text(module: Module) -> str:
    """Return a module as PTX; a fragment has no frame, and prints as the statements alone."""
    return "".join(f"{line}\n" for item in module.items for line in _item(item))


def instruction_text(instruction: InstructionStatement) -> str:
    """Return an instruction without its `;`: `@!%p1 bra L`."""
    guard = f"@{instruction.guard} " if instruction.guard else ""
    operands = ", ".join(map(operand_text, instruction.operands))
    return f"{guard}{instruction.opcode} {operands}".rstrip()


def operand_text(operand: Operand) -> str:
    """Return an operand as it is written."""
    match operand:
        case Identifier(text) | NumericLiteral(text):
            return text
        case Not(name):
            return f"!{name}"
        case Sum(name, offset):
            return f"{name}+{offset}"
        case OperandTuple("|", items):
            return "|".join(map(operand_text, items))
        case OperandTuple(opening, items):
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
        case VariableDeclaration():
            yield _variable(item)
        case FunctionDeclaration(name="", body=Scope(statements)):
            for statement in statements:
                yield from _statement(statement, "")
        case FunctionDeclaration():
            yield from _function(item)


def _function(function: FunctionDeclaration) -> Iterator[str]:
    kind = (".entry",) if function.kernel else (".func", *function.attributes)
    returns = () if function.returns is None else (_parameters(function.returns),)
    parameters = "" if function.parameters is None else _parameters(function.parameters)
    yield " ".join((*function.linkage, *kind, *returns, function.name + parameters))
    yield from function.tuning
    if function.body is None:
        yield ";"
        return
    yield from _statement(function.body, "")


def _statement(statement: Statement, indent: str) -> Iterator[str]:
    match statement:
        case InstructionStatement():
            yield f"{indent}{instruction_text(statement)};"
        case Label(name):
            yield f"{name}:"
        case TargetTable(name, kind, items):
            yield f"{indent}{name}: {kind} {', '.join(items)};"
        case Prototype():
            yield indent + _prototype(statement)
        case VariableDeclaration():
            yield indent + _variable(statement)
        case Directive(text):
            yield indent + text
        case Scope(statements):
            yield indent + "{"
            for inner in statements:
                yield from _statement(inner, indent + _INDENT)
            yield indent + "}"


def _prototype(prototype: Prototype) -> str:
    words = [f"{prototype.name}: .callprototype"]
    if prototype.returns is not None:
        words.append(_parameters(prototype.returns))
    words.append(prototype.callee + ("" if prototype.parameters is None else f" {_parameters(prototype.parameters)}"))
    return " ".join((*words, *prototype.attributes)) + ";"


def _parameters(parameters: tuple[ParameterDeclaration, ...]) -> str:
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(parameter: ParameterDeclaration) -> str:
    return " ".join((parameter.space, *parameter.kinds, parameter.name)) + _dimensions(parameter.dimensions)


def _variable(variable: VariableDeclaration) -> str:
    return " ".join((*variable.linkage, variable.space, *variable.kinds, ", ".join(map(_declarator, variable.names)))) + ";"


def _declarator(declarator: Declarator) -> str:
    count = f"<{declarator.count}>" if declarator.count else ""
    initial = f" = {declarator.initial}" if declarator.initial else ""
    return f"{declarator.name}{count}{_dimensions(declarator.dimensions)}{initial}"


def _dimensions(dimensions: tuple[str, ...]) -> str:
    return "".join(f"[{size}]" for size in dimensions)
