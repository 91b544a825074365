"""What each form of a flow fact does to a bound, by hand on small programs."""

from dataclasses import replace

import pytest

from sassan.errors import InputError
from sassan.ilp.write import lp
from sassan.ipet.facts.read import read
from sassan.ipet.facts.rows import fact_rows
from sassan.ipet.facts.template import template
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.paths import paths
from sassan.ipet.rows import NO_THREAD_ROWS
from sassan.ipet.steps import steps_of
from sassan.ipet.system import columns_of
from sassan.ipet.wcet import Wcet, problem, wcet
from sassan.ir import SourceLine
from sassan.timing import UnitCostModel
from sassan.warpcfg.graph import WarpCfg
from unit.ipet.brute import Op, graph

NEST = graph([Op("op"), Op("op"), Op("op"), Op("bra", (2,), some=True, uniform=True), Op("bra", (1,), some=True, uniform=True), Op("exit")])
"""Two loops, at 0x08 and, inside it, at 0x10; every branch is uniform."""
SPLIT = graph([Op("op"), Op("op"), Op("op"), Op("bra", (2,), some=True), Op("bra", (1,), some=True), Op("exit")])
"""The same where every branch may diverge: threads that leave the inner loop early wait behind it."""
BOUNDS = ('[[function.brute.loop]]\nhead = "0x0008"\nbound = 9', '[[function.brute.loop]]\nhead = "0x0010"\nbound = 9')


def text(cfg: WarpCfg, *facts: str, never: str = "") -> str:
    return "\n".join((f'[function.brute]\ntext = "{cfg.function.text_hash}"\n{never}', *facts))


def bound(cfg: WarpCfg, *facts: str, never: str = "") -> Wcet:
    return wcet(problem(cfg, UnitCostModel(), bounds_of(cfg, read("f", text(cfg, *facts, never=never)))))


def two_ifs(*, uniform: bool) -> WarpCfg:
    """A loop at 0x08 with `if (c) { 0x10: 3 instructions }`, then `if (!c) { 0x30: 2 instructions }`; the loop is uniform."""
    skip = [Op("bra", (5,), some=True, uniform=uniform), Op("op"), Op("op"), Op("op")]
    return graph(
        [
            Op("op"),
            *skip,
            Op("bra", (8,), some=True, uniform=uniform),
            Op("op"),
            Op("op"),
            Op("bra", (1,), some=True, uniform=True),
            Op("exit"),
        ]
    )


def test_a_total_of_back_edges_bounds_a_triangular_nest():
    total = '[[function.brute.total]]\nhead = "0x0010"\nper = "0x0008"\nbound = 45'
    # 1 + 10 iterations of the outer loop (2 instructions) + (45 + 10) of the inner one (2) + 1
    assert bound(NEST, *BOUNDS).value == 1 + 10 * 2 + 100 * 2 + 1
    assert bound(NEST, *BOUNDS, total).value == 1 + 10 * 2 + (45 + 10) * 2 + 1


def test_a_total_of_one_run_counts_over_all_entries():
    total = '[[function.brute.total]]\nblock = "0x0010"\nbound = 55'
    assert bound(NEST, *BOUNDS, total).value == 1 + 10 * 2 + 55 * 2 + 1


def test_a_total_of_threads_that_wait_for_each_other_is_one_of_each_of_them():
    total = '[[function.brute.total]]\nblock = "0x0010"\nbound = 1'
    value, plain = (found.value for found in (bound(SPLIT, *BOUNDS, total), bound(SPLIT, *BOUNDS)))
    assert value is not None
    assert plain is not None
    assert 1 + 2 * 32 < value < plain


def test_a_total_bounds_the_loop_itself():
    total = '[[function.brute.total]]\nhead = "0x0010"\nper = "0x0008"\nbound = 45'
    assert bounds_of(NEST, read("f", text(NEST, BOUNDS[0], total))).of_loop == (9, 45)


def test_a_block_that_is_never_executed_costs_nothing_and_its_loop_needs_no_bound():
    cfg = graph([Op("bra", (2,), some=True), Op("bra", (1,), some=True), Op("exit")])
    assert [gap.code for gap in bound(cfg).gaps] == ["unbounded-loop"]
    assert bound(cfg, never='never = ["0x0008"]').value == 2


ONCE = '[[function.brute.exclusive]]\nblocks = ["0x0010", "0x0030"]'
FEW = '[[function.brute.loop]]\nhead = "0x0008"\nbound = {}'


def test_blocks_exclude_each_other_where_the_branch_is_uniform():
    cfg = two_ifs(uniform=True)
    # an iteration takes 3 branches and the blocks of 3 and 2 instructions
    assert bound(cfg, FEW.format(9)).value == 1 + 10 * (3 + 3 + 2) + 1
    assert bound(cfg, FEW.format(9), f'{ONCE}\nwithin = "0x0008"').value == 1 + 10 * (3 + 3) + 1
    assert bound(cfg, FEW.format(0), ONCE).value == 1 + 3 + 3 + 1


def test_a_path_is_listed_only_if_it_obeys_the_facts():
    cfg = two_ifs(uniform=True)
    bounds = bounds_of(cfg, read("f", text(cfg, FEW.format(0), ONCE)))
    rows = tuple(fact_rows(steps_of(cfg), columns_of(cfg, frozenset({NO_THREAD_ROWS})), bounds.facts, (0,)))
    both = {index for index, node in enumerate(cfg.nodes) if node.start in {0x10, 0x30}}
    every, some = ([{cfg.edges[edge].src for edge in path} for path in paths(cfg, (0,), facts)] for facts in ((), rows))
    assert (len(every), len(some)) == (4, 3)
    assert [path for path in every if path not in some] == [path for path in every if both <= path]


def test_a_block_in_a_loop_of_its_own_counts_by_its_share():
    skip = Op("bra", (4,), some=True, uniform=True)
    cfg = graph(
        [skip, Op("op"), Op("bra", (1,), some=True, uniform=True), Op("op"), Op("bra", (6,), some=True, uniform=True), Op("op"), Op("exit")]
    )
    # 0: a branch; 1, 2: a loop of 10 iterations; 3; 4: a branch; 5; 6
    assert bound(cfg, FEW.format(9)).value == 1 + 20 + 1 + 1 + 1 + 1
    assert bound(cfg, FEW.format(9), ONCE.replace("0x0010", "0x0008").replace("0x0030", "0x0028")).value == 1 + 20 + 1 + 1 + 1


def test_blocks_of_a_divergent_branch_are_both_executed():
    cfg = two_ifs(uniform=False)
    plain = bound(cfg, FEW.format(0))
    assert plain.value is not None
    assert plain.value > 1 + (3 + 3 + 2) + 1
    assert bound(cfg, FEW.format(0), ONCE).value == plain.value


def test_a_constraint_counts_executions_of_the_warp():
    fact = '[[function.brute.constraint]]\nblocks = { "0x0010" = 2, "0x0020" = -3 }\nmost = 1'
    # the block at 0x20 ends an iteration of the outer loop and runs 10 times: 2 * 15 - 3 * 10 <= 1
    assert bound(NEST, *BOUNDS, fact).value == 1 + 10 * 2 + 15 * 2 + 1


def test_a_constraint_may_demand():
    fact = '[[function.brute.constraint]]\nblocks = {{ "0x0020" = 1 }}\n{} = 4'
    assert bound(NEST, *BOUNDS, fact.format("equal")).value == 1 + 4 * 2 + 40 * 2 + 1
    assert bound(NEST, *BOUNDS, fact.format("least")).value == bound(NEST, *BOUNDS).value


def test_facts_that_contradict_each_other_give_no_number():
    found = bound(NEST, *BOUNDS, '[[function.brute.constraint]]\nblocks = { "0x0010" = 1 }\nmost = 0')
    assert (found.value, [gap.code for gap in found.gaps]) == (None, ["contradictory-facts"])


def test_every_fact_is_an_assumption():
    facts = (
        '[[function.brute.total]]\nhead = "0x0010"\nper = "0x0008"\nbound = 45',
        '[[function.brute.total]]\nblock = "0x0010"\nbound = 1',
        '[[function.brute.exclusive]]\nblocks = ["0x0010", "0x0020"]\nwithin = "0x0008"',
        '[[function.brute.constraint]]\nblocks = { "0x0010" = -2, "0x0020" = 3 }\nequal = -1',
    )
    assert bounds_of(NEST, read("f", text(NEST, *BOUNDS, *facts, never='never = ["0x0028"]'))).assumptions == (
        "flow fact: at most 9 back edges per entry (10 iterations of the header) of the loop at 0x0008",
        "flow fact: at most 9 back edges per entry (10 iterations of the header) of the loop at 0x0010",
        "flow fact: a thread takes back edges of the loop at 0x0010 at most 45 times per entry of the loop at 0x0008",
        "flow fact: a thread executes the block at 0x0010 at most 1 time in one run of the function",
        "flow fact: the block at 0x0028 is never executed",
        "flow fact: a thread executes at most one of the blocks at 0x0010, 0x0020 per iteration of the loop at 0x0008",
        "flow fact: - 2 x(0x0010) + 3 x(0x0020) = -1, x the executions of a block by one warp",
    )


def test_the_integer_program_names_the_rows_of_facts():
    fact = '[[function.brute.constraint]]\nblocks = { "0x0010" = 2 }\nmost = 31'
    total = '[[function.brute.total]]\nblock = "0x0010"\nbound = 55'
    facts = read("f", text(NEST, *BOUNDS, fact, total, never='never = ["0x0020"]'))
    model = problem(NEST, UnitCostModel(), bounds_of(NEST, facts)).model
    assert model is not None
    assert "block 0x0010: sum(x) - 1 * 55 <= 0" in lp(model)
    assert [row.name for row in model.rows if row.name.startswith("fact_")] == [
        "fact_00000_warp",
        "fact_00000_threads",
        "fact_never_0020",
        "fact_constraint_00000",
    ]


@pytest.mark.parametrize(
    ("fact", "code", "hint"),
    [
        ('[[function.brute.total]]\nhead = "0x0000"\nbound = 1', "facts-unknown-loop", "loop headers: 0x0008, 0x0010"),
        ('[[function.brute.total]]\nhead = "0x0010"\nper = "0x0000"\nbound = 1', "facts-unknown-loop", "loop headers: 0x0008, 0x0010"),
        ('[[function.brute.total]]\nblock = "0x0018"\nbound = 1', "facts-unknown-block", "it lies in the block at 0x0010"),
        ('[[function.brute.total]]\nblock = "0x0080"\nbound = 1', "facts-unknown-block", "blocks: 0x0000, 0x0008, 0x0010, 0x0020, 0x0028"),
        (
            '[[function.brute.exclusive]]\nblocks = ["0x0000", "0x0004"]',
            "facts-unknown-block",
            "blocks: 0x0000, 0x0008, 0x0010, 0x0020, 0x0028",
        ),
        ('[[function.brute.constraint]]\nblocks = { "0x0018" = 1 }\nmost = 1', "facts-unknown-block", "it lies in the block at 0x0010"),
        (
            '[[function.brute.total]]\nhead = "0x0008"\nper = "0x0010"\nbound = 1',
            "facts-outside-loop",
            "name a loop around it, or none: the fact then holds for one run",
        ),
        (
            '[[function.brute.exclusive]]\nblocks = ["0x0010", "0x0028"]\nwithin = "0x0008"',
            "facts-outside-loop",
            "name a loop around it, or none: the fact then holds for one run",
        ),
        (
            '[[function.brute.loop]]\nline = "k.cu:42"\nbound = 1',
            "facts-unknown-line",
            "the input has no source lines for its loops: compile with -lineinfo",
        ),
    ],
)
def test_a_fact_about_what_is_not_there_is_refused(fact: str, code: str, hint: str):
    with pytest.raises(InputError) as caught:
        bounds_of(NEST, read("f", text(NEST, fact)))
    assert (caught.value.code, caught.value.hint) == (code, hint)


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        ('[[function.brute.total]]\nhead = "0x0010"', "total[0].bound"),
        ('[[function.brute.total]]\nhead = "0x0010"\nbound = -1', "must be a whole number, 0 or more, not -1"),
        ("[[function.brute.total]]\nbound = 1", "total[0].head: a fact gives head, line or block, exactly one of them"),
        ('[[function.brute.total]]\nhead = "0x0010"\nblock = "0x0010"\nbound = 1', "total[0].block: a fact gives head, line or block"),
        ('[[function.brute.total]]\nblock = "0x0010"\nper = "here"\nbound = 1', 'must be an address such as "0x0158" or a source line'),
        ('[[function.brute.total]]\nblock = "0x0010"\nbound = 1\nmost = 2', "total[0].most: unknown key"),
        ('[[function.brute.loop]]\nline = "42"\nbound = 1', "must be a source line such as \"kernel.cu:42\", not '42'"),
        ('[[function.brute.loop]]\nline = "k.cu:0"\nbound = 1', 'must be a source line such as "kernel.cu:42"'),
        ('[[function.brute.loop]]\nline = "k.cu:4"\nhead = "0x0008"\nbound = 1', "a fact gives head or line, exactly one of them"),
        ('[[function.brute.exclusive]]\nblocks = ["0x0010"]', "must be the addresses of two blocks or more"),
        ('[[function.brute.exclusive]]\nblocks = ["0x0010", "0x0010"]', "must be the addresses of two blocks or more"),
        ('[[function.brute.exclusive]]\nblocks = ["0x0010", "x"]', "exclusive[0].blocks[1]: must be an address"),
        ('[[function.brute.exclusive]]\nblocks = "0x0010"', "exclusive[0].blocks: must be an array"),
        ("[[function.brute.constraint]]\nmost = 1", "constraint[0].blocks"),
        ("[[function.brute.constraint]]\nblocks = {}\nmost = 1", "must give factors"),
        ('[[function.brute.constraint]]\nblocks = { "0x0010" = 1 }', "a fact gives most, least or equal, exactly one of them"),
        ('[[function.brute.constraint]]\nblocks = { "0x0010" = 1 }\nmost = 1\nleast = 1', "exactly one of them"),
        ("[[function.brute.constraint]]\nblocks = { here = 1 }\nmost = 1", "blocks.here: must be an address"),
        ('[[function.brute.constraint]]\nblocks = { "0x0010" = 1, "0x10" = 2 }\nmost = 1', "stands twice"),
        ('[[function.brute.constraint]]\nblocks = { "0x0010" = 0.5 }\nmost = 1', "must be a whole number"),
        ('[[function.brute.constraint]]\nblocks = { "0x0010" = 2000000 }\nmost = 1', "must be a whole number from -1000000 to 1000000"),
        ('[[function.brute.branch]]\nat = "0x0010"\ntargets = []', "must be one address or more"),
        (
            '[[function.brute.branch]]\nat = "0x0010"\ntargets = ["0x0010"]\n[[function.brute.branch]]\nat = "0x10"\ntargets = ["0x0"]',
            "stand twice",
        ),
        ('[[function.brute.branch]]\ntargets = ["0x0010"]', "branch[0].at"),
    ],
)
def test_a_fact_that_means_nothing_is_refused(fact: str, why: str):
    with pytest.raises(InputError) as caught:
        read("f", text(NEST, fact))
    assert caught.value.code == "facts-value"
    assert why in caught.value.message


def lined(cfg: WarpCfg, *lines: tuple[int, str, int]) -> WarpCfg:
    return replace(cfg, function=replace(cfg.function, lines=tuple(SourceLine(*line) for line in lines)))


LINED = lined(
    NEST, (0, "/src/k.cu", 10), (0x08, "/src/k.cu", 12), (0x18, "/src/k.cu", 12), (0x20, "/src/k.cu", 11), (0x28, "/src/k.cu", 14)
)
BY_LINE = '[[function.brute.loop]]\nline = "{}"\nbound = {}'


def test_a_loop_is_at_the_line_of_the_branch_that_leads_back():
    facts = read("f", "\n".join((BY_LINE.format("k.cu:11", 3), BY_LINE.format("src/k.cu:12", 5))))
    bounds = bounds_of(LINED, facts)
    assert bounds.of_loop == (3, 5)
    assert (
        bounds.assumptions[1]
        == "flow fact: at most 5 back edges per entry (6 iterations of the header) of the loop at 0x0010 (src/k.cu:12)"
    )


def test_facts_by_line_need_no_hash_and_those_by_address_beside_them_do():
    assert read("f", BY_LINE.format("k.cu:11", 3)).functions[0][1].text == ""
    with pytest.raises(InputError) as caught:
        read("f", BY_LINE.format("k.cu:11", 3) + '\n[[function.brute.total]]\nline = "k.cu:12"\nper = "0x0008"\nbound = 4')
    assert "function.brute.text" in caught.value.message


def test_a_total_goes_by_lines():
    total = '[[function.brute.total]]\nline = "k.cu:12"\nper = "k.cu:11"\nbound = 45'
    by_line = read("f", "\n".join((BY_LINE.format("k.cu:11", 9), total)))
    assert wcet(problem(LINED, UnitCostModel(), bounds_of(LINED, by_line))).value == 1 + 10 * 2 + (45 + 10) * 2 + 1


def test_a_line_holds_for_every_copy_of_its_loop():
    copies = lined(
        graph([Op("op"), Op("bra", (0,), some=True), Op("op"), Op("bra", (2,), some=True), Op("exit")]),
        (0, "k.cu", 3),
        (0x20, "k.cu", 4),
    )
    assert bounds_of(copies, read("f", BY_LINE.format("k.cu:3", 7))).of_loop == (7, 7)


@pytest.mark.parametrize(
    ("cfg", "line", "code", "hint"),
    [
        (LINED, "k.cu:14", "facts-unknown-line", "lines of loops: /src/k.cu:11, /src/k.cu:12"),
        (LINED, "rc/k.cu:11", "facts-unknown-line", "lines of loops: /src/k.cu:11, /src/k.cu:12"),
        (lined(NEST, (0, "k.cu", 7)), "k.cu:7", "facts-ambiguous-line", 'name each by its head = "0x…"'),
        (
            lined(NEST, (0, "/a/k.cu", 7), (0x20, "/b/k.cu", 7)),
            "k.cu:7",
            "facts-ambiguous-line",
            "write more of the path: /a/k.cu, /b/k.cu",
        ),
    ],
)
def test_a_line_that_means_no_loop_or_several_is_refused(cfg: WarpCfg, line: str, code: str, hint: str):
    with pytest.raises(InputError) as caught:
        bounds_of(cfg, read("f", BY_LINE.format(line, 1)))
    assert (caught.value.code, caught.value.hint) == (code, hint)


def test_the_template_names_the_lines_of_a_loop_and_every_form():
    written = template([(LINED, bounds_of(LINED))])
    assert 'head = "0x0010"\n# line = "/src/k.cu:12"' in written
    assert all(f"function.NAME.{form}]]" in written for form in ("total", "exclusive", "constraint", "branch"))
