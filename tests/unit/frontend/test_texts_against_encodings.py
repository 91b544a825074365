"""Texts that contradict the encodings beside them: redirected branches, exchanged texts, other operands are noticed."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from budget import some
from sassan import frontend
from sassan.arch import architecture
from sassan.errors import InputError
from sassan.ir import Function, Instruction, Target
from sassan.isa.encodings import Encodings
from sassan.source import Source

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
PART = re.compile(r"(?<=\b[RP])[0-9]+\b|(?<=\bU[RP])[0-9]+\b|(?<=\b0x)[0-9a-f]+\b")
ARCHES = sorted(path.name for path in SAMPLES.glob("sm_*"))
OPERANDS = 0.9
"""Of the registers and numbers, those whose place in the encoding is known."""


def functions(arch: str) -> list[Function]:
    paths = sorted((SAMPLES / arch).glob("*.cuobjdump.sass"))
    return [function for path in some(paths, of=6) for function in frontend.read(frontend.load(str(path))).functions]


def encodings(arch: str) -> Encodings:
    known = architecture(arch)
    assert known is not None
    return Encodings(known)


def relative(instruction: Instruction) -> bool:
    return bool(instruction.operands) and isinstance(instruction.operands[-1], Target)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_every_redirected_branch_is_noticed(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        addresses = [instruction.address for instruction in function.instructions]
        addresses = addresses[:: len(addresses) // 20 + 1]
        for instruction in filter(relative, function.instructions):
            for address in addresses:
                redirected = replace(instruction, operands=(*instruction.operands[:-1], Target(address)))
                assert bool(difference(redirected)) == (redirected.operands != instruction.operands)
                tried += 1
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_exchanged_texts_are_noticed(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        for first, second in pairwise(function.instructions):
            if first.text != second.text:
                exchanged = replace(first, encoding=second.encoding), replace(second, encoding=first.encoding)
                assert any(map(difference, exchanged)), (first.text, second.text)
                tried += 1
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_another_register_or_number_is_noticed(arch: str):
    difference = encodings(arch).difference
    noticed = total = 0
    for function in functions(arch):
        for instruction in filter(lambda each: not relative(each), function.instructions):
            for found in PART.finditer(instruction.text, instruction.text.find(" ", 5) + 1):
                other = "1" if found[0] != "1" else "2"
                text = instruction.text[: found.start()] + other + instruction.text[found.end() :]
                total, noticed = total + 1, noticed + bool(difference(replace(instruction, text=text)))
    assert noticed > OPERANDS * total > 0


@pytest.mark.parametrize("arch", ARCHES)
def test_a_redirected_branch_of_a_listing_is_refused_at_its_line(arch: str):
    text = (SAMPLES / arch / "nested_if.cuobjdump.sass").read_text()
    lines = text.split("\n")
    number, line = next((at, line) for at, line in enumerate(lines) if " BRA 0x" in line)
    target = line.split(" BRA 0x")[1].split()[0]
    lines[number] = line.replace(f" BRA 0x{target}", f" BRA 0x{int(target, 16) - 0x40:x}")
    with pytest.raises(InputError) as caught:
        frontend.read(Source("x.sass", "\n".join(lines)))
    assert (caught.value.code, caught.value.span.line) == ("text-differs", number + 1)
    assert "which has the target 0x" in caught.value.message


def test_a_listing_without_encodings_is_not_held_against_any():
    text = (SAMPLES / "sm_80" / "nested_if.nvdisasm.sass").read_text()
    assert "/* 0x" not in text
    assert frontend.read(Source("x.sass", text)).functions


def test_a_label_that_is_defined_twice_is_refused():
    text = (SAMPLES / "sm_80" / "nested_if.nvdisasm.sass").read_text()
    label = next(line for line in text.split("\n") if line.startswith(".L_x_"))
    other = next(line for line in text.split("\n") if line.startswith(".L_x_") and line != label)
    with pytest.raises(InputError) as caught:
        frontend.read(Source("x.sass", text.replace(f"\n{other}\n", f"\n{label}\n")))
    assert caught.value.code in {"duplicate-label", "undefined-label"}
