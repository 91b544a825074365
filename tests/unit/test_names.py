"""Names of functions as people read them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import some
from sassan.names import brief, demangled, in_text, readable, short_names, spellings

LAMBDA = "_Z1fIZ4mainEUlfE_EvT_"


@pytest.mark.parametrize(
    ("name", "text", "short"),
    [
        ("_Z5scaleIfLi3EEvPT_i", "scale<float, 3>(float*, int)", "scale<float, 3>"),
        ("_ZN3cub5CUB_911EmptyKernelIvEEvv", "cub::CUB_9::EmptyKernel<void>()", "cub::CUB_9::EmptyKernel<void>"),
        (LAMBDA, "f<main::'lambda'(float)>(main::'lambda'(float))", "f<main::'lambda'(float)>"),
        ("_Z6kernelILb1EEvPKfPfm", "kernel<true>(float const*, float*, unsigned long)", "kernel<true>"),
        ("saxpy", "saxpy", "saxpy"),
        ("__nv_static_10__ab_4_f_cu__Z5scaleIfLi3EEvPT_i", "scale<float, 3>(float*, int)", "scale<float, 3>"),
        ("__nv_static_10__ab_4_f_cu_plain", "plain", "plain"),
        ("__nv_static_99__ab_4_f_cu_plain", "__nv_static_99__ab_4_f_cu_plain", "__nv_static_99__ab_4_f_cu_plain"),
        ("_Zzz", "_Zzz", "_Zzz"),
        ("_Z1f\n", "_Z1f\n", "_Z1f\n"),
    ],
)  # fmt: skip
def test_a_name_is_that_of_the_source(name: str, text: str, short: str):
    assert (readable(name), brief(name)) == (text, short)


def test_a_function_is_chosen_by_any_spelling():
    assert spellings("_Z5scaleIfLi3EEvPT_i") == (
        "_Z5scaleIfLi3EEvPT_i",
        "void scale<float, 3>(float*, int)",
        "scale<float, 3>(float*, int)",
        "scale<float, 3>",
        "scale",
    )


def test_names_that_fit_are_whole_and_long_ones_lose_their_parameters():
    assert short_names(["_Z5scaleIfLi3EEvPT_i", "saxpy"], 30) == {"_Z5scaleIfLi3EEvPT_i": "scale<float, 3>(float*, int)", "saxpy": "saxpy"}
    assert short_names(["_Z5scaleIfLi3EEvPT_i"], 20) == {"_Z5scaleIfLi3EEvPT_i": "scale<float, 3>"}


def test_names_that_would_look_the_same_are_shown_by_where_they_differ():
    overloads = short_names(["_Z3runPfi", "_Z3runPii", "_Z3runPdi"], 8)
    assert list(overloads.values()) == ["run(float…", "run(int…", "run(double…"]
    plain = [f"gemm_{'x' * 40}_{rows}x{columns}_{'y' * 40}" for rows in (64, 128) for columns in (64, 256)]
    short = [short_names(plain, 24)[name] for name in plain]
    assert [text[-9:] for text in short] == ["xx…64…64…", "x…64…256…", "x…128…64…", "…128…256…"]
    assert all(len(text) <= 24 for text in short)


NAMES = st.lists(st.text("ab1_<,>", min_size=1, max_size=40), min_size=1, max_size=6, unique=True)


@given(NAMES, st.integers(8, 30))
def test_different_names_are_shown_by_different_texts(names: list[str], width: int):
    short = short_names(names, width)
    assert len(set(short.values())) == len(names)
    assert all(short[name] == name for name in names if len(name) <= width)


def test_messages_have_names_and_paths_stay():
    assert in_text("'_Z1fPi' calls _Z1gv.") == "'f(int*)' calls g()."
    assert in_text("wrote /a/_Z1fPi.svg and _Z1fPi.svg and x/_Z1fPi") == "wrote /a/_Z1fPi.svg and _Z1fPi.svg and x/_Z1fPi"


@pytest.mark.slow
@pytest.mark.parametrize("size", some([2, 3, 4], of=3))
def test_a_name_that_stands_for_a_text_without_end_is_kept(size: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.names._SECONDS", 1)  # of the child, which would take all that it may
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    # A<int, int>, A<that, that>, …: every argument doubles the one before it.
    name = "_Z1f1AIiiE" + "".join(f"S_IS{digits[step]}_{f'S{digits[step]}_' * (size - 1)}E" for step in range(34))
    start = time.process_time()
    assert demangled(name) == name
    assert time.process_time() - start < 10


@given(st.text("_Z0123456789NSTILEijfdPKRv", max_size=60))
def test_any_text_has_a_name_again_and_again(text: str):
    assert readable("_Z" + text) == readable("_Z" + text)
    assert len(demangled("_Z" + text)) < 2_000_000
