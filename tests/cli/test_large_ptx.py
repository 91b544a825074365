"""Defects that the fuzzer found in PTX that grows: what is too large takes seconds, and is explored once.

The budget is a fiftieth of that of the product, and so is the code; SASSAN_FULL=1 spends the whole.
"""

import pytest

from budget import FULL
from cli.shell import SAMPLES, Sassan
from growing import calls
from sassan.warpcfg import work

ENTRIES, DEEP, TIMES = (work.ENTRIES, 130, 100) if FULL else (100_000, 40, 30)
REPEATED = "\tadd.s64 \t%rd4, %rd1, %rd3;\n"


@pytest.fixture(autouse=True)
def budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "ENTRIES", ENTRIES)


def gaps(sassan: Sassan, text: str) -> dict[str, list[str]]:
    result = sassan("analyze", "-", "--json", "--loop-bound", "3", stdin=text.encode())
    assert result.status == 0
    return {each["name"]: [gap["message"] for gap in each["gaps"] if gap["code"] == "too-large"] for each in result.document["functions"]}


def test_a_loop_with_many_branches_to_two_places_is_too_large(sassan: Sassan):
    lines = (SAMPLES / "sm_75" / "call_early_exit.ptx").read_text("utf-8").splitlines(keepends=True)
    begin = lines.index(REPEATED)
    lines[begin:begin] = lines[begin : begin + 10] * TIMES
    walk, kernel = gaps(sassan, "".join(lines)).values()
    assert "the exploration was stopped" in walk[0]
    assert kernel == ["the exploration of walk, which it may call, was stopped; pass --call-depth N"]


@pytest.mark.parametrize("each", [1, 2])
def test_what_calls_a_function_that_is_too_large_is_not_explored_with_it(each: int, sassan: Sassan):
    found = gaps(sassan, calls(DEEP, each))
    first = next(level for level in reversed(range(DEEP + 1)) if found[f"f{level}"])
    assert "the exploration was stopped" in found[f"f{first}"][0]
    below = [f"f{level}" for level in range(first + 1, DEEP + 1)]
    assert not any(found[name] for name in below)
    for level in range(first):
        assert found[f"f{level}"] == [f"the exploration of f{level + 1}, which it may call, was stopped; pass --call-depth N"]


def test_a_function_that_is_not_too_large_has_the_numbers_that_it_has_alone(sassan: Sassan):
    text = calls(DEEP, 1) + f".visible .entry other()\n{{\ncall f{DEEP - 5};\nret;\n}}\n"
    every = {each["name"]: each for each in sassan("analyze", "-", "--json", stdin=text.encode()).document["functions"]}
    (alone,) = sassan("analyze", "-", "-f", "other", "--json", stdin=text.encode()).document["functions"]
    assert every["other"] == alone
    assert alone["wcet"]["value"] > 0
    assert every["k"]["wcet"] is None or every["k"]["wcet"]["value"] is None
