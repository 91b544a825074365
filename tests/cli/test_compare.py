"""`sassan cfg --compare`: PTX against the machine code that was compiled from it."""

from cli.shell import SAMPLES, Sassan, assert_refused


def compared(name: str, arch: str = "sm_80") -> tuple[str, str]:
    return str(SAMPLES / arch / f"{name}.ptx"), str(SAMPLES / arch / f"{name}.nvdisasm.sass")


def test_every_branch_of_a_search_agrees(sassan: Sassan):
    ptx, sass = compared("bfs_step")
    found = sassan("cfg", ptx, "--compare", sass)
    assert found.status == 0
    assert "5 of 5 matched branches agree; 0 and 0 have no match" in found.out


def test_branches_that_the_compiler_joins_later_are_named(sassan: Sassan):
    ptx, sass = compared("nested_if")
    found = sassan("cfg", ptx, "--compare", sass)
    assert "reconvergence diff" in found.out
    assert "3 of 5 matched branches agree" in found.out


def test_the_document_holds_both_sides_of_each_pair(sassan: Sassan):
    ptx, sass = compared("bfs_step")
    found = sassan("cfg", ptx, "--compare", sass, "--json")
    (function,) = found.document["functions"]
    assert function["pairs"][3] == {
        "left": {"address": "0x0118", "text": "@%p4 bra $L__BB0_6", "divergent": True, "reconverges": "0x0148"},
        "right": {"address": "0x0210", "text": "@P1 BRA `(.L_x_1)", "divergent": True, "reconverges": "0x02a0"},
        "same_divergence": True,
        "same_reconvergence": True,
    }


def test_a_listing_agrees_with_itself(sassan: Sassan):
    _, sass = compared("medium_500")
    found = sassan("cfg", sass, "--compare", sass, "--json").document["functions"][0]
    assert all(pair["same_divergence"] and pair["same_reconvergence"] is not False for pair in found["pairs"])
    assert (len(found["pairs"]), found["left_only"], found["right_only"]) == (29, [], [])


def test_inputs_without_a_common_kernel_are_refused(sassan: Sassan):
    found = sassan("cfg", compared("saxpy")[0], "--compare", compared("nbody")[1])
    assert_refused(found, 2)
    assert found.codes == ["nothing-to-compare"]


def test_a_drawing_of_two_graphs_is_refused(sassan: Sassan):
    ptx, sass = compared("saxpy")
    found = sassan("cfg", ptx, "--compare", sass, "-o", "both.svg")
    assert_refused(found, 2)
    assert found.codes == ["nothing-to-draw"]


def test_an_input_that_is_refused_is_the_one_error_of_a_comparison(sassan: Sassan):
    _, sass = compared("saxpy")
    for inputs in [(sass, "nope.sass"), ("nope.sass", sass), ("nope.sass", "nope.sass")]:
        result = sassan("cfg", inputs[0], "--compare", inputs[1])
        assert_refused(result, 3)
        assert result.codes == ["missing-file"]
