"""A seeded part of the full run, `scripts/soundness`: samples, random programs, and the tables against the oracle's own decoder."""

import pytest

from budget import FULL, part, some
from samples import PRE_VOLTA, names, program
from sassan.isa import tables
from sassan.simt.code import Operation
from soundness import generator, generator_volta
from soundness.campaign import ARCHS, KINDS, VARIANTS, VOLTA_VARIANTS, Tally, Task, carry_out, check, is_noticed
from soundness.oracles import Plan, decoder_of

SAMPLES = some([(arch, name) for arch in PRE_VOLTA for name in names(arch)], of=16)
VOLTA = ARCHS[2:]
EVERY = [(arch, name) for arch in ARCHS for name in names(arch)][:: 1 if FULL else 7]
"""Every sample of every architecture in a full run, else every seventh."""
IN_TURN = [(VOLTA[(index + more) % len(VOLTA)], name) for more in (0, 3) for index, name in enumerate(names("sm_70"))][:: 1 if FULL else 13]
"""Every sample for two of the architectures since Volta in a full run, else every thirteenth pair; `scripts/soundness` looks at all."""
LARGE = "large_5000"
COUNT = 10 if FULL else 5
"""Programs of one test."""
CONTROL = ("CAL", "JCAL", "BRA", "JMP", "BRX", "JMX", "SSY", "PBK", "PCNT", "PRET", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "BMOV")


@pytest.mark.parametrize(("arch", "name"), SAMPLES)
def test_no_run_of_a_sample_leaves_its_graph(arch: str, name: str):
    count = len(program(arch, name).functions)
    tally = carry_out(Task(f"{arch}/{name}", 0, count, runs=6 if name == LARGE else 24, seed=1, steps=120))
    assert [str(one) for one in tally.findings] == []


@pytest.mark.parametrize(("arch", "name"), IN_TURN)
def test_no_run_of_a_sample_since_volta_leaves_its_graph(arch: str, name: str):
    count = len(program(arch, name).functions)
    tally = carry_out(Task(f"{arch}/{name}", 0, count, runs=12, seed=1, steps=80))
    assert [str(one) for one in tally.findings] == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, part(80, of=4), COUNT))
def test_no_run_of_a_random_program_since_volta_leaves_its_graph(start: int):
    exact, merged = Tally("volta"), Tally("call strings cut short, or less known: gaps are to be expected")
    for seed in range(start, start + COUNT):
        options = VOLTA_VARIANTS[seed % len(VOLTA_VARIANTS)]
        plain = options.call_depth is None and not options.ablate
        check(generator_volta.program(seed), Plan(16, seed, steps=120, solve=1), exact if plain else merged, options)
    assert ([str(one) for one in exact.findings + merged.findings], exact.skipped) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, part(120, of=6), COUNT))
def test_no_run_of_a_random_program_leaves_its_graph(start: int):
    exact, merged = Tally("random"), Tally("call strings cut short: gaps are to be expected")
    for seed in range(start, start + COUNT):
        options = VARIANTS[seed % len(VARIANTS)]
        check(generator.program(seed), Plan(16, seed, steps=120, solve=1), exact if options.call_depth is None else merged, options)
    assert ([str(one) for one in exact.findings + merged.findings], exact.skipped) == ([], [])


@pytest.mark.parametrize(("arch", "name"), EVERY)
def test_the_tables_write_what_the_oracle_writes(arch: str, name: str):
    isa = tables.load(arch)
    for function in program(arch, name).functions:
        oracle = decoder_of(function)
        for one in function.instructions:
            if one.opcode.split(".")[0] in CONTROL:
                continue
            facts, found = isa.facts(one), oracle.decode(one)
            if facts is not None and isinstance(found, Operation):
                missing = sum(1 << register for register in set(found.writes)) & ~facts.writes
                assert missing == 0, one.text


@pytest.mark.slow
@pytest.mark.parametrize(("generation", "kind"), some(KINDS, of=13))
def test_every_kind_of_mutation_is_noticed(generation: str, kind: str):
    assert is_noticed(generation, kind)
