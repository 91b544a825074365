"""What documents of several commands begin with, or say of a file that was refused (docs/reference/json.md)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from sassan import __version__
from sassan.errors import SassanError
from sassan.fields.field import Declare, FieldKind, Record, Value, document
from sassan.fields.kinds import CODE, COUNT, EXTENTS, NAME, STRING, TEXT, choice, merged, one
from sassan.names import readable
from sassan.source import Span

if TYPE_CHECKING:
    from sassan.app.settings import Settings
    from sassan.ir import Function

SCHEMA = 1


class OfFunction(Protocol):
    """Something of a function of a file."""

    @property
    def function(self) -> "Function":
        """The function."""
        ...

    @property
    def file(self) -> str:
        """The file, as the user names it."""
        ...


class OfLaunch(OfFunction, Protocol):
    """Something of a function, under settings."""

    @property
    def settings(self) -> "Settings":
        """The settings."""
        ...


class OfRefusal(Protocol):
    """An input that was refused."""

    @property
    def file(self) -> str:
        """The input, as the user names it."""
        ...

    @property
    def error(self) -> SassanError:
        """Why."""
        ...


F_co = TypeVar("F_co", bound=OfFunction, covariant=True)
_of_function, _of_launch = Declare[OfFunction](), Declare[OfLaunch]()
_of_error, _of_refused, _of_nothing = Declare[SassanError](), Declare[OfRefusal](), Declare[None]()


class FunctionFields(Record[F_co], Generic[F_co]):
    """A function of a file."""

    name = _of_function(
        NAME, "name of the function, as the input has it", lambda each: each.function.name, csv="name", head="function", widest=24
    )
    demangled = _of_function(STRING, "name of the function, as the source has it", lambda each: readable(each.function.name))
    arch = _of_function(STRING, "architecture: `sm_61`", lambda each: each.function.arch, csv="arch", head="arch")
    file = _of_function(STRING, "the file, as it was named", csv="file")


class ShapeFields(Record[OfLaunch]):
    """One of several launches of a function."""

    grid = _of_launch(EXTENTS, "blocks of the grid, by axis", lambda each: each.settings.launch.grid or ())
    block = _of_launch(EXTENTS, "threads of a block, by axis", lambda each: each.settings.launch.block or ())


class HeadFields(FunctionFields[OfLaunch]):
    """A function of a file, or one of several launches of it."""

    launch = _of_launch(
        one(ShapeFields),
        "of a function that stands once for each of several launches",
        lambda each: each,
        csv="launch",
        when=lambda each: each.settings.launch.recorded,
    )


class ErrorFields(Record[SassanError]):
    """Why an input was refused."""

    code = _of_error(CODE, "which error it is, of the page on error codes")
    message = _of_error(STRING, "what is wrong")
    hint = _of_error(TEXT, "what to do")
    line = _of_error(COUNT, "line of the input", lambda error: _span(error).line, when=lambda error: error.span is not None)
    column = _of_error(COUNT, "column of the input", lambda error: _span(error).column, when=lambda error: error.span is not None)


class RefusedFields(Record[OfRefusal]):
    """An input that was refused."""

    file = _of_refused(STRING, "the input, as it was named")
    _error = _of_refused(merged(ErrorFields), "why", lambda refused: refused.error)


class ToolFields(Record[None]):
    """What wrote a document."""

    name = _of_nothing(choice("sassan"), "of the program", lambda _: "sassan")
    version = _of_nothing(STRING, "of the program", lambda _: __version__)


class DocumentFields(Record[None]):
    """What every document begins with."""

    schema = _of_nothing(FieldKind({"const": SCHEMA}), "version of the form of documents", lambda _: SCHEMA)
    tool = _of_nothing(one(ToolFields), "what wrote the document", lambda _: None)


def tool() -> Mapping[str, Value]:
    """Return the keys with which every document begins."""
    return document(DocumentFields, None)


def _span(error: SassanError) -> Span:
    assert error.span is not None
    return error.span
