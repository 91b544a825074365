"""Laws of reordered PTX, held against an execution of their text that knows neither the tables nor the proof."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptx import kernel, source
from sassan.evolve.compilation.order import reordered

SAMPLES = [f"sm_80/{name}.ptx" for name in ("matmul_tiled", "nbody", "int64_divide", "switch_loop", "stencil2d_halo", "histogram_atomic")]
SCALARS = st.sampled_from([f"%r{number}" for number in range(1, 6)])
PLACES = st.sampled_from(["global", "shared", "local"])
GUARDS = st.sampled_from(["", "", "@%p1 ", "@!%p2 "])
LINES = st.one_of(
    st.builds("{}add.u32 {}, {}, {};".format, GUARDS, SCALARS, SCALARS, SCALARS),
    st.builds("{}add.cc.u32 {}, {}, {};".format, GUARDS, SCALARS, SCALARS, SCALARS),
    st.builds("addc.u32 {}, {}, {};".format, SCALARS, SCALARS, SCALARS),
    st.builds("setp.lt.u32 %p{}, {}, {};".format, st.sampled_from([1, 2]), SCALARS, SCALARS),
    st.builds("selp.u32 {}, {}, 7, %p1;".format, SCALARS, SCALARS),
    st.builds("{}ld.{}.u32 {}, [%rd1];".format, GUARDS, PLACES, SCALARS),
    st.builds("{}ld.{}.v2.u32 {{{}, %r6}}, [%rd2];".format, GUARDS, PLACES, SCALARS),
    st.builds("{}st.{}.u32 [%rd1], {};".format, GUARDS, PLACES, SCALARS),
    st.just("bar.sync 0;"),
    st.builds("mov.u32 {}, %clock;".format, SCALARS),
)
NAMES = re.compile(r"[%$\w][\w.]*")


def executed(lines: list[str]) -> dict[str, int]:
    """Return what every name holds at the end, as hashes of what was computed; a barrier and the clock look at everything."""
    values: dict[str, int] = {}
    for line in lines:
        opcode, _, rest = line.partition(" ")
        guard = ""
        if opcode.startswith("@"):
            guard, (opcode, _, rest) = opcode, rest.partition(" ")
        words = [word for word in NAMES.findall(rest.rstrip(";")) if not word[0].isdigit()]
        space = next((name for name in ("global", "shared", "local") if f".{name}." in opcode), "")
        stores = opcode.startswith("st.")
        results = [] if stores else re.findall(r"%\w+", rest.partition("}")[0] if rest.startswith("{") else rest.partition(",")[0])
        if opcode.startswith("bar") or "%clock" in rest:
            values = {
                "everything": hash(tuple(sorted(values.items()))),
                **{name: hash((name, line, *sorted(values.items()))) for name in results},
            }
            continue
        carry = ["carry"] if opcode.startswith("addc") else []
        reads = [*words, *NAMES.findall(guard), *carry, *([space] if space else [])]
        seen = tuple(values.get(name, hash(name)) for name in [*reads, "everything"])
        results += ["carry"] if ".cc" in opcode else []
        results += [space] if stores else []
        for number, name in enumerate(results):
            old = values.get(name, hash(name)) if guard or stores else 0
            values[name] = hash((opcode, line, number, seen, old))
    return values


def lines_of(text: str) -> list[str]:
    """Return the instructions of a kernel's text without labels and declarations."""
    result = [line.strip() for line in text.splitlines()]
    return [line for line in result if line.endswith(";") and not line.startswith((".", "ret"))]


@given(lines=st.lists(LINES, min_size=2, max_size=14), keys=st.lists(st.integers(0, 5), min_size=1, max_size=14))
def test_an_order_leaves_every_value_as_it_was(lines, keys):
    text = reordered(kernel(*lines, "ret;"), keys)
    after = lines_of(text)
    assert sorted(after) == sorted(lines)
    assert executed(after) == executed(lines)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("keys", [(3, 1, 2, 0, 5), tuple(range(40, 0, -1))])
def test_orders_of_real_kernels_are_proved_and_keep_their_instructions(name, keys):
    text = source(name).text
    plain, other = lines_of(reordered(text, (0,))), lines_of(reordered(text, keys))
    assert sorted(plain) == sorted(other)
    assert plain != other
