"""A seeded part of the full run, `scripts/soundness`: samples, random programs, and the tables against the oracle's own decoder."""

import pytest

from samples import PRE_VOLTA, names, program
from sassan.isa import tables
from sassan.simt.code import Operation
from soundness import generator
from soundness.campaign import KINDS, VARIANTS, Tally, Task, carry_out, check, is_noticed
from soundness.maxwell import Maxwell
from soundness.oracles import Plan

SAMPLES = [(arch, name) for arch in PRE_VOLTA for name in names(arch)]
LARGE = "large_5000"
CONTROL = ("CAL", "JCAL", "BRA", "JMP", "BRX", "JMX", "SSY", "PBK", "PCNT", "PRET")


@pytest.mark.parametrize(("arch", "name"), SAMPLES)
def test_no_run_of_a_sample_leaves_its_graph(arch: str, name: str):
    count = len(program(arch, name).functions)
    tally = carry_out(Task(f"{arch}/{name}", 0, count, runs=6 if name == LARGE else 24, seed=1, steps=120))
    assert [str(one) for one in tally.findings] == []


@pytest.mark.parametrize("start", range(0, 120, 10))
def test_no_run_of_a_random_program_leaves_its_graph(start: int):
    exact, merged = Tally("random"), Tally("call strings cut short: gaps are to be expected")
    for seed in range(start, start + 10):
        options = VARIANTS[seed % len(VARIANTS)]
        check(generator.program(seed), Plan(16, seed, steps=120, solve=1), exact if options.call_depth is None else merged, options)
    assert ([str(one) for one in exact.findings + merged.findings], exact.skipped) == ([], [])


@pytest.mark.parametrize(("arch", "name"), SAMPLES)
def test_the_tables_write_what_the_oracle_writes(arch: str, name: str):
    isa, oracle = tables.load(arch), Maxwell()
    for function in program(arch, name).functions:
        for one in function.instructions:
            if one.opcode.split(".")[0] in CONTROL:
                continue
            facts, found = isa.facts(one), oracle.decode(one)
            if facts is not None and isinstance(found, Operation):
                missing = sum(1 << register for register in set(found.writes)) & ~facts.writes
                assert missing == 0, one.text


@pytest.mark.parametrize(("generation", "kind"), KINDS)
def test_every_kind_of_mutation_is_noticed(generation: str, kind: str):
    assert is_noticed(generation, kind)
