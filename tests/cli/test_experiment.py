"""`sassan experiment`: the options that repeat papers, listed there alone, and taken by every command as before."""

import pytest

from cli.shell import SAMPLES, Sassan

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
PAPERS = ("--letters", "--ablate", "--paper-experiment")


def test_help_lists_them_for_an_experiment_alone(sassan: Sassan):
    assert [option for option in PAPERS if option in sassan("analyze", "--help").out] == []
    assert [option for option in PAPERS if option not in sassan("experiment", "analyze", "--help").out] == []


@pytest.mark.parametrize(
    "arguments", [("analyze", BFS, "--ablate", "no-groups"), ("strings", BFS, "--letters", "2013", "--loop-bound", "1")]
)
def test_an_experiment_is_the_command_with_them(arguments: tuple[str, ...], sassan: Sassan):
    here, there = sassan(*arguments), sassan("experiment", *arguments)
    assert (there.status, there.out) == (here.status, here.out)
    assert here.out


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("check", BFS, "--max-wcet", "1"), 1),
        (("analyze", BFS, "-f", "*bfs*"), 3),
        (("analyze", "absent.sass"), 3),
        (("cfg", BFS, "--no"), 2),
    ],
)
def test_an_experiment_ends_with_the_status_of_the_command(arguments: tuple[str, ...], status: int, sassan: Sassan):
    assert (sassan(*arguments).status, sassan("experiment", *arguments).status) == (status, status)


@pytest.mark.parametrize("name", ["warm", "gpus", "experiment", "no-command"])
def test_other_commands_have_none(name: str, sassan: Sassan):
    result = sassan("experiment", name)
    assert (result.status, result.out) == (2, "")
    assert f"'{name}'" in result.err
