"""Random kernels whose threads diverge: nested conditions on loaded words and on lanes, loops, early ends of both."""

from __future__ import annotations

import random

_LOOPS = (2, 7)
"""Iterations of a loop: from the first to one less than the second."""


class _Writer:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._loops = 0

    def kernel(self, name: str) -> str:
        body = f"{self._block(4, looping=False)} {self._block(3, looping=False)}"
        start = "int x = p[threadIdx.x], y = p[threadIdx.x + 32];"
        return f'extern "C" __global__ void {name}(int* p) {{ {start} {body} p[threadIdx.x] = x + y; }}\n'

    def _block(self, depth: int, *, looping: bool) -> str:
        return " ".join(self._statement(depth, looping=looping) for _ in range(self._random.randrange(1, 4)))

    def _statement(self, depth: int, *, looping: bool) -> str:
        kind = self._random.random() if depth > 0 else 0
        if kind < 0.3:  # noqa: PLR2004 - shares of the kinds of statements
            return self._work()
        if kind < 0.6:  # noqa: PLR2004
            other = f" else {{ {self._block(depth - 1, looping=looping)} }}" if self._random.random() < 0.5 else ""  # noqa: PLR2004
            return f"if ({self._condition()}) {{ {self._block(depth - 1, looping=looping)} }}{other}"
        if kind < 0.82:  # noqa: PLR2004
            self._loops += 1
            counter = f"i{self._loops}"
            head = f'_Pragma("unroll 1") for (int {counter} = 0; {counter} < {self._random.randrange(*_LOOPS)}; ++{counter})'
            return f"{head} {{ {self._block(depth - 1, looping=True)} }}"
        if kind < 0.9 and looping:  # noqa: PLR2004
            return f"if ({self._condition()}) {self._random.choice(['break', 'continue'])};"
        return f"if ({self._condition()}) return;" if kind < 0.95 else self._work()  # noqa: PLR2004

    def _condition(self) -> str:
        draw = self._random
        mask = draw.choice([1, 3, 7])
        return draw.choice(
            [
                f"((x >> {draw.randrange(20)}) & {mask}) == 0",
                f"(unsigned)p[threadIdx.x + {32 * draw.randrange(9)}] % 5u < {draw.randrange(1, 5)}u",
                f"(y & {mask}) != 0",
                f"(int)threadIdx.x {draw.choice('<>')} {draw.randrange(1, 31)}",
            ]
        )

    def _work(self) -> str:
        return self._random.choice(
            [
                "x = x * 1664525 + 1013904223 + p[x & 255];",
                f"y = y ^ (x >> {self._random.randrange(1, 9)}); x += y;",
                "p[threadIdx.x + (y & 7) * 32] = x + y;",
                "y += p[y & 127] * 3;",
            ]
        )


def source(count: int, seed: int) -> str:
    """Return CUDA C++ with so many kernels, `k0` and so on; each takes a pointer to 1 KiB of integers."""
    return "".join(_Writer(seed * count + number).kernel(f"k{number}") for number in range(count))
