"""The names and paths that comments, docstrings and pages speak of, and those that the repository has."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from docs.pages import ROOT, prose, tracked

FOLDERS = ("sassan", "scripts")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(
    r"^ *(?:async )?(?:def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = |^ {4}(\w+): [^=\n]+(?: = .*)?$|^ {4}([A-Z_]+) = |^ *self\.(\w+)(?:: [^=\n]+)? = ",
    re.MULTILINE,
)
_TEXT = re.compile(r"""(?<!")"([^"\n]+)"(?!")""")
"""What a line defines, and a text within it that is no docstring."""
_SPAN = re.compile(r"`([a-z_][a-z0-9_]*)(?:\(\))?`")
_COMMENT = re.compile(r"(?:^|\s)#[ :].*$")
_DOTTED = re.compile(r"`((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\(\))?`")
_PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join((*FOLDERS, 'tests', 'samples', 'docs', 'grammars'))})/[\w./*-]*[\w/*])")
_TEXTS = {".toml", ".lark", ".c", ".h", ".cu", ".js", ".css", ".csv", ".cmake", ".sh", ".yml", ".properties", ""}
_LARGE = 200_000
"""Bytes of a file of data that is no text for people."""
FOREIGN = {
    "x_data", "x_nitems", "x_shape0", "x_stride0", "fastmath", "lineinfo", "i32", "num_warps", "constexpr",  # Numba, Triton
    "is_dir", "multiprocessing", "creator", "networkx", "read_graphml", "pyarrow", "json", "read_json", "nohup",  # Python and its packages
    "EIATTR_INDIRECT_BRANCH_TARGETS", "xi_addr", "saxpy_param_2", "k0", "n0068", "n0068_c0190", "exit0", "sm_130", "toml",
}  # fmt: skip
"""Names of other programs, and examples of names that are made when a program runs."""


def modules() -> list[Path]:
    """The modules and scripts in Python of the folders whose notes are followed."""
    found = [path for path in tracked() if path.relative_to(ROOT).parts[0] in FOLDERS and path.suffix in {".py", ""}]
    return [path for path in found if path.suffix == ".py" or path.read_bytes().startswith(b"#!/usr/bin/env python3")]


def notes(text: str) -> Iterator[tuple[int, str]]:
    """Each comment and each docstring of a module, with its line."""
    for number, line in enumerate(text.splitlines(), 1):
        if "#" in line and (comment := _COMMENT.search(line)):
            yield number, comment.group()
    for statement in docstrings(parsed(text)):
        yield statement.lineno, str(statement.value)


@lru_cache(maxsize=2)
def parsed(text: str) -> ast.Module:
    """The tree of a module."""
    return ast.parse(text)


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts that stand as statements: docstrings of modules, classes and functions, and those under constants and fields."""
    bodies = [getattr(tree, "body", [])]
    while bodies:
        for statement in bodies.pop():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                yield statement.value
            bodies += (body for name in ("body", "orelse", "finalbody") if (body := getattr(statement, name, None)))


def used(nodes: Iterable[ast.AST], texts: frozenset[int]) -> Iterator[str]:
    """The identifiers that code names, and the words of its texts, but for docstrings (by `id`)."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.alias(name=name, asname=other):
                yield from (other or name).split(".")
            case ast.Constant(value=str(text)) if id(node) not in texts:
                yield from _WORD.findall(text)
            case _:
                pass


@cache
def known() -> frozenset[str]:
    """What the code defines: modules, functions, classes, fields, constants; the words of its texts and data. No parameter, no local name."""
    names = set[str]()
    for path in tracked():
        names.update(*(_WORD.findall(part) for part in path.relative_to(ROOT).parts))
        if path.relative_to(ROOT).parts[0] not in {*FOLDERS, "grammars", "pyproject.toml"}:
            continue
        text = path.read_text("utf-8", "replace") if path.suffix in _TEXTS | {".py"} else ""
        if path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
            names.update(name for each in _DEFINED.findall(text) for name in each)
            names.update(word for each in _TEXT.findall(text) for word in _WORD.findall(each))
        else:
            names.update(_WORD.findall(text))
    return frozenset(names)


def unknown_names(text: str) -> list[tuple[int, str]]:
    """The names in backticks of comments and docstrings of a module that neither it nor the repository has, with their lines.

    In the docstrings of a function, the parameters and local names of other functions do not count: a parameter that was renamed is found.
    """
    tree = parsed(text)
    texts = frozenset(map(id, docstrings(tree)))
    found = [(line, name) for line, note in notes(text) for name in _strange(note)]
    if found:
        every = set(used(ast.walk(tree), texts))
        found = [each for each in found if each[1] not in every]
    imported = set(used((node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)), texts))
    for function in _outermost(tree):
        strange = [(each.lineno, name) for each in docstrings(function) for name in _strange(str(each.value))]
        names = set(used(ast.walk(function), texts)) if strange else set[str]()
        found += [each for each in strange if each[1] not in names | imported]
    return sorted(set(found))


def _strange(note: str) -> list[str]:
    return [name for name in _SPAN.findall(note) if name not in known() and name not in FOREIGN]


def _outermost(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for inner in ast.iter_child_nodes(tree):
        if isinstance(inner, _FUNCTION):
            yield inner
        elif isinstance(inner, ast.stmt):
            yield from _outermost(inner)


def missing_paths(text: str) -> list[tuple[int, str]]:
    """The paths of files and folders of the repository that comments and docstrings of a module name, and that are not there."""
    spoken = ((line, path) for line, note in notes(text) for path in _PATH.findall(note))
    return [(line, path) for line, path in spoken if not any(ROOT.glob(path)) and not re.search("NN|NAME|FILE", path)]


@cache
def words() -> frozenset[str]:
    """Every word of the code, its data and its samples: pages speak of local names and of files of samples, too."""
    found = set[str]()
    for path in tracked():
        found.update(*(_WORD.findall(part) for part in path.relative_to(ROOT).parts))
        if path.suffix in _TEXTS | {".py"} and path.relative_to(ROOT).parts[0] != "tests" and path.stat().st_size < _LARGE:
            found.update(_WORD.findall(path.read_text("utf-8", "replace")))
    return frozenset(found)


def unknown_names_of_page(text: str) -> list[str]:
    """The names in code spans of a page, dotted or with an underscore, of which a part is no word of the repository."""
    named = [name for name in _DOTTED.findall(prose(text)) if "_" in name or "." in name]
    return [name for name in named if not set(name.split(".")) <= words() | FOREIGN]
