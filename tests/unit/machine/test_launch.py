"""What is told of a launch, and where it stands in constant bank 0."""

from dataclasses import replace

import pytest

from listing import assemble
from sassan.errors import UsageError
from sassan.ir import CompilerFacts, Frame, Function, Language, Parameter, Variable
from sassan.machine.launch import LaunchConfiguration, check, shape
from sassan.machine.parameters import BankLayout, Named, ParameterLocation, Setting, layout, name_at, place_of, places, setting

FACTS = CompilerFacts(
    code_size=0, parameters=(Parameter(1, 8, 4), Parameter(0, 0, 8), Parameter(2, 12, 1)), parameter_base=0x140, parameter_size=13
)
CUBIN = Function("k", "sm_61", (), compiler=FACTS)
LISTING = Function("k", "sm_61", ())


def test_extents_left_out_are_one():
    assert (shape("256", "--block-dim"), shape("16,8", "--grid")) == ((256, 1, 1), (16, 8, 1))


@pytest.mark.parametrize("text", ["", "16,", "a", "1,2,3,4", "-1", "1.5", "99999999999"])
def test_what_is_no_shape_is_refused(text):
    with pytest.raises(UsageError) as caught:
        shape(text, "--grid")
    assert caught.value.code == "launch"


@pytest.mark.parametrize("block", [(0, 1, 1), (1025, 1, 1), (1, 1, 65), (32, 32, 2)])
def test_a_block_that_cannot_be_launched_is_refused(block):
    with pytest.raises(UsageError) as caught:
        LaunchConfiguration(block=block)
    assert caught.value.code == "launch"


@pytest.mark.parametrize("grid", [(0, 1, 1), (2**31, 1, 1), (1, 65536, 1)])
def test_a_grid_that_cannot_be_launched_is_refused(grid):
    with pytest.raises(UsageError):
        LaunchConfiguration(grid=grid)


def test_a_launch_counts_threads_and_blocks():
    launch = LaunchConfiguration(block=(16, 8, 2), grid=(3, 5, 1))
    assert (launch.threads, launch.blocks) == (256, 15)


def test_a_setting_names_a_place_or_a_parameter():
    assert (setting("0x140=0x40"), setting("n=-7")) == (Setting("", 0x140, 64), Setting("n", -1, -7))


@pytest.mark.parametrize("text", ["n", "=4", "n=", "0x=1", "n=99999999999999999999", "n=0x", "n n=1", "n:4=1", "0x140:3=1", "0x140:=1"])
def test_what_sets_no_parameter_is_refused(text):
    with pytest.raises(UsageError) as caught:
        setting(text)
    assert caught.value.code == "parameter"


def test_a_cubin_says_how_wide_a_parameter_is():
    assert place_of(CUBIN, setting("0x140=1")) == ParameterLocation("param_0", 0x140, 8)
    assert place_of(CUBIN, setting("param_1=1")) == ParameterLocation("param_1", 0x148, 4)


def reading(*operands: str, arch: str = "sm_80") -> Function:
    """Return a listing that loads these constants: `U16 0x162`."""
    loads = [("LDC." + one.replace(" ", " R2, c[0x0][") + "]").replace("LDC.32", "LDC") for one in operands]
    return assemble("\n".join([*loads, "EXIT"]), arch).function


@pytest.mark.parametrize(
    ("reads", "size"),
    [
        (("U16 0x160", "U16 0x162"), 2),
        (("U8 0x160", "U16 0x162"), 1),
        (("S8 0x160", "32 0x164"), 1),
        (("32 0x160", "U16 0x164"), 4),
        (("64 0x160",), 4),
        (("128 0x158",), 4),
        (("32 0x170",), 4),
    ],
)
def test_the_code_says_how_wide_a_parameter_of_a_listing_is(reads, size):
    assert place_of(reading(*reads), setting("0x160=7")) == ParameterLocation("0x160", 0x160, size)


@pytest.mark.parametrize(
    ("opcode", "size"), [("I2F.U16 R0, c[0x0][0x160]", 2), ("I2I.S32.S8 R0, c[0x0][0x160].B0", 1), ("XMAD R0, R1, c[0x0][0x160].H1, RZ", 4)]
)
def test_a_conversion_reads_a_part_of_a_word_and_a_product_all_of_it_in_parts(opcode, size):
    assert place_of(assemble(f"{opcode}\nEXIT", "sm_61").function, setting("0x160=7")) == ParameterLocation("0x160", 0x160, size)


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        (("32 0x160", "U16 0x162"), "0x160=7"),
        (("32 0x160", "U16 0x160"), "0x160=7"),
        (("U16 0x160", "U8 0x161"), "0x160=7"),
        (("32 0x160", "U8 0x166"), "0x160=0x100000000"),
    ],
)
def test_a_parameter_that_may_be_two_is_refused_until_its_width_is_told(reads, text):
    code = reading(*reads)
    with pytest.raises(UsageError) as caught:
        place_of(code, setting(text))
    assert caught.value.code == "parameter-width"
    assert place_of(code, setting("0x160:2=7")) == ParameterLocation("0x160", 0x160, 2)


def test_the_members_of_a_structure_are_as_wide_as_the_code_reads_them():
    facts = replace(FACTS, parameters=(Parameter(0, 0, 12), Parameter(1, 12, 8)), parameter_base=0x160, parameter_size=20)
    code = replace(reading("U16 0x162", "32 0x160", "32 0x168"), compiler=facts)
    assert [place_of(code, setting(text)) for text in ("0x162=9", "0x168=9", "0x16a=9")] == [
        ParameterLocation("0x162", 0x162, 2),
        ParameterLocation("0x168", 0x168, 4),
        ParameterLocation("0x16a", 0x16A, 2),
    ]
    with pytest.raises(UsageError):
        place_of(code, setting("0x160=7"))
    assert place_of(code, setting("0x168:8=7")) is None


def test_a_small_structure_is_no_integer_where_the_code_reads_its_members():
    facts = replace(FACTS, parameters=(Parameter(0, 0, 8),), parameter_base=0x160, parameter_size=8)
    with pytest.raises(UsageError):
        place_of(replace(reading("U16 0x160", "U16 0x162", "32 0x164"), compiler=facts), setting("0x160=7"))
    code = replace(reading("32 0x160", "32 0x164", "U16 0x160"), compiler=facts)
    assert place_of(code, setting("0x160=7")) == ParameterLocation("param_0", 0x160, 8)


@pytest.mark.parametrize(
    "told", [("0x160:4=7", "0x162=9"), ("0x162=9", "0x160:4=7"), ("0x160=7", "0x160=7"), ("0x164=0x100000000", "0x168=7")]
)
def test_a_byte_that_is_told_twice_is_refused_in_either_order(told):
    with pytest.raises(UsageError) as caught:
        check(LaunchConfiguration(parameters=tuple(map(setting, told))), (reading("U16 0x160", "U16 0x162"),))
    assert caught.value.code == "parameter"


@pytest.mark.parametrize("text", ["0x162=65536", "0x162=-32769", "0x162:1=256", "0x162:4=0x100000000", "0x162=0x100000000"])
def test_a_value_that_does_not_fit_its_width_is_refused(text):
    with pytest.raises(UsageError) as caught:
        check(LaunchConfiguration(parameters=(setting(text),)), (reading("U16 0x162"),))
    assert caught.value.code == "parameter"


def test_ptx_is_told_a_parameter_once():
    with pytest.raises(UsageError):
        check(LaunchConfiguration(parameters=(setting("n=1"), setting("param_1=2"))), (PTX,))


def test_what_was_told_is_shown_with_a_width_that_the_input_does_not_say():
    launch = LaunchConfiguration(
        (32, 1, 1), parameters=tuple(map(setting, ("0x162=9", "n=7", "0x168:8=-1"))), named=(Named("kernel", "n", 0x164),)
    )
    code = replace(reading("U16 0x162"), name="kernel")
    assert launch.describe(code) == "block 32 x 1 x 1, parameter 0x162=9 (2 bytes), parameter n=7 (4 bytes at 0x164), parameter 0x168:8=-1"
    assert LaunchConfiguration(parameters=(setting("param_1=7"),)).describe(CUBIN) == "parameter param_1=7"


def test_in_a_listing_the_value_says_how_wide_it_is():
    assert place_of(LISTING, setting("0x150=4294967295")) == ParameterLocation("0x150", 0x150, 4)
    assert place_of(LISTING, setting("0x150=4294967296")) == ParameterLocation("0x150", 0x150, 8)


@pytest.mark.parametrize("text", ["param_3=1", "0x14d=1", "0x20=1", "n=1"])
def test_a_parameter_that_no_kernel_has_is_refused(text):
    with pytest.raises(UsageError) as caught:
        check(LaunchConfiguration(parameters=(setting(text),)), (CUBIN,))
    assert caught.value.code == "unknown-parameter"
    known = "k: param_0 at 0x140 (8 bytes), param_1 at 0x148 (4 bytes), param_2 at 0x14c (1 bytes)"
    assert (
        caught.value.hint
        == f"{known}; names are those of the source beside a build with -lineinfo, of a build with -G, or of a file for --bounds"
    )


DEBUG = replace(
    CUBIN, compiler=replace(FACTS, parameters=(Parameter(0, 0, 8, "in"), Parameter(1, 8, 4, "n"), Parameter(2, 12, 1, "param_0")))
)
PTX = Function(
    "k",
    "sm_61",
    (),
    language=Language.PTX,
    frames=(Frame("k", True, 0, 8, 0, 2, (Variable("k_param_0", 0, size=8), Variable("n", 1, size=4))),),
)


def test_a_debug_build_says_what_its_parameters_are_called():
    assert place_of(DEBUG, setting("n=4096")) == ParameterLocation("param_1", 0x148, 4, "n")


@pytest.mark.parametrize(
    ("function", "offset", "name"),
    [
        (CUBIN, 0x140, "param_0"),
        (CUBIN, 0x144, "param_0"),
        (CUBIN, 0x148, "param_1"),
        (CUBIN, 0x13C, "0x13c"),
        (DEBUG, 0x144, "in"),
        (DEBUG, 0x148, "n"),
        (LISTING, 0x148, "0x148"),
    ],
)
def test_a_parameter_is_called_by_what_sets_it(function, offset, name):
    assert name_at(function, offset) == name


def test_a_parameter_is_called_what_the_user_calls_it():
    named = (Named("j", "m", 0x140), Named("k", "n", 0x140))
    assert [name_at(function, 0x140, named) for function in (CUBIN, DEBUG, LISTING)] == ["n", "n", "n"]
    assert [name_at(function, 0x144, named) for function in (CUBIN, LISTING)] == ["n", "0x144"]


def test_a_member_of_a_structure_is_called_by_its_place():
    facts = replace(FACTS, parameters=(Parameter(0, 0, 12), Parameter(1, 12, 4)), parameter_base=0x160, parameter_size=16)
    code = replace(reading("32 0x160", "32 0x164", "U16 0x16c", "U16 0x16e"), compiler=facts)
    assert [name_at(code, offset) for offset in (0x160, 0x164, 0x16C, 0x16E)] == ["0x160", "0x164", "0x16c", "0x16e"]


def test_a_number_of_ptx_is_no_name_of_the_source():
    assert [place.called for place in places(PTX)] == ["param_0", "n"]


def test_a_name_of_the_source_goes_before_a_number():
    assert [place_of(DEBUG, setting(text)).offset for text in ("param_0=1", "k_param_0=1")] == [0x14C, 0x140]


def test_the_names_of_ptx_fit_the_cubin_that_is_compiled_from_it():
    assert place_of(CUBIN, setting("k_param_1=1")) == ParameterLocation("param_1", 0x148, 4)
    assert place_of(CUBIN, setting("j_param_1=1")) is None


def test_ptx_has_names_and_no_places():
    assert place_of(PTX, setting("n=1")) == place_of(PTX, setting("param_1=1")) == ParameterLocation("param_1", -1, 4, "n")
    assert place_of(PTX, setting("0x140=1")) is None


def test_what_the_user_calls_a_parameter_goes_before_all_else():
    named = (Named("j", "n", 0x140), Named("k", "n", 0x14C))
    assert (place_of(DEBUG, setting("n=1"), named), place_of(LISTING, setting("n=1"), named)) == (
        ParameterLocation("param_2", 0x14C, 1, "param_0"),
        ParameterLocation("0x14c", 0x14C, 4),
    )


def test_a_hint_shows_names_where_there_are_some():
    with pytest.raises(UsageError) as caught:
        check(LaunchConfiguration(parameters=(setting("m=1"),)), (DEBUG,))
    assert caught.value.hint == "k: in (param_0) at 0x140 (8 bytes), n (param_1) at 0x148 (4 bytes), param_0 (param_2) at 0x14c (1 bytes)"


def test_a_parameter_of_one_of_several_kernels_is_accepted():
    check(LaunchConfiguration(parameters=(setting("0x170=1"),)), (CUBIN, LISTING))


def test_a_value_wider_than_its_parameter_is_refused():
    with pytest.raises(UsageError) as caught:
        check(LaunchConfiguration(parameters=(setting("param_2=256"),)), (CUBIN,))
    assert caught.value.code == "parameter"


@pytest.mark.parametrize(
    ("arch", "where"),
    [
        ("sm_52", BankLayout(0x8, 0x14, 0x140)),
        ("sm_75", BankLayout(0x0, 0xC, 0x160)),
        ("sm_90a", BankLayout(0x0, 0xC, 0x210, 0x198, 0x144, 0x188)),
        ("sm_120", BankLayout(0x360, 0x370, 0x380, 0x348, 0x2A0, 0x2CC)),
        ("sm_35", None),
        ("sm_130", None),
    ],
)
def test_the_place_of_a_launch_depends_on_the_architecture(arch, where):
    assert layout(arch) == where


@pytest.mark.parametrize(
    ("text", "size", "bits"),
    [
        ("x=0.5", 4, 0x3F000000),
        ("x=-1.5", 2, 0xBE00),
        ("x=1e-3", 8, 0x3F50624DD2F1A9FC),
        ("0x140:8=2.", 8, 1 << 62),
        ("0x140=1e0", 4, 0x3F800000),
    ],
)
def test_a_number_in_floating_point_is_as_wide_as_its_place(text: str, size: int, bits: int):
    assert setting(text).at(ParameterLocation("param_0", 0x140, size)).value == bits


@pytest.mark.parametrize(("text", "size"), [("x=1e6", 2), ("x=0.5", 1), ("x=1e40", 4)])
def test_a_number_in_floating_point_that_has_no_room_is_refused(text: str, size: int):
    with pytest.raises(UsageError, match="floating point"):
        setting(text).at(ParameterLocation("param_0", 0x140, size))
