"""Architecture files: what they inherit, and how broken ones are refused."""

import shutil
from pathlib import Path

import pytest

from architectures import HEIR, describe
from sassan.arch import described, files, names, rows
from sassan.arch.files import SECTIONS, content_digest, digest, further_digest
from sassan.errors import InputError, UsageError
from sassan.isa import tables
from sassan.machine import load, occupancy, parameters
from sassan.timing import hazards, latencies


@pytest.mark.parametrize("name", names())
def test_every_file_is_well_formed(name: str):
    for section in SECTIONS:
        rows(name, section)
    if rows(name, "sm"):
        load(name)
    if rows(name, "sm") and rows(name, "allocation"):
        occupancy.rules_of(load(name))
    if described(name).isa:
        assert tables.load(name).table.rows
        assert latencies.load(name).figures
        assert hazards.load(name).visible
        assert parameters.layout(name) is not None


@pytest.mark.parametrize("name", names())
def test_every_row_has_a_source(name: str):
    assert all(row.source for section in SECTIONS for row in rows(name, section).values())


def test_an_sm_has_what_its_generation_says_and_its_own():
    found = rows("sm_61", "latencies")
    assert [found[f"cycles.{one}"].fields.name for one in ("half", "global", "double", "issue")] == [
        "sm_61.toml",
        "pascal.toml",
        "maxwell.toml",
        "common.toml",
    ]


def test_what_is_taken_from_another_sm_is_an_assumption():
    assert described("sm_121").assumptions("sm", "latencies", "hazards") == ("sm_121: latencies, hazards taken from sm_120",)


def test_a_section_comes_from_the_sm_that_has_it():
    assert described("sm_110").assumptions("latencies", "distances") == (
        "sm_110: latencies taken from sm_103",
        "sm_110: distances taken from sm_100",
    )


@pytest.mark.parametrize("arch", ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"])
def test_an_sm_with_facts_of_its_own_inherits_from_none(arch: str):
    assert described(arch).inherited == ()


def test_a_folder_adds_an_sm_by_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, HEIR)
    assert (described("sm_130").isa, load("13.0").warps, latencies.load("sm_130").figures["alu"].cycles) == ("blackwell", 48, 6)


def test_only_named_sections_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, 'extends = "sm_120"\ninherits = ["code"]\n')
    assert (described("sm_130").isa, [one for one in SECTIONS if rows("sm_130", one)]) == ("blackwell", ["code"])


def test_a_row_of_its_own_goes_over_what_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, HEIR + '[sources]\nx = "y"\n[latencies.cycles]\nalu = { cycles = 4, source = "x" }\n')
    found = latencies.load("sm_130").figures
    assert (found["alu"].cycles, found["shared"].cycles) == (4, 40)


def test_an_opcode_table_of_its_own_stands_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "opcodes").mkdir()
    (tmp_path / "opcodes" / "next.toml").write_text('base = "blackwell"\n', "utf-8")
    code = '[sources]\nx = "y"\n[code]\nisa = "next"\ninstruction_bytes = 16\nsource = "x"\n'
    describe(monkeypatch, tmp_path, code)
    assert tables.load("sm_130").table.name == "next.toml"


SOURCED = '[sources]\nx = "y"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends = ", ": not TOML"),
        ("frob = 1\n", ": frob: unknown key"),
        ('extends = "blackwell"\n', ": extends: an SM extends an SM"),
        ('extends = "sm_120"\n', ": inherits: must name sections to take from sm_120: code, sm"),
        ('inherits = ["code"]\n', ": extends: must name the SM from which"),
        ('extends = "sm_120"\ninherits = ["frob"]\n', ": inherits: unknown section 'frob'"),
        ('generation = "../volta"\n', ": generation: must be the name of an architecture file"),
        ("[sm]\nwarps = 3\n", ": sm.warps: has no source"),
        (SOURCED + '[sm]\nsource = "z"\n', ": sm.source: must name one of the [sources]: x"),
        (SOURCED + "[sm]\nsource = []\n", ": sm.source: must name one of the [sources]: x"),
        (SOURCED + '[code]\nisa = "x"\nsize = 3\nsource = "x"\n', ": code.size: unknown key"),
        (SOURCED + '[code]\nisa = "x"\nsource = "x"\n', ": code.instruction_bytes: is missing"),
    ],
)
def test_a_broken_file_is_refused_by_file_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str):
    describe(monkeypatch, tmp_path, text)
    with pytest.raises(InputError) as caught:
        described("sm_130")
    assert caught.value.code == "bad-table"
    assert caught.value.message.startswith(f"{tmp_path / 'sm_130.toml'}{message}")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, "")
    (tmp_path / "sm_130.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="cannot be read"):
        described("sm_130")


@pytest.mark.parametrize("text", ['generation = "nowhere"\n', 'extends = "sm_131"\ninherits = ["code"]\n'])
def test_what_a_file_extends_must_be_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    describe(monkeypatch, tmp_path, text)
    with pytest.raises(InputError, match="sm_130: no file describes"):
        described("sm_130")


def test_files_that_extend_each_other_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, 'extends = "sm_131"\ninherits = ["code"]\n')
    describe(monkeypatch, tmp_path, 'extends = "sm_130"\ninherits = ["code"]\n', "sm_131")
    with pytest.raises(InputError, match="extends more than 16 files, or itself"):
        described("sm_130")


def test_an_opcode_table_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, SOURCED + '[code]\nisa = "frob"\ninstruction_bytes = 16\nsource = "x"\n')
    with pytest.raises(InputError, match="no opcode table is called 'frob'"):
        tables.load("sm_130")


def test_an_sm_may_be_described_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, HEIR, "sm_90")
    with pytest.raises(InputError, match="sm_90 is described already"):
        described("sm_90")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(files.FOLDER, str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="is not a folder"):
        described("sm_130")


RELAXED = "# why\n\n[ sm ]  # a comment\nwarps = 6_4\nnames = [\n    'a', # first\n    \"b\",\n]\n"


def digest_of(folder: Path, text: str, name: str = "sm_130.toml") -> str:
    (folder / name).write_text(text, "utf-8")
    return content_digest([folder / name])


def test_comments_and_layout_do_not_change_the_digest_of_a_file(tmp_path: Path):
    assert digest_of(tmp_path, RELAXED) == digest_of(tmp_path, 'sm = { warps = 64, names = ["a", "b"] }')


@pytest.mark.parametrize(
    "text",
    [
        'sm = { warps = 65, names = ["a", "b"] }',
        'sm = { warps = 64, names = ["b", "a"] }',
        'sm = { warps = "64", names = ["a", "b"] }',
        'sm = { names = ["a", "b"], warps = 64 }',
        "sm = { warps = 64",
    ],
)
def test_values_their_order_and_a_damaged_file_change_the_digest(tmp_path: Path, text: str):
    assert digest_of(tmp_path, text) != digest_of(tmp_path, RELAXED)


def test_the_digest_of_an_sm_has_the_values_of_every_file_that_it_extends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "data"
    shutil.copytree(files._SHIPPED, folder)
    monkeypatch.setattr(files, "_SHIPPED", folder)
    for name in ("sm_61", "pascal", "maxwell", "common"):
        file = folder / f"{name}.toml"
        text = file.read_text("utf-8")
        digests = []
        for changed in (text, f"# a comment\n{text}", f"{text}\n[further]\nnumber = 1\n"):
            file.write_text(changed, "utf-8")
            digest.cache_clear()
            digests.append(digest("sm_61"))
        digest.cache_clear()
        assert digests[0] == digests[1] != digests[2], name


def test_opcodes_of_further_architectures_belong_to_their_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path, HEIR)
    before = further_digest()
    (tmp_path / "opcodes").mkdir()
    (tmp_path / "opcodes" / "trial.toml").write_text('base = "ampere_hopper"\n', "utf-8")
    with_opcodes = further_digest()
    (tmp_path / "opcodes" / "trial.toml").write_text('# a comment\nbase = "ampere_hopper"\n', "utf-8")
    assert before != with_opcodes == further_digest()
