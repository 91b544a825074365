"""What a declaration must say: one known type, alignments that are powers of two, directives that exist."""

from collections.abc import Iterable, Iterator
from math import prod

from sassan.errors import InputError
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.literals import integer
from sassan.frontend.ptx.syntax import Function, Module, Parameter, Prototype, Scope, Statement, Variable
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
"""What speaks of clusters, the most telling first."""


def cluster(function: Function) -> int | None:
    """Return how many blocks a cluster has at most, 0 where that is not told, None where nothing is said of clusters."""
    found = {name: numbers for name, _, numbers in (words.partition(" ") for words in function.tuning)}
    told = next((found[name] for name in _CLUSTERS if name in found), None)
    if told is None:
        return None
    try:
        return prod(integer(one) for one in told.split(", ")) if told else 0
    except ValueError:
        return 0  # `1.5` or `08`: no number of blocks


def check(text: Text, module: Module) -> None:
    """Raise InputError `bad-declaration` for the first declaration that says nothing that PTX knows."""
    for item in module.items:
        if isinstance(item, Variable):
            _variable(text, item)
        elif isinstance(item, Function):
            _function(text, item)


def _function(text: Text, one: Function) -> None:
    _parameters(text, (*(one.returns or ()), *(one.parameters or ())))
    for words in one.tuning:
        if words.split("(")[0].split(" ")[0] not in _TUNING:
            raise _error(text, f"'{words}' is no directive of a function; expected one such as .maxntid", one.span)
    for each in _statements(one.body.statements if one.body else ()):
        if isinstance(each, Variable):
            _variable(text, each)
        elif isinstance(each, Prototype):
            _parameters(text, (*(each.returns or ()), *(each.parameters or ())))


def _statements(statements: Iterable[Statement]) -> Iterator[Statement]:
    for one in statements:
        if isinstance(one, Scope):
            yield from _statements(one.statements)
        else:
            yield one


def _parameters(text: Text, parameters: Iterable[Parameter]) -> None:
    for one in parameters:
        _kinds(text, one.kinds, one.span)


def _variable(text: Text, one: Variable) -> None:
    _kinds(text, one.kinds, one.names[0].span)


def _kinds(text: Text, kinds: tuple[str, ...], span: Span) -> None:
    types = [kind for kind in kinds if kind in TYPES]
    for kind in kinds:
        word, _, number = kind.partition(" ")
        if word == ".align":
            bytes_ = integer(number)
            if bytes_ < 1 or bytes_ & (bytes_ - 1):
                raise _error(text, f"'{kind}' is no alignment; expected a power of two", span)
        elif kind not in TYPES and kind not in _BESIDE and not kind.startswith(".attribute"):
            raise _error(text, f"'{kind}' is no type; expected one such as .b32", span)
    if len(types) != 1:
        raise _error(text, f"the declaration names {len(types)} types; expected one", span)


def _error(text: Text, message: str, span: Span) -> InputError:
    return InputError("bad-declaration", message, source=text.source, span=span, hint="ptxas refuses such a text too")
