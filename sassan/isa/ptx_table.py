"""The table of PTX opcodes, `data/ptx.toml`, read and checked.

    [[op]]
    names = ["ld"]                   # mnemonics: what stands before the first dot
    with = ["const|shared"]          # modifiers that it must have, alternatives between bars; the first row that fits decides
    writes = "first"                 # first (rule: the first operand) | none | register (the first operand, unless it is an address)
                                     # | parameter (the call parameter that the first operand names)
    agree = "never"                  # never (rule) | lanewise | address | parameter | always | mask | barrier | lane | lane-mask
    partly = true                    # the first operand may be written in part (video instructions)
    carry = "modifier"               # "" (rule) | modifier (`.cc` writes the carry flag) | always (it is read, and written with `.cc`)
    flow = "none"                    # a class of facts.Flow
    form = "d s s"                   # the operands, for the effect (forms.py); an instruction with others has none
    [op.effect]                      # what it computes (effects.py), modifiers in capitals and in the order of the opcode;
    "@word" = "d = a + b"            # groups are those of [groups]; of a register of 16 bits, only the low half of the word counts
    source = "isa"                   # a key of [sources]

PTX registers have types and vectors are spelled out, so a modifier never changes what is read or written beyond `with`: the modifiers of
all opcodes are one list, and one that is not there makes the opcode unknown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache

from sassan.checked import Fields
from sassan.isa.effects import Effect
from sassan.isa.facts import Flow
from sassan.isa.forms import Form, parse_form
from sassan.isa.loading import TABLES, data_text, read_effects

FILE = "ptx.toml"
_KEYS = ("names", "with", "writes", "agree", "partly", "carry", "flow", "source", "form", "effect")


class Writes(StrEnum):
    """Where an instruction puts its result."""

    FIRST = "first"
    NONE = "none"
    REGISTER = "register"
    PARAMETER = "parameter"


class PtxUniformity(StrEnum):
    """When the threads that run an instruction together agree on its result."""

    NEVER = "never"
    LANEWISE = "lanewise"
    """They agree on all that it reads."""
    ADDRESS = "address"
    """A load: they agree on the address."""
    PARAMETER = "parameter"
    """A load of a kernel parameter, or of a call parameter on which they agree."""
    ALWAYS = "always"
    MASK = "mask"
    """They agree on the mask, the last operand."""
    BARRIER = "barrier"
    """They agree on which barrier it is."""
    LANE = "lane"
    """They agree on the lane that is read, and the whole warp may be named."""
    LANE_MASK = "lane-mask"
    """LANE, and they agree on the mask."""


class Carry(StrEnum):
    """What an instruction does to the carry flag."""

    NONE = ""
    MODIFIER = "modifier"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class PtxRow:
    """What one row of the table says; see the head of this file."""

    required: tuple[frozenset[str], ...]
    writes: Writes
    agree: PtxUniformity
    partly: bool
    carry: Carry
    flow: Flow
    form: Form
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class PtxTable:
    """The rows per mnemonic, and the special registers: those on which a warp agrees, and all."""

    rows: Mapping[str, tuple[PtxRow, ...]]
    agreeing: frozenset[str]
    specials: frozenset[str]
    modifiers: frozenset[str]
    patterns: re.Pattern[str]

    def row(self, opcode: str) -> PtxRow | None:
        """Return the row of an opcode with its modifiers, None where none covers it."""
        mnemonic, *modifiers = opcode.split(".")
        if not all(name in self.modifiers or self.patterns.match(name) for name in modifiers):
            return None
        have = frozenset(modifiers)
        return next((row for row in self.rows.get(mnemonic, ()) if all(name & have for name in row.required)), None)


@lru_cache(maxsize=1)
def table() -> PtxTable:
    """Return the table; raises InputError `bad-table`."""
    return read(FILE, data_text(FILE))


def read(name: str, text: str) -> PtxTable:
    """Return the checked table of a file; raises InputError `bad-table` with the file and the key."""
    file = TABLES.toml(name, text)
    file.only("sources", "special", "modifiers", "groups", "op")
    special, modifiers = file.table("special"), file.table("modifiers")
    special.only("agree", "differ")
    patterns = modifiers.texts("patterns")
    names = frozenset(text for key in modifiers.values if key != "patterns" for text in modifiers.texts(key))
    return PtxTable(
        _rows(file, frozenset(map(str.upper, names))),
        frozenset(special.texts("agree")),
        frozenset((*special.texts("agree"), *special.texts("differ"))),
        names,
        re.compile("|".join(translate(pattern) for pattern in patterns) or r"(?!)"),
    )


def _rows(file: Fields, modifiers: frozenset[str]) -> dict[str, tuple[PtxRow, ...]]:
    sources = sorted(file.table("sources").values)
    section = file.table("groups")
    groups = {f"@{key}": section.texts(key) for key in section.values}
    out: dict[str, tuple[PtxRow, ...]] = {}
    for fields in file.tables("op"):
        row = _row(fields, sources, groups, modifiers)
        for name in fields.texts("names"):
            out[name] = (*out.get(name, ()), row)
    return out


def _row(fields: Fields, sources: Sequence[str], groups: Mapping[str, tuple[str, ...]], modifiers: frozenset[str]) -> PtxRow:
    fields.only(*_KEYS)
    fields.choice("source", sources)
    if not fields.texts("names"):
        raise fields.fail("names", "must name a mnemonic")
    form = parse_form(fields.text("form", ""), fields.path("form"))
    return PtxRow(
        tuple(frozenset(alternatives.split("|")) for alternatives in fields.texts("with")),
        fields.choice("writes", Writes, Writes.FIRST),
        fields.choice("agree", PtxUniformity, PtxUniformity.NEVER),
        fields.flag("partly"),
        fields.choice("carry", Carry, Carry.NONE),
        fields.choice("flow", Flow, Flow.NONE),
        form,
        tuple(read_effects(fields, (form,), groups, modifiers)),
    )


_WIDTH = re.compile(r"[a-z]+?(8|16|32|64|128)(x[0-9])?")
_PACKED = {"x2": 2, "x4": 4}


def width(kind: str) -> int:
    """Return the bytes of a type: 4 for `b32` and `f16x2`, 0 for `pred` and what is not a type."""
    match = _WIDTH.fullmatch(kind)
    return int(match[1]) // 8 * _PACKED.get(match[2] or "", 1) if match else 0


def special_registers() -> frozenset[str]:
    """Return the names of all special registers, without the part: `%tid`."""
    return table().specials
