"""Random programs whose loop bounds flow through every opcode of a table that computes words or conditions.

A program loads words, guards some of them so that they lie in a narrow range, lets them pass a chain of instructions, and counts up to what
the chain leaves; or the chain is the body of a loop, which ends where its result passes a number. The first instruction of a chain is the
one under test. A counter begins a little below what the chain leaves of the words that its guards let through, so that a bound which takes
a part of an operand for all of it is a small number. Memory, shuffles and votes stand between the instructions, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random

from assembly import instruction
from integer_step import number, outputs
from sassan.arch import described
from sassan.ir import Instruction
from sassan.isa.effects import Effect
from sassan.isa.facts import Flow
from sassan.isa.forms import OperandSlot
from sassan.isa.registers import bit
from sassan.isa.rows import OpcodeRow
from sassan.isa.tables import load
from sassan.machine.parameters import layout

WORDS = tuple(f"R{index}" for index in range(2, 10))
UNIFORM = tuple(f"UR{index}" for index in range(4, 10))
TRUTHS = tuple(f"P{index}" for index in range(1, 4))
_ADDRESS, _COUNTER, _LIMIT, _SPARE = "R20", "R24", "R26", "R28"
_COMPARE = ("LT", "LE", "GT", "GE", "NE", "EQ")
_PLAIN = frozenset("dqspix")
"""Roles of operands of which a register, a number, a condition or a special register can be written."""
_EIGHT = 8
_TRIES = 40
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Opcode:
    """An opcode of a table, with the effect whose modifiers it has; None: the inference knows nothing of its result."""

    name: str
    row: OpcodeRow
    effect: Effect | None

    def __str__(self) -> str:
        """Return the mnemonic, with the modifiers that the effect covers."""
        return f"{self.name} {'(unknown)' if self.effect is None else self.effect.key}".strip()


@cache
def opcodes(arch: str) -> tuple[Opcode, ...]:
    """Return every opcode of an architecture that computes words or conditions from such, by its table."""
    out: list[Opcode] = []
    for name, rows in sorted(load(arch).table.rows.items()):
        for row in rows:
            if row.flow is Flow.NONE and _forms(row) and not row.masked:
                out += [Opcode(name, row, effect) for effect in row.effects] or [Opcode(name, row, None)]
    return tuple(one for one in out if _possible(one, arch))


def _forms(row: OpcodeRow) -> list[tuple[OperandSlot, ...]]:
    return [form for form in row.forms if _PLAIN.issuperset(slot.role for slot in form) and any(slot.role in "dq" for slot in form)]


def _possible(one: Opcode, arch: str) -> bool:
    """Say whether any instruction of an opcode has its effect: an earlier row may take them all."""
    return _instruction(Random(f"{arch} {one}"), one, arch) is not None


@dataclass(slots=True)
class Program:
    """A program as text, and the opcodes that its bound flows through."""

    arch: str
    lines: list[str] = field(default_factory=list)
    uses: list[Opcode] = field(default_factory=list)
    guarded: list[str] = field(default_factory=list)
    """Registers that hold one of a few words."""
    values: dict[int, int] = field(default_factory=dict)
    """What registers hold on one path, by bit number: what the numbers in the text are chosen by."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def program(arch: str, under_test: Opcode, seed: int) -> Program:
    """Return a program with one loop through an opcode, the same for the same seed."""
    random = Random(f"loop {arch} {under_test} {seed}")
    made = Program(arch)
    _begin(random, made)
    open_words = [register for register in WORDS[1:] if not any(line.startswith(f"MOV {register}, 0x") for line in made.lines)]
    made.guarded = random.sample(open_words, min(len(open_words), random.randint(1, 3)))
    for register in made.guarded:
        _guard(random, made, register)
    rest = [random.choice(opcodes(arch)) for _ in range(random.choice((0, 0, 1, 1, 2)))]
    if random.random() < 0.8:
        _chained(random, made, [under_test, *rest])
        _counted(random, made)
    else:
        _followed(random, made, [under_test, *rest[:1]])
    made.lines += ["done:", "EXIT"]
    return made


def _begin(random: Random, made: Program) -> None:
    """Fill the registers: words of memory, of the launch and of the thread, and numbers."""
    where = layout(made.arch)
    assert where is not None
    volta = not described(made.arch).control_words
    lines = ["S2R R2, SR_TID.X", f"MOV {_ADDRESS}, c[0x0][{where.parameters:#x}]", f"MOV R21, c[0x0][{where.parameters + 4:#x}]"]
    made.values |= {number("R2"): 5}
    for place, register in enumerate(WORDS[1:]):
        kind = random.random()
        if kind < 0.6:
            lines.append(f"LDG.E {register}, [{_ADDRESS}+{16 * place:#x}]")
            made.values[number(register)] = random.choice((0, 0, 1, 7, _MASK, 0x80000000, random.getrandbits(32)))
        elif kind < 0.8:
            lines.append(f"MOV {register}, c[0x0][{where.parameters + 8 + 4 * place:#x}]")
            made.values[number(register)] = random.choice((0, 1, 7, random.getrandbits(32)))
        else:
            value = random.choice((0, 1, 3, 31, random.getrandbits(8), random.getrandbits(32)))
            lines.append(f"MOV {register}, {value:#x}")
            made.values[number(register)] = value
    if volta:
        for place, register in enumerate(UNIFORM):
            lines.append(
                f"R2UR {register}, {random.choice(WORDS)}"
                if random.random() < 0.5
                else f"ULDC {register}, c[0x0][{where.parameters + 0x30 + 4 * place:#x}]"
            )
            made.values[number(register)] = random.choice((0, 3, random.getrandbits(32)))
        lines = [line for line in lines if _known(made.arch, line)]
    for register in TRUTHS:
        compare = f"ISETP.{random.choice(_COMPARE)}.AND {register}, PT, {random.choice(WORDS)}, {random.choice(('RZ', '0x5'))}, PT"
        lines.append(compare)
    made.lines += lines
    made.values |= {number(register): random.getrandbits(1) for register in TRUTHS}


@cache
def _known(arch: str, line: str) -> bool:
    return load(arch).facts(instruction(line)) is not None


def _guard(random: Random, made: Program, register: str) -> None:
    """Let only those threads go on whose register holds one of a few words."""
    low = random.choice((0, 0, 1, 0x100, 0x10000, random.getrandbits(16), random.getrandbits(31), random.getrandbits(32)))
    width = random.choice((1, 2, 8, 32, 50))
    made.lines += [f"IADD3 {_SPARE}, {register}, {_signed(-low)}, RZ", f"ISETP.GE.U32.AND P0, PT, {_SPARE}, {width:#x}, PT", "@P0 EXIT"]
    if described(made.arch).control_words:
        made.lines[-3] = f"IADD32I {_SPARE}, {register}, {_signed(-low)}"
    made.values[number(register)] = low + random.randrange(width) & _MASK


def _chained(random: Random, made: Program, chain: list[Opcode]) -> None:
    """Write a chain of instructions; what it leaves is the limit of the loop."""
    last = random.choice(made.guarded or WORDS)
    for one in chain:
        found = _instruction(random, one, made.arch, prefer=last)
        if found is None:
            continue
        made.uses.append(one)
        last = _append(random, made, found)
        _between(random, made, last)
    made.lines.append(f"MOV {_LIMIT}, {last}")
    made.values[number(_LIMIT)] = made.values.get(number(last), 0)


def _append(random: Random, made: Program, one: Instruction) -> str:
    """Write an instruction, and return a general register that depends on it."""
    made.lines.append(one.text)
    left = outputs(one, made.arch, made.values, short=described(made.arch).short_immediates)
    made.values |= left
    written = [name for name in (*WORDS, *UNIFORM, *TRUTHS, "P0") if number(name) in left]
    name = written[0] if written else random.choice(WORDS)
    if name in TRUTHS or name == "P0":
        to, high, low = random.choice(WORDS), random.randrange(1, 60), random.randrange(5)
        made.lines.append(f"MOV {_SPARE}, {high:#x}")
        made.lines.append(f"SEL {to}, {_SPARE}, {'RZ' if not low else _COUNTER}, {name}" if not low else f"@{name} MOV {to}, {high:#x}")
        made.values[number(to)] = high if made.values.get(number(name), 0) else made.values.get(number(to), 0) if low else 0
        return to
    if name in UNIFORM:
        to = random.choice(WORDS)
        made.lines.append(f"MOV {to}, {name}")
        made.values[number(to)] = made.values[number(name)]
        return to
    # Of a pair, one word or the other.
    return random.choice([name for name in written if name in WORDS][:2] or [name])


def _spilled(random: Random, made: Program, register: str) -> list[str]:
    """Return lines that take a word through the stack, past another store: elsewhere, under a guard, of a part, or at some address."""
    other, place = random.choice(WORDS), 4 * random.randrange(4)
    pointer = f"IADD32I {_SPARE}, R1, 0x4" if described(made.arch).control_words else f"IADD3 {_SPARE}, R1, 0x4, RZ"
    past = random.choice(
        (
            [],
            [f"STL [R1+{place + 4:#x}], {other}"],
            [f"STL.64 [R1+{place & ~7:#x}], {random.choice(WORDS[::2])}"],
            [f"@{random.choice(TRUTHS)} STL [R1+{place:#x}], {other}"],
            [f"STL.U8 [R1+{place + 1:#x}], {other}"],
            [f"STL [{other}], {random.choice(WORDS)}"],
            [pointer, f"STL [{_SPARE}+{place - 4:#x}], {random.choice((other, 'RZ'))}"],
        )
    )
    return [f"STL [R1+{place:#x}], {register}", *past, f"LDL {register}, [R1+{place:#x}]"]


def _made(random: Random, register: str) -> list[str]:
    """Return lines that make a word of others: the rest of a division through a product, a difference, its ones but for the lowest."""
    other, divisor, wide = random.choice(WORDS), random.choice((2, 3, 7, 10, 100, 1 << random.randrange(1, 20))), random.randrange(4)
    factor = min(_MASK, -(-(1 << 32 + wide) // divisor) + random.choice((0, 0, 1, -1)))
    kind = random.randrange(3)
    if kind == 0:
        return [
            f"MOV {_SPARE}, {factor:#x}",
            f"IMAD.HI.U32 {_SPARE}, {register}, {_SPARE}, RZ",
            f"SHF.R.U32.HI {_SPARE}, RZ, {wide:#x}, {_SPARE}",
            f"IMAD {register}, {_SPARE}, -{divisor:#x}, {register}",
        ]
    if kind == 1:
        test = f"ISETP.{random.choice(('LT', 'LE', 'GT', 'GE'))}{random.choice(('', '.U32'))}.AND P0, PT, {other}, {register}, PT"
        return [test, "@P0 EXIT", f"IADD3 {register}, {register}, -{other}, RZ"]
    return [f"IADD3 {_SPARE}, {register}, -0x1, RZ", f"LOP3.LUT {register}, {_SPARE}, {register}, RZ, 0xc0, !PT"]


def _between(random: Random, made: Program, register: str) -> None:
    """Sometimes pass a word through memory or another lane, or overwrite a condition by a vote."""
    kind = random.random()
    if kind < 0.06:
        made.lines += _spilled(random, made, register)
    elif kind < 0.09:
        made.lines.append(f"SHFL.{random.choice(('IDX', 'UP', 'DOWN', 'BFLY'))} PT, {register}, {register}, 0x1, 0x1f")
    elif kind < 0.13 and not described(made.arch).control_words:
        made.lines += _made(random, register)
    elif kind < 0.16:
        truth = random.choice(TRUTHS)
        made.lines.append(f"VOTE.{random.choice(('ANY', 'ALL'))} {register}, {truth}, {random.choice(TRUTHS)}")


def _counted(random: Random, made: Program) -> None:
    """Write a loop that counts from a little below the limit, up or down, in steps."""
    limit, step = made.values[number(_LIMIT)], random.choice((1, 1, 1, 2, 3))
    down, ahead = random.random() < 0.25, step * random.randint(0, 30)
    unsigned = random.choice(("", ".U32"))
    start = limit + ahead if down else limit - ahead
    begin = random.choice(("number", "number", "zero")) if limit < 200 else "number"  # few turns
    start = (start if begin == "number" else 0) & _MASK
    compare = random.choice(("GT", "GE", "NE") if down else ("LT", "LE", "LT", "NE"))
    made.lines.append(_move(made, _COUNTER, start))
    if random.random() < 0.7:
        # Threads that begin beyond the limit do not enter, as compilers write it.
        opposite = {"GT": "LE", "GE": "LT", "NE": "EQ", "LT": "GE", "LE": "GT"}[compare]
        made.lines += [f"ISETP.{opposite}{unsigned}.AND P0, PT, {_COUNTER}, {_LIMIT}, PT", "@P0 EXIT"]
    spilled = [f"STL [R1+0x8], {_COUNTER}", f"LDL {_COUNTER}, [R1+0x8]"] if random.random() < 0.03 else []
    made.lines += ["turn:", *spilled, f"IADD3 {_COUNTER}, {_COUNTER}, {_signed(-step if down else step)}, RZ"]
    made.lines += [f"ISETP.{compare}{unsigned}.AND P0, PT, {_COUNTER}, {_LIMIT}, PT", "@P0 BRA turn"]


def _followed(random: Random, made: Program, chain: list[Opcode]) -> None:
    """Write a loop whose body is the chain, until what it leaves passes a number or a counter ends it."""
    start = random.choice(WORDS)
    made.lines += [_move(made, _COUNTER, 0), "turn:"]
    last = start
    for one in chain:
        found = _instruction(random, one, made.arch, prefer=last)
        if found is not None:
            made.uses.append(one)
            last = _append(random, made, found)
    end = random.choice(("RZ", "RZ", "0x1", "0x10", "0xff", f"{random.getrandbits(31):#x}"))
    compare, unsigned = random.choice(_COMPARE), random.choice(("", ".U32"))
    made.lines += [
        f"MOV {start}, {last}",
        f"IADD3 {_COUNTER}, {_COUNTER}, 0x1, RZ",
        f"ISETP.{compare}{unsigned}.AND P0, PT, {last}, {end}, PT",
        "@P0 BRA turn",
    ]


def _instruction(random: Random, one: Opcode, arch: str, prefer: str | None = None) -> Instruction | None:
    """Return an instruction of an opcode with its effect, None where none was drawn; `prefer` is a source that it should have."""
    for _ in range(_TRIES):
        names = one.effect.modifiers if one.effect is not None else ()
        modifiers = [random.choice(sorted(some)) for some, optional in names if not optional or random.random() < 0.5]
        if one.effect is None:
            modifiers = [
                *sorted(one.row.required),
                *random.sample(sorted(one.row.modifiers), min(len(one.row.modifiers), random.randint(0, 2))),
            ]
        form = random.choice(_forms(one.row))
        slots = [slot for slot in form if not slot.optional or random.random() < 0.4]
        operands = [_operand(random, one, slot, arch) for slot in slots]
        sources = [place for place, slot in enumerate(slots) if slot.role == "s" and operands[place][:1] in "RU"]
        if prefer is not None and sources and not one.name.startswith("U"):
            operands[random.choice((sources[0], random.choice(sources)))] = prefer
        found = instruction(f"{'.'.join((one.name, *modifiers))} {', '.join(operands)}")
        facts = load(arch).facts(found)
        if facts is None or not facts.writes or facts.flow is not Flow.NONE or facts.writes & _HELD or not _fits(one, facts.computes):
            continue
        return found
    return None


def _fits(one: Opcode, computes: object) -> bool:
    return getattr(computes, "effect", None) is one.effect


def _operand(random: Random, one: Opcode, slot: OperandSlot, arch: str) -> str:
    uniform = one.name.startswith("U") or one.row.uniform
    functions = one.effect.functions if one.effect is not None else frozenset[str]()
    match slot.role:
        case "d":
            flags = one.effect is not None and any(target.name == "cc" for each in one.effect.assignments for target in each.targets)
            return random.choice(UNIFORM[::2] if uniform else WORDS[::2]) + (random.choice(("", ".CC")) if flags else "")
        case "q":
            return random.choice(("UP1", "UPT") if uniform else ("P1", "P2", "PT"))
        case "p":
            return random.choice(("", "", "!")) + random.choice(("UP1", "UPT") if uniform else (*TRUTHS, "PT"))
        case "x":
            return random.choice(("SR_TID.X", "SR_LANEID", "SR_CTAID.X", "SRZ"))
        case "i":
            return _number(random, functions)
        case _:
            return _source(random, functions, arch, uniform=uniform)


def _number(random: Random, functions: frozenset[str]) -> str:
    if "float_halves" in functions:
        return random.choice(("0", "1", "-2.5"))
    if "masked" in functions:
        return "0xf"
    if not functions.isdisjoint({"extract", "extract_signed"}):
        return f"{random.randrange(33) << 8 | random.randrange(32):#x}"
    return random.choice(("0x0", "0x1", "0x3", "0x5", "0x10", "0x1f", "0xc0", "0x3c", "0xf8", "0xfe", f"{random.randrange(256):#x}"))


def _source(random: Random, functions: frozenset[str], arch: str, *, uniform: bool) -> str:
    where = layout(arch)
    assert where is not None
    if "float_halves" in functions:
        return "RZ"
    constant = f"c[0x0][{where.parameters + 4 * random.randrange(16):#x}]"
    if "constant" in functions:
        return constant
    if "permute" in functions and random.random() < 0.5:
        return random.choice(("0x7610", "0x7610", "0x5410", "0x3254", "0x7632", "0x6420", f"{random.getrandbits(16):#x}"))
    if not functions.isdisjoint({"as_float", "integer_of", "reciprocal", "float_product"}):
        return random.choice((constant, *WORDS, "1.5", "3", "-2", "0.03125", "1e-30"))
    register = random.choice(("", "", "", "", "-", "~")) + random.choice((*UNIFORM, "URZ") if uniform else (*WORDS, *WORDS, "RZ"))
    value = random.choice((0, 1, 2, 3, 5, 8, 16, 31, 32, 0xFF, 0xFFFF, 0x7FFFF, random.getrandbits(16), random.getrandbits(32)))
    return random.choice((register, register, register, f"{random.choice(('', '', '-'))}{value:#x}", constant))


def _move(made: Program, register: str, value: int) -> str:
    return f"{'MOV32I' if described(made.arch).control_words else 'MOV'} {register}, {value:#x}"


def _signed(value: int) -> str:
    value &= _MASK
    return f"-{(1 << 32) - value:#x}" if value >> 31 else f"{value:#x}"


def campaign(arch: str, first: int, last: int) -> Iterator[Program]:
    """Yield programs by number."""
    yield from (program(arch, *under_test(arch, index)) for index in range(first, last))


def under_test(arch: str, index: int) -> tuple[Opcode, int]:
    """Return the opcode of a program, and its turn: one after the other, of those that the inference leaves unknown one in eight."""
    known = [one for one in opcodes(arch) if one.effect is not None]
    rest = [one for one in opcodes(arch) if one.effect is None]
    turn, place = divmod(index, _EIGHT)
    some, place = (rest, turn) if place == _EIGHT - 1 else (known, (_EIGHT - 1) * turn + place)
    return some[place % len(some)], place // len(some)


_HELD = bit("P", 0) | bit("R", 0) | bit("R", 1)
"""Registers that no instruction under test may write."""
