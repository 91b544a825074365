"""A result that is read back from its document, by the fields that wrote it."""

from typing import Any

import pytest

import sassan
from cli.shell import SAMPLES
from sassan.app.builds.saved_results import Measure, of
from sassan.app.document_fields import ProfiledFields
from sassan.app.result import Loop
from sassan.errors import InputError
from sassan.fields.field import document

FILES = ("sm_61/bfs_step.cuobjdump.sass", "sm_61/calls_nested.cuobjdump.sass", "sm_80/saxpy.cubin")


@pytest.mark.parametrize("file", FILES)
def test_loops_gaps_and_numbers_are_those_of_the_analysis(file: str):
    for kernel in sassan.analyze(SAMPLES / file):
        result = kernel.analysis
        known = of(document(ProfiledFields, result))
        assert (known.name, known.arch, known.file, known.text) == (kernel.name, kernel.arch, kernel.file, result.function.text_hash)
        assert (known.loops, known.gaps) == (result.loops, result.gaps)
        assert (known.number(Measure.WCET), known.number(Measure.INSTRUCTIONS)) == (kernel.wcet, kernel.instructions)
        assert (known.model, known.status) == (kernel.model, kernel.status)


def test_an_access_has_its_line_without_folders_and_its_transactions():
    (kernel,) = sassan.analyze(SAMPLES / "sm_80" / "saxpy.cubin")
    row: dict[str, Any] = document(ProfiledFields, kernel.analysis)
    row["profile"]["accesses"][0]["source"] = {"file": "/home/me/k.cu", "line": 31}
    code = of(row).code
    assert code is not None
    assert code.accesses is not None
    assert [site.address for site in code.accesses] == [int(each["address"], 16) for each in row["profile"]["accesses"]]
    assert code.accesses[0].place == "k.cu:31"
    assert [site.transactions for site in code.accesses] == [each["transactions"] for each in row["profile"]["accesses"]]


def test_what_an_older_document_lacks_is_unknown():
    known = of({"name": "k", "arch": "sm_61", "wcet": {}, "loops": [{"head": "0x0158"}]})
    assert known.loops == (Loop(0x158, None, "", ""),)
    assert (known.numbers, known.code, known.settings, known.gaps) == ((None,) * len(Measure), None, None, ())


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"loops": [{"head": 5}]}, "loops[0].head: must be a string"),
        ({"wcet": {"value": -1}}, "wcet.value: must be a whole number, 0 or more"),
        ({"gaps": [{"address": "0x0"}]}, "gaps[0].code: is missing"),
        ({"profile": {"divergent": [{"address": "elsewhere"}]}}, "profile.divergent[0].address: must be an address"),
    ],
)
def test_another_type_is_refused_by_its_key(part: dict[str, object], message: str):
    with pytest.raises(InputError) as refused:
        of({"name": "k", "arch": "sm_61", **part}, "old.json")
    assert refused.value.code == "bad-results"
    assert message in str(refused.value)
