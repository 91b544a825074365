"""The certificate of a task: what it holds, and faults that are seeded into it one by one."""

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.shell import ROOT, SAMPLES, Sassan, assert_refused
from cli.test_task import launch
from sassan import verifier
from sassan.cli import main

Document = dict[str, Any]
Fault = Callable[[Document], object]
BARRIERS = '[[launch]]\nkernel = "reduce_shared"\ngrid = [300, 1, 1]\nblock = [128, 1, 1]\nshared = 2048\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program, its launches and the certificate: two launches of one kernel, of known buffers."""
    path = tmp_path_factory.mktemp("certificate")
    shutil.copy(SAMPLES / "sm_80" / "saxpy.cubin", path / "saxpy.cubin")
    host = 'writes = [{address = "0x200000000000", size = 1200000}]'
    (path / "launches.toml").write_text(launch(count=2) + launch(grid=300, more=host), "utf-8")
    words = ("--gpu", "Orin", "--co-runners", "20 GB/s", "--copies", "12 GB/s", "--deadline", "1ms", "-q")
    status = main.run([
        "task", str(path / "saxpy.cubin"), "--launches", str(path / "launches.toml"), *words, "--certificate", str(path / "c.json")
    ])  # fmt: skip
    assert status == 0
    return path


@pytest.fixture
def document(folder: Path) -> Document:
    found: Document = json.loads((folder / "c.json").read_text("utf-8"))
    return found


def refusal(folder: Path, document: Document, *, sealed: bool) -> str:
    """Return why a certificate does not hold, '' where it does; `sealed`: its digest is made anew, so that only what is said counts."""
    if sealed:
        document["digest"] = verifier.digest(document)
    path = folder / "changed.json"
    path.write_text(json.dumps(document), "utf-8")
    try:
        verifier.verify(path)
    except verifier.Refused as refused:
        return str(refused)
    return ""


def test_a_certificate_holds_and_says_what_was_checked(sassan: Sassan, folder: Path, document: Document):
    result = sassan("verify-certificate", folder / "c.json")
    assert (result.status, result.err) == (0, "")
    programs = len(document["programs"])
    assert f"programs: {programs}, of which multipliers prove {programs}" in result.out
    assert "inputs: 2 with the hash of the certificate" in result.out
    assert result.out.endswith("the certificate holds\n")
    assert refusal(folder, copy.deepcopy(document), sealed=True) == ""


def test_an_optimum_that_no_multipliers_prove_is_no_plain_verdict(document: Document, sassan: Sassan, tmp_path: Path):
    changed = copy.deepcopy(document)
    changed["programs"][0]["proof"] = "solver"
    changed["digest"] = verifier.digest(changed)
    (tmp_path / "c.json").write_text(json.dumps(changed), "utf-8")
    result = sassan("verify-certificate", tmp_path / "c.json")
    assert result.status == 0
    assert result.out.endswith("the certificate holds, provided that the solver is right about 1 optima without a proof\n")


def test_the_verifier_runs_alone(folder: Path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "sassan" / "verifier.py"), str(folder / "c.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("the certificate holds\n")


def test_a_certificate_has_every_assumption_with_its_status(document: Document):
    assert {each["status"] for each in document["assumptions"]} >= {"assumed", "published"}
    texts = [each["text"] for each in document["assumptions"]]
    assert any(text.startswith("whenever the GPU waits for DRAM, others leave it 86.0%") for text in texts)
    assert not any("L2 holds no dirty sectors" in text for text in texts)
    assert {each["role"] for each in document["inputs"]} == {"program", "launches"}
    assert document["sensitivity"]


def test_barriers_are_checked_from_optima_to_cycles(sassan: Sassan, tmp_path: Path):
    (tmp_path / "l.toml").write_text(BARRIERS, "utf-8")
    path = tmp_path / "b.json"
    words = ("--launches", tmp_path / "l.toml", "--gpu", "A100-PCIE-40GB", "--loop-bound", "20", "--certificate", path)
    assert sassan("task", SAMPLES / "sm_80" / "reduce_shared.cubin", *words).status == 0
    made = json.loads(path.read_text("utf-8"))
    assert {"block", "segment", "openings", "relay", "alone"} <= made["launches"][0]["optima"].keys()
    made["launches"][0]["grid"]["barriers"] = 0
    assert "does not follow from the optima" in refusal(tmp_path, made, sealed=True)


def test_a_missed_deadline_is_status_1_and_said(sassan: Sassan, folder: Path, tmp_path: Path):
    path = tmp_path / "late.json"
    words = ("--launches", folder / "launches.toml", "--gpu", "Orin", "--copies", "outside", "--deadline", "9us", "--certificate", path)
    assert sassan("task", folder / "saxpy.cubin", *words).status == 1
    result = sassan("verify-certificate", path)
    assert (result.status, result.out.splitlines()[-1]) == (1, "the deadline may be missed")
    assert "may be missed" in path.with_suffix(".html").read_text("utf-8")


def without_row(document: Document, at: int = 0) -> str:
    """Take the row with the largest multiplier out of a program."""
    program = document["programs"][at]
    row = max(program["multipliers"], key=lambda name: abs(int(program["multipliers"][name].partition("/")[0])))
    kept, inside = [], False
    for line in program["lp"].splitlines(keepends=True):
        inside = line.startswith(f" {row}:") or (inside and line.startswith("    "))
        kept += [] if inside else [line]
    program["lp"] = "".join(kept)
    return str(row)


def other_right(document: Document) -> None:
    """Raise the right-hand side of a row that the proof needs."""
    program = document["programs"][0]
    lines = program["lp"].splitlines(keepends=True)
    needed = next(at for at, line in enumerate(lines) if not line.startswith("\\") and line.endswith(" = 1\n"))
    lines[needed] = lines[needed].replace(" = 1", " = 2")
    program["lp"] = "".join(lines)


def at(*path: str | int, value: Any) -> Fault:
    def change(document: Document) -> None:
        inner: Any = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value(inner[path[-1]]) if callable(value) else value

    return change


FAULTS: dict[str, tuple[Fault, str]] = {
    "a row of a program is dropped": (without_row, "no row"),
    "a right-hand side is another one": (other_right, "does not satisfy row"),
    "an optimum is smaller": (at("programs", 0, "value", value=lambda old: old - 1), "is not the objective of the solution"),
    "a scale is larger": (at("programs", 0, "scale", value=lambda old: old * 2), "does not follow from the optima"),
    "a solution is another one": (lambda document: document["programs"][0]["values"].popitem(), "programs[0]"),
    "multipliers are missing": (at("programs", 0, "multipliers", value={}), "prove nothing"),
    "a term is smaller": (at("launches", 0, "terms", "memory", value="1"), "does not follow from the optima"),
    "a launch is shorter": (at("launches", 1, "cycles", value=lambda old: old - 1), "is not the sum of the terms"),
    "an optimum counts less often": (at("launches", 0, "optima", "uncached", 0, "times", value=1), "does not follow"),
    "fewer blocks": (at("launches", 0, "grid", "blocks", value=1), "does not follow from the optima"),
    "an optimum is missing": (lambda document: document["launches"][0]["optima"].pop("cached"), "no cached"),
    "fewer launches": (at("steps", 0, "count", value=1), "bound_us"),
    "a smaller copy": (at("steps", 1, "host", "bytes", value=4), "bound_us"),
    "less is left dirty": (at("steps", 0, "left_bytes", value=0), "bound_us"),
    "a step is dropped": (lambda document: document["steps"].pop(), "one is in no step"),
    "the bound is smaller": (at("task", "bound_us", value="100"), "task.bound_us"),
    "the deadline is later": (at("task", "deadline_us", value="2000"), "task.slack_us"),
    "the verdict is another one": (at("task", "deadline", value="missed"), "task.deadline"),
    "a faster clock": (at("product", "clock_mhz", value=2000), "bound_us"),
    "faster copies": (at("task", "copy_bytes_per_us", value="24000"), "bound_us"),
    "a smaller L2": (at("product", "l2_bytes", value=0), "bound_us"),
    "no time between launches": (at("product", "between_us", value="0"), "bound_us"),
    "an assumption is dropped": (lambda document: document["assumptions"].pop(), "assumptions: assumption"),
    "an assumption is used by nothing": (at("launches", 1, "assumptions", value=lambda old: old[1:]), ""),
    "an assumption is empty": (at("assumptions", 3, "text", value=""), "is empty"),
    "an unknown status": (at("assumptions", 0, "status", value="believed"), "no status"),
    "a program that nothing uses": (lambda document: document["programs"].append(document["programs"][0]), "is not used"),
    "another input": (at("inputs", 0, "sha256", value="sha256:" + "0" * 64), "is not the file that was analyzed"),
    "another kind": (at("kind", value="a letter"), "not a 'sassan certificate'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_found(fault: str, folder: Path, document: Document):
    change, why = FAULTS[fault]
    changed = copy.deepcopy(document)
    change(changed)
    assert changed != document
    assert why in refusal(folder, copy.deepcopy(changed), sealed=True)
    assert refusal(folder, changed, sealed=False), "and with the digest as it was, whatever else"


def test_a_changed_text_is_found_by_the_digest(sassan: Sassan, folder: Path, document: Document, tmp_path: Path):
    for fault in (
        at("assumptions", 5, "text", value="all is well"),
        at("product", "sources", "sms", value="elsewhere"),
        at("sensitivity", 0, "moves_us", value="0"),
    ):
        changed = copy.deepcopy(document)
        fault(changed)
        assert "changed after it was written" in refusal(folder, changed, sealed=False)
    (tmp_path / "x.json").write_text(json.dumps(changed), "utf-8")
    result = sassan("verify-certificate", tmp_path / "x.json")
    assert_refused(result, 1)
    assert result.codes == ["certificate"]


def test_a_changed_input_is_found(folder: Path, tmp_path: Path):
    for name in ("saxpy.cubin", "launches.toml", "c.json"):
        shutil.copy(folder / name, tmp_path / name)
    with (tmp_path / "launches.toml").open("a") as file:
        file.write("# one more line\n")
    with pytest.raises(verifier.Refused, match="is not the file that was analyzed"):
        verifier.verify(tmp_path / "c.json")
    (tmp_path / "launches.toml").unlink()
    assert any("launches.toml" in note for note in verifier.verify(tmp_path / "c.json").notes)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each value in a document."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from leaves(inner, (*path, key))


def test_no_value_of_another_type_is_taken_or_ends_in_a_traceback(folder: Path, document: Document):
    paths = list(leaves({**document, "programs": document["programs"][:1], "digest": ""}))
    for number, path in enumerate(paths[:: max(1, len(paths) // 150)]):
        changed = copy.deepcopy(document)
        at(*path, value=[None, [], {}, -1, "x", 1.5, True, 10**400, "1/0"][number % 9])(changed)
        assert refusal(folder, changed, sealed=False), path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"kind": "sassan certificate"}',
        b'{"kind": "sassan certificate", "schema": 1, "inputs": [[]]}',
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b'{"schema": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"\x7fELF" + bytes(100),
    ],
)
def test_a_file_that_is_no_certificate_is_refused(data: bytes, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_bytes(data)
    result = sassan("verify-certificate", path)
    assert_refused(result, 1)
    assert result.codes == ["certificate"]


def test_every_beginning_of_a_certificate_is_refused(folder: Path, tmp_path: Path):
    data = (folder / "c.json").read_bytes()
    path = tmp_path / "x.json"
    for part in range(20):
        path.write_bytes(data[: len(data) * part // 20])
        with pytest.raises(verifier.Refused):
            verifier.verify(path)


def test_a_file_that_is_not_there_is_refused(sassan: Sassan, tmp_path: Path):
    for path in (tmp_path / "none.json", tmp_path):
        result = sassan("verify-certificate", path)
        assert_refused(result, 3)
        assert result.codes == ["cannot-read"]


def test_a_file_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch, folder: Path):
    monkeypatch.setattr(verifier, "LARGEST", 100)
    with pytest.raises(verifier.Refused, match="more than 100 bytes"):
        verifier.verify(folder / "c.json")


def test_the_page_is_the_same_document_and_names_are_text(folder: Path, document: Document):
    from sassan.render.certificate import html  # noqa: PLC0415 - for this test

    page = (folder / "c.html").read_text("utf-8")
    assert "is met: response time at most" in page
    assert document["digest"] in page
    assert page.count("<tr>") > len(document["assumptions"])
    changed = copy.deepcopy(document)
    changed["steps"][0]["kernel"] = changed["task"]["name"] = "<script>alert(1)</script>\u202e"
    hostile = html(changed, "", "")
    assert "<script" not in hostile
    assert "\u202e" not in hostile


def test_the_verifier_imports_python_alone():
    text = (ROOT / "sassan" / "verifier.py").read_text("utf-8")
    imports = [line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert set(imports) <= sys.stdlib_module_names
