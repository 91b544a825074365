"""`sassan listing`: rows, the check, and what each says without encodings."""

import csv
import re
import sys
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SAXPY = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"
PLAIN = SAMPLES / "sm_80" / "saxpy.nvdisasm.sass"
TWO = SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass"
WAITS, NO_WAITS = "/* 0x004fca0000000007 */", "/* 0x000fca0000000007 */"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Return a listing in which the FFMA at 0x00c0 waits for nothing."""
    text = SAXPY.read_text("utf-8")
    assert WAITS in text
    path = tmp_path / "broken.sass"
    path.write_text(text.replace(WAITS, NO_WAITS), "utf-8")
    return path


def test_a_listing_has_one_row_per_instruction(sassan: Sassan):
    result = sassan("listing", SAXPY)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[0] == "saxpy (sm_80)"
    assert result.out.splitlines()[14] == "0x00c0    5 Y - - --2---  ---- fma     C FFMA R7, R2, c[0x0][0x164], R7"


def test_functions_are_chosen_by_pattern(sassan: Sassan):
    out = sassan("listing", TWO, "-f", "*second*").out
    assert [line for line in out.splitlines() if "sm_61" in line] == ["two_kernels_second(int*, int) (sm_61)"]


def test_without_encodings_the_listing_says_so_once(sassan: Sassan):
    result = sassan("listing", PLAIN)
    assert result.status == 0
    assert result.err.count("\n") == 1
    assert "no encodings, so control codes are unknown" in result.err
    assert sassan("listing", PLAIN, "--quiet").err == ""


def test_the_document_holds_every_column(sassan: Sassan):
    (function,) = sassan("listing", SAXPY, "--json").document["functions"]
    assert function["name"] == "saxpy"
    assert function["rows"][12] == {
        "address": "0x00c0",
        "control": {"stall": 5, "yield": True, "write_barrier": None, "read_barrier": None, "waits": [2], "reuse": 0},
        "unit": "fma",
        "letter": "C",
        "opcode": "FFMA",
        "text": "FFMA R7, R2, c[0x0][0x164], R7",
        "branch": None,
        "source": None,
        "agreement": None,
        "accesses": [],
        "live": 4,
    }


def test_gaps_say_why_branches_are_not_judged(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "unknown.sass"
    path.write_text(SAXPY.read_text("utf-8").replace("FFMA R7", "FROB R7"), "utf-8")
    result = sassan("listing", path)
    assert result.status == 0
    assert "C @P0 EXIT  // divergent?\n" in result.out
    assert result.out.endswith("\ngaps:\n  saxpy 0x00c0 unknown-opcode: no entry for 'FROB' in the sm_80 table\n")
    assert sassan("listing", path, "--json").document["functions"][0]["gaps"][0]["code"] == "unknown-opcode"


def test_unknown_control_codes_are_null_in_the_document(sassan: Sassan):
    (function,) = sassan("listing", PLAIN, "--json").document["functions"]
    assert {row["control"] for row in function["rows"]} == {None}


def test_the_check_finds_nothing_in_what_the_compiler_made(sassan: Sassan):
    result = sassan("listing", TWO, "--check")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[0] == "function                       arch   instr  findings"
    assert [line.split()[-1] for line in result.out.splitlines()[1:]] == ["0", "0"]


def test_the_check_names_consumer_and_producer(sassan: Sassan, broken: Path):
    result = sassan("listing", broken, "--check")
    assert (result.status, result.err) == (1, "")
    ffma = "saxpy 0x00c0 missing-wait: 'FFMA R7, R2, c[0x0][0x164], R7'"
    assert result.out.splitlines()[3:] == [
        "findings:",
        f"  {ffma} reads R2 without a wait for 'LDG.E R2, [R2.64]' at 0x00a0, which sets barrier 2",
        f"  {ffma} reads R7 without a wait for 'LDG.E R7, [R4.64]' at 0x00b0, which sets barrier 2",
    ]


def test_findings_are_data_too(sassan: Sassan, broken: Path):
    result = sassan("listing", broken, "--check", "--json")
    (function,) = result.document["functions"]
    assert result.status == 1
    assert {key: function["findings"][0][key] for key in ("code", "address", "producer", "dependence", "registers", "barrier", "have")} == {
        "code": "missing-wait",
        "address": "0x00c0",
        "producer": "0x00a0",
        "dependence": "raw",
        "registers": ["R2"],
        "barrier": 2,
        "have": None,
    }


def test_what_has_no_control_codes_was_not_checked(sassan: Sassan):
    result = sassan("listing", PLAIN, "--check")
    assert_refused(result, 3, silent=False)
    assert result.codes == ["no-control-codes"]
    assert result.out.splitlines()[1].split()[-1] == "-"


def test_a_folder_of_sources_must_be_there(sassan: Sassan):
    assert sassan("listing", SAXPY, "--source", "no-such-folder").codes == ["no-folder"]


def test_a_terminal_gets_colours_and_the_same_text(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    plain = sassan("listing", SAXPY).out
    monkeypatch.setattr("sassan.cli.commands.listing.colourful", lambda stream: stream is sys.stdout)
    coloured = sassan("listing", SAXPY).out
    assert "\x1b[36m@P0 EXIT\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_a_hostile_name_cannot_steer_the_terminal(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "hostile.sass"
    path.write_text(SAXPY.read_text("utf-8").replace("Function : saxpy", "Function : s\x1b[2Jaxpy"), "utf-8")
    result = sassan("listing", path)
    assert "\x1b" not in result.out + result.err


def test_with_a_launch_accesses_have_their_transactions(sassan: Sassan):
    patterns = SAMPLES / "sm_80" / "memory_patterns.nvdisasm.sass"
    asked = ("listing", patterns, "-f", "transpose_tile", "--block-dim", "32,32", "--grid", "32,32", "--param", "0x170=1024")
    lines = sassan(*asked, "--quiet").out.splitlines()
    assert lines[1] == "address  st y w r waits  reuse unit    l trans. instruction"
    trans = lines[1].index("trans.")
    seen = {line[trans + 7 :].split(maxsplit=1)[0]: line[trans : trans + 6].strip() for line in lines[2:] if line}
    assert {name: seen[name] for name in ("LDG.E", "STS", "LDS", "EXIT")} == {"LDG.E": "<=5/4", "STS": "1/1", "LDS": "32/1", "EXIT": ""}
    (function,) = sassan(*asked, "--json", "--quiet").document["functions"]
    accesses = [access for row in function["rows"] if row["opcode"] == "LDS" for access in row["accesses"]]
    assert accesses == [{"space": "shared", "transactions": 32, "ideal": 1, "exact": True}]


def test_with_a_launch_branches_on_a_row_of_threads_are_uniform(sassan: Sassan):
    roles = ("listing", SAMPLES / "sm_80" / "warp_roles.nvdisasm.sass", "-f", "first_row", "--quiet")
    assert ", divergent\n" in sassan(*roles).out
    assert "divergent" not in sassan(*roles, "--block-dim", "32,8").out


def test_a_parameter_that_no_kernel_has_is_refused(sassan: Sassan):
    result = sassan("listing", SAXPY, "--param", "nothing=3")
    assert_refused(result, 2)
    assert result.codes == ["unknown-parameter"]


def test_the_registers_in_use_are_a_column(sassan):
    shown = sassan("listing", SAMPLES / "sm_80" / "saxpy.cuobjdump.sass", "--live").out.splitlines()
    at = shown[1].index(" live ")
    counts = [int(line[at : at + 5]) for line in shown[2:] if line.startswith("0x")]
    rows = sassan("listing", SAMPLES / "sm_80" / "saxpy.cuobjdump.sass", "--json").document["functions"][0]["rows"]
    assert counts == [row["live"] for row in rows]
    assert max(counts) > 2


def test_rows_are_printed_as_csv(sassan: Sassan):
    listed = sassan("listing", SAXPY, "--csv")
    assert (listed.status, listed.err) == (0, "")
    rows = list(csv.DictReader(listed.out.splitlines()))
    known = sassan("listing", SAXPY, "--json").document["functions"][0]["rows"]
    assert [(row["address"], row["stall"], row["text"]) for row in rows] == [
        (one["address"], str(one["control"]["stall"]), one["text"]) for one in known
    ]
    assert_refused(sassan("listing", SAXPY, "--csv", "--check"), 2)


def test_a_project_gives_the_launch_of_a_listing(sassan: Sassan, tmp_path: Path):
    (tmp_path / "sassan.toml").write_text('block-dim = "256"\n', "utf-8")
    (tmp_path / "saxpy.sass").write_bytes(SAXPY.read_bytes())
    listed = sassan("listing", tmp_path / "saxpy.sass")
    assert "trans." in listed.out
    assert "note: " in listed.err
    assert "trans." not in sassan("listing", tmp_path / "saxpy.sass", "--project", "none").out
