"""Random kernels whose paths and addresses depend on memory, of which a part is known: nested loops, breaks, sides, returns, accesses.

Some sides come together at a barrier, others stay apart to the end; loops, sides and guards depend on indices, on what is known, and on
what is not.
"""

from dataclasses import dataclass, field
from random import Random

ARCH = "sm_80"
KNOWN, UNKNOWN = 0x160, 0x168
"""Where the pointers to both arrays stand."""
WORDS = 64
_VALUES = tuple(f"R{number}" for number in range(8, 14))
_DEEPEST = 3


@dataclass
class _Text:
    random: Random
    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def add(self, *lines: str) -> None:
        self.lines += lines

    def label(self) -> str:
        self.labels += 1
        return f"l{self.labels}"

    def value(self) -> str:
        return self.random.choice(_VALUES)


def draw(number: int) -> tuple[str, bytes]:
    """Return the text of a kernel and the bytes of the array that is known."""
    text = _Text(Random(number))
    text.add("S2R R4, SR_TID.X", "S2R R5, SR_CTAID.X")
    for value in _VALUES:
        text.add(f"MOV {value}, {text.random.choice(('R4', 'R5', '0x3', 'RZ'))}")
    for _ in range(text.random.randint(2, 5)):
        _statement(text, 0)
    text.add("EXIT")
    kind = text.random.choice((4, 16, 1 << 16))
    data = b"".join(text.random.randrange(kind).to_bytes(4, "little") for _ in range(WORDS))
    return "\n".join(text.lines), data


def _statement(text: _Text, depth: int) -> None:
    kinds = [_load, _load, _compute, _shared] + [_loop, _loop, _sides, _sides] * (depth < _DEEPEST) + [_end] * (text.random.random() < 0.2)
    text.random.choice(kinds)(text, depth)


def _load(text: _Text, depth: int) -> None:
    del depth
    pointer = text.random.choice((KNOWN, KNOWN, KNOWN, UNKNOWN))
    guard = ""
    if text.random.random() < 0.2:
        _test(text, "P3")
        guard = text.random.choice(("@P3 ", "@!P3 "))
    text.add(
        f"LOP3.LUT R6, {text.value()}, {WORDS - 1:#x}, RZ, 0xc0, !PT",
        f"MOV R2, c[0x0][{pointer:#x}]",
        f"MOV R3, c[0x0][{pointer + 4:#x}]",
        "IMAD.WIDE R2, R6, 0x4, R2",
        f"{guard}LDG.E {text.value()}, [R2.64]",
    )


def _compute(text: _Text, depth: int) -> None:
    del depth
    to, left, right = text.value(), text.value(), text.random.choice((*_VALUES, "R4", "R5", "0x1", "0x5"))
    text.add(text.random.choice((f"IADD3 {to}, {left}, {right}, RZ", f"LOP3.LUT {to}, {left}, 0x1f, RZ, 0xc0, !PT", f"MOV {to}, {right}")))


def _shared(text: _Text, depth: int) -> None:
    del depth
    scale = text.random.choice((4, 8, 64, 128))
    text.add(f"LOP3.LUT R6, {text.value()}, 0x1f, RZ, 0xc0, !PT", f"IMAD R6, R6, {scale:#x}, RZ")
    text.add(text.random.choice((f"STS [R6], {text.value()}", f"LDS {text.value()}, [R6+0x4]", "ATOMS.ADD RZ, [R6], R4")))


def _test(text: _Text, truth: str) -> None:
    text.add(f"LOP3.LUT R7, {text.value()}, {text.random.choice((1, 3, 7)):#x}, RZ, 0xc0, !PT")
    text.add(f"ISETP.{text.random.choice(('NE', 'EQ', 'GT'))}.AND {truth}, PT, R7, {text.random.choice(('RZ', '0x1'))}, PT")


def _loop(text: _Text, depth: int) -> None:
    counter, limit, head, end = f"R{20 + depth}", f"R{24 + depth}", text.label(), text.label()
    together = text.random.random() < 0.7
    if together:
        text.add(f"BSSY B{depth}, {end}")
    text.add(f"LOP3.LUT {limit}, {text.value()}, {text.random.choice((1, 3, 7)):#x}, RZ, 0xc0, !PT", f"MOV {counter}, RZ", f"{head}:")
    for _ in range(text.random.randint(1, 3)):
        _statement(text, depth + 1)
    out = text.label()
    if text.random.random() < 0.3:
        _test(text, "P1")
        text.add(f"@P1 BRA {out}")
        if text.random.random() < 0.5:
            _statement(text, depth + 1)
    text.add(f"IADD3 {counter}, {counter}, 0x1, RZ", f"ISETP.LT.AND P0, PT, {counter}, {limit}, PT", f"@P0 BRA {head}", f"{out}:")
    text.add(*([f"BSYNC B{depth}"] if together else []), f"{end}:")


def _sides(text: _Text, depth: int) -> None:
    other, end = text.label(), text.label()
    together = text.random.random() < 0.7
    if together:
        text.add(f"BSSY B{4 + depth}, {end}")
    _test(text, "P2")
    last = text.label()
    text.add(f"@P2 BRA {other}")
    _statement(text, depth + 1)
    text.add(f"BRA {last}", f"{other}:")
    if text.random.random() < 0.6:
        _statement(text, depth + 1)
    text.add(f"{last}:", *([f"BSYNC B{4 + depth}"] if together else []), f"{end}:")


def _end(text: _Text, depth: int) -> None:
    del depth
    _test(text, "P1")
    text.add("@P1 EXIT")
