"""A class is found by its name: no two public ones share it."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLASS = re.compile(r"class ([A-Za-z]\w*)")


@pytest.mark.slow
def test_no_two_public_classes_share_a_name():
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "sassan").rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if (found := CLASS.match(line)) is not None:
                places[found[1]].append(f"{path.relative_to(ROOT)}:{number}")
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
