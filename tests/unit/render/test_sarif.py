"""SARIF from plain data: places, fingerprints, messages."""

from typing import Any

import pytest

from sarif import assert_valid
from sassan.render.sarif import Location, SarifResult, SarifRule, SarifRun, log

RULE = SarifRule("max-wcet", "MaxWcet", "A sentence.", "Help.")


def run(*findings: SarifResult, **others: Any) -> Any:
    values: dict[str, Any] = {"version": "0.1.0", "rules": (RULE,), "files": ("k.sass",), "status": 1, "folder": "/home/me/project"}
    return log(SarifRun(findings=findings, **(values | others)))["runs"][0]


def finding(place: Location, message: str = "text") -> SarifResult:
    return SarifResult("max-wcet", message, place, ("k", "sm_80", ""))


def test_hostile_text_is_valid_and_neither_link_nor_placeholder():
    name = "<img src=x onerror=alert(1)> [a](b) {0} \x1b[31m\ud800\n"
    document = log(SarifRun("0.1.0", (RULE,), (finding(Location(name, 1, name, 8, name), name),), (name,), 1, "/", ((name, name, name),)))
    assert_valid(document)
    message = document["runs"][0]["results"][0]["message"]["text"]
    assert "[a] (b) {{0}}" in message


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("k.sass", {"uri": "k.sass", "uriBaseId": "%SRCROOT%"}),
        ("a b/ü#?.cu", {"uri": "a%20b/%C3%BC%23%3F.cu", "uriBaseId": "%SRCROOT%"}),
        ("/home/me/project/src/k.cu", {"uri": "src/k.cu", "uriBaseId": "%SRCROOT%"}),
        ("/home/me/projects/k.cu", {"uri": "file:///home/me/projects/k.cu"}),
        ("bad\udcff\ud800.sass", {"uri": "bad%FF%5Cud800.sass", "uriBaseId": "%SRCROOT%"}),
        ("..\\k.cu", {"uri": "../k.cu", "uriBaseId": "%SRCROOT%"}),
        ("C:\\src\\k.cu", {"uri": "file:///C:/src/k.cu"}),
        ("-", {"uri": "-", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_a_path_is_relative_to_the_folder_where_it_lies_below_it(file: str, uri: dict[str, str]):
    (result,) = run(finding(Location(file, 3)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == uri


def test_a_line_is_preferred_to_an_address():
    places = [
        run(finding(place))["results"][0]["locations"][0]["physicalLocation"]
        for place in (Location("k", 3, "f", 8), Location("k", None, "f", 8))
    ]
    assert [sorted(one) for one in places] == [["artifactLocation", "region"], ["address", "artifactLocation"]]


def test_findings_with_one_key_have_fingerprints_of_their_own():
    results = run(finding(Location("k", 3)), finding(Location("k", 4)))["results"]
    assert results[0]["partialFingerprints"] != results[1]["partialFingerprints"]


def test_a_fingerprint_is_independent_of_the_location():
    first, second = (run(finding(place))["results"][0] for place in (Location("a", 3, "f", 8), Location("b", 5, "f", 16)))
    assert first["partialFingerprints"] == second["partialFingerprints"]


def test_a_version_is_semantic_only_if_it_is():
    assert "semanticVersion" in run()["tool"]["driver"]
    assert "semanticVersion" not in run(version="0.1.dev3+g123")["tool"]["driver"]
