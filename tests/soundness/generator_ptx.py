"""Random PTX kernels: any branch may lead anywhere, so that loops have several heads, joins lie in each other, and some paths end early."""

import random

from ptx import kernel


def program(seed: int) -> str:
    """Return the text of one kernel, the same for the same seed."""
    chosen = random.Random(seed)
    count = chosen.randrange(3, 11)
    lines = ["mov.u32 %r1, %tid.x;", "mov.u32 %r2, %ctaid.x;"]
    indirect = chosen.random() < 0.3
    if indirect:
        lines.append(f"ts: .branchtargets {', '.join(_label(chosen, count) for _ in range(chosen.randrange(1, 4)))};")
    for number in range(count):
        lines.append(f"L{number}:")
        lines += [_data(chosen) for _ in range(chosen.randrange(3))]
        lines += ["ret;"] if number == count - 1 else _end(chosen, count, indirect=indirect)
    return kernel(*lines)


def _label(chosen: random.Random, count: int) -> str:
    return f"L{chosen.randrange(count)}"


def _data(chosen: random.Random) -> str:
    to, left, right = (f"%r{chosen.randrange(1, 9)}" for _ in range(3))
    return chosen.choice(
        [
            f"add.s32 {to}, {left}, {right};",
            f"setp.lt.s32 %p{chosen.randrange(1, 5)}, {left}, {right};",
            f"mov.u32 {to}, {chosen.randrange(9)};",
            f"ld.global.u32 {to}, [%rd1];",
        ]
    )


def _end(chosen: random.Random, count: int, *, indirect: bool) -> list[str]:
    """Return how a block ends; nothing: it falls through."""
    guard = f"@{chosen.choice(['', '!'])}%p{chosen.randrange(1, 5)}"
    ways = [f"{guard} bra {_label(chosen, count)};"] * 12
    ways += [f"bra {_label(chosen, count)};"] * 2 + [f"{guard} exit;"] + [""] * 3
    if chosen.random() < 0.1:
        ways = ["exit;"]
    if indirect:
        ways += [f"brx.idx %r{chosen.randrange(1, 9)}, ts;", f"{guard} brx.idx %r{chosen.randrange(1, 9)}, ts;"]
    return [one for one in [chosen.choice(ways)] if one]
