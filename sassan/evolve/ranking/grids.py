"""The grid of a configuration of a tuner: the area that the source lets a block compute, else the tuner's default.

The default is that of Kernel Tuner (documentation, "Grid divisors": block_size_x, block_size_y, block_size_z) with tile_size_* beside it:
a tile is what one thread computes, so a block covers block size times tile size.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

AXES = "xyz"
_PRODUCT = r"[A-Za-z_]\w*(?:\s*\*\s*[A-Za-z_]\w*)*"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BODY = 200_000
"""Maximum number of characters of a kernel to search."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """Names of the parameters whose product a block covers, per axis, and where that comes from: 'source' or 'default'."""

    divisors: tuple[tuple[str, ...], ...]
    origins: tuple[str, ...]

    def __str__(self) -> str:
        """Return the divisors per axis with their origin."""
        each = zip(AXES, self.divisors, self.origins, strict=True)
        return "; ".join(f"{axis}: {' * '.join(some) or '1'} ({origin})" for axis, some, origin in each)


def derive(kernel: str, source: str, parameters: Sequence[str]) -> Derivation:
    """Return which parameters divide the problem into blocks: those that the kernel multiplies its block index by."""
    body = _body(kernel, source)
    default = [tuple(name for name in (f"block_size_{axis}", f"tile_size_{axis}") if name in parameters) for axis in AXES]
    covered = [_covered(axis, body, parameters) for axis in AXES]
    # A part of the default may be multiplied by the rest elsewhere: (blockIdx.x * block_size_x + threadIdx.x) * tile_size_x.
    says = [bool(some) and not set(some) < set(usual) for some, usual in zip(covered, default, strict=True)]
    return Derivation(
        tuple(some if said else usual for some, usual, said in zip(covered, default, says, strict=True)),
        tuple("source" if said else "default" for said in says),
    )


def _body(kernel: str, source: str) -> str:
    """Return the text of a kernel between its braces without comments, '' if the source has no such kernel."""
    source = _COMMENT.sub(" ", source)
    start = re.search(rf"\b{re.escape(kernel)}\s*\(", source)
    at = source.find("{", start.end()) if start is not None else -1
    if at < 0:
        return ""
    depth = 0
    for index in range(at, min(len(source), at + _BODY)):
        depth += (source[index] == "{") - (source[index] == "}")
        if depth == 0:
            return source[at:index]
    return ""


def _covered(axis: str, body: str, parameters: Sequence[str]) -> tuple[str, ...]:
    """Return the factors of blockIdx if all of them are tuning parameters and all occurrences agree; else ()."""
    index, body = rf"blockIdx\.{axis}", body.replace(f"blockDim.{axis}", f"block_size_{axis}")
    products = [
        *re.findall(rf"{index}\s*\*\s*\(?\s*({_PRODUCT})", body),
        *re.findall(rf"({_PRODUCT})\s*\)?\s*\*\s*{index}\b", body),
    ]
    factors = {tuple(sorted(re.split(r"\s*\*\s*", text))) for text in products}
    if len(factors) != 1:
        return ()
    some = factors.pop()
    return some if all(name in parameters for name in some) else ()
