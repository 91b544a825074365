"""What scripts import from sassan is there: nobody runs each of them after a change."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def test_every_name_that_a_script_imports_from_sassan_is_there():
    texts = [path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*")) if path.is_file() and path.suffix in {"", ".py"}]
    trees = [ast.parse(text) for text in texts if "import " in text and not text.startswith("#!/usr/bin/env bash")]
    names = {
        (node.module or "", each.name)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sassan"
        for each in node.names
    }
    assert len(names) > 100
    assert [each for each in sorted(names) if not hasattr(import_module(each[0]), each[1]) and find_spec(".".join(each)) is None] == []
