"""The functional unit (pipe) that executes an opcode of one architecture: data/units.toml."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from sassan.checked import Fields
from sassan.isa.loading import TABLES, data_text

_FILE = "units.toml"
_EVERY_ARCH = (0, 10_000)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A unit for opcodes whose mnemonic (or whole name, if the pattern holds a dot) fits one of the patterns."""

    unit: str
    patterns: tuple[str, ...]
    first: int
    last: int

    def fits(self, opcode: str, number: int) -> bool:
        if not self.first <= number <= self.last:
            return False
        base = opcode.partition(".")[0]
        return any(fnmatchcase(opcode if "." in pattern else base, pattern) for pattern in self.patterns)


@lru_cache(maxsize=8192)
def unit(arch: str, opcode: str) -> str:
    """Return the unit that executes `opcode` (with its modifiers) on `arch` (`sm_61`): a name of the profilers' manuals.

    Raises InputError `bad-table` when the table is not well formed.
    """
    number = int(arch.removeprefix("sm_"))
    return next(rule.unit for rule in _rules() if rule.fits(opcode, number))


def units() -> tuple[str, ...]:
    """Return the names of all units, in the order of the table."""
    return tuple(dict.fromkeys(rule.unit for rule in _rules()))


@lru_cache(maxsize=1)
def _rules() -> tuple[_Rule, ...]:
    return read(_FILE, data_text(_FILE))


def read(name: str, text: str) -> tuple[_Rule, ...]:
    """Return the checked rules of a table of units.

    Raises InputError `bad-table` with the file and the key.
    """
    file = TABLES.toml(name, text)
    file.only("sources", "rule")
    sources = sorted(file.table("sources").values)
    rules = tuple(_rule(one, sources) for one in file.tables("rule"))
    if not rules or rules[-1].patterns != ("*",) or (rules[-1].first, rules[-1].last) != _EVERY_ARCH:
        raise file.fail("rule", "must end with a rule that fits every opcode of every architecture")
    return rules


def _rule(one: Fields, sources: Sequence[str]) -> _Rule:
    one.only("unit", "names", "archs", "source")
    one.choice("source", sources)
    return _Rule(one.text("unit"), one.texts("names"), *one.pair("archs", _EVERY_ARCH, least=0))
