"""Pages say what the shipped tables say, and these are those of today.

The commands that the pages name write the tables (`samples/experiments`). A share of their rows is computed again here, `SASSAN_FULL=1` all
that take a part of a second each; of the others it is held that no kernel is missing.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

import pytest

from budget import FULL, some
from cli.shell import Sassan
from docs.pages import DOCS, ROOT
from sassan import makespan_of
from sassan.frontend.cubin.tools import tools
from scripted import scripted

ABLATIONS = {
    "acyclic stack": "acyclic-stack",
    "groups": "no-groups",
    "agreement": "no-agreement",
    "agreement of active threads only": "active-only",
}
SYSTEMS = ("paper", "no-new-rows", "push-rows", "all-rows")
SEVERE = 10
SAMPLES = ROOT / "samples"
DRAWN = ("barrier_reduce", "bfs_step", "nested_if", "saxpy", "tensor_mma")
"""Samples whose rows are computed again, on the newest and on an old architecture."""


def rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "samples" / "experiments" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(name: str) -> str:
    return (DOCS / "experiments" / f"{name}.md").read_text("utf-8")


def table_after(head: str, text: str) -> list[list[str]]:
    """The cells of the rows below a head of a table."""
    below = text.partition(f"{head}\n")[2].splitlines()[1:]
    end = next((number for number, line in enumerate(below) if not line.startswith("|")), len(below))
    return [line.strip("| ").split(" | ") for line in below[:end]]


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A folder of samples with a part of them."""
    if FULL:
        return SAMPLES
    for arch in ("sm_61", "sm_120"):
        (tmp_path / arch).mkdir()
        for path in (SAMPLES / arch).iterdir():
            if path.name.partition(".")[0] in DRAWN:
                (tmp_path / arch / path.name).symlink_to(path)
    return tmp_path


def shown(row: Iterable[object]) -> list[str]:
    return ["" if value is None else str(value) for value in row]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "command"),
    [
        ("times", lambda folder: scripted("times_experiment").rows(folder, 10, {})),
        ("architectures", lambda folder: scripted("architectures_experiment").rows(folder, 10)),
        ("compare", lambda folder: scripted("compare_experiment").rows(folder)),
    ],
)
def test_the_rows_of_a_table_are_those_of_today(experiment: str, command: Callable[[Path], Iterable[Iterable[object]]], drawn: Path):
    made = [shown(row) for row in command(drawn)]
    shipped = [list(row.values()) for row in rows(f"{experiment}.csv")]
    assert len(made) >= len(DRAWN)
    assert [row for row in made if row not in shipped] == [], (
        f"run scripts/experiments {experiment} samples -o samples/experiments/{experiment}.csv"
    )


@pytest.mark.slow
def test_the_ablation_of_a_kernel_is_that_of_today(drawn: Path):
    experiment = scripted("cfg_experiment")
    functions = experiment.functions(drawn / "sm_61")
    made = [[str(value) for value in experiment.row(kernel)] for name, function in functions if (kernel := experiment.measured(name, function, 10))]
    shipped = [list(row.values()) for row in rows("cfg_sm_61.csv")]
    assert [row for row in made if row not in shipped] == [], "run scripts/experiments cfg samples/sm_61 -o samples/experiments/cfg_sm_61.csv"
    assert len(made) >= len(DRAWN)


@pytest.mark.parametrize("name", ["times", "architectures", "compare", "cfg_sm_52", "cfg_sm_61"])
def test_no_kernel_of_the_samples_is_missing(name: str):
    known = {(row.get("arch") or name.removeprefix("cfg_"), row.get("kernel") or row["function"]) for row in rows(f"{name}.csv")}
    archs = {arch for arch, _ in known}
    listings = [path for arch in archs for path in (SAMPLES / arch).glob("*.nvdisasm.sass")]
    if name == "compare":
        listings = [path for path in listings if path.with_name(path.name.replace(".nvdisasm.sass", ".ptx")).exists()]
    functions = {
        (path.parent.name, function)
        for path in listings
        for function in re.findall(r"^\s*\.section\s+\.text\.([^,\s]+),", path.read_text("utf-8"), re.MULTILINE)
    }
    assert functions - known == set()
    assert len(archs) == 1 or len(archs) == 8


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
    counts = [len(several) for several in known.values()]
    assert (min(counts), max(counts)) == tuple(map(int, re.findall(r"(\d+) to (\d+) kernels each", text)[0]))
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
        for cell, part in zip(cells.split(" | ")[3:], ("fast_memory", "free_units", "no_turns"), strict=True):
            without = [1 - int(row[part]) / int(row["control"]) for row in rows("times.csv") if row["arch"] == arch and row["control"]]
            assert cell == f"-{median(without):.0%}".replace("%", " %") or (cell, arch) in {("no turns", "sm_52"), ("no turns", "sm_61")}


def extremes(over: str, under: str, *kernels: str) -> tuple[float, float]:
    """The least and the greatest ratio of two columns over kernels, all where none is named."""
    known = [row for row in rows("times.csv") if row[over] and row[under] and (not kernels or row["kernel"] in kernels)]
    ratios = [int(row[over]) / int(row[under]) for row in known]
    return min(ratios), max(ratios)


def test_the_kernels_that_the_pages_name_have_the_times_of_the_csv():
    text = page("cost-models")
    least, most = extremes("control", "table", "spmv_csr", "tensor_mma", "matmul_tiled")
    assert f"`spmv_csr`, `tensor_mma`, `matmul_tiled`: {least * 100:.0f} to {most * 100:.0f} %" in text
    assert f"by up to {extremes('control', 'table')[1]:.1f} times" in text
    assert all(extremes("control", "table", name)[1] > 1 for name in re.findall(r"`(\w+)`", text.partition("by up to")[2].partition("Busy")[0]) if name != "collatz")
    assert f"Busy units are {1 - extremes('free_units', 'control')[0]:.0%} at most".replace("%", " %") in text
    least, most = extremes("full_sm", "control", "barrier_reduce", "prefix_sum", "nbody", "matmul_tiled", "reduce_shared")
    assert f"{least:.1f} to {most:.1f} times one warp" in page("bounds")


def test_the_table_of_ptx_against_machine_code_is_that_of_the_csv():
    counts: dict[str, list[list[int]]] = defaultdict(list)
    for _, arch, *numbers in (row.values() for row in rows("compare.csv")):
        counts[arch].append([int(number) for number in numbers])
    sums = [[arch, str(len(several)), *(str(sum(column)) for column in zip(*several, strict=True))] for arch, several in counts.items()]
    head = "| | kernels | matched | agree | divergence differs | reconvergence differs | PTX only | SASS only |"
    assert table_after(head, (SAMPLES / "README.md").read_text("utf-8")) == sums


@pytest.mark.slow
@pytest.mark.parametrize("kernel", some(["reduce_warps", "stencil_line"]))
def test_an_interval_is_that_of_today(kernel: str):
    if not tools("nvdisasm"):
        pytest.skip("no nvdisasm is installed")
    folder = SAMPLES / "launches"
    made = scripted("intervals_experiment").measured(folder / "sm_90" / f"{kernel}.cubin", folder / f"{kernel}.cu", "control")
    assert made is not None
    (shipped,) = [row for row in rows("intervals.csv") if (row["kernel"], row["arch"], row["model"]) == (kernel, "sm_90", "control")]
    assert shown(made._replace(seconds=shipped["seconds"])) == list(shipped.values()), "run scripts/experiments intervals -o samples/experiments/intervals.csv"


def test_the_intervals_of_the_page_are_those_of_the_csv():
    known = {(row["kernel"], row["arch"], row["model"]): int(row["bound"]) / int(row["schedule"]) for row in rows("intervals.csv")}
    places = [("sm_80", "control"), ("sm_90", "control"), ("sm_80", "table"), ("sm_90", "table")]
    text = page("intervals")
    cells = {
        cells[0].split()[0]: cells[1:] for cells in table_after("| | sm_80, control | sm_90, control | sm_80, table | sm_90, table |", text)
    }
    kernels = sorted({kernel for kernel, _, _ in known})
    assert cells == {kernel: [f"{known[kernel, *place]:.2f}" for place in places] for kernel in kernels}
    medians = {model: median(ratio for (_, _, of), ratio in known.items() if of == model) for model in ("control", "table")}
    assert f"Median {medians['control']:.2f} under `control`, {medians['table']:.2f} under `table`." in text


@pytest.mark.parametrize(
    ("string", "warps", "capacity", "shown"),
    [
        ("LCCLCC", 3, {"L": 1, "C": 2}, "{} slots with one load unit"),
        ("LCCLCC", 3, {"L": 2, "C": 2}, "slots with one load unit, {} with two"),
        ("CCCC", 8, {"L": 1, "C": 4}, "{} slots for the\npath that is worst alone"),
        ("LLL", 8, {"L": 1, "C": 4}, "path that is worst alone, {} in truth"),
        ("CC", 4, {"C": 2}, "| `CC`, two C units, 4 warps: {} slots, not 4 |"),
        ("LCL", 4, {}, "| `LCL`, one unit of each, 4 warps: {} slots, not 8 |"),
        ("LCL", 2, {}, "two waves of {}"),
    ],
)
def test_the_makespans_of_the_page_on_time(string: str, warps: int, capacity: dict[str, int], shown: str):
    found = makespan_of(string, warps, capacity=dict(capacity)).exact
    assert shown.format(found) in (DOCS / "concepts/time.md").read_text("utf-8")


def test_the_case_study_of_the_page_is_that_of_the_csv():
    text = (DOCS / "developer/design/makespan.md").read_text("utf-8")
    names = ("W", "longest makespan", "seconds", "MB")
    lines = (" | ".join(re.findall(rf"^\| {name} \| ([\d. |]+) \|$", text, re.MULTILINE)).split(" | ") for name in names)
    known = {warps: tuple(rest) for warps, *rest in zip(*lines, strict=True)}
    several = rows("makespan/case-study.csv")
    assert {row["warps"]: known[row["warps"]] for row in several} == {
        row["warps"]: (row["upper"], row["seconds"], row["megabytes"]) for row in several
    }
    assert [row["warps"] for row in several if row["lower"] != row["upper"]] == []
    assert len(several) == 22, "as many as the command makes"


@pytest.mark.slow
def test_evolution_and_random_search_of_the_page_are_those_of_the_csv():
    experiment = scripted("evolve_experiment")
    text = (DOCS / "developer/design/evolutionary-compiler.md").read_text("utf-8")
    cells = table_after("| kernel | measure | evolution, median | random search, median | Mann-Whitney p | Wilcoxon p | A12 |", text)
    for number, kernel in enumerate(("matmul", "fir")):
        several = [row for row in rows("evolve.csv") if row["kernel"] == kernel]
        for line, suffix in ((cells[2 * number], ""), (cells[2 * number + 1], "_mean")):
            ours, theirs = ([float(row[f"{search}{suffix}"]) for row in several] for search in ("evolution", "random"))
            effect = sum((one < other) + (one == other) / 2 for one in ours for other in theirs) / len(ours) / len(theirs)
            assert [line[-5], line[-4], line[-1]] == [f"{median(ours):,.0f}", f"{median(theirs):,.0f}", f"{effect:.2f}"]
            p_values = re.findall(r"p = ([\d.]+)", experiment.chance(ours, theirs))
            assert [float(value) for value in line[-3:-1]] == pytest.approx([float(value) for value in p_values], rel=0.06)


def test_what_a_program_alone_shows_is_that_of_the_csv():
    text = (DOCS / "developer" / "oracles.md").read_text("utf-8")
    ratios = rows("leave_out.csv")
    below = [row for row in ratios if any(row[name] and float(row[name]) < 1 for name in row if name.startswith("before_"))]
    programs = {row["program"] for row in ratios}
    assert (
        f"Of {len(ratios)} launches of {len(programs)} programs with a bound it would have been {len(below)}, all of `maxFlops`, by 5 %"
        in text
    )
    assert {row["program"] for row in below} == {"maxFlops-cuda"}
    assert {round(1 - float(row["before_clock"]), 2) for row in below} == {0.05}


WORLDS = (
    *(("quiet", "1e-05", "0"), ("quiet", "0.001", "0"), ("long-tails", "1e-05", "0"), ("long-tails", "0.001", "0"), ("long-tails", "1", "0")),
    *(("dependent-tails", "0.001", "0"), ("symmetric-clock", "0.001", "0"), ("coarse-clock", "0.0001", "0"), ("boost", "0.001", "0")),
    *(("bimodal-delays", "0.002243", "2.1"), ("bimodal-delays", "0.002243", "4.5"), ("always-late", "0.002243", "4.5")),
)
"""World, truth and delay of each row of the page on measuring."""


def test_the_accuracy_of_estimators_is_that_of_the_csv():
    known = {tuple(row.values())[:5]: (row["bias_percent"], row["spread_percent"]) for row in rows("measure.csv")}
    text = (DOCS / "developer/design/measuring.md").read_text("utf-8")
    head = "| world, truth | mean, Eq. 2 | median, Eq. 4 | minimum, Eq. 3 | minimum of 200 runs | stable to 1 % (verdict over 5 groups) |"
    for (world, truth, delay), cells in zip(WORLDS, table_after(head, text), strict=True):
        for cell, (runs, estimator) in zip(cells[1:5], (("20", "mean"), ("20", "median"), ("20", "min"), ("200", "min")), strict=False):
            for number, expected in zip(re.findall(r"[-+]?\d[\d.]*", cell), known[world, truth, delay, runs, estimator], strict=False):
                last = 10.0 ** -len(number.partition(".")[2])
                assert float(number) == pytest.approx(float(expected), rel=0.05, abs=0.51 * last), (world, truth, cell)


def test_the_launches_that_hold_occupancy_are_counted():
    with (ROOT / "tests" / "unit" / "machine" / "occupancy.csv").open(encoding="utf-8") as file:
        launches = list(csv.DictReader(file))
    impossible = sum(row["blocks"] == "0" for row in launches)
    assert f"NVIDIA's own calculator, {len(launches)} launches" in (DOCS / "guides/trust-a-number.md").read_text("utf-8")
    assert f"about the {len(launches)} launches of `tests/unit/machine/occupancy.csv`, {impossible} of them" in (
        (DOCS / "developer/design/multiprocessors.md").read_text("utf-8")
    )
