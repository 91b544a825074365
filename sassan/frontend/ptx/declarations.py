"""The checks of declarations: one known type, alignments that are powers of two, directives that exist."""

from collections.abc import Iterable, Iterator
from math import prod

from sassan.errors import InputError
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.literals import integer
from sassan.frontend.ptx.syntax import FunctionDeclaration, Module, ParameterDeclaration, Prototype, Scope, Statement, VariableDeclaration
from sassan.ir import BlockLimit
from sassan.source import Span

TYPES = frozenset(
    {
        *(f".{kind}{size}" for kind in "bus" for size in (8, 16, 32, 64)),
        *(".b128", ".b1024", ".f16", ".f16x2", ".f32", ".f32x2", ".f64", ".bf16", ".bf16x2", ".tf32", ".pred", ".s16x2", ".u16x2"),
        *(".texref", ".samplerref", ".surfref"),
    }
)
_BESIDE = frozenset({".v2", ".v4", ".v8", ".ptr", ".const", ".global", ".local", ".param", ".shared", ".tex", ".reg"})
_TUNING = frozenset(
    {
        *(".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".noreturn", ".pragma", ".abi_preserve"),
        *(".abi_preserve_control", ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".attribute"),
        *(".language", ".minnctapersm", ".retain"),
    }
)

_CLUSTERS = (".reqnctapercluster", ".maxclusterrank", ".explicitcluster", ".blocksareclusters")
"""The directives about clusters, the most specific first."""


def cluster(function: FunctionDeclaration) -> int | None:
    """Return the largest number of blocks of a cluster, 0 where it is not given, None without any directive about clusters."""
    directives = {name: numbers for name, _, numbers in (words.partition(" ") for words in function.tuning)}
    numbers_given = next((directives[name] for name in _CLUSTERS if name in directives), None)
    if numbers_given is None:
        return None
    try:
        return prod(integer(number) for number in numbers_given.split(", ")) if numbers_given else 0
    except ValueError:
        return 0  # `1.5` or `08` is not a number of blocks


def block_limit(function: FunctionDeclaration) -> BlockLimit | None:
    """Return the blocks that may be launched: .reqntid says exactly which, .maxntid the product of the extents."""
    directives = {name: numbers for name, _, numbers in (words.partition(" ") for words in function.tuning)}
    given = next((name for name in (".reqntid", ".maxntid") if name in directives), None)
    if given is None:
        return None
    try:
        x, y, z = (*(integer(number) for number in directives[given].split(", ")), 1, 1)[:3]
    except ValueError:
        return None  # `1.5` or nothing is not a number of threads
    return BlockLimit((x, y, z), exact=given == ".reqntid")


def check(text: Text, module: Module) -> None:
    """Raise InputError `bad-declaration` for the first declaration that PTX does not allow."""
    for item in module.items:
        if isinstance(item, VariableDeclaration):
            _variable(text, item)
        elif isinstance(item, FunctionDeclaration):
            _function(text, item)


def _function(text: Text, function: FunctionDeclaration) -> None:
    _parameters(text, (*(function.returns or ()), *(function.parameters or ())))
    for words in function.tuning:
        if words.split("(")[0].split(" ")[0] not in _TUNING:
            raise _error(text, f"'{words}' is not a directive of a function; expected one such as .maxntid", function.span)
    for statement in _statements(function.body.statements if function.body else ()):
        if isinstance(statement, VariableDeclaration):
            _variable(text, statement)
        elif isinstance(statement, Prototype):
            _parameters(text, (*(statement.returns or ()), *(statement.parameters or ())))


def _statements(statements: Iterable[Statement]) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, Scope):
            yield from _statements(statement.statements)
        else:
            yield statement


def _parameters(text: Text, parameters: Iterable[ParameterDeclaration]) -> None:
    for parameter in parameters:
        _kinds(text, parameter.kinds, parameter.span)
        _whole(text, parameter.dimensions, parameter.span)


def _variable(text: Text, variable: VariableDeclaration) -> None:
    _kinds(text, variable.kinds, variable.names[0].span)
    for name in variable.names:
        _whole(text, (name.count, *name.dimensions), name.span)


def _whole(text: Text, literals: Iterable[str], span: Span) -> None:
    """Refuse a count or a dimension that is not a whole number; '' is one that is not given."""
    for literal in filter(None, literals):
        try:
            integer(literal)
        except ValueError:
            raise _error(text, f"'{literal}' is not a whole number", span) from None


def _kinds(text: Text, kinds: tuple[str, ...], span: Span) -> None:
    types = [kind for kind in kinds if kind in TYPES]
    for kind in kinds:
        word, _, number = kind.partition(" ")
        if word == ".align":
            _whole(text, (number,), span)
            bytes_ = integer(number)
            if bytes_ < 1 or bytes_ & (bytes_ - 1):
                raise _error(text, f"'{kind}' is not an alignment; expected a power of two", span)
        elif kind not in TYPES and kind not in _BESIDE and not kind.startswith(".attribute"):
            raise _error(text, f"'{kind}' is not a type; expected one such as .b32", span)
    if len(types) != 1:
        raise _error(text, f"the declaration has {len(types)} types; expected one", span)


def _error(text: Text, message: str, span: Span) -> InputError:
    return InputError("bad-declaration", message, source=text.source, span=span, hint="ptxas refuses it, too")
