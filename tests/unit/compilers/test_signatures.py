"""Names of parameters from CUDA C++, and which kernels get them."""

from dataclasses import replace
from pathlib import Path

import pytest

from sassan.app.parameter_names import named, with_source_names
from sassan.app.sources import Sources
from sassan.compilers.signatures import KernelDefinition, NamedParameter, kernels
from sassan.ir import CompilerFacts, Function, Parameter, Program, SourceLine


def read(text: str) -> list[tuple[str, list[str] | None]]:
    return [(one.name, None if one.parameters is None else [each.name for each in one.parameters]) for one in kernels(text)]


def test_a_definition_has_its_lines_and_sizes_where_types_say_them() -> None:
    text = "int f();\n__global__ void k(float *y,\n                  unsigned n, std::size_t m, My s)\n{\n  if (n) { }\n}\nint g();\n"
    parameters = (NamedParameter("y", 8), NamedParameter("n", 4), NamedParameter("m", 8), NamedParameter("s", 0))
    assert kernels(text) == (KernelDefinition("k", 2, 6, parameters),)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("__global__ void k()", []),
        ("__global__ void k(void)", []),
        ("__global__ void __launch_bounds__(256, 2) k(int n)", ["n"]),
        ("__launch_bounds__(N > 1 ? 2 : 1) __global__ static void k(int n)", ["n"]),
        ('extern "C" __global__ __attribute__((used)) void k(int n)', ["n"]),
        ("template <typename T, int N> __global__ void k(const T* __restrict__ x, std::array<int, 4> a)", ["x", "a"]),
        ("template <> __global__ void k<int, 3>(int n)", ["n"]),
        ("__global__ void k(const __grid_constant__ CUtensorMap map, float tile[], int rows[4][8], int last = f(1, 2))",
         ["map", "tile", "rows", "last"]),
        ("__global__ void k(int n /* of, rows */, // and (m\n  int m)", ["n", "m"]),
    ],
)  # fmt: skip
def test_heads_of_many_forms_are_read(head: str, names: list[str]) -> None:
    assert read(head + " { const char *s = \"}\"; char c = '{'; }") == [("k", names)]


@pytest.mark.parametrize(
    "parameters",
    [
        "int",
        "int n, float",
        "unsigned long",
        "Foo, int n",
        "ns::Foo",
        "const Foo*",
        "void (*f)(int)",
        "int (&rows)[4]",
        "ARG(int, n)",
        "int n, int n",
    ],
)
def test_what_is_not_read_for_certain_has_no_names(parameters: str) -> None:
    assert read(f"__global__ void k({parameters}) {{ }}") == [("k", None)]


def test_declarations_instances_comments_and_macros_define_nothing() -> None:
    text = (
        "__global__ void k(int a);\ntemplate __global__ void k<float>(float *a);\n// __global__ void k(int b) { }\n"
        "/* __global__ void k(int c) { } */\n"
        '#define K __global__ void k(int d) \\\n  { }\nconst char *s = R"(__global__ void k(int e) { })";\n'
    )
    assert kernels(text) == ()


def kernel(*lines: int, name: str = "_Z1kii", parameters: tuple[Parameter, ...] = (Parameter(0, 0, 4), Parameter(1, 4, 4))) -> Function:
    facts = CompilerFacts(0x100, parameters=parameters, parameter_base=0x160)
    return Function(
        name, "sm_80", (), compiler=facts, lines=tuple(SourceLine(16 * at, "/elsewhere/k.cu", line) for at, line in enumerate(lines))
    )


def names(function: Function) -> list[str]:
    assert function.compiler is not None
    return [each.name for each in function.compiler.parameters]


TWO = "#ifdef A\n__global__ void k(int rows, int columns)\n{ }\n#else\n__global__ void k(int columns, int rows)\n{ }\n#endif\n"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        # Of two definitions of one name, that from whose lines the code was compiled.
        (kernel(3, 99), ["rows", "columns"]),
        (kernel(6), ["columns", "rows"]),
        (kernel(6, 3), ["", ""]),
        (kernel(8), ["", ""]),
        (kernel(), ["", ""]),
        (kernel(3, name="_ZN2ns1kILi4EEEvii"), ["rows", "columns"]),
        (kernel(3, name="_Z1jii"), ["", ""]),
        # Other sizes, and another number.
        (kernel(3, parameters=(Parameter(0, 0, 8), Parameter(1, 8, 4))), ["", ""]),
        (kernel(3, parameters=(Parameter(0, 0, 4),)), [""]),
        # Those of the debug information stay.
        (kernel(3, parameters=(Parameter(0, 0, 4, "a"), Parameter(1, 4, 4, "b"))), ["a", "b"]),
    ],
)
def test_a_kernel_has_the_names_of_the_definition_that_it_was_compiled_from(
    function: Function, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(TWO, "utf-8")
    (found,) = with_source_names(Program("k.cubin", (function,)), Sources(str(tmp_path))).functions
    assert names(found) == expected


def test_without_its_source_a_kernel_has_no_names(tmp_path: Path) -> None:
    program = Program("k.cubin", (kernel(3),))
    assert with_source_names(program, Sources(str(tmp_path))) == program


def test_a_compiler_may_add_parameters_behind_those_of_a_signature() -> None:
    one = [NamedParameter("n", 4)]
    assert names(named(kernel(), one, further=True)) == ["n", ""]
    assert names(named(kernel(), one)) == ["", ""]
    assert names(named(kernel(), [*one, *one])) == ["", ""]
    assert replace(kernel(), compiler=None) == named(replace(kernel(), compiler=None), one)
