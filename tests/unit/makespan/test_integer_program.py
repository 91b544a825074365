"""The integer programs: rows, sizes, horizons, and how the engine ends."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from sassan.alphabet import Letter
from sassan.errors import UsageError
from sassan.ilp.model import check_names, violated
from sassan.ilp.solve import Status, solve
from sassan.ilp.write import lp, mps
from sassan.jit import clock
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.problem import Processor, problem
from sassan.makespan.program.build import Form, MakespanModel, OutOfTime
from sassan.makespan.program.engine import Ilp, program, schedule_of
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.start import construct, instance
from sassan.strings.kernel_string import parse
from unit.makespan.cases import StopCounter, case, random_case
from unit.makespan.every_schedule import longest

pytestmark = pytest.mark.slow

LCL = case("LCL", warps=4, L=1, C=1)
PAPER = (Form.SHORT, Form.LONG)
CASE_STUDY = case("L5C9L2C9", warps=8, L=1, C=4, issue=4)


def quiet(_: EngineResult) -> None:
    pass


def optimum(one: MakespanModel) -> int | None:
    return solve(one.model).value


def values_of(one: MakespanModel, given: object, schedule: Schedule) -> tuple[int, ...]:
    """The unknowns of a program of the paper's forms that describe a schedule: by the names of the unknowns, not by the engine's code."""
    del given
    out = dict.fromkeys((each.name for each in one.model.variables), 0)
    for (warp, index, slot), unknown in one.runs.items():
        out[one.model.variables[unknown].name] = int(schedule.slots[warp][index] == slot)
    for row in one.model.rows:
        if row.name.startswith("used_"):
            terms = dict(row.terms)
            full = next(index for index, factor in terms.items() if factor == -1)
            room = row.rhs + 1
            names = [one.model.variables[index].name for index in terms if index != full]
            out[one.model.variables[full].name] = int(sum(out[name] for name in names) == room)
    return tuple(out.values())


@pytest.mark.parametrize("form", list(Form))
def test_figure_5_of_the_annealing_paper_is_the_optimum(form: Form) -> None:
    assert optimum(program(LCL, 12, form)) == 9


@pytest.mark.parametrize("form", list(Form))
def test_the_horizon_of_equation_5_cuts_the_optimum_off(form: Form) -> None:
    four = case("CC", warps=4, C=2)
    assert [optimum(program(four, horizon, form)) for horizon in (4, 5, 6)] == [4, 5, 5]


def test_a_wide_unit_is_cut_off_by_more() -> None:
    eight = case("CCCC", warps=8, C=4)
    assert [optimum(program(eight, horizon, Form.COUNTED)) for horizon in (8, 11, 12)] == [8, 11, 11]


@pytest.mark.parametrize("form", list(Form))
def test_a_horizon_below_every_schedule_has_no_solution(form: Form) -> None:
    assert solve(program(LCL, 7, form).model).status is Status.INFEASIBLE


@pytest.mark.parametrize("form", list(Form))
def test_an_issue_limit_serialises(form: Form) -> None:
    assert optimum(program(case("LC", warps=3, L=1, C=1, issue=1), 6, form)) == 6


@pytest.mark.parametrize("form", list(Form))
def test_strings_may_differ(form: Form) -> None:
    mixed = case("LLC", "C", "CL", L=1, C=1)
    assert optimum(program(mixed, 6, form)) == longest(mixed)


@pytest.mark.parametrize("form", list(Form))
def test_a_warp_without_instructions_waits_for_nothing(form: Form) -> None:
    assert optimum(program(case("LC", "", L=1, C=1), 4, form)) == 2


def test_short_rows_come_per_instruction_and_long_rows_per_unit() -> None:
    short, long = (program(LCL, 12, form).model for form in PAPER)
    counts = [sum(row.name.startswith("busy_") for row in model.rows) for model in (short, long)]
    assert counts == [4 * 3 * 12, 4 * 2 * 12]


def test_a_long_row_is_the_sum_of_its_short_rows() -> None:
    short, long = (program(LCL, 6, form).model for form in PAPER)
    rows = {row.name: row for row in (*short.rows, *long.rows)}
    one, other, both = rows["busy_w2_i1_t4"], rows["busy_w2_i3_t4"], rows["busy_w2_t4_L"]
    added: dict[int, int] = {}
    for index, factor in (*one.terms, *other.terms):
        added[index] = added.get(index, 0) + factor
    assert (tuple(sorted(added.items())), one.rhs + other.rhs) == (both.terms, both.rhs)


@pytest.mark.parametrize("form", PAPER)
def test_every_work_conserving_schedule_satisfies_every_row(form: Form) -> None:
    random = Random(5)
    for _ in range(60):
        one = random_case(random)
        given = instance(one)
        string = [warp for warp, units in enumerate(given.units) for _ in units]
        random.shuffle(string)
        schedule = construct(given, tuple(string))
        # (5.1) names the last warp: rows are put in the order of their ends.
        ordered = Schedule(tuple(sorted(schedule.slots, key=lambda row: row[-1])))
        built = program(one, given.total, form)
        assert violated(built.model, values_of(built, given, ordered)) is None


@pytest.mark.parametrize("form", PAPER)
def test_a_warp_that_waits_for_nothing_violates_a_work_conserving_row(form: Form) -> None:
    built = program(case("LC", warps=2, L=1, C=2), 5, form)
    idle = Schedule(((0, 1), (1, 3)))
    name = violated(built.model, values_of(built, None, idle))
    assert name == {Form.SHORT: "busy_w2_i2_t3", Form.LONG: "busy_w2_t3_C"}[form]


@pytest.mark.parametrize("form", PAPER)
def test_two_instructions_in_the_wrong_order_violate_a_row(form: Form) -> None:
    built = program(case("LC", warps=1, L=1, C=1), 3, form)
    assert violated(built.model, values_of(built, None, Schedule(((1, 0),)))) == "order_w1_i1"


@pytest.mark.parametrize("form", list(Form))
def test_names_sort_as_they_count_and_the_files_carry_the_math(form: Form) -> None:
    model = program(case("LCLLLLLLLLL", warps=1, L=1, C=1), 11, form).model
    check_names(model)
    names = [one.name for one in model.variables if one.name.startswith(("x_", "r_"))]
    assert (names, names[0][2:]) == (sorted(names), "w1_i01_t01_L")
    assert "\\ (14),(15) sum_{w,i} x[w,i,11] <= 1, L" in lp(model)
    assert "* Berezovskyi et al. 2011, Figure 3, form " + form.value in mps(model)


def test_counted_warps_are_read_back_as_a_schedule() -> None:
    built = program(LCL, 12, Form.COUNTED)
    schedule = schedule_of(built, instance(LCL), solve(built.model).values)
    check(LCL, schedule)
    assert schedule.makespan == 9


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_the_engine_proves_a_vector_of_the_page(form: Form, solver: str) -> None:
    reports: list[EngineResult] = []
    result = Ilp(form, solver).run(case("LLCLL", warps=2, L=1, C=1), Budget(), reports.append)
    assert (result.lower, result.upper, result.proof) == (9, 9, "optimal")
    assert result.schedule is not None
    assert result.schedule.makespan == 9
    assert [one.engine for one in reports] == ["ilp", "ilp"]


def test_the_engine_counts_without_a_form() -> None:
    assert Ilp().form is Form.COUNTED


def test_at_the_deadline_the_engine_gives_an_interval_that_holds() -> None:
    result = Ilp().run(CASE_STUDY, Budget(deadline=clock.now() + 0.5), quiet)
    assert result.lower is not None
    assert result.upper is not None
    assert result.lower <= 98 <= result.upper
    assert result.note in {"ended before the solver had a proof", "ended before the program was built"}


@pytest.mark.parametrize(
    ("last", "note"), [(100, "ended before the program was built"), (3_000, "ended before the solver had a proof")], ids=["rows", "solver"]
)
def test_a_stopped_run_ends_at_once(last: int, note: str) -> None:
    # Bounds come first; once they are reported, rows are built, and then the solver runs.
    stops = [StopCounter()]

    def stop() -> bool:
        return stops[-1]()

    four = case("L5C9L2C9", warps=4, L=1, C=4, issue=4)
    result = Ilp().run(four, Budget(stop=stop), lambda _: stops.append(StopCounter(last)))
    assert result.lower is not None
    assert result.upper is not None
    assert result.lower <= 45 <= result.upper
    assert result.note == note
    assert last <= stops[1].count < last + 10


@pytest.mark.parametrize("form", list(Form))
def test_a_stop_ends_the_construction_of_a_program(form: Form) -> None:
    stops: list[int] = []
    with pytest.raises(OutOfTime):
        program(CASE_STUDY, 98, form, lambda: stops.append(0) or len(stops) == 50)
    assert len(stops) == 50


def test_a_deadline_in_the_past_leaves_the_first_schedule_and_the_first_bound() -> None:
    result = Ilp(Form.SHORT).run(CASE_STUDY, Budget(deadline=clock.now()), quiet)
    assert (result.lower, result.upper, result.note) == (83, 105, "ended before the program was built")


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_a_solver_is_not_begun_for_a_caller_that_has_stopped(solver: str) -> None:
    solution = solve(program(LCL, 9, Form.SHORT).model, solver, stop=lambda: True)
    assert (solution.status, solution.value, solution.incumbent) == (Status.UNPROVEN, None, ())


def test_a_program_that_is_too_large_is_refused_with_its_size() -> None:
    with pytest.raises(UsageError) as caught:
        Ilp(Form.SHORT).run(case("L5C9L2C9", warps=16, L=1, C=4, issue=4), Budget(), quiet)
    assert caught.value.code == "too-large"
    assert "unknowns (400 instructions," in caught.value.message


def test_a_fraction_above_1_is_refused() -> None:
    half = problem((parse("LC"),), Processor({Letter.LOAD: Fraction(3, 2), Letter.COMPUTE: Fraction(1)}, {}))
    with pytest.raises(UsageError) as caught:
        program(half, 4)
    assert (caught.value.code, "L=3/2" in caught.value.message) == ("fractional-capacity", True)


def test_an_incumbent_is_no_value() -> None:
    model = program(CASE_STUDY, 113, Form.COUNTED).model
    solution = solve(model, time_limit=0.5)
    assert (solution.status, solution.value) == (Status.UNPROVEN, None)
    assert not solution.incumbent or violated(model, solution.incumbent) is None
