"""Names of functions are data, too: no output lets one steer a terminal, a page, a spreadsheet or a solver."""

import csv
import io
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan

LISTING = (SAMPLES / "sm_61" / "saxpy.cuobjdump.sass").read_text("utf-8")
NAME = "=1+1<script>x</script><img\u00a0src=x\u00a0onerror=x>\x1b[2J\x07\u202e\u2066|`](http://e)**\"'&]]>--%0a;$(x){}\\N\ud800"
FORMULA = re.compile(r"[=+\t\r]|@(?!P[0-9] )|-.*[^-0-9.]")
SHAPE = ("--block-dim", "64", "--grid", "2")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    name = NAME.replace("\ud800", "")
    Path("x.sass").write_text(LISTING.replace("saxpy", name) + LISTING.replace("saxpy", "-2+3"), "utf-8")
    return "x.sass"


def harmless(text: str) -> None:
    assert [line for line in text.split("\n") if not line.isprintable()] == []


TEXTS = [
    ("analyze", "--explain", "--assumptions"),
    ("strings",),
    ("blocks",),
    ("listing",),
    ("memory",),
    ("ipet",),
    ("estimate", "--gpu", "TITAN Xp", *SHAPE),
    ("check", "--max-wcet", "1"),
    ("cfg",),
    ("analyze", "-f", "none"),
    ("init", "-o", "made.toml"),
]


@pytest.mark.parametrize("words", TEXTS, ids=" ".join)
def test_text_steers_no_terminal(words: tuple[str, ...], file: str, sassan: Sassan):
    result = sassan(words[0], file, *words[1:])
    harmless(result.out + result.err)
    assert "script" in result.out + result.err + (Path("made.toml").read_text("utf-8") if "made.toml" in words else "")


@pytest.mark.parametrize("command", ["analyze", "cfg", "strings", "listing", "memory", "blocks", "check"])
def test_json_has_escapes(command: str, file: str, sassan: Sassan):
    result = sassan(command, file, "--json", *(("--max-wcet", "1") if command == "check" else ()))
    harmless(result.out)
    assert NAME[:10] in json.dumps(json.loads(result.out), ensure_ascii=False)


@pytest.mark.parametrize(
    "words", [("analyze",), ("listing",), ("memory",), ("blocks",), ("strings",), ("estimate", "--gpu", "TITAN Xp", *SHAPE)]
)
def test_a_cell_of_csv_is_no_formula(words: tuple[str, ...], file: str, sassan: Sassan):
    result = sassan(words[0], file, "--csv", *words[1:])
    assert result.status in (0, 3), result.err
    harmless(result.out)
    cells = [cell for row in csv.reader(io.StringIO(result.out)) for cell in row]
    assert any("script" in cell for cell in cells)
    assert [cell for cell in cells if FORMULA.match(cell)] == []


FILES = [
    ("cfg", "-o", "x.dot", "-f", "=*"),
    ("cfg", "-o", "x.svg", "-f", "=*"),
    ("report", "-o", "x.html"),
    ("check", "--max-wcet", "1", "--sarif", "x.sarif"),
    ("check", "--max-wcet", "1", "--junit", "x.xml"),
    ("check", "--max-wcet", "1", "--summary", "summary.md"),
    ("ipet", "-o", "x.lp", "-f", "=*"),
    ("ipet", "-o", "x.mps", "-f", "=*"),
    ("init", "-o", "x.toml"),
    ("batch", "-o", "x.jsonl", "--executor", "serial"),
    ("serve", "--export", "y.html"),
    ("serve", "--export", "y.csv"),
    ("diff", "x.sass", "--sass", "-o", "y2.html"),
]


@pytest.mark.parametrize("words", FILES, ids=" ".join)
def test_a_file_holds_the_name_as_text(words: tuple[str, ...], file: str, sassan: Sassan):
    output = Path(next(word for word in words[1:] if "." in word and word != "x.sass"))
    result = sassan(words[0], file, *words[1:])
    assert output.exists(), result.err
    text = output.read_text("utf-8")
    harmless(text.replace("\t", ""))
    match output.suffix:
        case ".svg" | ".xml":
            tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}  # noqa: S314 - made here
            assert not tags & {"script", "img"}
        case ".html" | ".md":
            assert "<script>x" not in text
            assert not re.search(r"(?<!\\)<img", text)
        case ".sarif":
            json.loads(text)
        case ".jsonl":
            assert all(json.loads(row) for row in text.splitlines())
        case ".toml":
            tomllib.loads(text)
        case ".lp" | ".mps":
            assert "script" not in text or all(row.startswith(("\\", "*")) for row in text.splitlines() if "script" in row)
        case ".csv":
            cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
            assert [cell for cell in cells if FORMULA.match(cell)] == []
        case _:
            pass
