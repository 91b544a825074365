"""The pages of the experiments say what the shipped tables say, which the commands that they name write."""

import csv
import re
from collections.abc import Callable
from statistics import median

from docs.pages import DOCS, ROOT

ABLATIONS = {
    "acyclic stack": "acyclic-stack",
    "groups": "no-groups",
    "agreement": "no-agreement",
    "agreement of active threads only": "active-only",
}
SYSTEMS = ("paper", "no-new-rows", "push-rows", "all-rows")
SEVERE = 10


def rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "samples" / "experiments" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(name: str) -> str:
    return (DOCS / "experiments" / f"{name}.md").read_text("utf-8")


def severe(kernels: list[dict[str, str]], system: str, ablation: str) -> tuple[int, int]:
    """Return the percentage of WCETs that grow tenfold or are lost, and of how many kernels."""
    known = [(int(row[f"{system}:whole"]), row[f"{system}:{ablation}"]) for row in kernels if row[f"{system}:whole"]]
    grown = sum(not after or int(after) >= SEVERE * before for before, after in known)
    return round(100 * grown / len(known)), len(known)


def test_the_table_of_the_ablation_is_that_of_its_csv():
    kernels, text = rows("cfg_sm_61.csv"), page("bounds")
    assert f"sm_61, {len(kernels)} kernels, of which {sum(bool(row['all-rows:whole']) for row in kernels)} have a WCET" in text
    for title, ablation in ABLATIONS.items():
        (cells,) = re.findall(rf"^\| {title} \| (.+) \|$", text, re.MULTILINE)
        for cell, system in zip(cells.split(" | ")[1:], SYSTEMS, strict=True):
            share, count = severe(kernels, system, ablation)
            assert cell == f"{share} %" + (f" of {count}" if system == "no-new-rows" else ""), (title, system)


def test_the_kernels_that_the_page_on_bounds_names_have_the_numbers_of_the_csv():
    known = {row["function"]: row for row in rows("cfg_sm_61.csv")}
    text = page("bounds").replace("\n", " ")
    one, agreed = known["uniform_branches"], "no-agreement"
    assert f"`uniform_branches`: {int(one['paper:whole']):,} to {int(one[f'paper:{agreed}']):,}" in text
    assert f"there ({int(one[f'all-rows:{agreed}']):,})" in text
    for name in ("switch_loop", "switch_brx"):
        assert f"`{name}` from {int(known[name]['paper:whole']):,} to {int(known[name]['all-rows:whole']):,}" in text
    for name in ("large_5000", "nbody"):
        times = int(known[name][f"all-rows:{agreed}"]) / int(known[name]["all-rows:whole"])
        assert f"`{name}` ({times:.0f} times)" in text
    lost = sum(not row["no-new-rows:whole"] and not row["gaps"] for row in known.values())
    assert f"Without them {lost} of the " in text


def by_architecture(value: Callable[[dict[str, str]], float | None]) -> dict[str, list[float]]:
    known: dict[str, list[float]] = {}
    for row in rows("times.csv"):
        if (number := value(row)) is not None:
            known.setdefault(row["arch"], []).append(number)
    return known


def ratio(over: str, under: str) -> Callable[[dict[str, str]], float | None]:
    return lambda row: int(row[over]) / int(row[under]) if row[over] and row[under] else None


def test_the_medians_of_a_full_sm_are_those_of_the_csv():
    text, known = page("bounds"), by_architecture(ratio("full_sm", "control"))
    assert {len(several) for several in known.values()} == set(map(int, re.findall(r"(\d+) or (\d+) kernels each", text)[0]))
    assert {arch: float(number) for arch, number in re.findall(r"(sm_\d+) (\d\.\d\d)", text)} == {
        arch: round(median(several), 2) for arch, several in known.items()
    }
    for name, arch in (("half_precision", "sm_61"), ("double_math", "sm_120")):
        (number,) = [ratio("full_sm", "control")(row) for row in rows("times.csv") if (row["kernel"], row["arch"]) == (name, arch)]
        assert number is not None
        assert f"{number:.1f} for `{name}` on {arch}" in text


def test_the_medians_of_the_cost_models_are_those_of_the_csv():
    text = page("cost-models")
    ratios = [by_architecture(ratio(over, under)) for over, under in (("table", "unit"), ("control", "unit"), ("control", "table"))]
    for arch, table in ratios[0].items():
        (cells,) = re.findall(rf"^\| {arch} \| (.+) \|$", text, re.MULTILINE)
        shown = [median(table), median(ratios[1][arch]), median(ratios[2][arch])]
        assert cells.split(" | ")[:3] == [f"{shown[0]:.1f}", f"{shown[1]:.1f}", f"{shown[2]:.2f}"], arch
