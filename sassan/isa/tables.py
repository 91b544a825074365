"""What an analysis asks: the facts of one instruction of one architecture.

isa = load("sm_61")
facts = isa.facts(instruction)      # None: no row covers it, the caller reports the gap `unknown-opcode`
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from sassan.arch import Architecture, cached, further, unknown, with_code
from sassan.errors import InputError
from sassan.ir import Instruction
from sassan.isa.build import AccessBuilder, Uncovered
from sassan.isa.facts import Facts
from sassan.isa.loading import data_text, read_letters, read_table
from sassan.isa.rows import FunctionalUnit, LetterRules, OpcodeTable
from sassan.isa.shape import Shape, shape
from sassan.isa.template import Template
from sassan.system import reading

LETTERS = ("timing", "2013")
"""The mappings to letters: that of functional units, and Figure 11 of the 2013 makespan paper."""

_MEMO_LIMIT = 65536
_RECENT = 32768


class Isa:
    """The instruction facts of one architecture.

    `facts` is a pure function of the instruction: the templates that it keeps per shape, and the facts of the instructions that were
    asked for last, only make it faster; `facts_plain` does without them.
    """

    def __init__(self, table: OpcodeTable, letters: LetterRules, agreeing: frozenset[str] = frozenset()) -> None:
        """Take one table; `agreeing` as for `load`."""
        self.table = table
        self._letters = letters
        self._agreeing = agreeing
        self._templates: dict[Shape, Callable[[Instruction, list[int]], Facts | None]] = {}
        self._recent: dict[int, tuple[Instruction, Facts | None]] = {}
        """By identity: each stage of an analysis asks for the same instructions. What is held here keeps its identity."""

    def facts(self, instruction: Instruction) -> Facts | None:
        """Return the facts, or None when the table has no row for the opcode, its modifiers or its operands."""
        recent = self._recent.get(id(instruction))
        if recent is not None:
            return recent[1]
        if len(self._recent) >= _RECENT:
            self._recent.clear()
        facts = self._facts(instruction)
        self._recent[id(instruction)] = (instruction, facts)
        return facts

    def _facts(self, instruction: Instruction) -> Facts | None:
        key, indices = shape(instruction)
        template = self._templates.get(key)
        if template is None:
            template = self._compile(instruction)
            if len(self._templates) < _MEMO_LIMIT:
                self._templates[key] = template
        return template(instruction, indices)

    def facts_plain(self, instruction: Instruction) -> Facts | None:
        """Return the same as `facts`, worked out for this instruction alone."""
        try:
            template, _ = self._build(instruction)
        except Uncovered:
            return None
        return template.apply(instruction, shape(instruction)[1])

    def _compile(self, instruction: Instruction) -> Callable[[Instruction, list[int]], Facts | None]:
        try:
            template, depends_on_values = self._build(instruction)
        except Uncovered:
            return _unknown
        return self._by_value if depends_on_values else template.apply

    def _build(self, instruction: Instruction) -> tuple[Template, bool]:
        builder = AccessBuilder(self.table, instruction)
        return builder.build(self._letters, self._agreeing), builder.values

    def _by_value(self, instruction: Instruction, indices: list[int]) -> Facts | None:
        del indices
        return self.facts_plain(instruction)


def _unknown(instruction: Instruction, indices: list[int]) -> Facts | None:
    del instruction, indices
    return None


@cached
def load(arch: str, letters: str = "timing", agreeing: frozenset[str] = frozenset()) -> Isa:
    """Return the facts of `arch` (`sm_61`, `61`, `sm_90a`) with one mapping to letters.

    `agreeing` names special registers on which the threads of a warp agree beyond those of the table: what a known block shape says
    of `table.block_dim`. Raises InputError `unsupported-architecture` where its machine code is not described, `bad-table` when a table is
    not well formed.
    """
    return Isa(_table_of(arch)[1], _letters(letters), agreeing)


@cached
def unit(arch: str, opcode: str) -> str:
    """Return the unit that executes `opcode` (with its modifiers) on `arch`, a name of the profilers' manuals; '' where no row covers it.

    Raises InputError as `load`.
    """
    described, table = _table_of(arch)
    unit = table.unit(opcode)
    return described.half_unit if unit is FunctionalUnit.HALF else unit or ""


@cached
def mnemonics(arch: Architecture) -> frozenset[str]:
    """Return the mnemonics that an architecture has rows for."""
    table = _table(arch.isa) if arch.isa else None
    return frozenset(table.rows if table else ())


def units() -> tuple[str, ...]:
    """Return the names of all units."""
    return tuple(name.value for name in FunctionalUnit if name is not FunctionalUnit.HALF)


@cached
def _table_of(arch: str) -> tuple[Architecture, OpcodeTable]:
    architecture = with_code(arch)
    if architecture is None:
        raise unknown(arch)
    table = _table(architecture.isa)
    if table is None:
        raise InputError("bad-table", f"{architecture.name}.toml: code.isa: no opcode table is called '{architecture.isa}'")
    return architecture, table


@cached
def _table(name: str, above: frozenset[str] = frozenset()) -> OpcodeTable | None:
    """Return the table of a name, from opcodes/ in the folder of further architectures or from this package.

    None where there is none, or it would be its own base.
    """
    folder = further()
    path = Path(folder, "opcodes", f"{name}.toml")
    try:
        text = reading.text(path) if folder and path.is_file() else data_text(f"{name}.toml")
    except OSError:
        return None
    below = above | {name}
    return read_table(f"{name}.toml", text, lambda base: None if base in below else _table(base, below))


@lru_cache(maxsize=len(LETTERS))
def _letters(name: str) -> LetterRules:
    return read_letters("letters.toml", data_text("letters.toml"), name)
