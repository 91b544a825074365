"""Plain English: words that stood in the place of the terms of the field are in no code, no message and no page."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from docs.pages import ROOT, markdown

sys.path.append(str(ROOT / "scripts" / "_lib"))
import codes

INSTEAD = {
    r"rooms?": "package, space",
    r"judged?|judges|_judged": "validator, validated",
    r"told|untold|_untold|who tells": "given, missing",
    r"loops? turns?|turns? of (a|the|each) loop": "iterates, iteration",
    r"goes back": "back edge",
    r"no way leads": "unreachable",
    r"the warp agrees on": "warp-uniform",
    r"nobody (says|knows|gives|gave|tells|measured|checks|can)|nobody": "unknown; no thread",
    r"is no architecture": "unknown architecture",
    r"resume together": "reconvergence",
    r"parts? the (threads|warp)|meet again": "diverges, reconverges",
    r"react": "reconv.",
    r"price[sd]?|dear": "cost, expensive",
    r"leaves? (it |them )?away|left[ _](away|out)": "omit, skipped",
    r"corridor|nobody_leaves": "monotone_bound, reset_departures",
    r"nothing backs|with what backs": "unverified; with its status",
    r"[Ww]henever (its )?operations wait": "spread over N L2 slices",
    r"full SM is none|two of them are two|as far as the settings want|stands where": "is not a bound; compared by identity; as requested",
    r"(?<![Tt]here )is no (?!longer|more|larger|less|lower|part|such|news|other)[a-z]\w*": "is not a",
    r"touch(es|ed|ing)?(?![-(]| PWNED)": "access, change, take",
    r"the (2011|2012|2013|2023) papers?|(warp-cfg|evolutionary-compilers|makespan-ilp|makespan-annealing)-20\d\d": "papers by author and year",
    r"class (Wish|Taken|Fate|Crew|Asked|Ground|Lead|Open|Coming|Surroundings|Around)": "a noun of the field",
}
BANNED = re.compile(rf"\b({'|'.join(INSTEAD)})\b")
ALSO = re.compile(r"\b(wish|crew|nobody says)\b", re.IGNORECASE)
VAGUE = {"found", "one", "told", "mine", "own", "what", "asked", "lone", "mattering", "observed", "touched"}
"""Names that say nothing of a value."""
DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
PRIVATE = VAGUE - {"one"} | {"arrivals", "held", "judged", "untold"}
"""Names that say nothing of a module, a function or a class: participles and private words for terms of the field."""


def texts() -> Iterator[Path]:
    for folder in ("sassan", "scripts", "docs", "grammars"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".toml", ".lark", ".js"} or (path.parent.name == "scripts" and path.is_file()):
                yield path
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")


def test_the_words_are_those_of_the_field():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word.group()}"
        for path in texts()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (word := BANNED.search(line) or ALSO.search(line))
    ]
    assert found == []
    assert len(markdown()) > 40


def named(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the local names of a module: what is assigned, looped over, or a parameter."""
    fields = {
        id(part.target) for owner in nodes if isinstance(owner, ast.ClassDef) for part in owner.body if isinstance(part, ast.AnnAssign)
    }
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.lineno, node.id


@pytest.mark.slow
def test_names_of_values_are_nouns():
    found = []
    for path, nodes in codes.every_node().items():
        found += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in named(nodes) if name.strip("_") in VAGUE]
    assert found == []


@pytest.mark.slow
def test_modules_functions_and_classes_are_nouns_or_verbs_of_the_field():
    found = []
    for path, nodes in codes.every_node().items():
        known = [owner.name for owner in nodes if isinstance(owner, DEFINED)]
        found += [f"{path.relative_to(ROOT)}: {name}" for name in (path.stem, *known) if name.strip("_").lower() in PRIVATE]
    assert found == []
