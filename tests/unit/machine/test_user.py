from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.errors import InputError
from sassan.machine import load, machine_of, read_file

HEAD = 'base = "6.1"\nsource = "a test"\n'


def test_a_machine_file_changes_what_it_names() -> None:
    sm = read_file("my.toml", HEAD + "[sm]\nwarps = 32\nfp64 = 32\n").sm
    assert (sm.warps, sm.capacity(Letter.DOUBLE), sm.fp32, sm.issue) == (32, Fraction(1), 128, 8)


def test_a_bound_says_which_file_changed_the_machine() -> None:
    assert "compute capability 6.1, changed by my.toml" in read_file("my.toml", HEAD).sm.assumptions[0]


def test_a_changed_figure_is_no_longer_unsure() -> None:
    sm = read_file("my.toml", 'base = "12.0"\nsource = "a test"\n[sm]\nldst = 32\n').sm
    assert sm.unsure == ("int32",)


def test_a_unit_may_be_given_to_the_partitions() -> None:
    sm = read_file("my.toml", HEAD + '[unit.fp64]\nscope = "partition"\n').sm
    assert (load("sm_61").interval("fp64", "DADD"), sm.interval("fp64", "DADD")) == (8, 32)


def test_a_unit_may_be_given_cycles() -> None:
    assert read_file("my.toml", HEAD + "[unit.cf]\ncycles = 7\n").sm.interval("cf", "BRA") == 7


def test_a_machine_file_may_hold_latencies() -> None:
    assert read_file("my.toml", HEAD + "[latency]\nglobal = 900\n").latency == {"global": 900}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base = ", "my.toml: not TOML: "),
        ('source = "a test"\n', "my.toml: base: is missing"),
        ('base = "6.1"\n', "my.toml: source: is missing"),
        ('base = "6.7"\nsource = "a test"\n', "my.toml: base: must be one of 2.0, 3.0"),
        (HEAD + "warps = 3\n", "my.toml: warps: unknown key (known: base, source, sm, unit, latency)"),
        (HEAD + "sm = 3\n", "my.toml: sm: must be a table"),
        (HEAD + "[sm]\nspeed = 3\n", "my.toml: sm.speed: unknown key"),
        (HEAD + "[sm]\nfp64 = 0\n", "my.toml: sm.fp64: must be a whole number, 1 or more, not 0"),
        (HEAD + "[sm]\nfp64 = 0.5\n", "my.toml: sm.fp64: must be a whole number, 1 or more, not 0.5"),
        (HEAD + "[sm]\nissue = [4, 3]\n", "my.toml: sm.issue: no scheduler has more than two dispatch units"),
        (HEAD + "[sm]\nshared = [48, 96]\n", "my.toml: sm.shared: a block of 96 KB does not fit into the 48 KB of the SM"),
        (HEAD + "[sm]\nsfu = 30\n", "my.toml: sm.sfu: 30 lanes cannot be divided among 4 schedulers"),
        (HEAD + '[sm]\nfp64 = 2\n[unit.fp64]\nscope = "partition"\n', "my.toml: sm.fp64: 2 lanes cannot be divided among 4 schedulers"),
        (HEAD + "[unit.fpu]\ncycles = 1\n", "my.toml: unit.fpu: unknown key (known: fp32, "),
        (HEAD + "[unit.fp64]\nlanes = 1\n", "my.toml: unit.fp64.lanes: unknown key (known: cycles, scope)"),
        (HEAD + "[unit.fp64]\ncycles = -1\n", "my.toml: unit.fp64.cycles: must be a whole number, 1 or more, not -1"),
        (HEAD + '[unit.fp64]\nscope = "gpu"\n', "my.toml: unit.fp64.scope: must be one of partition, sm, not 'gpu'"),
        (HEAD + "[latency]\nglobal = true\n", "my.toml: latency.global: must be a whole number, 1 or more, not True"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_by_file_and_key(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_file("my.toml", text)
    assert caught.value.code == "bad-machine"
    assert caught.value.message.startswith(message)
    assert caught.value.hint is not None


def test_code_of_an_earlier_minor_version_runs_on_the_machine() -> None:
    file = read_file("my.toml", 'base = "8.6"\nsource = "a test"\n')
    assert machine_of("sm_80", file).capability == "8.6"


@pytest.mark.parametrize("arch", ["sm_75", "sm_89", "sm_90"])
def test_code_that_the_machine_does_not_run_is_refused(arch: str) -> None:
    with pytest.raises(InputError) as caught:
        machine_of(arch, read_file("my.toml", 'base = "8.6"\nsource = "a test"\n'))
    assert caught.value.code == "other-machine"
