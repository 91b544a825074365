"""Several results of one input, by place and by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar, overload

from sassan.app.documents import tool
from sassan.fields.field import Value


class NamedResult(Protocol):
    """A result of one function."""

    @property
    def name(self) -> object:
        """The name of the function, a text."""
        ...

    def to_dict(self) -> Mapping[str, Value]:
        """Return what the command line says of it in JSON."""
        ...


R = TypeVar("R", bound=NamedResult)


@dataclass(frozen=True, slots=True)
class NamedResults(Sequence[R], Generic[R]):
    """The results of one input, in its order: `results[0]`, `results["saxpy"]` (the first of that name), slices; `file` is its name.

    An index that is too large raises IndexError, a name that is not there KeyError.
    """

    file: str
    found: tuple[R, ...]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.found)

    def __contains__(self, key: object) -> bool:
        """Return whether this result is there, or one of this name."""
        return any(each.name == key for each in self.found) if isinstance(key, str) else key in self.found

    def __iter__(self) -> Iterator[R]:
        """Yield them in order."""
        return iter(self.found)

    @overload
    def __getitem__(self, key: int | str) -> R: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | str | slice) -> R | Self:
        """Return a result by name or by place; raises KeyError, IndexError."""
        if isinstance(key, slice):
            return type(self)(self.file, self.found[key])
        if isinstance(key, int):
            return self.found[key]
        for each in self.found:
            if each.name == key:
                return each
        raise KeyError(key)

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of the command line's `--json`: `schema`, `tool`, and `functions`, the `to_dict` of each result in order.

        It is ready for `json.dumps`; its keys are those of docs/reference/json.md, which stay.
        """
        return {**tool(), "functions": [each.to_dict() for each in self.found]}
