"""Rates of atomic operations: every opcode form has one or is a named gap, and bounds are above what others measured."""

import re
from collections.abc import Iterator
from itertools import chain, product

import pytest

import sassan
from budget import some
from samples import SAMPLES
from sassan.arch import names
from sassan.frontend.cubin.tools import tools
from sassan.isa import loading
from sassan.isa.encoding_models import models
from sassan.machine.atomics import OPCODES, AtomicKind, AtomicRate, atomics

ARCHS = [arch for arch in names() if int(arch.removeprefix("sm_")) >= 50]
TYPE = re.compile(r"[SU]?[0-9]+|(?:B?F|SD)[0-9]+\w*")
OPERATIONS = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "CAST", "SAFEADD"}
TYPES = [
    "",
    "32",
    "64",
    "128",
    "S32",
    "U64",
    "S64",
    "F32",
    "F64",
    "F16x2",
    "BF16x2",
    "BF16_V2",
    "F32x2",
    "F32x4",
    "F16x4",
    "F16x8",
    "BF16x8",
]
WITHOUT = {"long", "vector"}
"""Kinds of L2 that no source tells anything of."""


def forms() -> Iterator[str]:
    """Yield every atomic opcode with each operation and each type that encodings of it have."""
    for table, name in product(("maxwell", "volta"), sorted(OPCODES)):
        for model in chain.from_iterable(models(table).of(name).values()):
            known = {feature[1:] for feature in model.weights if feature.startswith(".")}
            for operation, width in product(sorted(OPERATIONS & known), ("", *sorted(filter(TYPE.fullmatch, known)))):
                yield ".".join(filter(None, (name, "E" if "E" in known else "", operation, width)))
    yield from ("ATOMS.ARRIVE.64", "ATOM.E.ARRIVE.64.STRONG.SM", "ATOMS.POPC.INC.32", "ATOMS.CAST.SPIN", "ATOMS.CAST.SPIN.64")


def combined() -> Iterator[str]:
    """Yield every operation, type and scope that the opcode tables allow of each atomic opcode."""
    for name, operation, width, scope in product(sorted(OPCODES), sorted(OPERATIONS), TYPES, ("", "STRONG.GPU", "STRONG.SYS")):
        yield ".".join(filter(None, (name, "E", operation, width, scope)))


def test_the_tables_of_opcodes_have_no_other_atomic_ones() -> None:
    text = "".join(
        loading.data_text(name)
        for name in ("codes.toml", "maxwell_pascal.toml", "volta_turing.toml", "ampere_hopper.toml", "blackwell.toml")
    )
    named = set(re.findall(r'"?\b(U?RED[A-Z]*|ATOM[A-Z]*|SURED|SUATOM[A-Z]*)\b"?(?: = \[|"|,|\])', text))
    assert named - OPCODES == {"RED", "REDUX"} - OPCODES


@pytest.mark.parametrize("opcode", sorted({*forms()}))
def test_every_form_has_a_rate_or_is_a_named_gap_on_every_architecture(opcode: str) -> None:
    place_known = opcode.partition(".")[0] not in {"REDAS", "SUATOM", "SURED"}
    for arch in ARCHS:
        table = atomics(arch)
        kind, rate = table.kind(opcode), table.rate(opcode)
        assert kind
        assert (rate is not None) == (place_known and kind not in WITHOUT)


def test_every_combination_of_the_tables_is_some_kind() -> None:
    table = atomics("sm_90")
    assert [opcode for opcode in combined() if not table.kind(opcode)] == []
    unknown = {(opcode.split(".")[0], table.kind(opcode)) for opcode in combined() if table.rate(opcode) is None}
    in_l2 = {(name, kind) for name in ("ATOM", "ATOMG", "RED", "REDG", "UREDGR") for kind in WITHOUT}
    on_shared = {("ATOMS", kind) for kind in (*WITHOUT, "single", "double", "pair")}
    without = {(name, kind) for name in ("REDAS", "SUATOM", "SURED") for kind in table.kinds}
    assert unknown == in_l2 | on_shared | without


def test_an_unknown_operation_has_no_rate() -> None:
    assert atomics("sm_90").rate("REDG.E.FROB.STRONG.GPU") is None


def rate(arch: str, opcode: str) -> AtomicRate:
    known = atomics(arch).rate(opcode)
    assert known is not None
    return known


def test_a_sum_of_doubles_keeps_its_word_longer_than_the_two_cycles_that_were_refuted() -> None:
    found = rate("sm_86", "RED.E.ADD.F64.RN.STRONG.GPU")
    assert (found.place, found.kind, found.word, found.sector) == (AtomicKind.REDUCING, "double", 8, 12)


def test_what_the_system_sees_takes_twice_as_long_and_is_assumed() -> None:
    gpu, system = (rate("sm_80", f"ATOMG.E.ADD.F32.FTZ.RN.STRONG.{scope}") for scope in ("GPU", "SYS"))
    assert (system.word, system.sector) == (2 * gpu.word, 2 * gpu.sector)
    assert (gpu.unsure, system.unsure) == (False, True)


# The lanes of a warp, at most so many on one word, in so many sectors.
@pytest.mark.parametrize(
    ("lanes", "collisions", "sectors", "cycles"),
    [
        (32, 32, 1, 32 * 8),
        (32, 1, 8, 8 * 12),
        (32, 1, 32, 32 * 8),
        (1, 1, 1, 8),
        (32, 16, 1, 16 * 12),
        (4, 4, 4, 4 * 8),
        (32, 8, 4, 32 * 8),
    ],
)
def test_an_access_takes_its_operations_or_its_passes_whichever_are_less(lanes: int, collisions: int, sectors: int, cycles: int) -> None:
    assert rate("sm_86", "RED.E.ADD.F64.RN").of_access(lanes, collisions, sectors) == cycles


def test_no_pass_takes_less_than_an_operation_on_one_word() -> None:
    for arch in ARCHS:
        assert all(each.word <= each.sector and each.usual <= each.word for each in atomics(arch).rates.values())


@pytest.mark.parametrize("arch", ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_120"])
def test_a_kernel_stands_for_each_row(arch: str) -> None:
    code = (SAMPLES / "atomics" / arch / "atomics.nvdisasm.sass").read_text("utf-8")
    table = atomics(arch)
    found = {known for opcode in re.findall(r"\b((?:ATOM[GS]?|REDG?)\.[\w.]+)", code) if (known := table.rate(opcode)) is not None}
    seen = {(each.place, each.kind) for each in found}
    # No reduction exchanges; Maxwell has no doubles and no pairs.
    never = {(AtomicKind.REDUCING, "exchange"), (AtomicKind.REDUCING, "compare"), (AtomicKind.RETURNING, "pair")}
    older = {(place, kind) for place in AtomicKind for kind in ("double", "pair")} if arch == "sm_52" else set()
    assert set(table.rates) - seen == never | (older & set(table.rates))


# Others measured so many sums on one word by this product, in ms; the kernels of samples/atomics do 16 by each thread of 256.
SUMS = "ptheywood/atomicAddBench"
HISTOGRAMS = "R100001/Programming-Massively-Parallel-Processors, histogram"
PUBLISHED = [
    ("sm_52", "reducing_single", "GTX TITAN X", 20, 3.62, SUMS),
    ("sm_61", "reducing_single", "GTX 1080", 20, 2.11, SUMS),
    ("sm_61", "reducing_double", "GTX 1080", 20, 2.16, SUMS),
    ("sm_61", "reducing_double", "GTX 1070", 20, 2.36, SUMS),
    ("sm_70", "reducing_single", "V100-PCIE-32GB", 20, 2.74, SUMS),
    ("sm_70", "reducing_double", "V100-PCIE-32GB", 20, 2.73, SUMS),
    ("sm_70", "reducing_double", "TITAN V", 20, 2.78, SUMS),
    ("sm_80", "reducing_single", "A100-SXM4-80GB", 20, 2.61, SUMS),
    ("sm_80", "reducing_double", "A100-SXM4-80GB", 20, 2.61, SUMS),
    ("sm_75", "reducing_integer", "RTX 2060", 26, 37.8, HISTOGRAMS),
    ("sm_75", "shared_integer", "RTX 2060", 26, 3.69, HISTOGRAMS),
    ("sm_86", "shared_integer", "RTX 3070 Ti", 26, 0.9, HISTOGRAMS),
    ("sm_86", "reducing_integer", "RTX 3080", 26, 36.2, HISTOGRAMS),
    ("sm_86", "reducing_integer", "RTX 3070 Ti", 26, 36.5, HISTOGRAMS),
]


@pytest.mark.slow
@pytest.mark.parametrize("run", some(PUBLISHED, of=4), ids=lambda run: f"{run[1]} {run[2]}")
def test_a_bound_is_above_what_was_published(run: tuple[str, str, str, int, float, str]) -> None:
    arch, kernel, gpu, power, ms, source = run
    if not any(int(arch.removeprefix("sm_")) in tool.reads for tool in tools("nvdisasm")):
        pytest.skip(f"no nvdisasm that reads {arch} is installed")
    launch = sassan.Launch(block=256, grid=2**power // (256 * 16), parameters={"param_1": 0}, gpu=gpu)
    bound = sassan.analyze(SAMPLES / "atomics" / arch / "atomics.cubin", function=kernel, launch=launch)[0].grid_us
    assert bound is not None, source
    assert bound > 1.25 * 1000 * ms, source
