"""Random programs with branches, loops and convergence barriers around random instructions, as a compiler would nest them."""

from collections.abc import Iterator
from random import Random

from sassan.isa.tables import load
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg
from scheduled import scheduled

DEPTH = 3
Shares = tuple[float, float, float]
"""How many instructions set a write barrier, a read barrier, and wait for one."""
PLAIN = (
    "IADD3 R4, R4, R5, RZ",
    "FFMA R4, R4, R5, R6",
    "MUFU.RCP R5, R5",
    "LDG.E R6, [R2.64]",
    "LDG.E R7, [R2.64]",
    "LDS R8, [R2]",
    "STG.E [R2.64], R4",
    "NOP",
)


def nested(arch: str, random: Random) -> WarpCfg:
    """Explore a program of nested sides; its branches split the warp on what threads have loaded."""
    lines = ["S2R R0, SR_LANEID | 2 w0", "IADD3 R9, R0, R0, RZ | 5 wait0", *_part(random, DEPTH, iter(range(99))), "EXIT | 5"]
    return explore(scheduled("\n".join(lines), arch), load(arch).facts)


def _part(random: Random, depth: int, labels: Iterator[int]) -> Iterator[str]:
    """Straight code and what is nested in it: it sets barriers, or waits for them, or both."""
    shares = random.choice(((0.4, 0.2, 0.4), (0.8, 0, 0), (0, 0, 0.8)))
    yield from _plain(random, shares)
    for _ in range(random.randint(1, 2) if depth else 0):
        yield from random.choice((_branch, _loop))(random, depth - 1, labels)
        yield from _plain(random, shares)


def _plain(random: Random, shares: Shares) -> Iterator[str]:
    for _ in range(random.randint(0, 4)):
        yield random.choice(PLAIN) + _code(random, shares)


def _code(random: Random, shares: Shares = (0, 0, 0.4)) -> str:
    """Few barriers, so that sides meet at them."""
    words = [f"{kind}{random.randrange(2)}" for kind, share in zip(("w", "r", "wait"), shares, strict=True) if random.random() < share]
    return " | " + " ".join([str(random.choice((1, 2, 5, 12))), *words])


def _branch(random: Random, depth: int, labels: Iterator[int]) -> Iterator[str]:
    """`if`, with or without `else`, with or without a barrier to meet at."""
    label, meets = next(labels), random.random() < 0.8
    barrier = f"B{DEPTH - depth}"
    yield f"ISETP.NE.AND P0, PT, R0, R{random.choice((6, 7))}, PT" + _code(random)
    if meets:
        yield f"BSSY {barrier}, meet{label} | 1"
    yield f"@P0 BRA other{label} | 5"
    yield from _part(random, depth, labels)
    if random.random() < 0.5:
        yield f"BRA sync{label} | 5"
        yield f"other{label}:"
        yield from _part(random, depth, labels)
    else:
        yield f"other{label}:"
    yield f"sync{label}:"
    if meets:
        yield f"BSYNC {barrier} | 5"
        yield f"meet{label}:"
    yield "NOP | 1"


def _loop(random: Random, depth: int, labels: Iterator[int]) -> Iterator[str]:
    """A loop that threads leave one by one."""
    label, meets = next(labels), random.random() < 0.8
    barrier = f"B{DEPTH - depth}"
    if meets:
        yield f"BSSY {barrier}, meet{label} | 1"
    yield f"again{label}:"
    yield from _part(random, depth, labels)
    yield f"ISETP.NE.AND P0, PT, R0, R{random.choice((6, 7))}, PT" + _code(random)
    yield f"@P0 BRA again{label} | 5"
    if meets:
        yield f"BSYNC {barrier} | 5"
        yield f"meet{label}:"
    yield "NOP | 1"
