"""The self-check against the compiler's tables: silent on what the compiler made, loud on every fault put into a table or a graph."""

from dataclasses import replace
from functools import lru_cache

import pytest

import cubins
from budget import some
from samples import PRE_VOLTA, SAMPLES, explored, names
from sassan.app.analysis import analyze, warp_graph
from sassan.app.settings import Settings
from sassan.arch import architecture
from sassan.errors import InputError, SassanError, SelfCheckError
from sassan.frontend import load, read
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.image import Image
from sassan.ir import CompilerFacts, Function
from sassan.isa import tables
from sassan.warpcfg.compiler_tables import check
from sassan.warpcfg.graph import WarpCfg

EVERY = [(arch, name) for arch in PRE_VOLTA for name in names(arch)]
SOME = [("sm_61", name) for name in ("bfs_step", "switch_brx", "nested_divergent_loops", "loop_continue_token", "debug_build")]


@lru_cache(maxsize=8)
def functions(arch: str, name: str) -> tuple[Function, ...]:
    """Return the functions of a sample: its listing, with what its cubin says."""
    image = Image(name, cubins.cubin(f"{arch}/{name}"))
    known = architecture(arch)
    assert known is not None
    facts = compiler_facts(image, Elf(image), known)
    listed = read(load(str(SAMPLES / arch / f"{name}.nvdisasm.sass"))).functions
    return tuple(replace(one, compiler=facts[one.name]) for one in listed)


def checked(cfg: WarpCfg, *, exact: bool = True) -> None:
    check(cfg, tables.load(cfg.function.arch).facts, exact=exact)


def with_facts(cfg: WarpCfg, **changed: object) -> WarpCfg:
    """Return the graph with other tables."""
    compiler = cfg.function.compiler
    assert isinstance(compiler, CompilerFacts)
    return replace(cfg, function=replace(cfg.function, compiler=replace(compiler, **changed)))


def message(cfg: WarpCfg) -> str:
    """Return what the check finds."""
    with pytest.raises(SassanError) as caught:
        checked(cfg)
    assert caught.value.code == "compiler-table"
    assert caught.value.status == (3 if caught.value.message.startswith("the code of") else 5)
    return caught.value.message


def saxpy() -> WarpCfg:
    return explored(functions("sm_61", "saxpy")[0])


def bfs_step() -> WarpCfg:
    return explored(functions("sm_61", "bfs_step")[0])


@pytest.mark.parametrize(("arch", "name"), some(EVERY, of=5))
def test_every_graph_before_volta_is_as_the_compiler_says(arch, name):
    for function in functions(arch, name):
        checked(explored(function))


@pytest.mark.parametrize(("arch", "name"), SOME)
def test_a_fault_in_any_entry_is_noticed_unless_nothing_reaches_it(arch, name):
    for function in functions(arch, name):
        cfg = explored(function)
        compiler = function.compiler
        assert compiler is not None
        live = {one.address for node in cfg.nodes for one in node.instructions}
        for place, (address, targets) in enumerate(compiler.indirect_targets):
            faulty = [*compiler.indirect_targets]
            faulty[place] = (address, (*targets[:-1], targets[-1] + 8))
            changed = with_facts(cfg, indirect_targets=tuple(faulty))
            if address in live:
                assert f"0x{address:04x}" in message(changed)
            else:
                assert (name, address) == ("debug_build", 0x408)
                checked(changed)


@pytest.mark.parametrize(("arch", "name"), SOME)
def test_a_missing_entry_of_a_token_is_noticed(arch, name):
    for function in functions(arch, name):
        cfg = explored(function)
        for address, _ in cfg.token_targets:
            kept = tuple(one for one in function.compiler.indirect_targets if one[0] != address)
            if len(kept) < len(function.compiler.indirect_targets):
                assert "the table to nothing" in message(with_facts(cfg, indirect_targets=kept))


def test_a_target_too_many_in_the_graph_is_noticed():
    cfg = bfs_step()
    (address, targets), *rest = cfg.token_targets
    wrong = replace(cfg, token_targets=((address, (*targets, 0x8)), *rest))
    assert message(wrong).startswith(f"'bfs_step' is not as the compiler says: SYNC at 0x{address:04x}: the graph leads to 0x0008, 0x")


def test_an_inexact_graph_may_have_more_targets_and_not_fewer():
    cfg = bfs_step()
    (address, targets), *rest = cfg.token_targets
    checked(replace(cfg, token_targets=((address, (*targets, 0x8)), *rest)), exact=False)
    with pytest.raises(SelfCheckError):
        checked(replace(cfg, token_targets=((address, ()), *rest)), exact=False)


def test_an_edge_of_a_brx_that_is_missing_is_noticed():
    cfg = explored(functions("sm_61", "switch_brx")[0])
    source = next(index for index, node in enumerate(cfg.nodes) if node.end == 0x170)
    edges = [edge for edge in cfg.thread_edges if edge.src != source or cfg.nodes[edge.dst].start != 0x178]
    assert "BRX at 0x0170" in message(replace(cfg, thread_edges=tuple(edges)))


def test_an_exit_that_was_not_read_is_noticed():
    assert message(with_facts(saxpy(), exits=(0x58, 0xD8, 0xE8))) == (
        "the code of 'saxpy' is not what its tables say: EXIT at 0x00d8: one is in the table, and none was read there"
    )


def test_an_exit_that_the_table_lacks_is_noticed():
    assert message(with_facts(saxpy(), exits=(0x58,))) == (
        "the code of 'saxpy' is not what its tables say: EXIT at 0x00e8: one was read there, and the table has none"
    )


def test_a_graph_with_gaps_is_compared_in_its_exits_only():
    cfg = explored(functions("sm_61", "recursion")[0])
    assert cfg.gaps
    checked(with_facts(cfg, indirect_targets=()))
    with pytest.raises(InputError):
        checked(with_facts(cfg, exits=()))


def test_a_table_of_an_instruction_without_targets_is_the_damage_of_the_input():
    cfg = bfs_step()
    [(_, targets), *rest] = cfg.function.compiler.indirect_targets
    start = cfg.function.instructions[0].address
    assert message(with_facts(cfg, indirect_targets=((start, targets), *rest))).startswith("the code of 'bfs_step'")
    [(address, _), *rest] = cfg.function.compiler.indirect_targets
    assert message(with_facts(cfg, indirect_targets=((address, (start + 1,)), *rest))).startswith("the code of 'bfs_step'")


def test_without_tables_there_is_nothing_to_check():
    cfg = bfs_step()
    checked(replace(cfg, function=replace(cfg.function, compiler=None)))
    checked(with_facts(cfg, exits=None))


def test_the_pipeline_checks_every_graph_of_a_cubin():
    function = functions("sm_61", "saxpy")[0]
    wrong = replace(function, compiler=replace(function.compiler, exits=()))
    with pytest.raises(InputError):
        warp_graph(wrong, Settings())
    with pytest.raises(InputError):
        analyze(wrong, Settings())
