"""`import sassan`: programs in, bounds out."""

import json
from pathlib import Path

import pytest

import sassan
from cli.shell import SAMPLES

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
HORNER = SAMPLES / "sm_61" / "double_horner.cuobjdump.sass"
TWO = SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass"


def test_a_path_gives_its_kernels_with_the_numbers_of_the_command_line():
    kernels = sassan.analyze(BFS, loop_bound=10, warps=16)
    assert len(kernels) == 1
    assert (kernels["bfs_step"].wcet, kernels["bfs_step"].makespan, kernels["bfs_step"].warps) == (296, 2081, 16)
    assert kernels[0].worst_path == "CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11"


def test_a_kernel_without_a_bound_has_gaps_and_no_assumptions():
    kernel = sassan.analyze(BFS)["bfs_step"]
    assert kernel.wcet is None
    assert [(gap.code, gap.address) for gap in kernel.gaps] == [("unbounded-loop", 0x158)]
    assert kernel.assumptions == ()
    assert repr(kernel) == "<Kernel 'bfs_step' sm_61: 1 gap>"


def test_loops_say_where_their_bound_comes_from():
    loops = sassan.analyze(BFS, loop_bound=10)[0].loops
    assert [(loop.head, loop.bound, loop.source) for loop in loops] == [(0x158, 10, "default")]


def test_assumptions_are_those_of_every_bound_once():
    kernel = sassan.analyze(BFS, loop_bound=10, warps=2)[0]
    assert kernel.assumptions[0] == "every instruction takes one cycle (unit cost)"
    assert "any warp may use any unit of the SM (whole-SM model)" in kernel.assumptions
    assert len(set(kernel.assumptions)) == len(kernel.assumptions)


def test_bytes_are_read_like_the_file():
    program = sassan.read(BFS.read_bytes(), name="mine")
    assert program.name == "mine"
    assert [one.name for one in program.functions] == ["bfs_step"]
    assert sassan.analyze(program, loop_bound=10).file == "mine"
    assert sassan.analyze(BFS.read_bytes(), loop_bound=10)[0].wcet == 296


def test_a_name_replaces_that_of_the_file():
    assert sassan.read(BFS, name="other").name == "other"


def test_a_function_gives_one_kernel():
    function = sassan.read(BFS).functions[0]
    assert sassan.analyze(function, loop_bound=10).wcet == 296


def test_functions_are_chosen_by_name_or_glob():
    assert [one.name for one in sassan.analyze(TWO, function="*second*")] == ["_Z18two_kernels_secondPii"]
    assert [one.name for one in sassan.analyze(TWO)[1:]] == ["two_kernels_first"]


def test_a_name_that_no_function_has_is_an_error_with_the_names():
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(TWO, function="third")
    assert error.value.code == "unknown-function"
    with pytest.raises(KeyError):
        sassan.analyze(TWO)["third"]


def test_a_launch_tells_occupancy_and_the_grid():
    launch = sassan.Launch(block=(64, 4), grid=40, registers=16, shared=0, sms=20)
    kernel = sassan.analyze(BFS, loop_bound=10, launch=launch)[0]
    # 40 blocks of 8 warps on 20 SMs: 2 on each, of 8 that it could hold.
    assert kernel.warps == 16
    assert kernel.grid is not None
    assert kernel.makespan is not None
    assert kernel.grid <= kernel.makespan


def test_an_impossible_launch_is_a_usage_error():
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(BFS, launch=sassan.Launch(block=2000))
    assert error.value.code == "launch"


def test_a_parameter_that_no_kernel_has_is_refused():
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(BFS, launch=sassan.Launch(parameters={"count": 3}))
    assert error.value.code == "unknown-parameter"


CONTRADICTIONS = [
    {"latency": {"global": 900}},
    {"model": "measured"},
    {"measurements": "x.csv"},
    {"partition": True},
    {"model": "guess"},
    {"warp": 4},
]


@pytest.mark.parametrize("choices", CONTRADICTIONS, ids=lambda one: next(iter(one)))
def test_choices_that_would_not_be_obeyed_are_refused(choices):
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(BFS, **choices)
    assert error.value.code == "usage"


def test_a_latency_of_the_user_goes_over_the_table():
    slow = sassan.analyze(BFS, loop_bound=10, model="table", latency={"global": 900})[0].wcet
    slower = sassan.analyze(BFS, loop_bound=10, model="table", latency={"global": 901})[0].wcet
    assert slow is not None
    assert slower is not None
    assert slower > slow


def test_flow_facts_are_read_from_a_file(tmp_path: Path):
    function = sassan.read(BFS).functions[0]
    facts = tmp_path / "facts.toml"
    facts.write_text(f'[function.bfs_step]\ntext = "{function.text_hash}"\n[[function.bfs_step.loop]]\nhead = "0x0158"\nbound = 10\n')
    assert sassan.analyze(BFS, facts=facts)[0].wcet == 296
    facts.write_text(facts.read_text().replace("bfs_step", "gone"))
    with pytest.raises(sassan.InputError):
        sassan.analyze(BFS, facts=facts)


def test_a_parameter_goes_by_the_name_that_the_facts_give_it(tmp_path: Path):
    function = sassan.read(HORNER).functions[0]
    facts = tmp_path / "facts.toml"
    facts.write_text(f'[function.{function.name}]\ntext = "{function.text_hash}"\nparameters = {{ degree = "0x148" }}\n')
    by_name, by_place = sassan.Launch(parameters={"degree": 7}), sassan.Launch(parameters={0x148: 7})
    bound = sassan.analyze(HORNER, launch=by_place)[0].wcet
    assert bound is not None
    assert sassan.analyze(HORNER, launch=by_name, facts=facts)[0].wcet == bound
    assert sassan.analyze(function, launch=by_name, facts=facts).wcet == bound
    with pytest.raises(sassan.UsageError, match="degree"):
        sassan.analyze(HORNER, launch=by_name)


def test_facts_of_other_functions_do_not_hinder_that_of_one(tmp_path: Path):
    first, second = sassan.read(TWO).functions
    facts = tmp_path / "facts.toml"
    facts.write_text("".join(f'[function.{one.name}]\ntext = "{one.text_hash}"\n' for one in (first, second)))
    assert sassan.analyze(first, facts=facts).wcet == sassan.analyze(TWO, facts=facts)[first.name].wcet
    facts.write_text(f'[function.{first.name}]\ntext = "sha256:{"0" * 64}"\n')
    with pytest.raises(sassan.InputError):
        sassan.analyze(first, facts=facts)


def test_what_is_no_input_is_an_input_error():
    with pytest.raises(sassan.InputError) as error:
        sassan.read(b"neither code nor listing")
    assert (error.value.code, error.value.status) == ("unknown-input", 3)


def test_the_document_is_that_of_the_command_line(sassan_json):
    document = sassan.analyze(str(BFS), loop_bound=10, warps=16).to_dict()
    assert json.loads(json.dumps(document)) == sassan_json("analyze", BFS, "--loop-bound", 10, "-W", 16)


def test_the_integer_program_is_text():
    kernel = sassan.analyze(BFS, loop_bound=10)[0]
    assert "Maximize" in (kernel.program() or "")
    assert "ROWS" in (kernel.program("mps") or "")
    assert sassan.analyze(BFS)[0].program() is None
    with pytest.raises(sassan.UsageError, match="form is 'xyz'"):
        kernel.program("xyz")


WRONG = [
    ({"loop_bound": 3.5}, "loop_bound is 3.5 (float)"),
    ({"loop_bound": True}, "loop_bound is True (bool)"),
    ({"loop_bound": "10"}, "loop_bound is '10' (str)"),
    ({"warps": 2.5}, "warps is 2.5 (float)"),
    ({"call_depth": 1.5}, "call_depth is 1.5 (float)"),
    ({"letters": 2013}, "letters is 2013 (int)"),
    ({"letters": "2014"}, "letters is '2014' (str)"),
    ({"order": 1}, "order is 1 (int)"),
    ({"model": 1}, "model is 1 (int)"),
    ({"latency": ["global", 900], "model": "table"}, "latency is ['global', 900] (list)"),
    ({"machine": 61}, "machine is 61 (int)"),
    ({"facts": 1}, "facts is 1 (int)"),
    ({"partition": 1, "warps": 2}, "partition is 1 (int)"),
    ({"function": 1}, "function is 1 (int)"),
    ({"launch": 256}, "launch is 256 (int)"),
    ({"launch": sassan.Launch(block=2.5)}, "block is 2.5 (float)"),
    ({"launch": sassan.Launch(block="64")}, "block is '64' (str)"),
    ({"launch": sassan.Launch(sms=1.5)}, "sms is 1.5 (float)"),
    ({"launch": sassan.Launch(registers="32")}, "registers is '32' (str)"),
    ({"launch": sassan.Launch(parameters={"n": 2.5})}, "parameter n is 2.5 (float)"),
]


@pytest.mark.parametrize(("choices", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_argument_that_is_something_else_is_named(choices, message):
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(BFS, **choices)
    assert (error.value.code, error.value.message) == ("usage", message)


class Number:
    """A whole number of another library."""

    def __index__(self) -> int:
        return 10


def test_whole_numbers_of_other_libraries_are_whole_numbers():
    assert sassan.analyze(BFS, loop_bound=Number())[0].wcet == 296


def test_none_leaves_a_choice_out():
    assert sassan.analyze(BFS, loop_bound=10, machine=None, model=None)[0].wcet == 296


def test_a_text_in_place_of_a_path_is_refused_in_short_with_what_to_do():
    text = BFS.read_text()
    for wrong in (text, "x" * 100_000):
        with pytest.raises(sassan.UsageError) as error:
            sassan.analyze(wrong)
        assert error.value.code == "usage"
        assert len(error.value.message) < 150
        assert "sassan.analyze(text.encode())" in (error.value.hint or "")
    assert sassan.analyze(text.encode(), loop_bound=10)[0].wcet == 296


def test_a_file_whose_name_has_several_lines_is_read(tmp_path: Path):
    file = tmp_path / "two\nlines.sass"
    file.write_text(BFS.read_text())
    assert sassan.analyze(str(file), loop_bound=10)[0].wcet == 296


@pytest.mark.parametrize("subject", [None, 3, ["a.sass"], bytearray(b"x")], ids=repr)
def test_what_is_neither_path_nor_bytes_is_a_usage_error(subject):
    with pytest.raises(sassan.UsageError) as error:
        sassan.analyze(subject)
    assert error.value.code == "usage"


def test_names_and_kernels_are_in_the_kernels():
    kernels = sassan.analyze(BFS)
    assert "bfs_step" in kernels
    assert "bfs" not in kernels
    assert kernels[0] in kernels
    assert sassan.analyze(TWO)[0] not in kernels
