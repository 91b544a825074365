"""A cubin and its listings are one program: read with the recorded disassembler on every machine, with a real one where one is installed.

`SASSAN_FULL=1` compares every sample of every architecture; otherwise a fixed part.
"""

import os
import random
import re
from dataclasses import replace
from functools import cache

import pytest

import cubins
from budget import FULL, part, some
from samples import SAMPLES, names
from sassan.errors import MissingToolError, SassanError
from sassan.frontend import load, read, read_ahead
from sassan.frontend.cubin import disassembly
from sassan.frontend.cubin.tools import nvdisasm
from sassan.frontend.image import Image
from sassan.frontend.link import ALIGN
from sassan.ir import Function, Instruction, Operand, Target
from sassan.source import Span

ARCHS = ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
PART = 1 if os.environ.get("SASSAN_FULL") else 13
SAMPLED = [(arch, name) for arch in ARCHS for name in names(arch)[:: min(PART, 3) if arch == "sm_61" else PART]]
ALWAYS = [(arch, name) for arch in ARCHS for name in ("loop_continue_token", "switch_brx", "two_kernels")]
PAIRS = sorted({*SAMPLED, *ALWAYS})
REAL = PAIRS[:: 3 if FULL else 17]
"""What a disassembler of this machine reads: it starts slowly, and matters when another one is installed."""
RELOCATABLE = ["debug_build", "separate_sections"]
"""nvdisasm links what cuobjdump leaves apart: tests/differential/test_frontend_tools.py."""


def row(one: Instruction) -> str:
    """Return what every tool must say of an instruction: no label, no span; `repr` because a NaN equals nothing."""
    operands: list[Operand] = [Target(operand.address) if isinstance(operand, Target) else operand for operand in one.operands]
    return repr((one.address, one.following, one.opcode, one.guard, one.condition, operands))


def rows(functions: tuple[Function, ...]) -> dict[str, tuple[int, list[str]]]:
    """Return for each function where it starts and its rows."""
    return {one.name: (one.entry, [row(each) for each in one.instructions]) for one in functions}


def codes(functions: tuple[Function, ...]) -> dict[str, list[tuple[int | None, int | None]]]:
    """Return for each function the encodings and the control codes."""
    return {one.name: [(each.encoding, each.control) for each in one.instructions] for one in functions}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a function to what a sample's cubin holds, read with the recorded disassembler: once for all tests, for it starts programs."""
    folder = cubins.recorder(tmp_path_factory.mktemp("tools"), *(f"{arch}/{name}" for arch, name in PAIRS))

    @cache
    def functions(arch: str, name: str) -> tuple[Function, ...]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(folder))
            return read(load(str(SAMPLES / arch / f"{name}.cubin")), cached=False).functions

    return functions


@pytest.mark.parametrize(("arch", "name"), some(PAIRS, of=9))
def test_a_cubin_is_the_program_of_its_listing(arch, name, recorded):
    found = recorded(arch, name)
    listed = read(load(str(SAMPLES / arch / f"{name}.nvdisasm.sass"))).functions
    assert [one.instructions[0].text for one in found] == [one.instructions[0].text for one in listed]
    assert rows(found) == rows(listed)
    assert [[each.targets for each in one.instructions] for one in found] == [[each.targets for each in one.instructions] for one in listed]


@pytest.mark.parametrize(("arch", "name"), [pair for pair in some(PAIRS, of=3) if pair[1] not in RELOCATABLE])
def test_encodings_and_control_codes_are_those_that_cuobjdump_prints(arch, name, recorded):
    assert codes(recorded(arch, name)) == codes(read(load(str(SAMPLES / arch / f"{name}.cuobjdump.sass"))).functions)


@pytest.mark.parametrize(("arch", "name"), some(PAIRS, of=3))
def test_every_exit_and_every_table_is_as_the_compiler_says(arch, name, recorded):
    for function in recorded(arch, name):
        compiler = function.compiler
        own = [one for one in function.instructions if one.address < compiler.code_size]
        assert tuple(one.address for one in own if one.opcode == "EXIT") == (compiler.exits or ())
        tables = {one.address: one.targets for one in own if one.opcode.startswith("BRX") and one.targets}
        listed = {address: tuple(dict.fromkeys(targets)) for address, targets in compiler.indirect_targets}
        assert tables == {address: targets for address, targets in listed.items() if address in tables}
        assert all(address % ALIGN == address or address < compiler.code_size for address in listed)


@pytest.mark.parametrize("arch", some(["sm_61", "sm_80", "sm_100"]))
def test_a_table_that_the_listing_does_not_note_comes_from_the_cubin(arch, monkeypatch, tmp_path):
    folder = cubins.recorder(tmp_path, f"{arch}/switch_brx")
    noted = read(load(str(SAMPLES / arch / "switch_brx.nvdisasm.sass"))).functions[0]
    for listing in folder.iterdir():
        listing.write_text(listing.read_text().replace("BRANCH_TARGETS", "NOTHING"))
    monkeypatch.setenv("PATH", str(folder))
    found = read(load(str(SAMPLES / arch / "switch_brx.cubin")), cached=False).functions[0]
    tables = [one.targets for one in found.instructions if one.opcode == "BRX"]
    assert tables == [one.targets for one in noted.instructions if one.opcode == "BRX"]
    assert len(tables) == 4
    assert all(len(table) >= 3 for table in tables)


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "name"), REAL)
def test_a_disassembler_of_this_machine_lists_the_same_program(arch, name):
    try:
        nvdisasm(int(arch.removeprefix("sm_")))
    except MissingToolError as missing:
        pytest.skip(f"{missing.message}; {missing.hint}")
    found = read(load(str(SAMPLES / arch / f"{name}.cubin")), cached=False).functions
    assert rows(found) == rows(read(load(str(SAMPLES / arch / f"{name}.nvdisasm.sass"))).functions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "name"), [("sm_80", "switch_brx"), *[pair for pair in REAL if int(pair[0].removeprefix("sm_")) >= 75] * FULL]
)
def test_nothing_is_lost_without_the_dataflow_of_the_disassembler(arch, name, monkeypatch):
    sm = int(arch.removeprefix("sm_"))
    try:
        nvdisasm(sm)
    except MissingToolError as missing:
        pytest.skip(f"{missing.message}; {missing.hint}")
    image = load(str(SAMPLES / arch / f"{name}.cubin"))
    found = disassembly.disassemble(image, sm, cached=False)
    monkeypatch.setattr(disassembly, "PLAIN_SINCE", 1000)
    assert disassembly.disassemble(image, sm, cached=False) == found


def without_labels(functions: tuple[Function, ...]) -> list[Function]:
    """Return functions without what depends on the others of their listing: lines, numbers of labels, their order."""
    out: list[Function] = []
    for function in functions:
        code = tuple(
            replace(
                each,
                span=Span(1, 1, 1),
                operands=tuple(Target(operand.address) if isinstance(operand, Target) else operand for operand in each.operands),
                text=re.sub(r"\.L_x_[0-9]+", "label", each.text),
            )
            for each in function.instructions
        )
        out.append(replace(function, instructions=code, span=Span(1, 1, 1)))
    return sorted(out, key=lambda function: function.name)


@pytest.mark.slow
@pytest.mark.parametrize("arch", some([arch for arch in ARCHS if int(arch.removeprefix("sm_")) >= 75], of=5))
def test_cubins_that_are_disassembled_together_are_the_same_programs(arch):
    try:
        nvdisasm(int(arch.removeprefix("sm_")))
    except MissingToolError as missing:
        pytest.skip(f"{missing.message}; {missing.hint}")
    chosen = {*some(names(arch)[::7], of=4), "switch_brx", "two_kernels", "saxpy"}
    images = [load(str(SAMPLES / arch / f"{name}.cubin")) for name in sorted(chosen)]
    known = read_ahead(images)
    assert 2 < known < len(images)
    ahead = [without_labels(read(image, cached=False).functions) for image in images]
    assert not disassembly._AHEAD
    assert ahead == [without_labels(read(image, cached=False).functions) for image in images]


@pytest.mark.slow
def test_what_cannot_be_disassembled_together_is_left_for_later(monkeypatch):
    images = [load(str(SAMPLES / "sm_80" / f"{name}.cubin")) for name in ("saxpy", "two_kernels")]
    assert read_ahead(images[:1]) == read_ahead([]) == read_ahead([Image("k", images[0].data[:100]), Image("k", b"")]) == 0
    monkeypatch.setattr(disassembly, "_run", lambda image, _: disassembly.disassemble(Image("k", image.data[:-1]), 1))  # which refuses it
    assert read_ahead(images) == 0
    assert not disassembly._AHEAD


@pytest.mark.slow
def test_a_disassembler_of_this_machine_ends_on_damaged_cubins():
    arch = "sm_80"
    try:
        nvdisasm(80)
    except MissingToolError as missing:
        pytest.skip(f"{missing.message}; {missing.hint}")
    data = cubins.cubin(f"{arch}/saxpy")
    numbers = random.Random(80)
    good = rows(read(Image("k", data), cached=False).functions)
    for at in numbers.sample(cubins.layout(data).header_bytes, part(20, of=2)):
        damaged = cubins.flipped(data, at, numbers.randrange(1, 256))
        try:
            found = rows(read(Image("k", damaged), cached=False).functions)
        except SassanError as refusal:
            found = good if refusal.status in {3, 4} else {}
        assert found == good
