import pytest

from evolving import CONFIG, KERNEL, PTX, config_file
from sassan.errors import UsageError
from sassan.evolve.space.config import Objective, read
from sassan.evolve.space.genes import GeneKind
from sassan.machine.launch import LaunchConfiguration

GENE = '[[gene]]\nmacro = "UNROLL"\nvalues = [1, 2, 4, 12]\n'


def refused(tmp_path, text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read(str(config_file(tmp_path, text)))
    return caught.value


def test_a_configuration_is_read_as_it_is_written(tmp_path):
    result = read(str(config_file(tmp_path)))
    assert result.kernel.text == KERNEL
    assert [gene.name for gene in result.space.genes] == ["UNROLL", "GAP", "FAIL"]
    assert result.space.size == 16
    assert result.objectives == (Objective.WCET,)
    assert result.shape.launch(result.space.choice(result.space.default)) == LaunchConfiguration((32, 1, 1), (4, 1, 1))
    assert (result.plan.population, result.plan.budget, result.plan.seed) == (4, 8, 1)


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("[kernel]", "[kernel", "not TOML"),
        ('source = "tiny.cu"\n', "", "kernel.source: is missing"),
        ('source = "tiny.cu"', 'source = "none.cu"', "kernel.source: cannot read"),
        ('source = "tiny.cu"', 'source = "tiny.c"', "kernel.source: must be"),
        ('arch = "sm_80"', 'arch = "sm_35"', "kernel.arch: unknown architecture sm_35"),
        ('function = "tiny"', 'function = ""', "kernel.function: must not be empty"),
        ('function = "tiny"', 'function = "tiny"\noptions = ["-I/usr/include"]', "kernel.options: '-I/usr/include'"),
        ('function = "tiny"', 'functions = "tiny"', "kernel.functions: unknown key"),
        ("[launch]", "[lunch]", "lunch: unknown key"),
        ("block = [32]", "block = [2048]", "launch.block, grid: a block of x extent 2048"),
        ("block = [32]", 'block = ["NONE"]', "'NONE' is not a gene"),
        ("block = [32]", 'block = ["32 / UNROLL"]', "not an integer: use ceil(...) (of the choice UNROLL=12)"),
        ("block = [32]", "block = []", "launch.block: must be one to three"),
        ("grid = [4]", "grid = [4]\nparam = { param_0 = 1.5 }", "launch.param.param_0: must be a whole number"),
        ("grid = [4]", "grid = [4]\nparam = { '0x' = 1 }", "launch.param.0x"),
        ("values = [false, true]", "values = [false]", "gene[1].values: must have at least two"),
        ("values = [false, true]", "values = [false, 1.5]", "gene[1].values: 1.5 is not a valid value of GAP"),
        ('macro = "FAIL"', 'macro = "GAP"', "gene[2].macro: duplicate gene 'GAP'"),
        ('macro = "FAIL"', 'macro = "1"', "gene[2].macro: '1' is not an identifier"),
        ('macro = "FAIL"', 'flag = "--fmad"', "gene[2].flag: '--fmad' changes rounding"),
        ('macro = "FAIL"', 'flag = "-I"', "gene[2].flag: unknown flag '-I'"),
        (
            'macro = "FAIL"\nvalues = [false, true]',
            'flag = "--maxrregcount"\nvalues = [false, 8]',
            "gene[2].values: 8 is not a valid value",
        ),
        ('macro = "FAIL"\nvalues = [false, true]', 'flag = "-Xptxas"\nvalues = [false, "-G"]', "gene[2].values: '-G' is not a valid value"),
        ('macro = "FAIL"', 'macro = "FAIL"\norder = 4', "gene[2].macro, flag, launch, order: exactly one of them"),
        ('macro = "FAIL"\nvalues = [false, true]', "order = 0", "gene[2].order: must be a whole number"),
        ("population = 4", "population = 6", "search.population: must be a multiple of 4"),
        ("budget = 8", "budget = 0", "search.budget"),
        ("budget = 8", "bugdet = 8", "search.bugdet: unknown key"),
        ("[search]", '[cost]\nobjectives = ["speed"]\n[search]', "cost.objectives: unknown objective 'speed'"),
        ("[search]", '[cost]\nobjectives = ["wcet", "wcet"]\n[search]', "cost.objectives: must have at least one"),
        ("[search]", '[cost]\nobjectives = ["makespan"]\n[search]', "cost.warps: is missing"),
        ("[search]", '[cost]\nobjectives = ["measured"]\n[search]', "measure.arguments: is missing"),
        ("[search]", '[cost]\nmodel = "measured"\n[search]', "cost.model: must be one of"),
        ("[search]", "[cost]\nlatency = { foo = 3 }\n[search]", "cost.latency.foo: unknown latency 'foo'; known: "),
        ("[search]", "[cost]\nlatency = { global = 0 }\n[search]", "cost.latency.global: must be a whole number"),
        ('macro = "UNROLL"', 'macro = "UNROL"', "gene[0].macro: 'UNROL' does not occur in '"),
        ('macro = "FAIL"\nvalues = [false, true]', 'launch = "WORK"\nvalues = [1, 2]', "gene[2].launch: 'WORK' does not occur in"),
        ('macro = "FAIL"\nvalues = [false, true]', 'flag = "-Xptxas"\nvalues = [false, "-O0"]', "gene[2].values: '-O0' changes rounding"),
        (
            'macro = "FAIL"\nvalues = [false, true]',
            'flag = "-Xptxas"\nvalues = ["--opt-level 0", "-O1"]',
            "gene[2].values: '--opt-level 0'",
        ),
        (CONFIG.partition("[[gene]]")[2].partition("[search]")[0], "\n", "gene[0].macro, flag, launch, order: exactly one of them"),
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path, before, after, key):
    assert before in CONFIG
    error = refused(tmp_path, CONFIG.replace(before, after))
    assert error.status == 2
    assert error.message.startswith(str(tmp_path / "tiny.toml"))
    assert key in error.message


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(UsageError) as caught:
        read(str(tmp_path / "none.toml"))
    assert caught.value.code == "cannot-read"


@pytest.mark.parametrize("objective", ["wcet", "makespan"])
def test_single_warps_are_not_compared_where_the_launch_changes(tmp_path, objective):
    text = CONFIG.replace("grid = [4]", 'grid = ["24 / UNROLL"]').replace(
        "[search]", f'[cost]\nobjectives = ["{objective}"]\nwarps = 4\n[search]'
    )
    assert "the launch depends on UNROLL: use the objective 'grid'" in refused(tmp_path, text).message


def test_whole_launches_are_compared_where_the_launch_changes(tmp_path):
    text = CONFIG.replace("grid = [4]", 'grid = ["24 / UNROLL"]').replace("[search]", '[cost]\nobjectives = ["grid"]\n[search]')
    result = read(str(config_file(tmp_path, text)))
    assert result.shape.launch(result.space.choice((2, 0, 0))).grid == (6, 1, 1)


def test_every_shape_that_the_genes_make_is_looked_at(tmp_path):
    text = CONFIG.replace("block = [32]", 'block = ["96 * UNROLL"]').replace("[search]", '[cost]\nobjectives = ["grid"]\n[search]')
    assert "a block of x extent 1152 cannot be launched" in refused(tmp_path, text).message


def test_flags_that_change_rounding_are_taken_when_they_are_allowed(tmp_path):
    text = CONFIG.replace('macro = "FAIL"\nvalues = [false, true]', 'flag = "--fmad"\nvalues = [false, "false"]')
    result = read(str(config_file(tmp_path, text + "allow_inexact = true\n")))
    assert result.space.choice((0, 0, 1)).words == ("-DUNROLL=1", "--fmad=false")


def test_macros_mean_nothing_to_ptx(tmp_path):
    text = CONFIG.replace("tiny.cu", "tiny.ptx")
    with pytest.raises(UsageError, match="'UNROLL' has no effect on a PTX source"):
        read(str(config_file(tmp_path, text, PTX, "tiny.ptx")))


@pytest.mark.parametrize(
    "line",
    [
        '#include "/etc/hostname"',
        "#include </etc/hostname>",
        '#include "../other.h"',
        '#include "a/../../other.h"',
        '#include "..\\\\other.h"',
        '%:include "/etc/hostname"',
        '??=include "/etc/hostname"',
        '# /* a */ include /* b */ "/etc/hostname"',
        '#inc\\\nlude "/etc/hostname"',
        "#include NAME",
        '#if __has_include("/etc/hostname")\n#endif',
        '#include "inner.h"',
    ],
)
def test_a_source_includes_nothing_from_elsewhere(tmp_path, line):
    (tmp_path / "inner.h").write_text('#include "/etc/hostname"\n')
    with pytest.raises(UsageError, match=r"tiny\.toml: kernel\.source: .*include") as caught:
        read(str(config_file(tmp_path, kernel=f"{line}\n{KERNEL}")))
    assert caught.value.code == "bad-config"


def test_headers_below_the_folder_are_read_with_the_source(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "sub" / "b.h").write_text('#include "a.h"\n#pragma unroll MORE\n')
    text = CONFIG.replace('macro = "FAIL"', 'macro = "MORE"')
    result = read(str(config_file(tmp_path, text, f"#include <cuda_fp16.h>\n#include <sub/a.h>\n{KERNEL}")))
    assert [name for name, _ in result.kernel.headers] == ["sub/a.h", "sub/b.h"]
    before = result.fingerprint
    (tmp_path / "sub" / "b.h").write_text("#pragma unroll 2 * MORE\n")
    assert read(str(tmp_path / "tiny.toml")).fingerprint != before


def test_a_macro_that_only_a_comment_names_is_refused(tmp_path):
    text = CONFIG.replace('macro = "FAIL"', 'macro = "WORK"')
    with pytest.raises(UsageError, match=r"gene\[2\]\.macro: 'WORK' does not occur in"):
        read(str(config_file(tmp_path, text, f"// WORK\n/* WORK\n*/ int WORKS;\n{KERNEL}")))


def test_the_fingerprint_knows_the_kernel_and_not_its_folder(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    original, same = read(str(config_file(first))), read(str(config_file(second)))
    other = read(str(config_file(second, kernel=KERNEL + "// changed\n")))
    assert original.fingerprint == same.fingerprint != other.fingerprint


def test_orders_stand_behind_the_choices(tmp_path):
    text = CONFIG.replace(GENE, "[[gene]]\norder = 2\nlevels = 3\n\n" + GENE)
    result = read(str(config_file(tmp_path, text)))
    assert result.space.genes[0].kind is GeneKind.ORDER
    assert result.space.sizes == (4, 2, 2, 3, 3)
    assert result.space.choice((1, 0, 0, 0, 2)).order == (0, 2)
    assert result.ordered
