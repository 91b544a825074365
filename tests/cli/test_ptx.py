"""The command line on PTX."""

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from ptx import kernel

VORONOI = SAMPLES / "ptx" / "voronoi_2013.ptx"
VERSIONS = sorted(path for path in (SAMPLES / "ptx").glob("*_*/voronoi.ptx"))


def test_analyze_gives_strings_and_costs_of_ptx(sassan: Sassan):
    result = sassan("analyze", SAMPLES / "sm_61" / "nested_if.ptx", "--json")
    (one,) = result.document["functions"]
    assert (result.status, one["name"], one["instructions"], one["gaps"]) == (0, "nested_if", 60, [])
    assert (one["wcet"]["value"], one["wcet"]["model"]) == (60, "unit")
    assert "reconvergence at the immediate post-dominator; the machine code may differ" in one["wcet"]["assumptions"]


@pytest.mark.parametrize("path", VERSIONS, ids=lambda path: path.parent.name)
def test_ptx_of_every_version_is_analyzed(sassan: Sassan, path):
    result = sassan("analyze", path, "--loop-bound", "10", "--json")
    (one,) = result.document["functions"]
    assert (result.status, one["gaps"], one["wcet"]["status"]) == (0, [], "optimal")


def test_the_voronoi_program_has_the_string_of_the_2013_paper(sassan: Sassan):
    result = sassan("listing", VORONOI, "--letters", "2013", "--json")
    (one,) = result.document["functions"]
    rows = [(row["letter"], row["text"]) for row in one["rows"]]
    back = next(place for place, (_, text) in enumerate(rows) if text == "bra Loop")
    assert "".join(letter for letter, _ in rows[:back]) == "LLLLLCCCCCCCCCLLCCCCCCCCC"


def test_the_blocks_of_the_first_iteration_spell_the_string_and_the_jump_back(sassan: Sassan):
    result = sassan("strings", VORONOI, "--letters", "2013", "--loop-bound", "1", "--json")
    (one,) = result.document["functions"]
    # Nine of the second C run are the first iteration; then come the jump back, and the test that ends the loop.
    assert one["strings"]["worst_path"] == "L5C9L2C12LC"


def test_both_letter_tables_agree_on_the_voronoi_program(sassan: Sassan):
    seen = [sassan("strings", VORONOI, "--letters", name, "--loop-bound", "3").out for name in ("2013", "timing")]
    assert seen[0] == seen[1]


def test_cfg_draws_joins_that_count_no_instruction(sassan: Sassan):
    result = sassan("cfg", SAMPLES / "sm_61" / "saxpy.ptx", "--json")
    (one,) = result.document["functions"]
    assert [(node["id"], node["instructions"]) for node in one["nodes"]] == [("n0000", 10), ("n0050", 9), ("n0094", 0), ("n0098", 1)]


def test_a_drawing_of_ptx_is_dot(sassan: Sassan, tmp_path):
    out = tmp_path / "k.dot"
    assert sassan("cfg", SAMPLES / "sm_61" / "saxpy.ptx", "-o", out).status == 0
    assert "n0094" in out.read_text("utf-8")


def test_agreement_is_spelled_in_the_registers_of_the_text(sassan: Sassan):
    result = sassan("listing", SAMPLES / "sm_61" / "saxpy.ptx", "--json")
    (one,) = result.document["functions"]
    before = next(row["agreement"] for row in one["rows"] if row["address"] == "0x0050")
    assert before == ["%r2", "%f1", "%rd1", "%rd2", "%r3", "%r4", "%p1"]


def test_ptx_is_read_from_standard_input(sassan: Sassan):
    result = sassan("analyze", "-", "--json", stdin=kernel("mov.u32 %r1, 1;", "ret;").encode())
    assert result.document["functions"][0]["wcet"]["value"] == 2


def test_a_mistake_in_ptx_is_shown_where_it_is(sassan: Sassan):
    result = sassan("analyze", "-", stdin=kernel("mov.u32 %r1 2;", "ret;").encode())
    assert (result.status, result.codes) == (3, ["syntax"])
    assert "mov.u32 %r1 2;" in result.err
    assert "--> -:10:14" in result.err


def test_a_makespan_of_ptx_is_bounded(sassan: Sassan):
    result = sassan("analyze", SAMPLES / "sm_61" / "saxpy.ptx", "-W", "16", "--json")
    assert result.document["functions"][0]["makespan"]["upper"] == 162


def test_flow_facts_go_by_the_addresses_of_the_listing(sassan: Sassan, tmp_path):
    facts = tmp_path / "facts.toml"
    template = sassan("ipet", VORONOI, "--facts-template").out
    assert 'head = "0x0060"' in template
    facts.write_text(template.replace("# bound = ", "bound = 7 # "), "utf-8")
    result = sassan("analyze", VORONOI, "--bounds", facts, "--json")
    assert result.document["functions"][0]["wcet"]["status"] == "optimal"


@pytest.mark.parametrize("count", ["0x10", "020", "0b10000", "16U"])
def test_a_count_of_registers_may_be_any_integer(count: str, sassan: Sassan):
    assert sassan("analyze", "-", stdin=kernel(f".reg .b32 %q<{count}>; mov.u32 %q15, %tid.x; ret;").encode()).status == 0
    refused = sassan("analyze", "-", stdin=kernel(f".reg .b32 %q<{count}>; mov.u32 %q16, %tid.x; ret;").encode())
    assert_refused(refused, 3)
    assert refused.codes == ["undeclared-name"]


@pytest.mark.parametrize("number", ["08", "1.5", "1e3", "9" * 5000])
@pytest.mark.parametrize("declaration", [".reg .b32 %q<{}>", ".shared .b8 x[{}]", ".shared .align {} .b8 x[4]"])
def test_a_number_that_is_not_whole_is_refused_in_a_declaration(declaration: str, number: str, sassan: Sassan):
    result = sassan("analyze", "-", stdin=kernel(f"{declaration.format(number)}; ret;").encode())
    assert_refused(result, 3)
    assert result.codes == ["bad-declaration"]
    assert len(result.err) < 3000


def test_a_register_whose_number_has_thousands_of_digits_is_in_no_family(sassan: Sassan):
    text = kernel(f"mov.u32 %r{'9' * 5000}, %tid.x; ret;")
    assert_refused(sassan("analyze", "-", stdin=text.encode()), 3)
