"""The fatbinary of CUDA 13 called with clang's words, which are those of CUDA 12: `--image=profile=sm_86,file=F` was taken out there.

Its first word is the path of that program.
"""

from __future__ import annotations

import os
import re
import sys


def translated(words: list[str]) -> list[str]:
    """Return the words of CUDA 13 for those of CUDA 12."""
    return [re.sub(r"^--image=profile=(sm|compute)_(\w+),", _image, word) for word in words]


def _image(found: re.Match[str]) -> str:
    return f"--image3=kind={'elf' if found[1] == 'sm' else 'ptx'},sm={found[2]},"


def main() -> None:
    """Turn into fatbinary."""
    program, *words = sys.argv[1:]
    os.execv(program, [program, *translated(words)])  # noqa: S606 - that of the CUDA installation


if __name__ == "__main__":
    main()
