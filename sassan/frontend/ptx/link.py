"""From a module to `ir.Function`: each function with the device functions that it calls behind it, as the compiler would place them."""

from collections.abc import Iterator

from sassan.errors import InputError
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.declarations import cluster
from sassan.frontend.ptx.lower import STEP, Around, Body
from sassan.frontend.ptx.scopes import Names, Numbers, instructions
from sassan.frontend.ptx.syntax import Function, Group, Header, Module, Name, Variable
from sassan.ir import Declared
from sassan.ir import Function as IrFunction

ALIGN = 0x1000
"""Callees start at multiples of this, as sections do in `frontend/link.py`."""


class Linker:
    """Makes the functions of one module; `arch` is that of its `.target`, or the one that overrides it."""

    def __init__(self, text: Text, module: Module, arch: str) -> None:
        """Find what the module declares; raises InputError."""
        self._text, self._arch = text, arch
        self._functions: dict[str, Function] = {}
        self._names = Names()
        for item in module.items:
            if isinstance(item, Function):
                self._add(item)
            elif isinstance(item, Variable):
                self._declare(item)
            elif isinstance(item, Header) and item.keyword == ".alias":
                self._alias(item)
        self._devices = [name for name, one in self._functions.items() if one.body is not None and not one.kernel and name == one.name]

    def functions(self) -> Iterator[IrFunction]:
        """Yield every function that has a body, in order of the text; raises InputError."""
        for name, one in self._functions.items():
            if one.body is not None and name == one.name:
                yield self._link(one)

    def _add(self, one: Function) -> None:
        known = self._functions.get(one.name)
        if known is not None and known.body is not None and one.body is not None:
            raise InputError(
                "duplicate-name", f"two functions are called '{one.name}'", source=self._text.source, span=one.span, hint="keep one of them"
            )
        if known is None or one.body is not None:
            self._functions[one.name] = one

    def _alias(self, one: Header) -> None:
        """Let a name stand for the function that `.alias` names."""
        name, other = one.words
        known = self._functions.get(other)
        if known is None or known.body is None:
            raise InputError(
                "undeclared-name",
                f"'{other}' has no body here; expected a function that '{name}' may stand for",
                source=self._text.source,
                span=one.span,
                hint="ptxas refuses such a text too",
            )
        self._functions[name] = known

    def _declare(self, one: Variable) -> None:
        if one.space == ".reg":
            raise InputError(
                "syntax",
                "a register is declared outside of a function; expected .global, .const, .shared or .extern",
                source=self._text.source,
                span=one.names[0].span,
                hint="declare it in the function that uses it",
            )
        # An .extern one may be declared again.
        list(self._names.declare(one, Numbers(), frozenset()))

    def _link(self, first: Function) -> IrFunction:
        order, indirect = self._reached(first)
        starts: dict[str, int] = {}
        at = 0
        for one in order:
            starts[one.name] = at
            size = _size(one)
            at += -(-size // ALIGN) * ALIGN
        around = Around(self._names, {name: (one.name, starts.get(one.name)) for name, one in self._functions.items()})
        numbers = Numbers()
        parts = [Body(self._text, one, around, numbers, starts[one.name]).part() for one in order]
        return IrFunction(
            first.name,
            self._arch,
            tuple(one for part in parts for one in part.code),
            symbols=tuple((part.frame.start, part.frame.name) for part in parts),
            span=first.span,
            kernel=first.kernel,
            callees=tuple(sorted(starts[name] for name in self._devices)) if indirect and self._devices else None,
            frames=tuple(part.frame for part in parts),
            declared=Declared(cluster=cluster(first)),
        )

    def _reached(self, first: Function) -> tuple[list[Function], bool]:
        """Return a function and all that it may call, in order of discovery; and whether a call goes through a register."""
        order, seen, indirect = [first], {first.name}, False
        for one in order:
            called = list(self._called(one))
            indirect = indirect or "" in called
            for name in (*called, *(self._devices if indirect else ())):
                callee = self._functions.get(name)
                if callee is not None and callee.body is not None and callee.name not in seen:
                    seen.add(callee.name)
                    order.append(callee)
        return order, indirect

    def _called(self, function: Function) -> Iterator[str]:
        """Yield the names of the functions that one calls, '' for a call through a register."""
        statements = function.body.statements if function.body else ()
        for one in instructions(statements):
            if one.opcode.partition(".")[0] == "call":
                callee = next((operand for operand in one.operands if not (isinstance(operand, Group) and operand.opening == "(")), None)
                name = callee.text if isinstance(callee, Name) else ""
                yield name if name in self._functions else ""


def _size(function: Function) -> int:
    """Return the bytes of a function, with a return that it may leave out."""
    statements = function.body.statements if function.body else ()
    return (sum(1 for _ in instructions(statements)) + 1) * STEP
