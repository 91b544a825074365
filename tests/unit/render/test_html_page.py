"""The page is one file that holds nothing but text, whatever the input is called."""

import base64
import gzip
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

from sassan.render.html.page import _SCRIPTS, Page, html

HOSTILE = "</script><img src=x onerror=alert(1)>{{script}}\u202egnp.exe\u2028\ud800"


def document(name: str = "kernel", **more: Any) -> dict[str, Any]:
    wcet = {
        "value": 7,
        "status": "optimal",
        "model": "unit",
        "assumptions": ["one cycle each"],
        "assumption_kinds": ["assumed"],
        "proof": "",
        "note": "",
    }
    bounds: dict[str, Any] = {"strings": {"worst_path": "C7"}, "wcet": wcet, "makespan": None, "grid": None, "occupancy": None}
    counts = {"instructions": 7, "blocks": 1, "edges": 1, "divergent_branches": 0, "reactivation_edges": 0}
    return {
        "name": name,
        "arch": "sm_61",
        "file": "a.sass",
        **counts,
        **bounds,
        "loops": [],
        "gaps": [],
        "graph": None,
        "search": None,
        **more,
    }


def page(*functions: dict[str, Any], title: str = "report") -> str:
    return html(Page(title, {"tool": {"name": "sassan", "version": "1"}}, functions))


def head(text: str) -> dict[str, Any]:
    return json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])


def detail(text: str) -> dict[str, Any]:
    return json.loads(gzip.decompress(base64.b64decode(re.findall(r'id="detail-0">(.*?)</script>', text)[0])))


def test_a_hostile_name_adds_no_element():
    plain, hostile = page(document("a"), title="a"), page(document(HOSTILE, file=HOSTILE), title=HOSTILE)
    assert hostile.count("<script") == plain.count("<script")
    assert hostile.count("</script") == plain.count("</script")
    assert "<img" not in hostile


def test_a_hostile_name_is_shown_as_what_it_is():
    text = page(document(HOSTILE))
    shown = "</script><img src=x onerror=alert(1)>{{script}}\\u202egnp.exe\\u2028\\ud800"
    assert head(text)["functions"][0]["name"] == shown
    assert detail(text)["name"] == shown


def test_the_file_is_plain_ascii_outside_the_shipped_parts():
    text = page(document("k\u00e9rnel \u4e2d"), title="r\u00e9port")
    assert "<title>r&#233;port</title>" in text
    assert '"name":"k\\u00e9rnel \\u4e2d"' in text


def test_the_policy_allows_these_two_texts_and_no_address():
    text = page(document())
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)[0]
    for part, tag in (("style-src", "style"), ("script-src", "script")):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside[-1].encode()).digest()).decode()
        assert f"{part} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_same_data_gives_the_same_bytes():
    assert page(document()) == page(document())


def test_nothing_in_the_page_names_an_address():
    addresses = set(re.findall(r"https?://[^\"'\s)]*", page(document())))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_every_part_of_the_script_is_shipped_and_used():
    shipped = sorted(one.name for one in files("sassan.render.html").joinpath("script").iterdir())
    assert shipped == sorted(f"{name}.js" for name in _SCRIPTS)


def test_the_script_never_parses_markup_and_never_fetches():
    text = page(document())
    forbidden = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "setTimeout(",
    )
    assert [word for word in forbidden if word in text] == []


def test_a_number_that_cannot_be_given_is_null_in_the_list():
    gaps = [{"code": "recursion", "address": "0x0008", "message": "calls itself"}]
    wcet = {
        "value": None,
        "status": "gaps",
        "model": "unit",
        "assumptions": ["one cycle each"],
        "assumption_kinds": ["assumed"],
        "proof": "",
        "note": "",
    }
    listed = head(page(document(wcet=wcet, gaps=gaps)))["functions"][0]
    assert (listed["wcet"], listed["gaps"], listed["gap_count"]) == (None, ["recursion"], 1)


def test_where_there_is_no_bound_nothing_is_assumed():
    wcet = {
        "value": None,
        "status": "gaps",
        "model": "unit",
        "assumptions": ["one cycle each"],
        "assumption_kinds": ["assumed"],
        "proof": "",
        "note": "",
    }
    assert detail(page(document(wcet=wcet)))["assumptions"] == []


def test_assumptions_of_every_bound_are_listed_once():
    makespan = {
        "warps": 4,
        "lower": None,
        "upper": 9,
        "assumptions": ["one cycle each", "an SM of 6.1"],
        "assumption_kinds": ["assumed", "published"],
    }
    shown = detail(page(document(makespan=makespan)))
    assert (shown["assumptions"], shown["assumption_kinds"]) == (["one cycle each", "an SM of 6.1"], ["assumed", "published"])
