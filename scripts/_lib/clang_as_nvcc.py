"""clang in the place of nvcc, for Makefiles that are written for that: a program, called with nvcc's words.

    clang_as_nvcc.py CLANG CUDA INCLUDE WORDS...

INCLUDE is a folder for headers of a CUDA installation that clang includes and that is not complete. What only nvcc knows is dropped:
host warnings, options of ptxas, and `-use_fast_math`, which changes what is computed. Exit status 1 where clang cannot do it (device code
of several objects linked together).
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_VALUES = frozenset(
    {"-Xptxas", "--ptxas-options", "-maxrregcount", "--maxrregcount", "-ccbin", "--compiler-bindir", "-gencode", "-code", "-t"}
) | {"--default-stream", "-default-stream"}
"""Words of nvcc with a value behind them, which are dropped."""
_DROPPED = re.compile(
    r"-use_fast_math|--use_fast_math|-lineinfo|-G|--?expt-.*|--?extended-lambda|-Xptxas=.*|-maxrregcount=.*|-gencode=.*|-code=.*"
    r"|--?default-stream.*|--cudart.*|-Wno-deprecated-gpu-targets|-cudart=.*|-std=.*|-lcudart(_static)?"
)
_LINKED = ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c", "-dlink")
_MISSING = ("curand_mtgp32_kernel.h", "texture_fetch_functions.h")
"""Headers that no program here uses and that clang includes all the same: of a library, and of CUDA before 13."""


def translated(words: list[str]) -> list[str] | None:
    """Return clang's words for nvcc's, None where there are none."""
    out: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _LINKED:
            return None
        name, equals, value = word.partition("=")
        if name in {"-Xcompiler", "--compiler-options"}:
            parts = (value if equals else next(rest, "")).split(",")
            out += [part for part in parts if part.startswith(("-f", "-D", "-I")) and part != "-fopenmp"]
        elif word in _VALUES:
            next(rest, None)
        elif found := re.fullmatch(r"-arch(?:=(\w+))?", word):
            out.append(f"--cuda-gpu-arch={found[1] or next(rest, '')}")
        elif not _DROPPED.fullmatch(word):
            out.append(word)
    return out


def main() -> None:
    """Turn into clang."""
    clang, cuda, include, *words = sys.argv[1:]
    made = translated(words)
    if made is None:
        sys.exit("clang links no device code of several objects")
    for name in _MISSING:
        if not (Path(cuda) / "include" / name).is_file():
            (Path(include) / name).touch()
    compiles = "-c" in made or "-E" in made
    plain = [word for word in made if word.endswith(".c")]
    language = [] if plain else ["-std=c++17", "-Wno-register", "-include", "malloc.h"]
    libraries = [] if compiles else [f"-L{cuda}/lib64", "-lcudart", "-ldl", "-lrt", "-pthread", "-lm"]
    folders = [word for folder in (include, f"{cuda}/include", f"{cuda}/include/cccl") for word in ("-I", folder)]
    command = [clang, f"--cuda-path={cuda}", "-w", *folders, *language, *made, *libraries]
    os.execvp(clang, command)  # noqa: S606 - the compiler that was found on PATH


if __name__ == "__main__":
    main()
