"""What `import sassan` offers says what a caller needs: every parameter, every field, units of numbers, errors."""

import ast
import dataclasses
import inspect
import re
import statistics
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, get_args

import pytest

import sassan
from sassan.api.checks import GateChoices
from sassan.api.choices import Choices

pytestmark = pytest.mark.slow

PUBLIC: Mapping[str, Any] = {name: getattr(sassan, name) for name in sassan.__all__ if not name.startswith("_")}
FUNCTIONS: Mapping[str, FunctionType] = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}
CLASSES: Mapping[str, type] = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
UNITS = re.compile(r"cycles|microseconds|slots|bytes|percent|from -?\d to \d|transactions|how many|blocks|registers|1\.0 means", re.IGNORECASE)
WANTED = 54
"""Words of a public function in well-kept libraries, in the median."""


def words(text: str | None) -> int:
    return len((text or "").split())


def members() -> Iterator[tuple[str, Callable[..., object]]]:
    """The methods and properties that the library gives its classes."""
    for name, value in CLASSES.items():
        for base in value.__mro__:
            for key, member in vars(base).items() if base.__module__.startswith("sassan.") else ():
                found = member.fget if isinstance(member, property) else member
                if not key.startswith("_") and inspect.isfunction(found):
                    yield f"{name}.{key}", found


def undocumented_parameters(function: Callable[..., object]) -> list[str]:
    """The parameters that the docstring does not name in backticks; those of a TypedDict by the name of all."""
    text = inspect.getdoc(function) or ""
    return [name for name in inspect.signature(function).parameters if name != "self" and not re.search(rf"`{name}[`=]", text)]


def undocumented_fields(value: type) -> list[str]:
    """The fields of a dataclass that neither its docstring nor a text below them explains."""
    if not dataclasses.is_dataclass(value):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    text = inspect.getdoc(value) or ""
    return [name for name in without_text(tree) if not re.search(rf"`{name}\b", text)]


def without_text(tree: ast.Module) -> list[str]:
    """The annotated names of a class without a docstring below them."""
    (owner,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    behind = dict(zip(owner.body, owner.body[1:], strict=False))
    fields = [(node, node.target.id) for node in owner.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    return [name for node, name in fields if not isinstance(below := behind.get(node), ast.Expr) or not isinstance(below.value, ast.Constant)]


def is_number(function: Callable[..., object]) -> bool:
    """Whether a function returns an int or a float, or None in its place."""
    kind = inspect.signature(function).return_annotation
    return kind in {int, float} or bool({int, float} & set(get_args(kind)) and type(None) in get_args(kind))


def test_every_public_name_and_member_has_a_docstring():
    assert [name for name, value in (*PUBLIC.items(), *members()) if not words(inspect.getdoc(value))] == []


def test_every_parameter_of_a_public_function_is_explained():
    every = (*FUNCTIONS.items(), *members())
    assert {name: missing for name, value in every if (missing := undocumented_parameters(value))} == {}


def test_every_field_of_a_public_class_is_explained():
    assert {name: missing for name, value in CLASSES.items() if (missing := undocumented_fields(value))} == {}


@pytest.mark.parametrize("kind", [Choices, GateChoices])
def test_every_keyword_is_explained(kind: type):
    assert without_text(ast.parse(textwrap.dedent(inspect.getsource(kind)))) == []


def test_every_public_function_says_what_it_raises_and_is_long_enough():
    assert [name for name, value in FUNCTIONS.items() if "Raises " not in (inspect.getdoc(value) or "")] == []
    assert statistics.median(words(inspect.getdoc(value)) for value in FUNCTIONS.values()) >= WANTED


def test_every_number_has_a_unit():
    numbers = [(name, value) for name, value in members() if is_number(value)]
    assert len(numbers) > 12
    assert [name for name, value in numbers if not UNITS.search(inspect.getdoc(value) or "")] == []


def planted(left: int, right: int = 0) -> int:
    """Return `left`, raised by a number of cycles."""
    return left + right


@dataclasses.dataclass
class Planted:
    """Two numbers, of which `one_field` is explained."""

    one_field: int
    other_field: int
    last_field: int = 0
    """The last."""


def test_planted_faults_are_found():
    assert undocumented_parameters(planted) == ["right"]
    assert undocumented_fields(Planted) == ["other_field"]
    assert is_number(planted)
    assert not UNITS.search("Return a number.")
