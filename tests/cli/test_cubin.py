"""Cubins on the command line: the answer of their listing, the statuses of docs/reference/commands.md, the cache."""

import json
from pathlib import Path
from typing import Any

import pytest

import cubins
from budget import some
from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.extras import install
from sassan.frontend.cubin import tools
from sassan.ipet.wcet import NOTED

COMMANDS = ["analyze", "cfg", "strings", "ipet", "listing"]
EQUAL = ["bfs_step", "switch_brx", "calls_nested", "two_kernels", "debug_build", "mandelbrot"]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of a disassembler that plays back listings; no other tool, and an empty cache."""
    folder = cubins.recorder(tmp_path / "tools", "sm_61/saxpy", *(f"sm_61/{name}" for name in EQUAL))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize("name", some(EQUAL, of=3))
def test_a_cubin_gives_the_answer_of_its_listing(name: str, sassan: Sassan):
    bounds = ["--loop-bound", "7", "-W", "8", "--json"]
    found = sassan("analyze", SAMPLES / "sm_61" / f"{name}.cubin", *bounds)
    listed = sassan("analyze", SAMPLES / "sm_61" / f"{name}.nvdisasm.sass", *bounds)
    assert (found.status, listed.status) == (0, 0)
    cubin, listing = found.document, listed.document
    for one in (*cubin["functions"], *listing["functions"]):
        del one["file"]
        del one["profile"]  # a cubin knows more: local memory, what parameters are aligned to
    assert json.dumps(cubin) == json.dumps(without_notes(listing))
    assert cubin["functions"][0]["blocks"] > 1


def without_notes(value: Any) -> Any:
    """A document without the assumption that only a listing needs."""
    if isinstance(value, list):
        return [without_notes(each) for each in value]
    if not isinstance(value, dict):
        return value
    texts = value.get("assumptions", ())
    kept = [number for number, text in enumerate(texts) if text != NOTED]
    return {key: [each[number] for number in kept] if key.startswith("assumption") else without_notes(each) for key, each in value.items()}


@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_cubins(command: str, sassan: Sassan):
    result = sassan(command, SAMPLES / "sm_61" / "saxpy.cubin")
    assert (result.status, result.err) == (0, "")
    assert "saxpy" in result.out


@pytest.mark.usefixtures("recorder")
def test_a_debug_build_knows_its_parameters_by_name(sassan: Sassan):
    file = SAMPLES / "sm_61" / "debug_build.cubin"
    assert sassan("analyze", file, "--param", "n=4096", "--loop-bound", "1").status == 0
    refused = sassan("analyze", file, "--param", "m=4096")
    assert_refused(refused, 2)
    assert (
        "hint: debug_build: in (param_0) at 0x140 (8 bytes), out (param_1) at 0x148 (8 bytes), n (param_2) at 0x150 (4 bytes)"
        in refused.err
    )


@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize(("suffix", "name"), [("cubin", "param_6"), ("nvdisasm.sass", "0x15c")])
def test_a_parameter_is_asked_for_by_the_name_that_sets_it(suffix: str, name: str, sassan: Sassan):
    file = SAMPLES / "sm_61" / f"mandelbrot.{suffix}"
    (gap,) = sassan("analyze", file, "--json").document["functions"][0]["gaps"]
    assert f": pass --param {name}=N, " in gap["message"]
    assert sassan("analyze", file, "--param", f"{name}=5").status == 0


@pytest.mark.slow
@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize(("sample", "name"), [("mandelbrot", "param_6"), ("debug_build", "n")])
def test_a_template_and_a_hint_name_a_parameter_as_gaps_do(sample: str, name: str, sassan: Sassan):
    file = SAMPLES / "sm_61" / f"{sample}.cubin"
    assert f'"{name}" = "0x1' in sassan("ipet", file, "--facts-template").out
    assert f" {name} " in sassan("analyze", file, "--param", "missing=1").err


@pytest.mark.slow
@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize("suffix", ["cubin", "ptx"])
def test_a_parameter_is_held_against_the_selected_kernels_only(suffix: str, sassan: Sassan):
    files = [SAMPLES / "sm_61" / f"{name}.{suffix}" for name in ("debug_build", "two_kernels")]
    wide = ("--loop-bound", "1", "--param", "param_1=0x100000000")
    assert sassan("analyze", *files, "-f", "debug_build", *wide).status == 0
    assert_refused(sassan("analyze", *files, *wide), 2)
    assert sassan("analyze", *files, "--loop-bound", "1", "--param", "param_2=1").status == 0
    refused = sassan("analyze", *files, "-f", "two_kernels_first", "--loop-bound", "1", "--param", "param_2=1")
    assert_refused(refused, 2)
    assert "hint: two_kernels_first: param_0" in refused.err


@pytest.mark.usefixtures("recorder")
def test_a_cubin_may_come_from_standard_input(sassan: Sassan):
    assert sassan("analyze", "-", stdin=cubins.cubin("sm_61/saxpy")).status == 0


@pytest.mark.usefixtures("recorder")
def test_the_makespan_of_a_cubin_is_searched(sassan: Sassan):
    result = sassan("makespan", SAMPLES / "sm_61" / "saxpy.cubin", "-W", "2", "--engine", "bounds", "--json", "--no-cache")
    assert result.status == 0


def test_a_second_run_uses_the_cache_unless_told_not_to(recorder: Path, sassan: Sassan):
    path = SAMPLES / "sm_61" / "saxpy.cubin"
    seen = []
    for options in ([], [], ["--no-cache"], []):
        assert sassan("strings", path, *options).status == 0
        seen.append(cubins.calls(recorder))
    assert seen == [1, 1, 2, 2]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_tool_the_status_is_4_and_the_hint_installs_one(command: str, recorder: Path, sassan: Sassan):
    (recorder / "nvdisasm").unlink()
    result = sassan(command, SAMPLES / "sm_90" / "saxpy.cubin")
    assert_refused(result, 4)
    assert result.codes == ["nvdisasm-missing"]
    assert install("cubin") in result.err


@pytest.mark.usefixtures("recorder")
def test_a_cubin_that_the_tool_refuses_has_status_3(sassan: Sassan):
    result = sassan("analyze", SAMPLES / "sm_90" / "saxpy.cubin")
    assert_refused(result, 3)
    assert result.codes == ["nvdisasm-failed"]


@pytest.mark.usefixtures("recorder")
def test_a_damaged_cubin_has_status_3(sassan: Sassan, tmp_path: Path):
    (tmp_path / "k.cubin").write_bytes(cubins.with_field(cubins.cubin("sm_61/saxpy"), ".text.saxpy", "size", 2**63))
    result = sassan("analyze", tmp_path / "k.cubin")
    assert_refused(result, 3)
    assert result.codes == ["malformed-elf"]


def test_a_listing_that_contradicts_the_compiler_is_refused(recorder: Path, sassan: Sassan):
    for listing in cubins.recorded(recorder):
        listing.write_text(listing.read_text().replace("@P0 EXIT ;", "@P0 NOP ;"))
    result = sassan("analyze", SAMPLES / "sm_61" / "saxpy.cubin")
    assert_refused(result, 3, silent=False)
    assert result.codes == ["compiler-table"]
    assert "EXIT at 0x0058" in result.err


@pytest.mark.usefixtures("recorder")
def test_a_cubin_of_kepler_is_refused_by_name(sassan: Sassan, tmp_path: Path):
    data = cubins.cubin("sm_61/saxpy")
    (tmp_path / "k.cubin").write_bytes(data[:48] + bytes([35, 5, 35, 0]) + data[52:])
    result = sassan("analyze", tmp_path / "k.cubin")
    assert_refused(result, 3)
    assert result.codes == ["unsupported-architecture"]
