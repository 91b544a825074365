"""CUDA sources made by a seeded function, as large as the kernels of vendor libraries: what the front half is measured on.

Each shape is one way of growing: `straight` is one long line, `branches` has many short blocks under nested guards, `loops` many loops
side by side, `nests` loops in loops, four deep; `mixed` draws from all of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from sassan.compilers.nvrtc import compile_source
from sassan.entries import Entries
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout

if TYPE_CHECKING:
    from sassan.ir import Function

ENTRIES = Entries("bench", b"sassan bench 1")

SHAPES = ("straight", "branches", "loops", "nests", "mixed")
WORDS = "abcdef"
"""The variables of a kernel; every statement changes one and reads another, so that the compiler cannot drop any."""
PARAMETERS = {"n": 96, "m": 7}
"""Values of the parameters that bound loops."""
BLOCK, GRID = (128, 1, 1), (64, 1, 1)
WORD, _POINTERS = 4, 16
_DEPTH = 4
_PER_UNIT = {"straight": 6.6, "branches": 40.0, "loops": 19.5, "nests": 140.0, "mixed": 47.0}
"""About how many instructions one top-level statement becomes; sizes are approached, and measured afterwards."""


@dataclass(slots=True)
class Generator:
    """Writes one kernel."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    loops: int = 0

    def emit(self, depth: int, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * (depth + 1) + text)

    def work(self, depth: int, count: int) -> None:
        """Write so many assignments."""
        for _ in range(count):
            target, other = self.random.sample(WORDS, 2)
            number = self.random.randrange(3, 1 << 20) | 1
            forms = (
                f"{target} = {target} * {number}u + {other};",
                f"{target} ^= {other} >> {number % 17 + 3};",
                f"{target} += {other} ^ {number}u;",
                f"{target} = table[({other} + {number}u) & 1023u] + {target};",
                f"x = x * y + __uint_as_float(({target} & 0x7fffffu) | 0x3f800000u); {target} += __float_as_uint(x);",
            )
            self.emit(depth, self.random.choice(forms))

    def branch(self, depth: int, levels: int) -> None:
        """Write a guard, with two sides in half of the cases, and others inside."""
        word, place = self.random.choice(WORDS), self.random.randrange(32)
        self.emit(depth, f"if ({word} & (1u << {place})) {{")
        self.side(depth + 1, levels)
        if self.random.getrandbits(1):
            self.emit(depth, "} else {")
            self.side(depth + 1, levels)
        self.emit(depth, "}")

    def side(self, depth: int, levels: int) -> None:
        """Write one side of a guard; a store keeps it a block of its own."""
        self.emit(depth, f"atomicAdd(&out[{self.random.choice(WORDS)} & 1023u], {self.random.choice(WORDS)});")
        self.work(depth, 1)
        for _ in range(self.random.randrange(1, 3) if levels > 1 else 0):
            self.branch(depth, levels - 1)

    def loop(self, depth: int, levels: int) -> None:
        """Write a loop whose bound the code and its launch say."""
        index = f"k{self.loops}"
        self.loops += 1
        heads = (
            f"for (int {index} = 0; {index} < {self.random.randrange(5, 40)}; ++{index}) {{",
            f"for (int {index} = 0; {index} < n; ++{index}) {{",
            f"for (int {index} = threadIdx.x; {index} < n; {index} += blockDim.x) {{",
            f"for (unsigned {index} = blockDim.x / 2; {index} > 0; {index} >>= 1) {{",
            f"for (int {index} = m; {index} > 0; {index} -= 2) {{",
        )
        self.emit(depth, "#pragma unroll 1")
        self.emit(depth, self.random.choice(heads))
        word = self.random.choice(WORDS)
        self.emit(depth + 1, f"atomicXor(&out[({word} + {index}) & 1023u], {self.random.choice(WORDS)} + {index});")
        self.work(depth + 1, 2)
        if levels > 1:
            for _ in range(self.random.randrange(1, 3)):
                self.loop(depth + 1, levels - 1)
            self.work(depth + 1, 1)
        if not self.random.getrandbits(2):
            self.emit(depth + 1, f"if ({word} == {self.random.randrange(1 << 30)}u) break;")
        self.emit(depth, "}")

    def unit(self, shape: str) -> None:
        """Write one statement of the top level."""
        match shape:
            case "straight":
                self.work(0, 2)
            case "branches":
                self.branch(0, 2)
            case "loops":
                self.loop(0, 1)
            case "nests":
                self.loop(0, self.random.randrange(2, _DEPTH + 1))
            case _:
                self.unit(self.random.choice(SHAPES[:-1]))


def source(shape: str, instructions: int, seed: int = 1) -> str:
    """Return a kernel of a shape that compiles to roughly so many instructions; the same arguments give the same text."""
    writer = Generator(Random(f"{shape} {instructions} {seed}"))  # noqa: S311 - no secret
    for _ in range(max(1, round(instructions / _PER_UNIT[shape]))):
        writer.unit(shape)
    first = ", ".join(f"{word} = threadIdx.x * {index + 3}u + blockIdx.x" for index, word in enumerate(WORDS))
    last = " ^ ".join(WORDS)
    head = (
        f'extern "C" __global__ void {shape}_{instructions}(unsigned *out, const unsigned *table, int n, int m) {{\n'
        f"    unsigned {first};\n    float x = 1.0f, y = 0.5f;\n"
    )
    return head + "\n".join(writer.lines) + f"\n    out[threadIdx.x] = {last} ^ __float_as_uint(x + y);\n}}\n"


def cubin(shape: str, instructions: int, arch: str) -> bytes:
    """Return the compiled kernel, kept by its source below the platform's cache folder; raises MissingToolError `nvrtc-missing`."""
    text = source(shape, instructions)
    name = f"{arch}-{shape}-{instructions}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    kept = ENTRIES.get(name)
    if kept is None:
        kept = compile_source(text, arch=arch).cubin
        ENTRIES.put(name, kept)
    return kept


def launch(function: Function) -> LaunchConfiguration:
    """Return the launch that bounds the loops of a kernel of this module."""
    places = layout(function.arch)
    first = places.parameters + _POINTERS if places is not None else 0
    values = enumerate(PARAMETERS.values())
    return LaunchConfiguration(BLOCK, GRID, tuple(Setting("", first + WORD * index, value, WORD) for index, value in values))
