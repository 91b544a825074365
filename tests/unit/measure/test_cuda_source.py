"""The parameters of a kernel in CUDA C++, and the clock around its body."""

import pytest

from sassan.errors import InputError
from sassan.measure.sampling.cuda_source import CudaParameter, kernels, plain, timed

TWO = """// extern "C" __global__ void not_this(int n)
extern "C" __global__ void __launch_bounds__(256) first(const float *__restrict__ x, unsigned int n, float a) { x[n] = a; }
extern "C" __global__ void second(void) {}
"""


def test_kernels_are_found_in_order_and_not_in_comments():
    assert kernels(TWO) == ("first", "second")


def test_parameters_have_the_type_that_is_passed():
    assert plain(TWO, "first").parameters == (CudaParameter("x", "pointer"), CudaParameter("n", "int"), CudaParameter("a", "float"))
    assert plain(TWO, "second").parameters == ()


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("int", "int"),
        ("size_t", "long"),
        ("unsigned long long", "long"),
        ("const double", "double"),
        ("uint64_t", "long"),
        ("const int *", "pointer"),
    ],
)
def test_each_type_is_known(declared: str, kind: str):
    assert plain(f'extern "C" __global__ void f({declared} v) {{}}', "f").parameters == (CudaParameter("v", kind),)


def test_the_clock_stands_around_the_whole_body_and_bounds_of_the_launch_stay():
    result = timed(TWO, "first")
    assert (result.name, result.clocked) == ("first_timed", True)
    assert (
        "static __device__ __forceinline__ void first_body(const float *__restrict__ x, unsigned int n, float a) { x[n] = a; }"
        in result.source
    )
    assert (
        'extern "C" __global__ void __launch_bounds__(256) first_timed(const float *__restrict__ x, unsigned int n, float a, long long'
        in result.source
    )
    assert "sassan_start = clock64();\n    first_body(x, n, a);\n    long long sassan_end = clock64();" in result.source


def test_a_kernel_without_parameters_gets_a_clock_too():
    assert "second_timed(long long *sassan_times)" in timed(TWO, "second").source


def test_a_kernel_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(InputError) as refused:
        plain(TWO, "third")
    assert (refused.value.code, refused.value.hint) == ("no-kernel", "kernels: first, second")


def test_a_source_without_kernels_is_refused_with_the_expected_declaration():
    with pytest.raises(InputError) as refused:
        plain("int main() {}", "main")
    assert refused.value.hint == 'kernels: none: a kernel is declared extern "C" __global__ void'


def test_a_type_that_is_not_known_is_refused():
    with pytest.raises(InputError) as refused:
        plain('extern "C" __global__ void f(float4 v) {}', "f")
    assert refused.value.code == "unknown-parameter"
