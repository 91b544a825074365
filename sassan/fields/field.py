"""A field of a result: what it is called, what it holds, where it comes from, what it means; a record is a class of them.

    class LoopFields(Record[Loop]):
        '''A loop of the graph.'''

        head = of_loop(ADDRESS, "address of the header", lambda loop: loop.start)
        bound = of_loop(BOUND, "back edges of one thread per entry", csv="bound", head="bound")

An attribute whose name begins with `_` is not a property of the library. A key with dots stands in objects within the document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar, cast, overload

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"
"""What JSON can hold."""
NONE = "-"
"""Stands in a table where no value can be given."""
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
T = TypeVar("T")
R = TypeVar("R")


def _same(value: object) -> Any:  # noqa: ANN401 - of the type that it is
    return value


def _spelled(value: object) -> str:
    return NONE if value is None else str(value)


@dataclass(frozen=True, slots=True)
class FieldKind(Generic[T]):
    """What fields hold: the schema of the values in a document, and how one is written there, in a cell of CSV, in a table.

    `records` are those that the schema refers to; `merged`: its keys are those of the object that the field stands in.
    """

    schema: Mapping[str, Value]
    write: Callable[[T], Value] = _same
    cell: Callable[[T], object] | None = None
    """What CSV has in place of the value of the document."""
    shown: Callable[[T], str] = _spelled
    number: bool = False
    records: tuple["type[Record[Any]]", ...] = ()
    merged: bool = False


class Record(Generic[S_co]):
    """A class of fields of one kind of result; an object of a subclass that has a `subject` has their values as properties."""

    __slots__ = ()
    fields: ClassVar[tuple["Field[Any, Any]", ...]] = ()
    """In order; those of the classes that it extends come first."""
    tree: ClassVar[Mapping[str, "Node"]] = {}
    """The keys of its document; a merged field stands under `*` and its number."""
    columns: ClassVar[tuple["Column", ...]] = ()
    """Its fields, and in the place of a merged or flat one those of its record."""

    def __init_subclass__(cls) -> None:
        """Collect what the class declares."""
        super().__init_subclass__()
        known = {name: item for base in reversed(cls.__mro__) for name, item in vars(base).items() if isinstance(item, Field)}
        cls.fields = tuple(known.values())
        cls.tree, cls.columns = _tree(cls.fields), _columns(cls.fields)

    @property
    def subject(self) -> S_co:
        """The result that the fields describe."""
        raise NotImplementedError


@dataclass(frozen=True)
class Field(Generic[S, T]):
    """A field of a record.

    `key` is its path in the document, None for no place there; `csv` is its column of CSV, behind that of the field before or that
    called `after`; `head` is its column in tables. '' is not a column. Where `when` does not hold, the document lacks the key.
    """

    kind: FieldKind[T]
    text: str
    get: Callable[[S], T]
    key: str | None
    unit: str = ""
    csv: str | bool = ""
    """True: as the key, with `_` for dots."""
    after: str = ""
    cell: Callable[[S], object] | None = None
    """The value in CSV, where it is not that of the document."""
    head: str = ""
    head_after: str = ""
    """The column of tables behind which it stands, if not that of the field before."""
    widest: int = 0
    """Characters that a cell of a table is cut to, 0 for no limit."""
    shown: Callable[[S], str] | None = None
    """The cell of a table, where it is not the value."""
    when: Callable[[S], bool] | None = None
    sparse: bool = False
    """Whether a table in which no row has a value is without its column."""
    flat: bool = False
    """Whether the columns of its record are columns of this one."""
    optional: bool = False
    """Whether the document has it only where it is asked for."""
    name: str = field(default="", init=False)
    """The attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Complete the declaration by the name of the attribute."""
        object.__setattr__(self, "__doc__", self.meaning)
        if self.key == "" and not self.kind.merged:
            object.__setattr__(self, "key", name.lstrip("_"))
        if self.csv is True:
            object.__setattr__(self, "csv", (self.key or name.lstrip("_")).replace(".", "_"))
        object.__setattr__(self, "name", name.lstrip("_"))
        if self.get is _by_name:
            object.__setattr__(self, "get", attrgetter(name.lstrip("_")))

    @property
    def meaning(self) -> str:
        """The text, with the unit."""
        return f"{self.text}, in {self.unit}" if self.unit else self.text

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Record[S], owner: type) -> T: ...
    def __get__(self, instance: Record[S] | None, owner: type) -> Self | T:
        """Return the value of the field, of a class the field itself."""
        return self if instance is None else self.get(instance.subject)

    def of_row(self, source: S) -> object:
        """Return the cell in CSV."""
        if self.cell is not None:
            return self.cell(source)
        return (self.kind.cell or self.kind.write)(self.get(source))

    def of_table(self, source: S) -> str:
        """Return the cell of a table."""
        return self.shown(source) if self.shown is not None else self.kind.shown(self.get(source))


def _by_name(source: object) -> NoReturn:
    raise NotImplementedError(source)


class Declare(Generic[S]):
    """Declares fields of one kind of result: `of_loop = Declare[Loop]()`."""

    def __call__(  # noqa: PLR0913 - they are what a field may have
        self,
        kind: FieldKind[T],
        text: str,
        get: Callable[[S], T] = _by_name,
        *,
        key: str | None = "",
        unit: str = "",
        csv: str | bool = "",
        after: str = "",
        cell: Callable[[S], object] | None = None,
        head: str = "",
        head_after: str = "",
        widest: int = 0,
        shown: Callable[[S], str] | None = None,
        when: Callable[[S], bool] | None = None,
        sparse: bool = False,
        flat: bool = False,
        optional: bool = False,
    ) -> Field[S, T]:
        """Return a field; without `get` it is the attribute of that name, without `key` it is called as the attribute."""
        return Field(kind, text, get, key, unit, csv, after, cell, head, head_after, widest, shown, when, sparse, flat, optional)


Node: TypeAlias = "Field[Any, Any] | dict[str, Node]"
"""What stands under a key of a document: a field, or an object with further keys."""
Column: TypeAlias = "tuple[Callable[[Any], Any], Field[Any, Any]]"
"""A field, and how its source is reached from that of the record that it is a column of: None where there is none."""


def _tree(fields: Sequence[Field[Any, Any]]) -> Mapping[str, Node]:
    root: dict[str, Node] = {}
    for number, each in enumerate(fields):
        if each.key is not None:
            *path, last = each.key.split(".")
            node: Node = root
            for key in path:
                node = node.setdefault(key, {}) if isinstance(node, dict) else node
            assert isinstance(node, dict), each.key
            node[f"*{number}" if each.kind.merged else last] = each
    return root


def document(record: type[Record[S]], source: S, *optional: str) -> dict[str, Value]:
    """Return what JSON says of a result, and of its optional fields those that are named."""
    return _object(record.tree, source, optional)


def _object(nodes: Mapping[str, Node], source: object, optional: Sequence[str] = ()) -> dict[str, Value]:
    known: dict[str, Value] = {}
    for key, node in nodes.items():
        if isinstance(node, dict):
            known[key] = _object(node, source, optional)
        elif (key in optional or not node.optional) and (node.when is None or node.when(source)):
            value = node.kind.write(node.get(source))
            if node.kind.merged:
                known.update(cast("Mapping[str, Value]", value))
            else:
                known[key] = value
    return known


def _columns(fields: Sequence[Field[Any, Any]]) -> tuple[Column, ...]:
    known: list[Column] = []
    for each in fields:
        if each.kind.merged or each.flat:
            known.extend((_within(each, find), inner) for find, inner in each.kind.records[0].columns)
        else:
            known.append((_same, each))
    return tuple(known)


def _within(outer: Field[Any, Any], find: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def source_of(source: object) -> object:
        inner = outer.get(source)
        return None if inner is None else find(inner)

    return source_of


def heads(*records: type[Record[Any]]) -> tuple[str, ...]:
    """Return the columns of CSV of the fields of records, one record after the other."""
    return _ordered((str(each.csv), each.after) for record in records for _, each in record.columns if each.csv)


def titles(record: type[Record[Any]]) -> tuple[str, ...]:
    """Return the columns of tables of the fields of a record."""
    return _ordered((each.head, each.head_after) for _, each in record.columns if each.head)


def _ordered(names: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return names in order, each that is to follow another one behind that, where it is there."""
    known = list(names)
    present = {name for name, _ in known}
    out = [name for name, after in known if after not in present]
    rest = [pair for pair in known if pair[1] in present]
    while rest:
        name, after = next(pair for pair in rest if pair[1] in out)
        out.insert(out.index(after) + 1, name)
        rest.remove((name, after))
    return tuple(out)


def row(record: type[Record[S]], source: S) -> dict[str, object]:
    """Return the cells of CSV of a result by their heads; None where there is no value."""
    return {str(each.csv): _cell(each, find(source), Field.of_row) for find, each in record.columns if each.csv}


def cells(record: type[Record[S]], source: S) -> dict[str, str]:
    """Return the cells of a table by the heads that fields declare."""
    known = {each.head: _cell(each, find(source), Field.of_table) for find, each in record.columns if each.head}
    return {head: NONE if text is None else text for head, text in known.items()}


def _cell(field: Field[Any, Any], source: object, of: Callable[[Field[Any, Any], Any], R]) -> R | None:
    return None if source is None or (field.when is not None and not field.when(source)) else of(field, source)
