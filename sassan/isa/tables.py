"""What an analysis asks: the facts of one instruction of one architecture.

isa = load("sm_61")
facts = isa.facts(instruction)      # None: no row covers it, the caller reports the gap `unknown-opcode`
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from sassan.errors import InputError
from sassan.ir import Instruction
from sassan.isa.build import Builder, Uncovered
from sassan.isa.facts import Facts
from sassan.isa.loading import data_text, read_letters, read_table
from sassan.isa.rows import Letters, Table, Unit
from sassan.isa.shape import Shape, shape
from sassan.isa.template import Template

FILES = ("maxwell_pascal.toml", "volta_turing.toml", "ampere_hopper.toml", "blackwell.toml")
LETTERS = ("timing", "2013")
"""The mappings to letters: timing.md's, and Figure 11 of the 2013 makespan paper."""

_ARCH = re.compile(r"(?:sm_)?(\d+)[af]?")
_MEMO_LIMIT = 65536


class Isa:
    """The instruction facts of one architecture.

    `facts` is a pure function of the instruction: the templates that it keeps per shape only make it faster, and `facts_plain`
    does without them.
    """

    def __init__(self, table: Table, letters: Letters, agreeing: frozenset[str] = frozenset()) -> None:
        """Take one table; `agreeing` as for `load`."""
        self.table = table
        self._letters = letters
        self._agreeing = agreeing
        self._templates: dict[Shape, Callable[[Instruction, list[int]], Facts | None]] = {}

    def facts(self, instruction: Instruction) -> Facts | None:
        """Return the facts, or None when the table has no row for the opcode, its modifiers or its operands."""
        key, indices = shape(instruction)
        found = self._templates.get(key)
        if found is None:
            found = self._compile(instruction)
            if len(self._templates) < _MEMO_LIMIT:
                self._templates[key] = found
        return found(instruction, indices)

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
        builder = Builder(self.table, instruction)
        return builder.build(self._letters, self._agreeing), builder.values

    def _by_value(self, instruction: Instruction, indices: list[int]) -> Facts | None:
        del indices
        return self.facts_plain(instruction)


def _unknown(instruction: Instruction, indices: list[int]) -> Facts | None:
    del instruction, indices
    return None


@lru_cache(maxsize=64)
def load(arch: str, letters: str = "timing", agreeing: frozenset[str] = frozenset()) -> Isa:
    """Return the facts of `arch` (`sm_61`, `61`, `sm_90a`) with one mapping to letters.

    `agreeing` names special registers on which the threads of a warp agree beyond those of the table: what a known block shape says
    of `table.block_dim`. Raises InputError `unsupported-architecture` when no table covers it, `bad-table` when a table is not well formed.
    """
    return Isa(_table_of(arch)[0], _letters(letters), agreeing)


@lru_cache(maxsize=8192)
def unit(arch: str, opcode: str) -> str:
    """Return the unit that executes `opcode` (with its modifiers) on `arch`, a name of the profilers' manuals; '' where no row covers it.

    Raises InputError as `load`.
    """
    table, name = _table_of(arch)
    return table.unit(name, opcode) or ""


def units() -> tuple[str, ...]:
    """Return the names of all units."""
    return tuple(one.value for one in Unit if one is not Unit.HALF)


def _table_of(arch: str) -> tuple[Table, str]:
    """Return the table of an architecture, and how the table calls it."""
    match = _ARCH.fullmatch(arch)
    name = f"sm_{match[1]}" if match else arch
    for table in tables():
        if name in table.archs:
            return table, name
    known = ", ".join(one for table in tables() for one in table.archs)
    raise InputError("unsupported-architecture", f"no instruction table for '{arch}'", hint=f"known architectures: {known}")


def tables() -> Iterator[Table]:
    """Yield the checked table of every generation, oldest first; those that nobody asks for are not read."""
    return (_table(name) for name in FILES)


@lru_cache(maxsize=len(FILES))
def _table(name: str) -> Table:
    earlier = FILES[: FILES.index(name)]
    return read_table(name, data_text(name), lambda base: _table(base) if base in earlier else None)


@lru_cache(maxsize=len(LETTERS))
def _letters(name: str) -> Letters:
    return read_letters("letters.toml", data_text("letters.toml"), name)
