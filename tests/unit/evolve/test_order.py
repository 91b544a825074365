import pytest

from ptx import kernel
from sassan.errors import InputError, SelfCheckError
from sassan.evolve.compilation import order
from sassan.evolve.compilation.order import reordered
from sassan.evolve.compilation.order_proof import proved
from sassan.frontend.ptx.syntax import Address, Identifier, InstructionStatement


def body(text: str) -> list[str]:
    """Return the instructions and labels of a kernel's text."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines[lines.index("{") + 1 : lines.index("}")] if not line.startswith(".reg")]


def after(keys: tuple[int, ...], *lines: str) -> list[str]:
    return body(reordered(kernel(*lines), keys))


def test_equal_keys_change_nothing():
    text = kernel("mov.u32 %r1, 1;", "mov.u32 %r2, 2;", "ret;")
    assert body(reordered(text, (2, 2))) == ["mov.u32 %r1, 1;", "mov.u32 %r2, 2;", "ret;"]


def test_independent_instructions_stand_in_the_order_of_their_keys():
    assert after((2, 1, 0, 0), "mov.u32 %r1, 1;", "mov.u32 %r2, 2;", "mov.u32 %r3, 3;", "ret;") == [
        "mov.u32 %r3, 3;",
        "mov.u32 %r2, 2;",
        "mov.u32 %r1, 1;",
        "ret;",
    ]


def test_keys_go_around():
    lines = ("mov.u32 %r1, 1;", "mov.u32 %r2, 2;", "mov.u32 %r3, 3;", "mov.u32 %r4, 4;", "ret;")
    assert after((1, 0), *lines)[:4] == ["mov.u32 %r2, 2;", "mov.u32 %r4, 4;", "mov.u32 %r1, 1;", "mov.u32 %r3, 3;"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mov.u32 %r1, 1;", "add.u32 %r2, %r1, 1;"),
        ("add.u32 %r2, %r1, 1;", "mov.u32 %r1, 1;"),
        ("mov.u32 %r1, 1;", "mov.u32 %r1, 2;"),
        ("setp.eq.u32 %p1, %r1, 0;", "@%p1 mov.u32 %r2, 1;"),
        ("mov.u32 %r2, 0;", "@%p1 mov.u32 %r2, 1;"),
        ("add.cc.u32 %r1, %r2, %r3;", "addc.u32 %r4, %r5, %r6;"),
        ("addc.cc.u32 %r1, %r2, %r3;", "addc.u32 %r4, %r5, %r6;"),
        ("st.global.u32 [%rd1], %r1;", "ld.global.u32 %r2, [%rd2];"),
        ("ld.global.u32 %r2, [%rd2];", "st.global.u32 [%rd1], %r1;"),
        ("st.shared.u32 [%r1], %r2;", "st.shared.u32 [%r3], %r4;"),
        ("bar.sync 0;", "mov.u32 %r1, 1;"),
        ("st.u32 [%rd1], %r1;", "ld.shared.u32 %r2, [%r3];"),
        ("ld.volatile.global.u32 %r1, [%rd1];", "ld.volatile.global.u32 %r2, [%rd2];"),
        ("mov.u64 %rd1, %clock64;", "mov.u64 %rd2, %clock64;"),
        ("mov.u32 %r1, %clock;", "mov.u32 %r2, 1;"),
        ("atom.global.add.u32 %r1, [%rd1], 1;", "ld.global.u32 %r2, [%rd2];"),
        ("bra L;", "mov.u32 %r1, 1;"),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", "mov.u32 %r3, 1;"),
    ],
)
def test_what_depends_on_what_came_before_stays_behind_it(first, second):
    assert after((1, 0), first, second, "L:", "ret;")[:2] == [first, second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r2, [%rd2];"),
        ("st.global.u32 [%rd1], %r1;", "ld.shared.u32 %r2, [%r3];"),
        ("st.shared.u32 [%r1], %r2;", "st.global.v2.u32 [%rd1], {%r3, %r4};"),
        ("ld.param.u32 %r1, [k_1];", "st.global.u32 [%rd1], %r2;"),
        ("mov.u32 %r1, %tid.x;", "mov.u32 %r2, %ctaid.x;"),
        ("ld.global.nc.f32 %f1, [%rd1];", "fma.rn.f32 %f2, %f3, %f4, %f5;"),
    ],
)
def test_what_is_independent_changes_places(first, second):
    assert after((1, 0), first, second, "ret;")[:2] == [second, first]


def test_nothing_leaves_its_basic_block():
    lines = ("mov.u32 %r1, 1;", "@%p1 bra L;", "mov.u32 %r2, 2;", "L:", "mov.u32 %r3, 3;", "ret;")
    assert after((3, 0, 2, 1, 0), *lines) == list(lines)


def test_nothing_leaves_its_scope():
    lines = ("mov.u32 %r1, 1;", "{", ".reg .b32 %r1;", "mov.u32 %r1, 2;", "}", "ret;")
    text = reordered(kernel(*lines), (1, 0, 0))
    assert text.index("mov.u32 %r1, 1;") < text.index("mov.u32 %r1, 2;")


def test_an_order_without_a_proof_is_a_defect(monkeypatch):
    monkeypatch.setattr(order, "_needed", lambda _nodes, _late, _node: iter(()))
    with pytest.raises(SelfCheckError) as caught:
        after((1, 0), "mov.u32 %r1, 1;", "add.u32 %r2, %r1, 1;", "ret;")
    assert caught.value.code == "order"


def test_a_variable_may_be_called_carry():
    lines = ("add.u32 carry, %r1, 7;", "add.cc.u32 %r3, %r1, %r2;", "addc.u32 %r4, %r1, %r2;", "add.u32 %r5, carry, %r4;", "ret;")
    assert after((1, 0, 0, 0), ".reg .b32 carry;", *lines)[:3] == [*lines[1:3], lines[0]]


def test_invalid_ptx_is_refused():
    with pytest.raises(InputError):
        reordered("no PTX", (1,))


def test_the_proof_wants_the_same_instructions():
    first, second = (
        InstructionStatement("", "mov.u32", (Identifier("%r1"), Identifier("%r2"))),
        InstructionStatement("", "mov.u32", (Identifier("%r3"), Identifier("%r4"))),
    )
    assert proved((first, second), (second, first))
    assert not proved((first, second), (first,))
    assert not proved((first, second), (first, first))


def test_of_other_instructions_nothing_is_proved():
    barrier = InstructionStatement("", "bar.sync", (Identifier("0"),))
    generic = InstructionStatement("", "ld.u32", (Identifier("%r1"), Address(Identifier("%rd1"), "")))
    clock = InstructionStatement("", "mov.u64", (Identifier("%rd1"), Identifier("%clock64")))
    for instruction in (barrier, generic, clock):
        assert not proved((instruction,), (instruction,))
