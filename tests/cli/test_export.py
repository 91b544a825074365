"""`sassan export`: flow facts and graphs for other tools, and flow facts of other tools read back."""

from pathlib import Path

import networkx as nx
import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

NESTED = SAMPLES / "sm_61" / "nested_divergent_loops.cuobjdump.sass"
"""Loops at 0x0090, 0x00c8 and 0x0148."""


def test_bounds_that_are_exported_and_read_again_give_the_same_bound(sassan: Sassan, tmp_path: Path):
    printed = sassan("export", NESTED, "--loop-bound", "9")
    assert printed.status == 0
    (tmp_path / "facts.ffx").write_text(printed.out, "utf-8")
    (again,) = sassan("ipet", NESTED, "--bounds", tmp_path / "facts.ffx", "--json").document["functions"]
    (plain,) = sassan("ipet", NESTED, "--loop-bound", "9", "--json").document["functions"]
    assert again["wcet"]["value"] == plain["wcet"]["value"] > 0
    assert sum(text.startswith("flow fact: at most ") for text in again["wcet"]["assumptions"]) == 3


def test_a_file_of_facts_says_how_many_loops_it_does_not_bound(sassan: Sassan, tmp_path: Path):
    result = sassan("export", NESTED, "-o", tmp_path / "facts.ffx")
    assert result.status == 0
    assert "2 loops without a bound" in result.err
    assert (tmp_path / "facts.ffx").read_text("utf-8").count("has no bound") == 2


@pytest.mark.parametrize("level", ["warp", "thread"])
def test_a_graph_in_graphml_is_that_of_cfg(level: str, sassan: Sassan, tmp_path: Path):
    assert sassan("export", NESTED, "--level", level, "-o", tmp_path / "{name}.graphml").status == 0
    (document,) = sassan("cfg", NESTED, "--level", level, "--json").document["functions"]
    graph = nx.read_graphml(tmp_path / "nested_divergent_loops.graphml")
    assert {name for name, data in graph.nodes(data=True) if data} == {node["id"] for node in document["nodes"]}
    shown = sorted((source, target, data["kind"]) for source, target, data in graph.edges(data=True))
    assert shown == sorted((edge["src"], edge["dst"] or "exit", edge["kind"]) for edge in document["edges"])
    assert all(graph.nodes[node["id"]]["instructions"] == node["instructions"] for node in document["nodes"])


def test_what_cannot_be_written_or_read_is_refused(sassan: Sassan, tmp_path: Path):
    assert_refused(sassan("export", NESTED, "-o", tmp_path / "x.svg"), 2)
    for text, code in (("<flowfacts><nocall/></flowfacts>", "facts-value"), ('[function."k"]', "facts-syntax")):
        (tmp_path / "x.ffx").write_text(text, "utf-8")
        refused = sassan("ipet", NESTED, "--bounds", tmp_path / "x.ffx")
        assert_refused(refused, 3)
        assert refused.codes == [code]
        assert "--> " in refused.err


def test_launches_of_one_function_have_no_common_bounds(sassan: Sassan, tmp_path: Path):
    launch = '[[launch]]\nkernel = "nested_divergent_loops"\ngrid = [{}, 1, 1]\nblock = [32, 1, 1]\n'
    for grids, status in (((1,), 0), ((1, 2), 2)):
        (tmp_path / "launches.toml").write_text("".join(map(launch.format, grids)), "utf-8")
        result = sassan("export", NESTED, "--launches", tmp_path / "launches.toml")
        assert result.status == status, result.err
    assert result.codes == ["several-launches"]
