"""From the records of one function to its instructions: names looked up, labels and tables turned into addresses."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sassan.errors import InputError
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.literals import immediate, integer
from sassan.frontend.ptx.scopes import Names, Numbers, declares_registers, parameter, registers_by_use
from sassan.frontend.ptx.syntax import (
    Address,
    Function,
    Group,
    Instruction,
    Label,
    Name,
    Not,
    Number,
    Operand,
    Parameter,
    Scope,
    Statement,
    Sum,
    Table,
    Variable,
)
from sassan.frontend.ptx.text import instruction_text
from sassan.ir import Frame, Guard, Immediate, Place, Several, Special, Symbol, Target, Word
from sassan.ir import Instruction as IrInstruction
from sassan.ir import Operand as IrOperand
from sassan.ir import Variable as IrVariable
from sassan.isa.ptx_table import special_registers
from sassan.source import Span

STEP = 8
"""Bytes that an instruction counts for: PTX has no addresses, and every output speaks of them."""

_ENDS = frozenset({"ret", "exit", "bra", "brx"})
_WARP_SIZE = Immediate(32)


@dataclass(frozen=True, slots=True)
class Around:
    """What a function body may name beside its own: variables of the module, and functions.

    Each name of a function has its own name (another one where it is an alias), and where its code starts, None where the input has none.
    """

    names: Names
    functions: Mapping[str, tuple[str, int | None]]


@dataclass(frozen=True, slots=True)
class Part:
    """The code of one function."""

    code: tuple[IrInstruction, ...]
    frame: Frame


class Body:
    """One function being lowered; its code starts at `start`."""

    def __init__(self, text: Text, function: Function, around: Around, numbers: Numbers, start: int) -> None:
        """Look at how the function names its registers."""
        self._text, self._function, self._around, self._numbers, self._start = text, function, around, numbers, start
        self._declared = declares_registers(function)
        self._by_use = frozenset[str]() if self._declared else registers_by_use(function)
        self._specials = special_registers()
        self._escaped = frozenset[str]()
        self._taken: set[str] = set()
        self._out: list[IrInstruction] = []

    def part(self) -> Part:
        """Return the code; a call parameter whose address is taken is memory, and then all is lowered once more. Raises InputError."""
        first = self._numbers.next
        part = self._lower(first)
        if self._taken:
            self._escaped = frozenset(self._taken)
            self._numbers.next = first
            part = self._lower(first)
        return part

    def _lower(self, first: int) -> Part:
        self._out = []
        statements = self._function.body.statements if self._function.body else ()
        top = Names(self._around.names)
        returns, parameters = self._bind(top, self._function.returns or ()), self._bind(top, self._function.parameters or ())
        scopes: list[Names] = []
        end = self._collect(statements, top, scopes, self._start)
        self._statements(statements, top, iter(scopes))
        self._finish([top, *scopes], end)
        last = self._out[-1].following
        frame = Frame(self._function.name, self._function.kernel, self._start, last, first, self._numbers.next, parameters, returns)
        return Part(tuple(self._out), frame)

    def _bind(self, top: Names, parameters: Iterable[Parameter]) -> tuple[IrVariable, ...]:
        """Bind the parameters of a function: those of a kernel are memory that never changes."""
        bound: list[IrVariable] = []
        for one in parameters:
            variable = parameter(one, self._numbers)
            bound.append(variable)
            is_memory = self._function.kernel or one.name in self._escaped
            top.bound[one.name] = Symbol(one.name) if is_memory and one.space == ".param" else variable
        return tuple(bound)

    def _collect(self, statements: Iterable[Statement], names: Names, scopes: list[Names], at: int) -> int:
        """Give every label its address, scope by scope; return the address behind the last statement."""
        for one in statements:
            match one:
                case Instruction():
                    at += STEP
                case Label(name, span):
                    if name in names.labels:
                        raise self._error("duplicate-label", f"the label '{name}' stands twice in one scope", span)
                    names.labels[name] = at
                case Table(name):
                    names.tables[name] = one
                case Scope(inner):
                    scopes.append(Names(names))
                    at = self._collect(inner, scopes[-1], scopes, at)
                case _:
                    pass
        return at

    def _statements(self, statements: Iterable[Statement], names: Names, scopes: Iterator[Names]) -> None:
        for one in statements:
            match one:
                case Instruction():
                    self._out.append(self._instruction(one, names))
                case Variable():
                    for again in names.declare(one, self._numbers, self._escaped):
                        raise self._error("duplicate-name", f"'{again.name}' is declared twice in one scope", again.span)
                case Scope(inner):
                    self._statements(inner, next(scopes), scopes)
                case _:
                    pass

    def _finish(self, scopes: list[Names], end: int) -> None:
        """Return where the text ends without saying so, or a label stands behind the last instruction."""
        last = self._out[-1] if self._out else None
        open_end = last is None or last.guard is not None or last.opcode.partition(".")[0] not in _ENDS
        if open_end or any(address == end for names in scopes for address in names.labels.values()):
            span = last.span if last else self._function.span
            self._out.append(IrInstruction(end, end + STEP, "ret", (), None, span, text="ret", virtual=True))

    def _instruction(self, one: Instruction, names: Names) -> IrInstruction:
        address = self._start + STEP * len(self._out)
        guard = self._guard(one, names) if one.guard else None
        mnemonic = one.opcode.partition(".")[0]
        targets: tuple[int, ...] = ()
        if mnemonic == "bra":
            operands = tuple([self._label(operand, one, names) for operand in one.operands])
        elif mnemonic == "brx" and one.operands:
            targets = self._table(one.operands[-1], one, names)
            operands = (*self._operands(one.operands[:-1], one, names), Word("targets"))
        elif mnemonic == "call":
            operands = tuple(self._call(one, names))
        else:
            operands = self._operands(one.operands, one, names)
        text = instruction_text(one)
        return IrInstruction(address, address + STEP, one.opcode, operands, guard, one.span, targets=targets, text=text)

    def _guard(self, one: Instruction, names: Names) -> Guard:
        name = one.guard.lstrip("!")
        found = self._variable(name, one, names)
        if not isinstance(found, IrVariable):
            raise self._unknown(name, one, "a predicate register")
        return Guard(name, found.number, one.guard.startswith("!"))

    def _label(self, operand: Operand, one: Instruction, names: Names) -> IrOperand:
        if not isinstance(operand, Name):
            raise self._unknown("", one, "a label")
        address = names.label(operand.text)
        if address is None:
            raise self._error("undefined-label", f"no label '{operand.text}' in this scope", self._span(operand.text, one))
        return Target(address, operand.text)

    def _table(self, operand: Operand, one: Instruction, names: Names) -> tuple[int, ...]:
        table = names.table(operand.text) if isinstance(operand, Name) else None
        if table is None or table.kind != ".branchtargets":
            raise self._unknown(operand.text if isinstance(operand, Name) else "", one, "the name of a .branchtargets")
        found = [names.label(name) for name in table.items]
        for name, address in zip(table.items, found, strict=True):
            if address is None:
                raise self._error("undefined-label", f"no label '{name}' in this scope", table.span)
        return tuple(dict.fromkeys(address for address in found if address is not None))

    def _call(self, one: Instruction, names: Names) -> Iterator[IrOperand]:
        """Yield the operands of a call: lists, the callee, and not what only describes it."""
        callee = False
        for operand in one.operands:
            if isinstance(operand, Group) and operand.opening == "(":
                yield Several("(", tuple([self._operand(item, one, names, argument=True) for item in operand.items]))
            elif not callee and isinstance(operand, Name):
                callee = True
                yield self._callee(operand.text, one, names)
        if not callee:
            raise self._unknown("", one, "the name of a function")

    def _callee(self, name: str, one: Instruction, names: Names) -> IrOperand:
        if name in self._around.functions:
            own, start = self._around.functions[name]
            return Symbol(own) if start is None else Target(start, own)
        found = self._variable(name, one, names)
        if isinstance(found, IrVariable):
            return found
        raise self._unknown(name, one, "a function, or a register that holds the address of one")

    def _operands(self, operands: tuple[Operand, ...], one: Instruction, names: Names) -> tuple[IrOperand, ...]:
        known, out = names.operands, list[IrOperand]()
        for operand in operands:
            found = known.get(operand)
            if found is None:
                found = known[operand] = self._operand(operand, one, names)
            out.append(found)
        return tuple(out)

    def _operand(self, operand: Operand, one: Instruction, names: Names, *, argument: bool = False) -> IrOperand:
        match operand:
            case Name(text):
                return self._name(text, one, names, argument=argument)
            case Number(text):
                return self._number(text, one)
            case Not(name):
                found = self._variable(name, one, names)
                if not isinstance(found, IrVariable):
                    raise self._unknown(name, one, "a predicate register")
                return IrVariable(found.name, found.number, negated=True)
            case Sum(name):
                # The address of something a known distance further: as good as the address itself.
                return self._name(name, one, names, argument=False)
            case Group(opening, items):
                return Several(opening, tuple([self._operand(item, one, names) for item in items]))
            case Address():
                return self._address(operand, one, names)

    def _number(self, text: str, one: Instruction) -> Immediate:
        try:
            return immediate(text)
        except ValueError:
            raise self._error("bad-number", f"'{text}' is no number", self._span(text, one)) from None

    def _name(self, text: str, one: Instruction, names: Names, *, argument: bool) -> IrOperand:
        if text == "_":
            return Word("_")
        if text == "WARP_SZ":
            return _WARP_SIZE
        base, _, part = text.partition(".")
        found = self._variable(base, one, names)
        if isinstance(found, IrVariable):
            if found.size and not argument:
                self._taken.add(base)
            return IrVariable(text, found.number, part=part, size=found.size) if part else found
        return found if found is not None else self._undeclared(text, base, one)

    def _undeclared(self, text: str, base: str, one: Instruction) -> IrOperand:
        """Return what a name stands for that the function does not declare."""
        if base in self._specials:
            return Special(text)
        if base in self._around.functions:
            return Symbol(base)
        if not self._declared:
            # As papers print it: a bare name that is no register stands for the memory there.
            return Place(Symbol(text), 0, bare=True)
        raise self._unknown(text, one, "a declared name")

    def _variable(self, name: str, one: Instruction, names: Names) -> IrVariable | Symbol | None:
        """Return the register, parameter or variable with this name; a text that declares no registers has those that it uses."""
        found = names.variable(name, self._numbers)
        if found is None and not self._declared and (name[0] in "%$" or name in self._by_use) and name not in self._specials:
            top = self._top(names)
            top.bound[name] = found = IrVariable(name, self._numbers.take())
        if found is None and self._declared and one.guard.lstrip("!") == name:
            raise self._unknown(name, one, "a declared predicate register")
        return found

    def _top(self, names: Names) -> Names:
        while names.outer is not None and names.outer is not self._around.names:
            names = names.outer
        return names

    def _address(self, operand: Address, one: Instruction, names: Names) -> Place:
        items = tuple([self._operand(item, one, names) for item in operand.items])
        offset = self._offset(operand.offset, one)
        if isinstance(operand.base, Number):
            return Place(self._number(operand.base.text, one), offset, items)
        name = operand.base.text
        found = self._variable(name.partition(".")[0], one, names)
        if found is None:
            if self._declared and name not in self._around.functions:
                raise self._unknown(name, one, "a declared name")
            found = Symbol(name)
        return Place(found, offset, items)

    def _offset(self, text: str, one: Instruction) -> int:
        if not text:
            return 0
        try:
            return -integer(text[1:]) if text.startswith("-") else integer(text)
        except ValueError:
            raise self._error("bad-number", f"'{text}' is no distance in bytes", self._span(text, one)) from None

    def _unknown(self, name: str, one: Instruction, expected: str) -> InputError:
        what = f"'{name}' is not declared here" if name else f"{one.opcode} lacks an operand"
        return self._error("undeclared-name", f"{what}; expected {expected}", self._span(name, one))

    def _span(self, name: str, one: Instruction) -> Span:
        """Return the place of a name inside an instruction, as far as it is on its first line."""
        start = one.span.column - 1
        found = self._text.source.line(one.span.line).find(name, start) if name else -1
        return one.span if found < 0 else Span(one.span.line, found + 1, len(name))

    def _error(self, code: str, message: str, span: Span) -> InputError:
        return InputError(code, message, source=self._text.source, span=span, hint="ptxas refuses such a text too")
