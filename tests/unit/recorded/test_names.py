"""One kernel under the names that compilers, profilers and people give it."""

import pytest

from sassan.recorded.names import bare


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("daxpy", "daxpy"),
        ("_Z12daxpy_kernelidPdS_", "daxpy_kernel"),
        ("daxpy_kernel(int, double, double *, double *)", "daxpy_kernel"),
        ("_ZN4ours5inner3addIfEEvPKT_", "add"),
        ("void ours::inner::add<float>(const T1 *)", "add"),
        ("void aop<128, Payoff<Put>>(int)", "aop"),
        ("(anonymous namespace)::sum(int *)", "sum"),
        ("_ZN12_GLOBAL__N_13sumEPi", "sum"),
        ("_Z", "_Z"),
        ("_Z999x", "x"),
        ("", ""),
        ("<<<", ""),
    ],
)
def test_a_name_without_what_surrounds_it(name: str, expected: str):
    assert bare(name) == expected
