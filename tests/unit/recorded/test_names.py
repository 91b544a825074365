"""One kernel under the names that compilers, profilers and people give it."""

import pytest

from sassan.recorded.names import bare, fits


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


@pytest.mark.parametrize(
    ("mangled", "text", "expected"),
    [
        ("_Z4initIfEvPT_S_", "void init<float>(T1 *, T1)", True),
        ("_Z4initIdEvPT_S_", "void init<float>(T1 *, T1)", False),
        ("_ZN4ours4initILi256ELi1024EEvPi", "void ours::init<256, 1024>(int *)", True),
        ("_ZN4ours4initILi256ELi512EEvPi", "void ours::init<256, 1024>(int *)", False),
        ("_Z4initI6__halfS0_EvPT_", "void init<__half, __half>(T1 *)", True),
        ("_Z4initPf", "init(float *)", True),
        ("_Z4initIfEvPT_", "init", True),
    ],
)
def test_the_arguments_of_a_template_tell_kernels_of_one_name_apart(mangled: str, text: str, expected: bool):
    assert fits(mangled, text) is expected
