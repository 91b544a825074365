"""Flow facts as FFX: what is read, what is refused with its line, and that nothing is expanded or fetched."""

import time

import pytest

from sassan.errors import InputError
from sassan.ipet.facts import ffx
from sassan.ipet.facts.model import LineReference, Total
from sassan.ipet.flow_facts import bounds_of
from unit.ipet.brute import Op, graph

CFG = graph([Op("op"), Op("op"), Op("op"), Op("bra", (2,), some=True), Op("bra", (1,), some=True), Op("exit")])
"""Loops at 0x0008 and, inside it, at 0x0010."""
LOOP = '<loop label="k" offset="0xc8" maxcount="9"/>'


def facts(body: str, head: str = ""):
    return ffx.read("facts.ffx", f'<?xml version="1.0"?>\n{head}<flowfacts>{body}</flowfacts>').functions


def test_loops_are_read_by_every_kind_of_place():
    ((name, known),) = facts(
        '<function label="k" text="sha256:00"><loop offset="0x10" label="k" maxcount="0x40" totalcount="100"/>'
        '<loop address="030" maxcount="0"><loop source="src\\k.cu" line="42" maxcount="7"/></loop></function><!-- no fact -->'
    )
    assert (name, known.text) == ("k", "sha256:00")
    assert known.bounds == ((0x10, 0x40), (0o20 + 0x8, 0), (LineReference("src/k.cu", 42), 7))
    assert known.totals == (Total(16, back=True, bound=100),)


def test_a_label_names_the_function_and_a_function_of_orange_its_name():
    known = facts(f'{LOOP}<function name="f"><loop address="8" maxcount="1"/></function>')
    assert [(name, each.bounds) for name, each in known] == [("k", ((0xC8, 9),)), ("f", ((8, 1),))]


def test_an_offset_counts_from_the_function_around_and_a_line_is_of_the_file_around():
    ((name, known),) = facts(
        '<function label="k" source="a.cu"><loop offset="0x20" maxcount="5"><loop line="3" maxcount="1"/></loop>'
        '<loop source="b.cu" line="7" maxcount="2"><loop line="8" maxcount="4"/></loop></function>'
    )
    assert name == "k"
    assert known.bounds == ((0x20, 5), (LineReference("a.cu", 3), 1), (LineReference("b.cu", 7), 2), (LineReference("b.cu", 8), 4))


def test_a_loop_whose_count_no_tool_found_gets_no_bound():
    ((_, known),) = facts(
        '<loop label="k" offset="8" maxcount="NOCOMP" totalcount="NOCOMP"/><loop label="k" offset="16" maxcount="2" totalcount="NOCOMP"/>'
    )
    assert (known.bounds, known.totals) == (((16, 2),), ())


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("<loop", "facts-syntax", "not XML"),
        ("&lol;", "facts-syntax", "not XML"),
        ("\x00", "facts-syntax", "not XML"),
        ("<nocall label='k'/>", "facts-value", "<'nocall'> in <'flowfacts'> is not read"),
        ("<function/>", "facts-value", 'needs label="NAME"'),
        ("9", "facts-value", "text between elements"),
        ('<loop maxcount="1"/>', "facts-value", "a <loop> needs label"),
        ('<loop address="0xc8" maxcount="1"/>', "facts-value", 'put the <loop> into <function label="NAME">'),
        ('<loop label="k" offset="0xc8"/>', "facts-value", "needs maxcount or totalcount"),
        ('<loop label="k" offset="-8" maxcount="1"/>', "facts-value", "offset must be a whole number"),
        ('<loop label="k" offset="8" maxcount="many"/>', "facts-value", "maxcount must be a whole number"),
        ('<loop offset="8" maxcount="1"/>', "facts-value", 'put the <loop> into <function label="NAME">'),
        ('<function label="k"><loop line="8" maxcount="1"/></function>', "facts-value", "a <loop> needs label"),
        (
            '<function label="k"><call label="f"><function label="f"/></call></function>',
            "facts-value",
            "<'call'> in <'function'> is not read",
        ),
        ('<loop label="k" offset="8" maxcount="' + "9" * 5000 + '"/>', "facts-value", "maxcount must be a whole number"),
        (LOOP + LOOP, "facts-value", "two values of maxcount"),
        ("".join(f"<loop label='k' offset='{at}' maxcount='1'>" for at in range(100, 200)), "facts-syntax", "more than 100 elements"),
    ],
)
def test_what_is_no_fact_is_refused_with_its_place(body: str, code: str, said: str):
    with pytest.raises(InputError) as refused:
        facts(body)
    assert refused.value.code == code
    assert said in refused.value.message
    assert len(refused.value.message) < 300
    assert refused.value.span is not None
    assert refused.value.hint == ffx.HINT


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE flowfacts [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE flowfacts SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE flowfacts [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_a_document_type_is_refused_before_anything_is_expanded(head: str):
    begin = time.monotonic()
    with pytest.raises(InputError, match="a document type"):
        facts('<loop label="&b;" offset="8" maxcount="1"/>' * 1000, head)
    assert time.monotonic() - begin < 1


def test_what_is_written_is_read_again_and_gives_the_same_bounds():
    bounds = bounds_of(CFG, ffx.read("g.ffx", facts_of_both(3, 5)))
    written = ffx.write([(CFG, bounds)])
    again = bounds_of(CFG, ffx.read("f.ffx", written))
    assert again.of_loop == bounds.of_loop == (3, 5)
    assert not again.gaps
    without = ffx.write([(CFG, bounds_of(CFG))])
    assert without.count("has no bound") == 2
    assert bounds_of(CFG, ffx.read("f.ffx", without)).of_loop == (None, None)


def facts_of_both(outer: int, inner: int) -> str:
    bounds = ((0x8, outer), (0x10, inner))
    return f'<flowfacts>{"".join(f"""<loop label="brute" offset="{head}" maxcount="{bound}"/>""" for head, bound in bounds)}</flowfacts>'


def test_what_the_bounds_rest_on_stands_beside_them():
    written = ffx.write([(CFG, bounds_of(CFG, default=7))])
    assert "loop-bound: at most 7 back edges per entry (8 iterations of the header) of the loops at 0x0008, 0x0010 -->" in written
    assert "maxcount: back edges of one thread per entry" in written


def test_the_facts_of_another_text_or_another_loop_are_refused():
    written = ffx.write([(CFG, bounds_of(CFG, default=9))])
    with pytest.raises(InputError, match="another text") as refused:
        bounds_of(CFG, ffx.read("f.ffx", written.replace(CFG.function.text_hash, "sha256:00")))
    assert refused.value.code == "facts-text-mismatch"
    with pytest.raises(InputError, match="no loop of 'brute' begins at 0x0018") as refused:
        bounds_of(CFG, ffx.read("f.ffx", written.replace('offset="0x10"', 'offset="0x18"')))
    assert refused.value.code == "facts-unknown-loop"


@pytest.mark.parametrize(
    ("name", "text", "is_xml"), [("a.ffx", "", True), ("a", " \n<?xml", True), ("a.toml", "[function]", False), ("-", "", False)]
)
def test_ffx_is_recognized_by_its_name_or_its_begin(name: str, text: str, is_xml: bool):
    assert ffx.is_ffx(name, text) is is_xml
