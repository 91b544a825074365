"""From the records of one function to its instructions: names are resolved, labels and tables become addresses."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sassan.errors import InputError
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.literals import immediate, integer
from sassan.frontend.ptx.scopes import Numbers, ScopeNames, declares_registers, parameter, registers_by_use
from sassan.frontend.ptx.syntax import (
    Address,
    Directive,
    FunctionDeclaration,
    Identifier,
    InstructionStatement,
    Label,
    Not,
    NumericLiteral,
    Operand,
    OperandTuple,
    ParameterDeclaration,
    Scope,
    Statement,
    Sum,
    TargetTable,
    VariableDeclaration,
)
from sassan.frontend.ptx.text import instruction_text
from sassan.ir import Frame, Guard, Immediate, Instruction, OperandGroup, PtxAddress, SourceLine, Special, Symbol, Target, Variable, Word
from sassan.ir import Operand as IrOperand
from sassan.isa.ptx_table import special_registers
from sassan.source import Span

STEP = 8
"""Bytes per instruction: PTX has no addresses, and every output needs them."""

_ENDS = frozenset({"ret", "exit", "bra", "brx"})
_WARP_SIZE = Immediate(32)
_LOC = re.compile(r"\.loc ([0-9]{1,9}) ([1-9][0-9]{0,8})\b")
"""File and line; line 0 stands for code without one. Of inlined code it is the line of the inlined function."""


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """The names that a function body may use besides its own: variables and functions of the module.

    Each function name is mapped to the name of the function (different for an alias) and the start of its code, None without code; `files`
    are the paths of `.file` by their numbers.
    """

    names: ScopeNames
    functions: Mapping[str, tuple[str, int | None]]
    files: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class LoweredFunction:
    """The code of one function, and the source lines that it was compiled from."""

    code: tuple[Instruction, ...]
    frame: Frame
    lines: tuple[SourceLine, ...]


class Body:
    """One function being lowered; its code starts at `start`."""

    def __init__(self, text: Text, function: FunctionDeclaration, context: LoweringContext, numbers: Numbers, start: int) -> None:
        """Determine how the function names its registers."""
        self._text, self._function, self._context, self._numbers, self._start = text, function, context, numbers, start
        self._declared = declares_registers(function)
        self._by_use = frozenset[str]() if self._declared else registers_by_use(function)
        self._specials = special_registers()
        self._escaped = frozenset[str]()
        self._addressed: set[str] = set()
        self._out: list[Instruction] = []
        self._lines: list[SourceLine] = []

    def part(self) -> LoweredFunction:
        """Return the code; if the address of a call parameter is taken, it is memory, and all is lowered again. Raises InputError."""
        first = self._numbers.next
        part = self._lower(first)
        if self._addressed:
            self._escaped = frozenset(self._addressed)
            self._numbers.next = first
            part = self._lower(first)
        return part

    def _lower(self, first: int) -> LoweredFunction:
        self._out, self._lines = [], []
        statements = self._function.body.statements if self._function.body else ()
        top = ScopeNames(self._context.names)
        returns, parameters = self._bind(top, self._function.returns or ()), self._bind(top, self._function.parameters or ())
        scopes: list[ScopeNames] = []
        end = self._collect(statements, top, scopes, self._start)
        self._statements(statements, top, iter(scopes))
        self._finish([top, *scopes], end)
        last = self._out[-1].following
        frame = Frame(self._function.name, self._function.kernel, self._start, last, first, self._numbers.next, parameters, returns)
        return LoweredFunction(tuple(self._out), frame, tuple(self._lines))

    def _bind(self, top: ScopeNames, parameters: Iterable[ParameterDeclaration]) -> tuple[Variable, ...]:
        """Bind the parameters of a function: those of a kernel are memory that never changes."""
        bound: list[Variable] = []
        for declared in parameters:
            variable = parameter(declared, self._numbers)
            bound.append(variable)
            is_memory = self._function.kernel or declared.name in self._escaped
            top.bound[declared.name] = Symbol(declared.name) if is_memory and declared.space == ".param" else variable
        return tuple(bound)

    def _collect(self, statements: Iterable[Statement], names: ScopeNames, scopes: list[ScopeNames], at: int) -> int:
        """Assign every label its address, scope by scope; return the address after the last statement."""
        for statement in statements:
            match statement:
                case InstructionStatement():
                    at += STEP
                case Label(name, span):
                    if name in names.labels:
                        raise self._error("duplicate-label", f"the label '{name}' is defined twice in one scope", span)
                    names.labels[name] = at
                case TargetTable(name):
                    names.tables[name] = statement
                case Scope(inner):
                    scopes.append(ScopeNames(names))
                    at = self._collect(inner, scopes[-1], scopes, at)
                case _:
                    pass
        return at

    def _statements(self, statements: Iterable[Statement], names: ScopeNames, scopes: Iterator[ScopeNames]) -> None:
        for statement in statements:
            match statement:
                case InstructionStatement():
                    self._out.append(self._instruction(statement, names))
                case VariableDeclaration():
                    for duplicate in names.declare(statement, self._numbers, self._escaped):
                        raise self._error("duplicate-name", f"'{duplicate.name}' is declared twice in one scope", duplicate.span)
                case Directive(text) if place := _LOC.match(text):
                    if file := self._context.files.get(int(place[1])):
                        self._lines.append(SourceLine(self._start + STEP * len(self._out), file, int(place[2])))
                case Scope(inner):
                    self._statements(inner, next(scopes), scopes)
                case _:
                    pass

    def _finish(self, scopes: list[ScopeNames], end: int) -> None:
        """Add a return if the text ends without one, or if a label follows the last instruction."""
        last = self._out[-1] if self._out else None
        open_end = last is None or last.guard is not None or last.opcode.partition(".")[0] not in _ENDS
        if open_end or any(address == end for names in scopes for address in names.labels.values()):
            span = last.span if last else self._function.span
            self._out.append(Instruction(end, end + STEP, "ret", (), None, span, text="ret", virtual=True))

    def _instruction(self, instruction: InstructionStatement, names: ScopeNames) -> Instruction:
        address = self._start + STEP * len(self._out)
        guard = self._guard(instruction, names) if instruction.guard else None
        mnemonic = instruction.opcode.partition(".")[0]
        targets: tuple[int, ...] = ()
        if mnemonic == "bra":
            operands = tuple([self._label(operand, instruction, names) for operand in instruction.operands])
        elif mnemonic == "brx" and instruction.operands:
            targets = self._table(instruction.operands[-1], instruction, names)
            operands = (*self._operands(instruction.operands[:-1], instruction, names), Word("targets"))
        elif mnemonic == "call":
            operands = tuple(self._call(instruction, names))
        else:
            operands = self._operands(instruction.operands, instruction, names)
        text = instruction_text(instruction)
        return Instruction(address, address + STEP, instruction.opcode, operands, guard, instruction.span, targets=targets, text=text)

    def _guard(self, instruction: InstructionStatement, names: ScopeNames) -> Guard:
        name = instruction.guard.lstrip("!")
        variable = self._variable(name, instruction, names)
        if not isinstance(variable, Variable):
            raise self._unknown(name, instruction, "a predicate register")
        return Guard(name, variable.number, instruction.guard.startswith("!"), variable=True)

    def _label(self, operand: Operand, instruction: InstructionStatement, names: ScopeNames) -> IrOperand:
        if not isinstance(operand, Identifier):
            raise self._unknown("", instruction, "a label")
        address = names.label(operand.text)
        if address is None:
            raise self._error("undefined-label", f"no label '{operand.text}' in this scope", self._span(operand.text, instruction))
        return Target(address, operand.text)

    def _table(self, operand: Operand, instruction: InstructionStatement, names: ScopeNames) -> tuple[int, ...]:
        table = names.table(operand.text) if isinstance(operand, Identifier) else None
        if table is None or table.kind != ".branchtargets":
            raise self._unknown(operand.text if isinstance(operand, Identifier) else "", instruction, "the name of a .branchtargets")
        addresses = [names.label(name) for name in table.items]
        for name, address in zip(table.items, addresses, strict=True):
            if address is None:
                raise self._error("undefined-label", f"no label '{name}' in this scope", table.span)
        return tuple(dict.fromkeys(address for address in addresses if address is not None))

    def _call(self, instruction: InstructionStatement, names: ScopeNames) -> Iterator[IrOperand]:
        """Yield the operands of a call: lists and the callee, without its prototype or table."""
        callee = False
        for operand in instruction.operands:
            if isinstance(operand, OperandTuple) and operand.opening == "(":
                yield OperandGroup("(", tuple([self._operand(item, instruction, names, argument=True) for item in operand.items]))
            elif not callee and isinstance(operand, Identifier):
                callee = True
                yield self._callee(operand.text, instruction, names)
        if not callee:
            raise self._unknown("", instruction, "the name of a function")

    def _callee(self, name: str, instruction: InstructionStatement, names: ScopeNames) -> IrOperand:
        if name in self._context.functions:
            target, start = self._context.functions[name]
            return Symbol(target) if start is None else Target(start, target)
        variable = self._variable(name, instruction, names)
        if isinstance(variable, Variable):
            return variable
        raise self._unknown(name, instruction, "a function, or a register that holds the address of one")

    def _operands(self, operands: tuple[Operand, ...], instruction: InstructionStatement, names: ScopeNames) -> tuple[IrOperand, ...]:
        lowered, out = names.operands, list[IrOperand]()
        for operand in operands:
            value = lowered.get(operand)
            if value is None:
                value = lowered[operand] = self._operand(operand, instruction, names)
            out.append(value)
        return tuple(out)

    def _operand(self, operand: Operand, instruction: InstructionStatement, names: ScopeNames, *, argument: bool = False) -> IrOperand:
        match operand:
            case Identifier(text):
                return self._name(text, instruction, names, argument=argument)
            case NumericLiteral(text):
                return self._number(text, instruction)
            case Not(name):
                variable = self._variable(name, instruction, names)
                if not isinstance(variable, Variable):
                    raise self._unknown(name, instruction, "a predicate register")
                return replace(variable, negated=True)
            case Sum(name):
                # An address at a constant distance from a symbol is treated as the symbol's address.
                return self._name(name, instruction, names, argument=False)
            case OperandTuple(opening, items):
                return OperandGroup(opening, tuple([self._operand(item, instruction, names) for item in items]))
            case Address():
                return self._address(operand, instruction, names)

    def _number(self, text: str, instruction: InstructionStatement) -> Immediate:
        try:
            return immediate(text)
        except ValueError:
            raise self._error("bad-number", f"'{text}' is not a number", self._span(text, instruction)) from None

    def _name(self, text: str, instruction: InstructionStatement, names: ScopeNames, *, argument: bool) -> IrOperand:
        if text == "_":
            return Word("_")
        if text == "WARP_SZ":
            return _WARP_SIZE
        base, _, part = text.partition(".")
        variable = self._variable(base, instruction, names)
        if isinstance(variable, Variable):
            if variable.size and not argument:
                self._addressed.add(base)
            return replace(variable, name=text, part=part) if part else variable
        return variable if variable is not None else self._undeclared(text, base, instruction)

    def _undeclared(self, text: str, base: str, instruction: InstructionStatement) -> IrOperand:
        """Return the operand for a name that the function does not declare."""
        if base in self._specials:
            return Special(text)
        if base in self._context.functions:
            return Symbol(base)
        if not self._declared:
            # As papers print it: a bare name that is not a register denotes the memory at its address.
            return PtxAddress(Symbol(text), 0, bare=True)
        raise self._unknown(text, instruction, "a declared name")

    def _variable(self, name: str, instruction: InstructionStatement, names: ScopeNames) -> Variable | Symbol | None:
        """Return the register, parameter or variable with this name; a text without register declarations has those that it uses."""
        variable = names.variable(name, self._numbers)
        if variable is None and not self._declared and (name[0] in "%$" or name in self._by_use) and name not in self._specials:
            top = self._top(names)
            top.bound[name] = variable = Variable(name, self._numbers.take())
        if variable is None and self._declared and instruction.guard.lstrip("!") == name:
            raise self._unknown(name, instruction, "a declared predicate register")
        return variable

    def _top(self, names: ScopeNames) -> ScopeNames:
        while names.outer is not None and names.outer is not self._context.names:
            names = names.outer
        return names

    def _address(self, operand: Address, instruction: InstructionStatement, names: ScopeNames) -> PtxAddress:
        items = tuple([self._operand(item, instruction, names) for item in operand.items])
        offset = self._offset(operand.offset, instruction)
        if isinstance(operand.base, NumericLiteral):
            return PtxAddress(self._number(operand.base.text, instruction), offset, items)
        name = operand.base.text
        variable = self._variable(name.partition(".")[0], instruction, names)
        if variable is None:
            if self._declared and name not in self._context.functions:
                raise self._unknown(name, instruction, "a declared name")
            variable = Symbol(name)
        return PtxAddress(variable, offset, items)

    def _offset(self, text: str, instruction: InstructionStatement) -> int:
        if not text:
            return 0
        try:
            return -integer(text[1:]) if text.startswith("-") else integer(text)
        except ValueError:
            raise self._error("bad-number", f"'{text}' is not an offset in bytes", self._span(text, instruction)) from None

    def _unknown(self, name: str, instruction: InstructionStatement, expected: str) -> InputError:
        problem = f"'{name}' is not declared" if name else f"{instruction.opcode} lacks an operand"
        return self._error("undeclared-name", f"{problem}; expected {expected}", self._span(name, instruction))

    def _span(self, name: str, instruction: InstructionStatement) -> Span:
        """Return the span of a name on the first line of an instruction, else that of the instruction."""
        start = instruction.span.column - 1
        position = self._text.source.line(instruction.span.line).find(name, start) if name else -1
        return instruction.span if position < 0 else Span(instruction.span.line, position + 1, len(name))

    def _error(self, code: str, message: str, span: Span) -> InputError:
        return InputError(code, message, source=self._text.source, span=span, hint="ptxas refuses it, too")
