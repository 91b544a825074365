"""nvcc's words as clang's."""

import pytest

from scripted import scripted

translated = scripted("clang_as_nvcc").translated


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-std=c++14 -Xcompiler -Wall -arch=sm_86 -O3 -c main.cu -o main.o", "--cuda-gpu-arch=sm_86 -O3 -c main.cu -o main.o"),
        ("-arch sm_86 -use_fast_math -lineinfo main.o -o main -lcudart", "--cuda-gpu-arch=sm_86 main.o -o main"),
        ("-Xcompiler -fPIC,-Wall,-fopenmp -maxrregcount 32 -DN=3 -I../include a.cu", "-fPIC -DN=3 -I../include a.cu"),
        ("-rdc=true -c a.cu", None),
        ("-c a.cu -Xptxas", "-c a.cu"),
    ],
)
def test_words_that_only_nvcc_knows_are_left_out(words: str, expected: str | None):
    found = translated(words.split())
    assert (found and " ".join(found)) == expected
