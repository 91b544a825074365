"""`sassan.estimate`, `memory`, `launches`, `check`, `diff` and `rank`: the numbers of the command line, and what is refused."""

import json
from pathlib import Path

import pytest

import sassan
from cli.shell import SAMPLES
from evolving import CONFIG, config_file, need_nvrtc

SAXPY = SAMPLES / "sm_75" / "saxpy.cuobjdump.sass"
SHARED = SAMPLES / "sm_75" / "reduce_shared.cuobjdump.sass"
HORNER = SAMPLES / "sm_75" / "double_horner.cuobjdump.sass"
LAUNCH = sassan.Launch(gpu="T4", block=256, grid=4096, registers=16, shared=0)
OPTIONS = ("--gpu", "T4", "--block-dim", "256", "--grid", "4096", "--registers", "16", "--shared", "0")
RECORDING = """\
[[launch]]
kernel = "saxpy"
grid = [512, 1, 1]
block = [128, 1, 1]
shared = 0
count = 3

[[launch]]
kernel = "saxpy"
grid = [64, 1, 1]
block = [64, 1, 1]
shared = 0
"""
SPACE = CONFIG.partition('[[gene]]\nmacro = "GAP"')[0].replace('arch = "sm_80"\n', "").replace("grid = [4]", 'grid = [4000]\ngpu = "T4"')


def same(document: object, printed: object) -> bool:
    return json.loads(json.dumps(document)) == printed


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "launches.toml"
    path.write_text(RECORDING, "utf-8")
    return path


def test_an_estimate_is_that_of_the_command_line(sassan_json):
    known = sassan.estimate(SAXPY, launch=LAUNCH)
    assert same(known.to_dict(), sassan_json("estimate", SAXPY, *OPTIONS))
    (each,) = known
    assert each is known["saxpy"]
    assert (each.gpu, each.bound_by, each.gaps) == ("T4", "latency", ())
    assert each.us == pytest.approx(each.cycles / 1590)
    assert repr(each).startswith("<KernelEstimate 'saxpy': ")
    assert repr(each).endswith(" us, bound by latency>")
    assert sassan.estimate(each.function, launch=LAUNCH).us == each.us


def test_a_kernel_without_an_estimate_says_why():
    (each,) = sassan.estimate(SAXPY, launch=sassan.Launch(gpu="T4", block=256, grid=4096))
    assert (each.us, each.cycles, each.bound_by, each.stalls, each.assumptions) == (None, None, None, (), ())
    assert [gap.code for gap in each.gaps] == ["unknown-occupancy"]
    assert repr(each) == "<KernelEstimate 'saxpy': 1 gap>"


@pytest.mark.parametrize("launch", [None, sassan.Launch(gpu="T4", block=256), sassan.Launch(block=256, grid=4)])
def test_an_estimate_needs_a_launch(launch: sassan.Launch | None):
    with pytest.raises(sassan.UsageError) as error:
        sassan.estimate(SAXPY, launch=launch)
    assert error.value.code == "usage"
    assert "Launch(" in (error.value.hint or "")


def test_accesses_are_those_of_the_command_line(sassan_json):
    known = sassan.memory(SHARED, launch=sassan.Launch(block=256))
    assert same(known.to_dict(), sassan_json("memory", SHARED, "--block-dim", "256"))
    (each,) = known
    assert each.wasted == sum(row.wasted for row in each.accesses)
    assert {row.access.space.value for row in each.accesses} == {"global", "shared"}
    with pytest.raises(sassan.UsageError, match="power of two"):
        sassan.memory(SHARED, align={"param_0": 3})


def test_recorded_launches_are_those_of_the_command_line(sassan_json, recording: Path):
    known = sassan.launches(SAXPY, recording, launch=sassan.Launch(gpu="T4", registers=16))
    assert same(known.to_dict(), sassan_json("estimate", SAXPY, "--gpu", "T4", "--registers", "16", "--launches", recording))
    bounded = sassan_json("analyze", SAXPY, "--gpu", "T4", "--registers", "16", "--launches", recording)
    assert known.to_dict()["total"] == bounded["total"]
    assert known.bound_us == bounded["total"]["us"] == sum(each.launch.launch.count * (each.launch.us or 0) for each in known)
    assert [each.launch.launch.count for each in known] == [3, 1]
    times = [each.estimate.us for each in known if each.estimate is not None]
    assert known.us == pytest.approx(3 * times[0] + times[1])
    assert [(each.name, each.launches) for each in known.kernels] == [("saxpy", 4)]
    with pytest.raises(sassan.UsageError, match="exclude each other"):
        sassan.launches(SAXPY, recording, launch=sassan.Launch(block=4))


def test_limits_are_those_of_the_command_line(sassan_json, capsys):
    from sassan.cli import main  # noqa: PLC0415

    known = sassan.check(HORNER, max_wcet=5, no_gaps=True, max_mix={"D": 0})
    main.run(["check", str(HORNER), "--max-wcet", "5", "--no-gaps", "--max-mix", "D=0", "--json", "--quiet"])
    assert same(known.to_dict(), json.loads(capsys.readouterr().out))
    assert not known.passed
    assert {place.failure.rule.value for place in known.failures} == {"max-wcet", "no-gaps", "max-mix"}
    assert same(sassan.check(SAXPY, max_wcet=10_000).to_dict(), sassan_json("check", SAXPY, "--max-wcet", "10000"))
    assert sassan.check(SAXPY, max_wcet=10_000).passed


@pytest.mark.parametrize(
    ("limits", "code"),
    [({}, "no-gate"), ({"max_wcet": 1.5}, "usage"), ({"max_growth": "5%"}, "usage"), ({"max_us": 3}, "usage"), ({"min": 3}, "usage")],
)
def test_limits_that_hold_nothing_are_refused(limits, code):
    with pytest.raises(sassan.UsageError) as error:
        sassan.check(SAXPY, **limits)
    assert error.value.code == code


def test_a_baseline_is_held(tmp_path: Path):
    old = tmp_path / "old.json"
    old.write_text(json.dumps(sassan.analyze(SAXPY).to_dict()), "utf-8")
    assert sassan.check(SAXPY, baseline=old).missing == ()
    smaller = json.loads(old.read_text("utf-8"))
    smaller["functions"][0]["wcet"]["value"] -= 2
    old.write_text(json.dumps(smaller), "utf-8")
    assert [place.failure.rule.value for place in sassan.check(SAXPY, baseline=old).failures] == ["growth"]
    assert sassan.check(SAXPY, baseline=old, max_growth="50%").passed


def test_a_difference_is_that_of_the_command_line(sassan_json, tmp_path: Path):
    known = sassan.diff(SAXPY, SHARED)
    assert same(known.to_dict(), sassan_json("diff", SAXPY, SHARED))
    assert known.summary == {"added": 1, "removed": 1}
    assert repr(known) == "<BuildDifference: 1 added, 1 removed>"
    old = tmp_path / "old.json"
    old.write_text(json.dumps(sassan.analyze(SAXPY).to_dict()), "utf-8")
    assert sassan.diff(old, SAXPY).changed == ()
    with pytest.raises(sassan.UsageError, match="no function of either side"):
        sassan.diff(SAXPY, SHARED, function="none")


def test_notebooks_show_tables(recording: Path):
    shown = {
        "us": sassan.estimate(SAXPY, launch=LAUNCH),
        "pattern": sassan.memory(SAXPY, launch=sassan.Launch(block=256)),
        "launches": sassan.launches(SAXPY, recording, launch=sassan.Launch(gpu="T4", registers=16)),
        "max-wcet": sassan.check(SAXPY, max_wcet=5),
        "removed": sassan.diff(SAXPY, SHARED),
    }
    for text, result in shown.items():
        table = result._repr_html_()
        assert "<table>" in table
        assert "saxpy" in table
        assert text in table
    hostile = SAXPY.read_text("utf-8").replace("saxpy", "<b>x")
    assert "<b>" not in sassan.estimate(hostile.encode(), launch=LAUNCH)._repr_html_()


@pytest.mark.slow
def test_a_tuning_space_is_ranked_as_by_the_command_line(sassan_json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    need_nvrtc()
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    config = config_file(tmp_path, SPACE)
    known = sassan.rank(config)
    assert same(known.to_dict(), sassan_json("rank", config, "--executor", "serial"))
    assert known[0].us == min(each.us for each in known)
    assert "<table>" in known._repr_html_()
    assert sassan.rank(config, where="UNROLL == 1")[0].candidate.values["UNROLL"] == 1
    with pytest.raises(sassan.UsageError, match="no effect on a configuration"):
        sassan.rank(config, shared=4)
