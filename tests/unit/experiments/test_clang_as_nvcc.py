"""nvcc's words as clang's, and clang's words as those of CUDA 13."""

import pytest

from scripted import scripted

translated = scripted("clang_as_nvcc").translated


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-std=c++14 -Xcompiler -Wall -arch=sm_86 -O3 -c main.cu -o main.o", "--cuda-gpu-arch=sm_86 -O3 -c main.cu -o main.o"),
        ("-arch sm_86 -use_fast_math -lineinfo main.o -o main -lcudart", "--cuda-gpu-arch=sm_86 main.o -o main"),
        ("-Xcompiler -fPIC,-Wall,-fopenmp -maxrregcount 32 -DN=3 -I../include a.cu", "-fPIC -DN=3 -I../include a.cu"),
        ("-Xcompiler=-pthread,-fopenmp a.cu -o a", "a.cu -o a"),
        ("-rdc=true -c a.cu", None),
        ("-c a.cu -Xptxas", "-c a.cu"),
    ],
)
def test_words_that_only_nvcc_knows_are_left_out(words: str, expected: str | None):
    found = translated(words.split())
    assert (found and " ".join(found)) == expected


def test_an_image_of_machine_code_and_one_of_ptx_have_the_words_of_cuda_13():
    words = ["--image=profile=sm_86,file=a.o", "--image=profile=compute_90a,file=a.s", "--create", "--image=profile=x"]
    expected = ["--image3=kind=elf,sm=86,file=a.o", "--image3=kind=ptx,sm=90a,file=a.s", *words[2:]]
    assert scripted("clang_fatbinary").translated(words) == expected
