"""The effects of an opcode table, and instructions that have them: what a table gains is drawn without a change here."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from assembly import instruction
from inferred_step import REGISTERS, is_computed
from listing import assemble
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ir import Instruction
from sassan.isa.effects import Effect
from sassan.isa.forms import OperandSlot
from sassan.isa.rows import OpcodeRow
from sassan.isa.tables import load
from sassan.machine.launch import LaunchConfiguration

_IMMEDIATES = ("0x0", "0x1", "0x3", "0xf", "0x1f", "0xc0", "0xf8")


@dataclass(frozen=True, slots=True)
class Case:
    """An effect of a row, and one of the opcodes of the row."""

    name: str
    row: OpcodeRow
    effect: Effect

    def __str__(self) -> str:
        """Return the mnemonic and the modifiers that the effect covers."""
        return f"{self.name} {self.effect.key}".strip()


def cases(arch: str) -> Iterator[Case]:
    """Yield every effect of every opcode of an architecture."""
    for name, rows in sorted(load(arch).table.rows.items()):
        for row in rows:
            for effect in row.effects:
                yield Case(name, row, effect)


def drawn(random: Random, case: Case) -> Instruction:
    """Return an instruction of the row: modifiers of the effect, operands of one of the forms."""
    modifiers = [random.choice(sorted(names)) for names, optional in case.effect.modifiers if not optional or random.random() < 0.5]
    operands = [_operand(random, case, slot) for slot in random.choice(case.row.forms) if not slot.optional or random.random() < 0.5]
    if "short" in case.effect.functions:
        # Only the second source may be a number of 20 bits.
        operands = [text if place == 2 or "R" in text else random.choice(REGISTERS) for place, text in enumerate(operands)]  # d a b
    return instruction(f"{'.'.join((case.name, *modifiers))} {', '.join(operands)}")


def computed(arch: str, case: Case, draws: int, enough: int | None = None) -> int:
    """Check instructions that have an effect; return of how many the machine computes a result, which ends with so many as are enough."""
    random = Random(f"effects {arch} {case}")
    around = LaunchSymbols(assemble("EXIT", arch).function, LaunchConfiguration())
    count = 0
    for _ in range(draws):
        one = drawn(random, case)
        facts = load(arch).facts(one)
        if facts is not None and facts.computes is not None and facts.computes.effect is case.effect and facts.writes:
            count += is_computed(random, one, around)
            if count == enough:
                break
    return count


def _operand(random: Random, case: Case, slot: OperandSlot) -> str:
    names = {
        "d": ("R0", "R0.CC")
        if any(target.name == "cc" for one in case.effect.assignments for target in one.targets)
        else ("R0", "R0", "R0", "R2", "RZ"),
        "q": ("P0", "P0", "PT"),
        "p": ("P1", "P2", "P3", "PT", "!P1", "!P2", "!P3", "!PT"),
        "i": _immediates(random, case),
        "x": ("SRZ", "SR_TID.X"),
    }
    return _source(random, case) if slot.role == "s" else random.choice(names[slot.role])


def _immediates(random: Random, case: Case) -> tuple[str, ...]:
    if "float_halves" in case.effect.functions:
        return ("0", "1", "-2.5")
    if not case.effect.functions.isdisjoint({"extract", "extract_signed"}):
        # Width and place of a field.
        return (f"{random.randrange(34) << 8 | random.randrange(33):#x}", "0x1000", "0x808")
    return (*_IMMEDIATES, f"{random.randrange(256):#x}")


def _source(random: Random, case: Case) -> str:
    if "float_halves" in case.effect.functions:
        return "RZ"
    if "as_float" in case.effect.functions and random.random() < 0.4:
        return random.choice(("0.03125", "1.5", "-2", "3", "1e-30", "0"))
    constant = f"{random.choice(('', '', '-'))}c[0x0][{4 * random.randrange(0x140, 0x180):#x}]"
    if "constant" in case.effect.functions:
        constant = f"c[0x0][{random.choice(('', 'R2+', 'R3+'))}{random.randrange(0x500, 0x600):#x}]"
    number = (
        f"{random.choice(('', '-'))}{random.choice((0, 1, 3, random.randrange(34), 0xFF, 0x7FFFF, 0xFFFFB, random.getrandbits(31))):#x}"
    )
    if "permute" in case.effect.functions and random.random() < 0.5:  # one of two
        number = f"{selector(random):#x}"
    return constant if "constant" in case.effect.functions else random.choice((number, _register(random), _register(random), constant))


def _register(random: Random) -> str:
    """Return a register as instructions write it: plain, or with what may stand before and behind it."""
    name = random.choice((*REGISTERS, *REGISTERS, "RZ", "RZ", "UR4"))
    if random.random() < 0.1:  # rare
        return f"|{name}|"
    return random.choice(("", "", "", "-", "~")) + name + random.choice(("", "", "", "", ".H1", ".reuse"))


def selector(random: Random) -> int:
    """Return which bytes a permutation takes: runs of bytes of one word, signs of bytes, and others."""
    codes = [random.choice((0, 4, random.randrange(16)))]
    while len(codes) < 4:  # bytes of a word
        codes.append(random.choice(((codes[-1] + 1) % 16, (codes[-1] + 1) % 16, codes[-1], codes[-1] | 8, random.randrange(16))))
    return sum(code << 4 * place for place, code in enumerate(codes))
