"""What the opcode tables hold, as frozen records: rows, width rules, letter rules."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import translate

from sassan.alphabet import Letter
from sassan.isa.effects import Effect
from sassan.isa.facts import Flow
from sassan.isa.forms import Form


class Uniformity(StrEnum):
    """When the threads that execute an instruction agree on what it writes (docs/concepts/warp-states.md); the default is never."""

    NEVER = "never"
    LANEWISE = "lanewise"
    """The result is a function of the operands, the same in every lane."""
    ADDRESS = "address"
    """A load: one instruction reading one address gives all lanes one value (printed assumption)."""
    ALWAYS = "always"
    """One result for all active threads."""
    SPECIAL = "special"
    """As the special register says."""
    LANE = "lane"
    """The value of the lane that the second source names."""


class FunctionalUnit(StrEnum):
    """A functional unit, by its name in the profilers' manuals, or HALF."""

    FP32 = "fp32"
    FP64 = "fp64"
    FP16 = "fp16"
    SFU = "sfu"
    LDST = "ldst"
    TEX = "tex"
    CF = "cf"
    """Control flow, until Pascal."""
    ISSUE = "issue"
    """None: the instruction ends with its issue."""
    ALU = "alu"
    FMA = "fma"
    XU = "xu"
    CBU = "cbu"
    ADU = "adu"
    LSU = "lsu"
    TENSOR = "tensor"
    TMA = "tma"
    UNIFORM = "uniform"
    HALF = "half"
    """Arithmetic in half precision: the architecture names the unit (`half_unit`)."""


@dataclass(frozen=True, slots=True)
class OpcodeRow:
    """What holds for the opcodes that share it: their forms, the modifiers that it covers, and its effects.

    `required` are modifiers that an opcode must have for the row to apply; `partial` those that keep part of the old destination.
    `masked` says that the last operand selects bits of the named register set,
    `undecided` that more than guard and operands decides a branch. `effects` say what the opcodes compute; the first that covers the
    modifiers of an opcode is its effect.
    """

    required: frozenset[str]
    modifiers: frozenset[str]
    forms: tuple[Form, ...]
    agree: Uniformity
    flow: Flow
    tag: str
    uniform: bool
    undecided: bool
    partial: frozenset[str]
    masked: bool
    source: str
    unit: FunctionalUnit
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class WidthRule:
    """How many registers an operand spans: looked up by the modifiers of the opcode; `nth` is -1 (the widest) or an index."""

    spans: Mapping[str, int]
    nth: int
    absent: int

    def of(self, modifiers: tuple[str, ...]) -> int:
        """Return the number of registers, 0 when the modifiers leave it open."""
        spans = [self.spans[name] for name in modifiers if name in self.spans]
        if self.nth < 0:
            return max(spans, default=self.absent)
        return spans[self.nth] if self.nth < len(spans) else self.absent


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns) or r"(?!)")


@dataclass(frozen=True, slots=True)
class LetterRule:
    """A letter for opcodes whose mnemonic (or whole name, if the pattern holds a dot) fits one of the patterns."""

    letter: Letter
    patterns: tuple[str, ...]
    immediate_address: bool = False
    constant_operand: bool = False
    _mnemonic: re.Pattern[str] = field(init=False, repr=False)
    _opcode: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make one expression of the patterns for mnemonics, and one of those for whole names."""
        object.__setattr__(self, "_mnemonic", _any_of(pattern for pattern in self.patterns if "." not in pattern))
        object.__setattr__(self, "_opcode", _any_of(pattern for pattern in self.patterns if "." in pattern))

    def fits(self, opcode: str) -> bool:
        """Return whether one of the patterns fits, the operands aside."""
        return bool(self._mnemonic.match(opcode.partition(".")[0]) or self._opcode.match(opcode))


@dataclass(frozen=True, slots=True)
class OpcodeTable:
    """One generation: `rows` per mnemonic in file order, the first that applies decides."""

    name: str
    rows: Mapping[str, tuple[OpcodeRow, ...]]
    widths: Mapping[str, WidthRule]
    carry_in: frozenset[str]
    selectors: frozenset[str]
    sets: Mapping[str, tuple[str, int]]
    prefixes: Mapping[str, int]
    agreeing: frozenset[str]
    block_dim: frozenset[str]

    def unit(self, opcode: str) -> FunctionalUnit | None:
        """Return the unit that executes an opcode with its modifiers, None where no row covers it."""
        mnemonic, *modifiers = opcode.split(".")
        row = next((row for row in self.rows.get(mnemonic, ()) if row.required.issubset(modifiers)), None)
        return None if row is None else row.unit


@dataclass(frozen=True, slots=True)
class LetterRules:
    """A mapping to letters: the first rule that fits decides, else the default."""

    rules: tuple[LetterRule, ...]
    default: Letter

    def letter(self, opcode: str, *, constant: bool, indexed: bool) -> Letter:
        """Return the letter of an opcode that has a constant-bank operand, indexed by a register, or not."""
        for rule in self.rules:
            if rule.fits(opcode) and not (rule.immediate_address and indexed) and not (rule.constant_operand and not constant):
                return rule.letter
        return self.default
