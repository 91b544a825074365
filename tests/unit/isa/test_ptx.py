"""Facts of PTX instructions: what is read and written, when threads agree, where control goes, and the letter."""

import pytest

from budget import some
from ptx import HEAD, NAMES, functions, kernel, only, source
from sassan.errors import InputError
from sassan.frontend.ptx.read import read_ptx
from sassan.ir import Function
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.ptx import load, register_widths, variable_names
from sassan.isa.ptx_table import read, table


def facts(line: str, **more: str) -> tuple[Facts, dict[str, int]]:
    """Return the facts of the first instruction of a kernel, and the bit of each name."""
    function, isa = only(line, "ret;", **more)
    found = isa.facts(function.instructions[0])
    assert found is not None
    widths = register_widths(function)
    return found, {name: (3 if widths.get(number) == 64 else 1) << number for number, name in variable_names(function).items()}


def needs(line: str, **more: str) -> list[str] | None:
    """Return the names on which the threads must agree, None where they never do."""
    found, bits = facts(line, **more)
    (effect,) = found.effects
    return None if effect.needs is None else sorted(name for name, bit in bits.items() if effect.needs & bit)


def letter(line: str, mapping: str = "timing", **more: str) -> str:
    function, _ = only(line, "ret;", **more)
    found = load(function, mapping).facts(function.instructions[0])
    assert found is not None
    return found.letter.value


@pytest.mark.parametrize("name", some(NAMES, of=9))
def test_every_opcode_of_the_samples_is_known(name: str):
    for function in read_ptx(source(name)):
        isa = load(function)
        assert [one.text for one in function.instructions if isa.facts(one) is None] == []


def test_an_instruction_writes_its_first_operand_and_reads_the_others():
    found, bits = facts("mad.lo.s32 %r1, %r2, %r3, 7;")
    assert (found.writes, found.reads) == (bits["%r1"], bits["%r2"] | bits["%r3"])


def test_a_vector_is_written_as_a_whole():
    found, bits = facts("ld.global.v2.f32 {%f1, %f2}, [%rd1];")
    assert (found.writes, found.reads) == (bits["%f1"] | bits["%f2"], bits["%rd1"])


def test_a_comparison_writes_both_predicates():
    found, bits = facts("setp.lt.and.s32 %p1|%p2, %r1, 4, %p3;")
    assert (found.writes, found.reads) == (bits["%p1"] | bits["%p2"], bits["%r1"] | bits["%p3"])


def test_a_store_writes_no_register():
    found, bits = facts("st.global.u32 [%rd1], %r1;")
    assert (found.writes, found.reads) == (0, bits["%rd1"] | bits["%r1"])


def test_a_part_of_a_register_keeps_the_rest():
    found, bits = facts("vadd.s32.s32.s32 %r1.b0, %r2, %r3;")
    assert found.reads & bits["%r1"]


def test_the_carry_is_written_and_read():
    written, _ = facts("add.cc.u32 %r1, %r2, %r3;")
    read_again, _ = facts("addc.u32 %r1, %r2, %r3;")
    carry = written.writes & read_again.reads
    assert carry.bit_count() == 1


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("add.s32 %r1, %r2, %r3;", ["%r2", "%r3"]),
        ("mov.u32 %r1, 5;", []),
        ("mov.u32 %r1, %tid.x;", None),
        ("mov.u32 %r1, %laneid;", None),
        ("mov.u32 %r1, %lanemask_lt;", None),
        ("mov.u32 %r1, %warpid;", None),
        ("mov.u64 %rd1, %globaltimer;", None),
        ("mov.u32 %r1, %ctaid.x;", []),
        ("mov.u32 %r1, %ntid.y;", []),
        ("mov.u64 %rd1, %clock64;", []),
        ("ld.param.u64 %rd1, [k_0];", []),
        ("ld.param.u32 %r1, [%rd1];", None),
        ("ld.global.u32 %r1, [%rd1+4];", ["%rd1"]),
        ("ld.global.nc.L1::no_allocate.u32 %r1, [%rd1];", ["%rd1"]),
        ("ld.shared.u32 %r1, [%r2];", ["%r2"]),
        ("ld.const.u32 %r1, [%rd1];", ["%rd1"]),
        ("ld.local.u32 %r1, [%rd1];", None),
        ("ld.u32 %r1, [%rd1];", None),
        ("atom.global.add.u32 %r1, [%rd1], 1;", None),
        ("vote.sync.ballot.b32 %r1, %p1, %r2;", ["%r2"]),
        ("vote.sync.any.pred %p1, %p2, -1;", []),
        ("vote.ballot.b32 %r1, %p1;", []),
        ("activemask.b32 %r1;", []),
        ("match.any.sync.b32 %r1, %r2, -1;", None),
        ("match.all.sync.b32 %r1|%p1, %r2, -1;", []),
        ("redux.sync.add.s32 %r1, %r2, -1;", []),
        ("elect.sync %r1|%p1, -1;", None),
        ("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;", ["%r3"]),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, %r4;", ["%r4"]),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 15, -1;", None),
        ("shfl.sync.idx.b32 %r1, %r2, 0, %r3, -1;", None),
        ("shfl.sync.down.b32 %r1, %r2, 1, 31, -1;", None),
        ("shfl.idx.b32 %r1, %r2, 0, 31;", []),
        ("bar.red.popc.u32 %r1, 0, %p1;", []),
        ("bar.red.popc.u32 %r1, %r2, %p1;", ["%r2"]),
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [k_0, {%r1}];", None),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", None),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1}, {%rd2}, {%rd3}, {%rd4};", None),
        ("mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;", None),
    ],
)
def test_threads_agree_on_a_result_when_they_agree_on(line, names):
    assert needs(line) == names


def test_memory_under_a_bare_name_differs_between_threads():
    assert needs("mov.f32 $f1, x_addr;", registers="") is None


@pytest.mark.parametrize(
    ("line", "flow", "uniform"),
    [
        ("@%p1 bra L; L:", Flow.BRANCH, False),
        ("bra.uni L; L:", Flow.BRANCH, True),
        ("bar.sync 0;", Flow.BLOCK_BARRIER, False),
        ("barrier.cluster.wait.acquire.aligned;", Flow.BLOCK_BARRIER, False),
        ("bar.warp.sync -1;", Flow.NONE, False),
        ("ret;", Flow.EXIT, False),
        ("exit;", Flow.EXIT, False),
        ("trap;", Flow.TRAP, False),
        ("brkpt;", Flow.NONE, False),
        ("call %rd1;", Flow.INDIRECT_CALL, False),
        ("ts: .branchtargets L; brx.idx.uni %r1, ts; L:", Flow.INDIRECT_BRANCH, True),
    ],
)
def test_control_goes(line, flow, uniform):
    found, _ = facts(line)
    assert (found.flow, found.uniform) == (flow, uniform)


def test_a_guard_decides_a_branch():
    found, bits = facts("@!%p1 bra L; L:")
    assert (found.guard, found.condition, found.guard_alone, found.target) == (bits["%p1"], bits["%p1"], True, 8)


DEVICE = ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n"
CALL = (
    "{",
    ".param .b32 in;",
    "st.param.b32 [in], %r1;",
    ".param .b32 out;",
    "call.uni (out), f, (in);",
    "ld.param.b32 %r2, [out];",
    "}",
    "ret;",
)


def called() -> tuple[Function, dict[str, Facts], dict[str, int]]:
    """Return a kernel that calls, the facts of its instructions by text, and the bit of each name."""
    _, function = functions(kernel(*CALL, head=HEAD + DEVICE))
    isa = load(function)
    found = {one.text: isa.facts(one) for one in function.instructions}
    bits = {name: 1 << number for number, name in variable_names(function).items()}
    return function, {text: one for text, one in found.items() if one is not None}, bits


def test_a_call_binds_parameters_to_arguments():
    function, found, bits = called()
    frame = function.frames[1]
    own, bound, received = found["call.uni (out), f, (in)"].effects
    assert own == WriteEffect((1 << frame.last) - (1 << frame.first), None)
    assert bound == WriteEffect(1 << frame.parameters[0].number, bits["in"])
    assert received == WriteEffect(bits["out"], 0)


def test_a_return_binds_what_its_callers_receive():
    function, _, bits = called()
    frame = function.frames[1]
    (end,) = [load(function).facts(one) for one in function.instructions if one.text == "ret" and one.address >= frame.start]
    assert end is not None
    assert (end.flow, end.tag) == (Flow.POP, "RET")
    assert end.effects == (WriteEffect(bits["out"], bits["out"] | 1 << frame.returns[0].number),)


def test_a_call_parameter_that_hides_one_of_the_kernel_is_not_taken_for_it():
    function, isa = only("{", ".param .b32 k_1;", "mov.b64 %rd1, k_1;", "ld.param.b32 %r1, [k_1];", "}", "ld.param.b32 %r2, [k_1];", "ret;")
    found = [isa.facts(one) for one in function.instructions[1:3]]
    assert [[effect.needs for effect in one.effects] for one in found if one is not None] == [[None], [0]]


def test_a_store_to_a_part_of_a_parameter_keeps_the_rest():
    body = ("{", ".param .b64 in;", "st.param.b32 [in+4], %r1;", "}", "ret;")
    function, isa = only(*body)
    found = isa.facts(function.instructions[0])
    bits = {name: 1 << number for number, name in variable_names(function).items()}
    assert found is not None
    assert found.effects == (WriteEffect(bits["in"], bits["in"] | bits["%r1"]),)


def test_what_code_outside_of_the_input_returns_is_unknown():
    head = HEAD + ".extern .func (.param .b32 r) g(.param .b32 a);\n"
    function, isa = only("{", ".param .b32 in, out;", "call.uni (out), g, (in);", "}", "ret;", head=head)
    found = isa.facts(function.instructions[0])
    assert found is not None
    assert (found.flow, found.target, [one.needs for one in found.effects]) == (Flow.CALL, None, [None])


@pytest.mark.parametrize("line", ["frob.u32 %r1, %r2;", "add.frob.u32 %r1, %r2;", "add.u32 7, %r2;", "add.u32;", "_push;"])
def test_an_unknown_instruction_has_no_facts(line):
    if line.startswith("_"):
        with pytest.raises(InputError):
            only(line, "ret;")
        return
    function, isa = only(line, "ret;")
    assert isa.facts(function.instructions[0]) is None


@pytest.mark.parametrize(
    ("line", "timing", "paper"),
    [
        ("ld.global.u32 %r1, [%rd1];", "L", "L"),
        ("st.shared.u32 [%r1], %r2;", "L", "L"),
        ("ld.param.u64 %rd1, [k_0];", "C", "L"),
        ("add.s32 %r1, %r2, %r3;", "C", "C"),
        ("setp.lt.s32 %p1, %r1, %r2;", "C", "C"),
        ("@%p1 bra L; L:", "C", "C"),
        ("mov.u32 %r1, %r2;", "C", "C"),
        ("mov.u32 %r1, %tid.x;", "S", "C"),
        ("cvt.rn.f32.s32 %f1, %r1;", "S", "C"),
        ("sin.approx.f32 %f1, %f2;", "S", "C"),
        ("fma.rn.f32 %f1, %f2, %f3, %f4;", "C", "C"),
        ("fma.rn.f64 %rd1, %rd2, %rd3, %rd4;", "D", "C"),
        ("add.f64 %rd1, %rd2, %rd3;", "D", "C"),
        ("setp.lt.f64 %p1, %rd2, %rd3;", "D", "C"),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", "L", "C"),
        ("atom.global.add.u32 %r1, [%rd1], 1;", "L", "L"),
    ],
)
def test_an_instruction_has_its_letter(line, timing, paper):
    assert (letter(line), letter(line, "2013")) == (timing, paper)


def test_a_move_from_memory_is_a_load():
    line = "mov.f32 $f1, x_addr;"
    assert (letter(line, registers=""), letter(line, "2013", registers="")) == ("L", "L")


ROW = '[sources]\nisa = "x"\n[special]\nagree = []\n[modifiers]\ntypes = ["u32"]\n[[op]]\nnames = ["add"]\nsource = "isa"\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('source = "isa"', 'source = "nobody"'),
        ('names = ["add"]', "names = []"),
        ('names = ["add"]', 'names = ["add"]\nagree = "perhaps"'),
        ("[special]", "[frob]"),
    ],
)
def test_a_bad_table_is_refused(old, new):
    assert read("x.toml", ROW).row("add.u32") is not None
    with pytest.raises(InputError) as caught:
        read("x.toml", ROW.replace(old, new))
    assert caught.value.code == "bad-table"


def test_the_first_row_that_fits_decides():
    assert table().row("shfl.sync.idx.b32") != table().row("shfl.sync.down.b32")
