"""Flow facts on the command line: what they change in the output, and how a file that does not fit is refused."""

from pathlib import Path

import pytest

import cubins
from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.frontend import load, read
from sassan.frontend.cubin import tools

NESTED = SAMPLES / "sm_61" / "nested_divergent_loops.cuobjdump.sass"
"""Loops at 0x0090 and, inside it, at 0x0148."""
TEXT = "sha256:b025de7822086e53e7f8c2f9726898b989235a602e52b6dee73a8ad9c43f91ae"
BOUNDS = """
[[function.nested_divergent_loops.loop]]
head = "0x0090"
bound = 9
[[function.nested_divergent_loops.loop]]
head = "0x0148"
bound = 9
"""


def table(form: str, text: str) -> str:
    return f"[[function.nested_divergent_loops.{form}]]\n{text}\n"


@pytest.fixture
def facts(tmp_path: Path):
    """Return a function that writes a file of facts for the sample."""

    def write(*tables: str, text: str = TEXT, beside: str = "") -> Path:
        path = tmp_path / "facts.toml"
        path.write_text("".join((f'[function.nested_divergent_loops]\ntext = "{text}"\n{beside}\n', *tables)), "utf-8")
        return path

    return write


@pytest.mark.slow
def test_every_fact_is_printed_and_lowers_the_bound(sassan: Sassan, facts):
    total = table("total", 'head = "0x0148"\nper = "0x0090"\nbound = 1')
    plain = sassan("analyze", NESTED, "--bounds", facts(BOUNDS), "--json").document["functions"][0]["wcet"]
    known = sassan("analyze", NESTED, "--bounds", facts(BOUNDS, total), "--json").document["functions"][0]["wcet"]
    assert known["value"] < plain["value"]
    fact = "flow fact: a thread takes back edges of the loop at 0x0148 at most 1 time per entry of the loop at 0x0090"
    assert fact in known["assumptions"]


def test_the_rows_of_facts_stand_in_the_integer_program(sassan: Sassan, facts, tmp_path: Path):
    constraint = table("constraint", 'blocks = { "0x0090" = 2, "0x0148" = -1 }\nmost = 3')
    total = table("total", 'block = "0x0148"\nbound = 100')
    path = facts(BOUNDS, constraint, total, beside='never = ["0x0148"]')
    assert sassan("ipet", NESTED, "--bounds", path, "-o", tmp_path / "x.lp").status == 0
    written = (tmp_path / "x.lp").read_text()
    assert all(f" {name}:" in written for name in ("fact_00000_warp", "fact_00000_threads", "fact_never_0148", "fact_constraint_00000"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tables", "code"),
    [
        ("surprise = 1", "facts-value"),
        ('never = "0x0090"', "facts-value"),
        ('never = ["0x0098"]', "facts-unknown-block"),
        ('never = ["0x9999"]', "facts-unknown-block"),
        (table("total", 'head = "0x0148"\nbound = -1'), "facts-value"),
        (table("total", 'head = "0x0098"\nbound = 1'), "facts-unknown-loop"),
        (table("total", 'block = "0x0008"\nper = "0x0090"\nbound = 1'), "facts-outside-loop"),
        (table("exclusive", 'blocks = ["0x0090", "0x9999"]'), "facts-unknown-block"),
        (table("constraint", 'blocks = { "0x0090" = 1 }'), "facts-value"),
        (table("constraint", 'blocks = { "0x9999" = 1 }\nmost = 1'), "facts-unknown-block"),
        (table("branch", 'at = "0x0090"\ntargets = ["0x0148"]'), "facts-branch"),
        (table("loop", 'line = "k.cu:42"\nbound = 1'), "facts-unknown-line"),
        (table("access", 'at = "0x0090"'), "facts-value"),
        (table("access", 'at = "0x0090"\nsectors = 0'), "facts-value"),
        (table("access", 'at = "0x0090"\nsectors = 1\n') + table("access", 'at = "0x0090"\npasses = 1'), "facts-value"),
    ],
)
def test_facts_that_do_not_fit_are_refused(tables: str, code: str, sassan: Sassan, facts):
    result = sassan("analyze", NESTED, "--bounds", facts(tables))
    assert_refused(result, 3)
    assert result.codes == [code]


@pytest.mark.parametrize("command", ["analyze", "ipet", "cfg"])
def test_facts_of_every_form_are_tied_to_the_text(command: str, sassan: Sassan, facts):
    result = sassan(command, NESTED, "--bounds", facts(text="sha256:0", beside='never = ["0x0148"]'))
    assert_refused(result, 3)
    assert result.codes == ["facts-text-mismatch"]


@pytest.mark.slow
def test_facts_that_contradict_each_other_give_no_bound(sassan: Sassan, facts):
    impossible = table("constraint", 'blocks = { "0x0090" = 1 }\nequal = -1')
    result = sassan("analyze", NESTED, "--bounds", facts(BOUNDS, impossible), "--json")
    assert [gap["code"] for gap in result.document["functions"][0]["gaps"]] == ["contradictory-facts"]
    chosen = sassan("analyze", NESTED, "--bounds", facts(BOUNDS, impossible), "-f", "nested_divergent_loops")
    assert (chosen.status, chosen.codes) == (3, ["gaps"])
    assert "check the facts" in chosen.err


def test_a_branch_without_targets_advises_to_give_them(sassan: Sassan, tmp_path: Path):
    listing = SAMPLES / "sm_80" / "switch_brx.cuobjdump.sass"
    refused = sassan("analyze", listing, "-f", "switch_brx", "--loop-bound", "3")
    assert (refused.status, refused.codes) == (3, ["gaps"])
    assert "give the targets in a file for --bounds" in refused.err
    template = sassan("ipet", listing, "--facts-template", "--loop-bound", "3").out.replace("# [[", "[[").replace("# at", "at")
    (tmp_path / "facts.toml").write_text(template.replace("# targets = []", 'targets = ["0x07a0"]'))
    document = sassan("analyze", listing, "--loop-bound", "3", "--bounds", tmp_path / "facts.toml", "--json").document["functions"][0]
    assert [gap["code"] for gap in document["gaps"]] == []
    fact = "flow fact: the branch or call at 0x01b0 leads to 0x07a0 and nowhere else"
    assert fact in document["wcet"]["assumptions"]


def test_facts_of_ptx_go_by_the_addresses_of_its_listing(sassan: Sassan, tmp_path: Path):
    ptx = NESTED.with_name("nested_divergent_loops.ptx")
    path = tmp_path / "facts.toml"
    template = sassan("ipet", ptx, "--facts-template").out.replace("# bound = ", "bound = 9")
    path.write_text(template, "utf-8")
    plain = sassan("analyze", ptx, "--bounds", path, "--json").document["functions"][0]["wcet"]
    path.write_text(template + table("total", 'head = "0x00c0"\nper = "0x0070"\nbound = 0'), "utf-8")
    known = sassan("analyze", ptx, "--bounds", path, "--json").document["functions"][0]["wcet"]
    assert 0 < known["value"] < plain["value"]


def test_a_fact_by_line_needs_no_hash_and_the_template_names_the_line(sassan: Sassan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folder = cubins.recorder(tmp_path / "tools", "sm_61/debug_build")
    for listing in cubins.recorded(folder):
        lines = (f'\t//## File "/src/k.cu", line 7\n{line}' if " BRA " in line else line for line in listing.read_text().split("\n"))
        listing.write_text("\n".join(lines))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    cubin = SAMPLES / "sm_61" / "debug_build.cubin"
    assert '# line = "/src/k.cu:7"' in sassan("ipet", cubin, "--facts-template").out
    (tmp_path / "facts.toml").write_text('[[function.debug_build.loop]]\nline = "k.cu:7"\nbound = 4\n')
    result = sassan("analyze", cubin, "--bounds", tmp_path / "facts.toml", "-f", "debug_build", "--json").document["functions"][0]
    assert result["gaps"] == []
    assert any(text.startswith("flow fact: at most 4 back edges") and text.endswith("(k.cu:7)") for text in result["wcet"]["assumptions"])
    (tmp_path / "facts.toml").write_text('[[function.debug_build.loop]]\nline = "k.cu:8"\nbound = 4\n')
    refused = sassan("analyze", cubin, "--bounds", tmp_path / "facts.toml", "-f", "debug_build")
    assert_refused(refused, 3)
    assert refused.codes == ["facts-unknown-line"]
    assert "lines of loops: /src/k.cu:7" in refused.err


PTX_WITH_LINES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .loc 1 3 0
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %clock;
$outer:
    .loc 1 5 7
    mov.u32 %r3, %clock;
$inner:
    add.u32 %r3, %r3, %clock;
    .loc 1 4 5
    setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra.uni $inner;
    .loc 1 3 3
    setp.lt.u32 %p2, %r3, %r2;
    @%p2 bra.uni $outer;
    ret;
}
.file 1 "/src/k.cu"
"""


def test_facts_by_line_bound_the_loops_of_ptx(sassan: Sassan, tmp_path: Path):
    (tmp_path / "k.ptx").write_text(PTX_WITH_LINES)
    loops = "".join(f'[[function.k.loop]]\nline = "k.cu:{line}"\nbound = 9\n' for line in (3, 4))
    total = '[[function.k.total]]\nline = "k.cu:4"\nper = "k.cu:3"\nbound = 45\n'
    values: list[int] = []
    for text in (loops, loops + total):
        (tmp_path / "facts.toml").write_text(text)
        result = sassan("analyze", tmp_path / "k.ptx", "--bounds", tmp_path / "facts.toml", "--json").document["functions"][0]
        assert result["gaps"] == []
        values.append(result["wcet"]["value"])
    # 3 around the loops, 3 per iteration of the outer one, 3 per iteration of the inner one
    assert values == [3 + 10 * 3 + 100 * 3, 3 + 10 * 3 + (45 + 10) * 3]


HISTOGRAM = SAMPLES / "sm_80" / "histogram_atomic.cuobjdump.sass"
LAUNCH = ("--block-dim", "256", "--grid", "1024", "--registers", "16", "--shared", "1024", "--loop-bound", "4")
ON_A_GPU = (*LAUNCH, "--gpu", "A100-SXM4-40GB")


def access(tmp_path: Path, fact: str) -> Path:
    (function,) = read(load(str(HISTOGRAM))).functions
    path = tmp_path / "facts.toml"
    path.write_text(f'[function.histogram_atomic]\ntext = "{function.text_hash}"\n[[function.histogram_atomic.access]]\n{fact}\n')
    return path


def test_atomic_operations_that_spread_take_less_of_a_grid(sassan: Sassan, tmp_path: Path):
    plain, spread = (
        sassan("analyze", HISTOGRAM, *ON_A_GPU, *more, "--json").document["functions"][0] for more in ((), ("--distinct", "0x0290=16"))
    )
    assert spread["grid"]["upper"] < plain["grid"]["upper"]
    assert spread["wcet"]["value"] == plain["wcet"]["value"]
    assert "whenever atomic operations at 0x0290 wait, 16 units of L2 work on them" in spread["grid"]["assumptions"]
    fact = access(tmp_path, 'at = "0x0290"\ndistinct = 16')
    assert (
        sassan("analyze", HISTOGRAM, *ON_A_GPU, "--bounds", fact, "--json").document["functions"][0]["grid"]["upper"]
        == spread["grid"]["upper"]
    )


@pytest.mark.slow
def test_passes_that_the_data_guarantee_take_less_of_a_warp(sassan: Sassan, tmp_path: Path):
    fact = access(tmp_path, 'at = "0x01a0"\npasses = 2')
    plain, known = (sassan("analyze", HISTOGRAM, *ON_A_GPU, *more, "--json").document["functions"][0] for more in ((), ("--bounds", fact)))
    assert known["makespan"]["upper"] < plain["makespan"]["upper"]
    assert "flow fact: the access at 0x01a0 takes at most 2 passes for a warp" in known["wcet"]["assumptions"]
    rows = sassan("memory", HISTOGRAM, "--block-dim", "256", "--bounds", fact, "--json").document["functions"][0]["accesses"]
    assert [row["passes"] for row in rows if row["address"] == "0x01a0"] == [2]


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        ('at = "0x01a0"\nsectors = 2', "has no sectors that are counted"),
        ('at = "0x0290"\npasses = 2', "makes no passes over shared or constant memory"),
        ('at = "0x0140"\ndistinct = 2', "is not an atomic operation of L2"),
        ('at = "0x0010"\nsectors = 2', "accesses no memory, or is not reached"),
    ],
)
def test_a_fact_of_no_such_access_is_refused(fact: str, why: str, sassan: Sassan, tmp_path: Path):
    refused = sassan("analyze", HISTOGRAM, *ON_A_GPU, "--bounds", access(tmp_path, fact))
    assert_refused(refused, 3)
    assert refused.codes == ["facts-access"]
    assert why in refused.err


def test_an_option_for_no_atomic_operation_is_refused(sassan: Sassan):
    refused = sassan("analyze", HISTOGRAM, *ON_A_GPU, "--distinct", "0x0140=4")
    assert_refused(refused, 2)
    assert refused.codes == ["distinct"]
    assert "atomic operations: 0x0290" in refused.err
