import json

from sassan.render.graph.cfg_json import cfg_document
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.levels import Level
from sassan.warpcfg.graph import WarpCfg


def test_a_node_has_the_keys_of_the_contract(called: WarpCfg):
    assert cfg_document(called)["nodes"][3] == {
        "id": "n0020_c0008",
        "start": "0x0020",
        "end": "0x0020",
        "instructions": 1,
        "context": ["0x0008"],
        "divergent": False,
        "string": None,
        "cost": None,
        "count": None,
    }


def test_an_edge_leads_from_the_last_instruction_to_the_first(diamond: WarpCfg):
    assert cfg_document(diamond)["edges"][1] == {
        "src": "n0008",
        "dst": "n0020",
        "from": "0x0010",
        "to": "0x0020",
        "kind": "diverge",
        "pushed": "side@0018",
        "popped": None,
    }


def test_an_exit_leads_nowhere(diamond: WarpCfg):
    last = cfg_document(diamond)["edges"][-1]
    assert (last["from"], last["dst"], last["to"], last["kind"]) == ("0x0028", None, None, "exit")


def test_a_thread_has_neither_diverge_nor_reactivate(diamond: WarpCfg):
    edges = cfg_document(diamond, level=Level.THREAD)["edges"]
    assert [(one["from"], one["to"], one["kind"]) for one in edges] == [
        ("0x0010", "0x0018", "fallthrough"),
        ("0x0010", "0x0020", "taken"),
        ("0x0018", "0x0028", "reconverge"),
        ("0x0020", "0x0028", "reconverge"),
        ("0x0028", None, "exit"),
    ]


def test_a_loop_has_its_head_bound_and_witness(nested: WarpCfg):
    loops = cfg_document(nested, Decorations(bounds={0x10: 10}))["loops"]
    assert loops == [
        {"head": "n0010", "nodes": ["n0010", "n0018", "n0020"], "bound": 10, "per_thread": True},
        {"head": "n0018", "nodes": ["n0018"], "bound": None, "per_thread": False},
    ]


def test_counts_are_the_flow_into_each_block(nested: WarpCfg):
    nodes = cfg_document(nested, Decorations(counts=(1, 10, 90, 10, 9, 1, 1)))["nodes"]
    assert [one["count"] for one in nodes] == [1, 10, 100, 10, 1]


def test_token_targets_and_gaps_are_listed_by_address(gapped: WarpCfg):
    document = cfg_document(gapped)
    assert document["token_targets"] == {"0x0018": ["0x0028"], "0x0020": ["0x0028"]}
    assert document["gaps"][1] == {"code": "unresolved-call", "address": "0x0400", "message": "no target"}


def test_the_document_is_plain_data(gapped: WarpCfg):
    document = cfg_document(gapped)
    assert json.loads(json.dumps(document)) == document
