"""PTX to ir: what each kind of text becomes."""

import pytest

from budget import some
from ptx import HEAD, NAMES, SAMPLES, functions, kernel, only, source
from sassan.frontend import load as load_file
from sassan.frontend import read
from sassan.frontend.ptx.read import read_ptx
from sassan.ir import Frame, Guard, Immediate, OperandGroup, PtxAddress, SourceLine, Special, Symbol, Target, Variable, Word
from sassan.isa.ptx import load
from sassan.source import Source, Span


def operands(line: str, **more: str):
    return only(line, "ret;", **more)[0].instructions[0].operands


@pytest.mark.parametrize("name", some(NAMES, of=8))
def test_every_sample_is_read(name: str):
    assert all(one.instructions for one in read(load_file(str(SAMPLES / name))).functions)


def test_a_function_keeps_its_name_its_architecture_and_its_place():
    (one,) = functions(kernel("ret;"))
    assert (one.name, one.arch, one.kernel, one.entry, one.symbols) == ("k", "sm_61", True, 0, ((0, "k"),))


def test_each_instruction_counts_for_eight_bytes():
    (one,) = functions(kernel("mov.u32 %r1, 1;", "add.s32 %r1, %r1, 2;", "ret;"))
    assert [(each.address, each.following, each.text) for each in one.instructions] == [
        (0, 8, "mov.u32 %r1, 1"),
        (8, 16, "add.s32 %r1, %r1, 2"),
        (16, 24, "ret"),
    ]


def test_a_span_names_the_line_of_the_text():
    (one,) = functions(kernel("mov.u32 %r1, 1;", "ret;"))
    assert one.instructions[1].span == Span(11, 2, 3)


def test_an_instruction_may_take_several_lines():
    (one,) = functions(
        kernel("{ // callseq 0, 0", "call.uni", "f,", "(", "%r1", ");", "}", "ret;", head=HEAD + ".extern .func f(.reg .b32 a);\n")
    )
    assert one.instructions[0].text == "call.uni f, (%r1)"


def test_several_instructions_may_share_a_line():
    (one,) = functions(kernel("mov.u32 %r1, 1; add.s32 %r1, %r1, 2; ret;"))
    assert [(each.text, each.span.column) for each in one.instructions] == [("mov.u32 %r1, 1", 2), ("add.s32 %r1, %r1, 2", 18), ("ret", 39)]


def test_a_guard_is_a_register_of_its_own():
    function, _ = only("@!%p1 mov.u32 %r1, 1;", "ret;")
    assert function.instructions[0].guard == Guard("%p1", 2, negated=True, variable=True)


def test_a_register_has_one_number_at_every_use():
    function, _ = only("add.s32 %r1, %r2, %r1;", "ret;")
    first, second, third = function.instructions[0].operands
    assert first == third == Variable("%r1", first.number, bits=32)
    assert second == Variable("%r2", second.number, bits=32)
    assert first.number != second.number


def test_a_scope_hides_the_register_outside_of_it():
    function, _ = only("mov.b32 %r1, 1;", "{ .reg .b32 %r<3>; mov.b32 %r1, 2; }", "mov.b32 %r1, 3;", "ret;")
    outer, inner, last, _ = [one.operands[0].number if one.operands else None for one in function.instructions]
    assert outer == last != inner


def test_labels_of_a_scope_are_its_own():
    function, _ = only("bra L;", "{", "bra L;", "L:", "}", "L: ret;")
    assert [one.operands[0].address for one in function.instructions[:2]] == [16, 16]
    again, _ = only("bra L;", "{", "bra L;", "L: mov.u32 %r1, 1;", "}", "L: ret;")
    assert [one.operands[0].address for one in again.instructions[:2]] == [24, 16]


@pytest.mark.parametrize(
    ("line", "operand"),
    [
        ("mov.u32 %r1, 42;", Immediate(42)),
        ("mov.u32 %r1, -1;", Immediate(-1)),
        ("mov.u32 %r1, 0x1FU;", Immediate(31)),
        ("mov.u32 %r1, 017;", Immediate(15)),
        ("mov.u32 %r1, 0b101;", Immediate(5)),
        ("mov.f32 %f1, 0f3F800000;", Immediate(0x3F800000, ("f32",))),
        ("mov.f64 %rd1, 0d3FF0000000000000;", Immediate(0x3FF0000000000000, ("f64",))),
        ("mov.f32 %f1, 1.5e-3;", Immediate(0.0015)),
        ("mov.u32 %r1, WARP_SZ;", Immediate(32)),
        ("mov.u32 %r1, %tid.x;", Special("%tid.x")),
        ("mov.u32 %r1, %laneid;", Special("%laneid")),
        ("mov.u64 %rd1, k_0;", Symbol("k_0")),
        ("ld.param.u64 %rd1, [k_0];", PtxAddress(Symbol("k_0"), 0)),
        ("ld.global.u32 %r1, [16];", PtxAddress(Immediate(16), 0)),
    ],
)
def test_an_operand_is_lowered(line, operand):
    assert operands(line)[1] == operand


def test_an_address_has_a_register_and_a_distance():
    place = operands("ld.global.u32 %r1, [%rd1+-8];")[1]
    assert isinstance(place.base, Variable)
    assert (place.base.name, place.offset) == ("%rd1", -8)


def test_vectors_pairs_and_sinks_stay_together():
    vector, _ = operands("ld.global.v2.u32 {%r1, _}, [%rd1];")
    assert (vector.opening, [type(one) for one in vector.items]) == ("{", [Variable, Word])
    pair = operands("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;")
    assert (pair[0].opening, len(pair[0].items), pair[3].negated) == ("|", 2, True)


def test_texture_coordinates_belong_to_the_address():
    place = operands("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6}];", head=HEAD + ".global .texref image;\n")[1]
    assert (place.base, [type(one) for one in place.items]) == (Symbol("image"), [OperandGroup])


def test_parts_of_a_register_are_the_register():
    function, _ = only(".reg .v2 .f32 v;", "mov.f32 v.x, %f1;", "mov.f32 %f2, v.y;", "ret;")
    x, y = function.instructions[0].operands[0], function.instructions[1].operands[1]
    assert (x.part, y.part, x.number == y.number) == ("x", "y", True)


def test_a_branch_names_an_address():
    function, _ = only("bra.uni $L;", "$L:", "ret;")
    assert function.instructions[0].operands == (Target(8, "$L"),)


def test_an_indirect_branch_has_the_targets_of_its_table():
    function, _ = only("ts: .branchtargets A, B, A;", "brx.idx %r1, ts;", "A: mov.u32 %r1, 1;", "B: ret;")
    assert function.instructions[0].targets == (8, 16)


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


def test_a_callee_follows_its_caller():
    device, caller = functions(kernel(*CALL, head=HEAD + DEVICE))
    assert (device.name, device.kernel, len(device.instructions)) == ("f", False, 3)
    assert caller.symbols == ((0, "k"), (0x1000, "f"))
    assert caller.instructions[1].operands[1] == Target(0x1000, "f")
    assert [type(one) for one in caller.frames] == [Frame, Frame]


def test_a_call_parameter_is_a_variable_of_its_size():
    _, caller = functions(kernel(*CALL, head=HEAD + DEVICE))
    place = caller.instructions[0].operands[0]
    assert (place.base.name, place.base.size) == ("in", 4)


def test_a_call_parameter_whose_address_is_taken_is_memory():
    text = DEVICE.replace("ld.param.b32 %r1, [a];", ".reg .b64 %d; mov.b64 %d, a; ld.param.b32 %r1, [a];")
    (device,) = functions(HEAD + text)
    assert device.instructions[1].operands[1] == PtxAddress(Symbol("a"), 0)


def test_a_call_through_a_register_may_enter_every_device_function():
    _, caller = functions(
        kernel("p: .callprototype (.param .b32 _) _ (.param .b32 _);", "call %rd1, (%r1), p;", "ret;", head=HEAD + DEVICE)
    )
    assert caller.callees == (0x1000,)


def test_a_body_without_a_return_gets_one_that_does_not_count():
    (one,) = functions(kernel("@%p1 bra END;", "mov.u32 %r1, 1;", "END:"))
    last = one.instructions[-1]
    assert (last.text, last.virtual, last.address) == ("ret", True, 16)


def test_what_declares_no_register_has_those_that_it_uses():
    (one,) = functions(f"{HEAD}.entry k\n{{\nmov.f32 $f1, x_addr;\nsetp.gt.f32 p, $f1, $f1;\n@p exit;\nexit;\n}}\n")
    moved, compared = one.instructions[:2]
    assert moved.operands[1] == PtxAddress(Symbol("x_addr"), 0, bare=True)
    assert isinstance(compared.operands[0], Variable)
    assert one.instructions[2].guard == Guard("p", compared.operands[0].number, negated=False, variable=True)


def test_a_fragment_is_one_function():
    text = "mov.f32 $f1, x_addr;\nLoop: sub.f32 $f2, $f1, $f1;\nbra Loop;\n"
    (one,) = read_ptx(Source("figure.ptx", text), "sm_35")
    assert [each.text for each in one.instructions] == ["mov.f32 $f1, x_addr", "sub.f32 $f2, $f1, $f1", "bra Loop"]


def test_frames_of_cuobjdump_are_skipped():
    elf, ptx = "Fatbin elf code:\n================\narch = sm_61\n", "Fatbin ptx code:\n================\narch = sm_61\n"
    frame = f"\n{elf}\n{ptx}code version = [8,8]\ncompressed\n\n"
    found = functions(frame + kernel("ret;") + frame + kernel("exit;").replace("sm_61", "sm_90"))
    assert [(one.arch, one.instructions[0].text) for one in found] == [("sm_61", "ret"), ("sm_90", "exit")]
    assert found[0].instructions[0].span.line == 21


def test_windows_line_ends_and_comments_change_nothing():
    plain = kernel("mov.u32 %r1, 1;", "ret;")
    other = plain.replace("\n", "\r\n").replace("mov.u32", "/* a\nb; */ mov.u32")
    assert [one.text for one in functions(other)[0].instructions] == [one.text for one in functions(plain)[0].instructions]


def test_the_architecture_can_be_overridden():
    assert read(Source("t", kernel("ret;")), arch="sm_90").functions[0].arch == "sm_90"


def test_debug_information_is_data():
    assert [one.name for one in read_ptx(source("sm_90/debug_build.ptx"))] == ["_Z7collatzi", "debug_build"]


@pytest.mark.parametrize(
    "line",
    [
        "ld.global.L2::cache_hint.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1], %rd2;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2, {%r1, %r2}], [%rd3];",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%rd1], %r1;",
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%rd1], %r1;",
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
        "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "cp.async.commit_group;",
        "fence.proxy.async.shared::cta;",
        "elect.sync _|%p1, -1;",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "barrier.cluster.arrive.release.aligned;",
        "griddepcontrol.wait;",
        "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
        "prefetch.global.L1 [%rd1];",
        "createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F800000;",
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];",
    ],
)
def test_tensor_and_asynchronous_instructions_are_known(line):
    function, isa = only(line, "ret;")
    assert isa.facts(function.instructions[0]) is not None


OLD = """
	.version 1.4
	.target sm_10, map_f64_to_f32
	// compiled with nvopencc 4.1
	.file	1	"<command-line>"
	.const .align 4 .b8 coef[16] = {0,0,128,63,0,0,0,64};
	.tex .u64 image;
	.extern .shared .align 4 .b8 buffer[];

	.entry _Z3addPfS_i (
		.param .u32 __cudaparm__Z3addPfS_i_a,
		.param .s32 __cudaparm__Z3addPfS_i_n)
	{
	.reg .u16 %rh<4>;
	.reg .u32 %r<12>;
	.reg .f32 %f<9>;
	.reg .pred %p<4>;
	.loc	14	3	0
$LDWbegin__Z3addPfS_i:
	mov.u16 	%rh1, %ctaid.x;
	mul.wide.u16 	%r1, %rh1, %rh2;
	cvt.u32.u16 	%r2, %tid.x;
	add.u32 	%r3, %r2, %r1;
	ld.param.s32 	%r4, [__cudaparm__Z3addPfS_i_n];
	setp.le.s32 	%p1, %r4, %r3;
	@%p1 bra 	$Lt_0_1026;
	tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[image,{%f5,%f6,%f7,%f8}];
 //<loop> Loop body line 3, nesting depth: 1, estimated iterations: unknown
	ld.const.f32 %f5, [coef+4];
	st.volatile.shared.f32 [buffer+0], %f5;
	bar.sync 0;
$Lt_0_1026:
	.loc	14	7	0
	exit;
$LDWend__Z3addPfS_i:
	} // _Z3addPfS_i
"""
LLVM = """
.version 8.7
.target sm_100a
.address_size 64
	// .globl	add_kernel              // -- Begin function add_kernel
.extern .shared .align 16 .b8 global_smem[];
                                        // @add_kernel
.visible .entry add_kernel(
	.param .u64 .ptr .global .align 1 add_kernel_param_0
)
.reqntid 128, 1, 1
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<30>;
	.reg .f32 	%f<8>;
	.reg .b64 	%rd<12>;
	.loc	1 8 0                           // k.py:8:0
$L__func_begin0:
// %bb.0:
	ld.param.u64 	%rd4, [add_kernel_param_0];
$L__tmp0:
	.loc	1 21 24                         // k.py:21:24
	// begin inline asm
	mov.u32 %r5, 0x0;
	@%p1 ld.global.v4.b32 { %r2, %r3, %r4, %r5 }, [ %rd4 + 0 ];
	// end inline asm

{
	.reg .pred complete;
	waitLoop:
	mbarrier.try_wait.parity.shared.b64 complete, [%r1], %r2;
	@!complete bra.uni waitLoop;
}
	{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %r3; cvt.f32.f16 %f1, hi; }
	tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r2, %r3, %r4, %r5}, [%r1 + 0];
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd4];
	ret;
$L__tmp1:
                                        // -- End function
}
	.file	1 "/k.py"
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
	}
	.section	.debug_loc	{	}
"""


@pytest.mark.parametrize(("text", "name", "arch", "count"), [(OLD, "_Z3addPfS_i", "sm_10", 12), (LLVM, "add_kernel", "sm_100a", 10)])
def test_the_ptx_of_other_compilers_is_read(text, name, arch, count):
    (one,) = functions(text)
    isa = load(one)
    written = [each for each in one.instructions if not each.virtual]
    assert (one.name, one.arch, len(written)) == (name, arch, count)
    assert [each.text for each in written if isa.facts(each) is None] == []


def test_an_alias_is_resolved_to_its_function():
    head = HEAD + ".func g()\n{\nret;\n}\n.func f();\n.alias f, g;\n"
    found = functions(kernel("call.uni f;", "ret;", head=head))
    assert [one.name for one in found] == ["g", "k"]
    assert found[1].instructions[0].operands == (Target(0x1000, "g"),)


@pytest.mark.parametrize(
    "initial",
    ["{1, 2, -3}", "{{1, 2}, {3, 4}}", "generic(k)", "{0xFF(k), k+4}", '"text"', "{addr_mode_0 = clamp_to_edge, filter_mode = linear}"],
)
def test_initial_values_of_every_kind_are_read(initial):
    assert functions(f"{HEAD}.global .align 4 .b8 x[8] = {initial};\n" + kernel("ret;", head=""))[0].name == "k"


@pytest.mark.parametrize(
    ("told", "cluster", "clustered"),
    [
        ("", None, False),
        (".reqnctapercluster 4, 2, 1", 8, True),
        (".reqnctapercluster 1", 1, False),
        (".explicitcluster\n.maxclusterrank 8", 8, True),
        (".maxclusterrank 8\n.reqnctapercluster 2", 2, True),
        (".explicitcluster", 0, True),
        (".maxclusterrank 08", 0, True),
    ],
    ids=["nothing", "of-eight", "of-one", "at-most", "both", "some", "no-number"],
)
def test_a_kernel_declares_whether_its_blocks_are_launched_in_clusters(told: str, cluster: int | None, clustered: bool):
    (one,) = functions(kernel("ret;").replace(")\n{", f")\n{told}\n{{", 1))
    assert (one.declared.cluster, one.clustered) == (cluster, clustered)


def test_source_lines_hold_from_the_next_instruction_on():
    text = kernel(
        ".loc 1 8 0", "ret;", ".loc 1 0 3", "ret;", ".loc\t2 9 3, function_name $L, inlined_at 1 8 2", "ret;", ".loc 3 1 1", "ret;"
    )
    (function,) = functions(text + '.file\t1 "/src/a b.cu"\n.file 2 "/src/b.cuh", 1700000000, 12\n')
    assert function.lines == (SourceLine(0, "/src/a b.cu", 8), SourceLine(0x10, "/src/b.cuh", 9))
