"""A wrong line in what is known of registers is noticed: by a function's own check, or by random programs that run."""

from random import Random
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from budget import some
from listing import assemble
from soundness.values.mutants import ALGEBRA, ARITHMETIC, BITWISE, CONDITIONS, LANES, MUTANTS, THREADS, VALUES, WrongLine, loaded
from soundness.values.programs import DIVIDED, MET, NEW, OLD, REWRITTEN, program
from soundness.values.runs import WordPlan, inspect_words
from unit.values.lane_cases import REFERENCES, cases, index_complaint, join_complaint, mask_of_the_modulus, tail_complaints, wrapping_shift

SETTINGS = settings(max_examples=3000, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
BLOCKS = ((32, 8, 1), (48, 2, 1), (48, 9, 1), (8, 8, 4))
SEEDS = 80


def notices(by: str, modules: dict[str, ModuleType]) -> bool:  # noqa: PLR0911 - one for each check
    """Say whether a check has anything to say about what is in these modules."""
    match by:
        case "thread_index":
            return any(index_complaint(block, axis, modules[THREADS].thread_index) for block in BLOCKS for axis in range(3))
        case "programs":
            return any(found_in_programs(seed, modules[VALUES]) for seed in range(SEEDS))
        case "divided" | "rewritten" | "met":
            text = {"divided": DIVIDED, "rewritten": REWRITTEN, "met": MET}[by]
            report = inspect_words(assemble(text, NEW).function, WordPlan(seed=1, warps=16), modules[VALUES].with_values)
            return not isinstance(report, str) and bool(report.findings)
        case "tail":
            return any(tail_complaints(modules[CONDITIONS].compare))
        case "wrapping shift":
            return wrapping_shift().complaint(modules[ARITHMETIC].shift_right, REFERENCES["shift_right"][1]) != ""
        case "mask of the modulus":
            return mask_of_the_modulus().complaint(modules[BITWISE].bit_and, REFERENCES["bit_and"][1]) != ""
        case "join":
            return exists("ww", lambda case: join_complaint(case, modules[LANES].join, modules[LANES].follows) != "")
        case _:
            kinds, reference = REFERENCES[by]
            named = (getattr(modules[name], by, None) for name in (ARITHMETIC, CONDITIONS))
            function = next(filter(None, named), None) or modules[ALGEBRA].FUNCTIONS[by]
            return exists(kinds, lambda case: case.complaint(function, reference) != "")


def exists(kinds, condition) -> bool:
    try:
        find(cases(kinds), condition, settings=SETTINGS, random=Random(1))
    except NoSuchExample:
        return False
    return True


def found_in_programs(seed: int, values: ModuleType) -> bool:
    plan = WordPlan(seed, launches=1, warps=4, steps=200)
    reports = [inspect_words(program(arch, seed), plan, values.with_values) for arch in (OLD, NEW)]
    return any(not isinstance(report, str) and report.findings for report in reports)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", some(MUTANTS[9:] + MUTANTS[:9], of=9), ids=lambda mutant: mutant.what)
def test_a_wrong_line_is_noticed(mutant: WrongLine):
    with loaded(mutant) as modules:
        assert notices(mutant.by, modules)


def test_right_lines_are_not_noticed():
    with loaded(WrongLine("nothing", "add", ARITHMETIC, "def add(", "def add(")) as modules:
        assert not notices("thread_index", modules)
        assert not found_in_programs(1, modules[VALUES])
