"""The codes that sassan gives gaps and errors, read off its source: who names one, and with what message."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+|internal|usage|interrupted")
_WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_GAPS = {"Gap": 1, "_gap": 1, "report": 1, "_report": 1, "BarrierMisuse": 0}
"""What is called to report a gap, and which of its arguments is the code."""
_HELPERS = {"Format", "_error", "kind"}
"""What makes an error, beside the classes."""
_STATUS = {"UsageError": 2, "InputError": 3, "SassanError": 3, "MissingToolError": 4, "SelfCheckError": 5}


@dataclass(frozen=True, slots=True)
class Named:
    """A place that names a code: the function that is called with it, the message (`…` for what is filled in), the module."""

    code: str
    call: str
    message: str
    module: str

    status: int | None
    """The exit status of an error that is raised here; None where a caller decides."""
    hint: str = ""
    """What the error says to do, '' where it says nothing, or a caller does."""


def gaps() -> Mapping[str, list[Named]]:
    """The places that report a gap, by its code: calls such as `Gap(address, "code", message)`."""
    return _by_code(named for named, place in _places() if named.call in _GAPS and place == _GAPS[named.call])


def errors() -> Mapping[str, list[Named]]:
    """The places that raise an error, by its code: calls such as `InputError("code", message)`."""
    return _by_code(named for named, place in _places() if place == 0 and (named.call.endswith("Error") or named.call in _HELPERS))


def literals() -> set[str]:
    """Every text of the source that has the form of a code."""
    return {
        node.value
        for nodes in every_node().values()
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value)
    }


def _by_code(several: Iterator[Named]) -> Mapping[str, list[Named]]:
    out: dict[str, list[Named]] = {}
    for named in several:
        out.setdefault(named.code, []).append(named)
    return dict(sorted(out.items()))


@cache
def trees() -> Mapping[Path, ast.Module]:
    """The syntax of every module of sassan."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / "sassan").rglob("*.py"))}


@cache
def every_node() -> Mapping[Path, Sequence[ast.AST]]:
    """The nodes of the syntax of every module: a walk takes as long as parsing."""
    return {path: tuple(ast.walk(tree)) for path, tree in trees().items()}


@cache
def _places() -> tuple[tuple[Named, int], ...]:
    return tuple(_found())


def _found() -> Iterator[tuple[Named, int]]:
    """Every call that has a code as its first or second argument, with a message behind it."""
    for path, tree in trees().items():
        nodes = every_node()[path]
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assigned = sorted(_assigned(nodes, constants), key=lambda each: each[1])
        starts = sorted(node.lineno for node in nodes if isinstance(node, ast.FunctionDef))
        for call in nodes:
            if not isinstance(call, ast.Call):
                continue
            for keyword in call.keywords if _name(call) == "Format" else ():
                if keyword.arg == "syntax" and (code := _text(keyword.value, constants)):
                    yield Named(code, "Format", "the file is not TOML, or not JSON: …", path.relative_to(ROOT).as_posix(), _status(call)), 0
            texts = [_text(argument, constants) for argument in call.args[:3]]
            for place, code in enumerate(texts[:2]):
                if code is not None and _form(call, place).fullmatch(code) and len(call.args) > place + 1 and _says(call.args[place + 1]):
                    message = texts[place + 1] or _before(assigned, starts, call.args[place + 1], call.lineno) or "…"
                    yield (
                        Named(code, _name(call), str(message), path.relative_to(ROOT).as_posix(), _status(call), _hint(call, constants)),
                        place,
                    )


def _assigned(nodes: Sequence[ast.AST], constants: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """The texts that names get: name, line, text."""
    for node in nodes:
        if isinstance(node, ast.Assign) and (text := _text(node.value, constants)) is not None:
            yield from ((target.id, node.lineno, text) for target in node.targets if isinstance(target, ast.Name))


def _before(assigned: Sequence[tuple[str, int, str]], starts: Sequence[int], argument: ast.expr, line: int) -> str | None:
    """The text that a name got last before a line in its function (`starts` has the lines of all), None where it got none."""
    if not isinstance(argument, ast.Name):
        return None
    first = max((start for start in starts if start <= line), default=0)
    return next((text for name, at, text in reversed(assigned) if name == argument.id and first <= at < line), None)


def _form(call: ast.Call, place: int) -> re.Pattern[str]:
    """What a code looks like as an argument of a call: gaps and errors may have one of a single word."""
    return _WORD if _GAPS.get(_name(call)) == place or (place == 0 and _name(call) in _STATUS) else _CODE


def _status(call: ast.Call) -> int | None:
    """The exit status that a call stands for; a format has that of its error, which is an InputError unless it says so."""
    kinds = [keyword.value.id for keyword in call.keywords if keyword.arg == "error" and isinstance(keyword.value, ast.Name)]
    return _STATUS.get(kinds[0] if kinds else "InputError" if _name(call) in {"Format", "_error"} else _name(call))


def _hint(call: ast.Call, constants: Mapping[str, str]) -> str:
    """The text of the hint of an error."""
    return next((_text(keyword.value, constants) or "" for keyword in call.keywords if keyword.arg == "hint"), "")


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def _says(argument: ast.expr) -> bool:
    """Whether an argument may be a message: a text, or something that holds one."""
    return isinstance(argument, ast.Constant | ast.JoinedStr | ast.Name | ast.Attribute | ast.BinOp | ast.Call | ast.IfExp)


def _text(argument: ast.expr, constants: Mapping[str, str]) -> str | None:
    """The text of an expression, with `…` for what is filled in; None for what is not text here."""
    match argument:
        case ast.Constant(value=str(value)):
            return value
        case ast.Name(id=name):
            return constants.get(name)
        case ast.JoinedStr(values=values):
            return "".join(_text(value, constants) or "…" for value in values)
        case _:
            return None
