"""From the TOML files of `data/` to checked tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from pkgutil import get_data

from sassan.alphabet import UNITS, Letter
from sassan.arch.files import content_digest
from sassan.checked import Fields, Format
from sassan.isa.effects import BadEffect, Effect, parse_effect
from sassan.isa.facts import Flow
from sassan.isa.forms import Form, parse_form
from sassan.isa.rows import FunctionalUnit, LetterRule, LetterRules, OpcodeRow, OpcodeTable, Uniformity, WidthRule

TABLES = Format("bad-table")
_FILE_KEYS = ("base", "sources", "rule", "modifiers", "widths", "operands", "special", "op")
_RARE_KEYS = ("partial", "masked")
_ROW_KEYS = ("names", "unit", "with", "forms", "modifiers", "agree", "effect", "flow", "tag", "uniform", "undecided", *_RARE_KEYS, "source")
_NTH = {"": -1, "first": 0, "second": 1}
_AGREE_BY_FUNCTION = {
    "special": Uniformity.SPECIAL,
    "constant": Uniformity.ADDRESS,
    "lane": Uniformity.ALWAYS,
    "picked": Uniformity.LANE,
    "shuffled": Uniformity.NEVER,
}
_TAGGED = (Flow.PUSH, Flow.POP, Flow.CALL)


def data_text(name: str) -> str:
    """Return the text of one file of `data/`; raises FileNotFoundError."""
    data = get_data("sassan.isa", f"data/{name}")
    assert data is not None, "a package read from files can read its data"
    return data.decode("utf-8")


@cache
def tables_digest() -> str:
    """The `content_digest` of the shipped tables of opcodes and letters."""
    return content_digest(sorted(path for path in Path(__file__).with_name("data").glob("*.toml") if path.stem != "codes"))


def read_table(name: str, text: str, find: Callable[[str], OpcodeTable | None]) -> OpcodeTable:
    """Return the checked table; its rows come before those of the table that it names as its base, which `find` returns.

    Raises InputError `bad-table` with the file and the key.
    """
    file = TABLES.toml(name, text)
    file.only(*_FILE_KEYS)
    parent = file.text("base", "")
    base = find(parent) if parent else None
    if parent and base is None:
        raise file.fail("base", "must be the name of another table")
    operands, special = file.table("operands"), file.table("special")
    widths = dict(base.widths if base else {}) | _widths(file.table("widths"))
    return OpcodeTable(
        name=name,
        rows=_merged(_rows(file, widths), base.rows if base else {}),
        widths=widths,
        carry_in=frozenset(file.table("rule").texts("carry_in")) | (base.carry_in if base else frozenset()),
        selectors=frozenset(operands.texts("selectors")) | (base.selectors if base else frozenset()),
        sets=dict(base.sets if base else {}) | _sets(operands.table("sets")),
        prefixes=dict(base.prefixes if base else {}) | _counts(operands.table("prefixes")),
        agreeing=frozenset(special.texts("agree")) | (base.agreeing if base else frozenset()),
        block_dim=frozenset(special.texts("block_dim")) | (base.block_dim if base else frozenset()),
    )


def read_letters(name: str, text: str, mapping: str) -> LetterRules:
    """Return one mapping to letters; raises InputError `bad-table`."""
    section = TABLES.toml(name, text).table(mapping)
    section.only("source", "default", "rule")
    section.text("source")
    rules: list[LetterRule] = []
    for rule in section.tables("rule"):
        rule.only("letter", "names", "immediate_address", "constant_operand")
        letter = rule.choice("letter", UNITS, Letter.COMPUTE)
        rules.append(LetterRule(letter, rule.texts("names"), rule.flag("immediate_address"), rule.flag("constant_operand")))
    return LetterRules(tuple(rules), section.choice("default", UNITS, Letter.COMPUTE))


def _merged(first: Mapping[str, tuple[OpcodeRow, ...]], then: Mapping[str, tuple[OpcodeRow, ...]]) -> dict[str, tuple[OpcodeRow, ...]]:
    out = dict(then)
    for name, rows in first.items():
        out[name] = rows + out.get(name, ())
    return out


def _rows(file: Fields, widths: Mapping[str, WidthRule]) -> dict[str, tuple[OpcodeRow, ...]]:
    groups = {f"@{key}": file.table("modifiers").texts(key) for key in file.table("modifiers").values}
    sources = sorted(file.table("sources").values)
    out: dict[str, tuple[OpcodeRow, ...]] = {}
    for fields in file.tables("op"):
        fields.only(*_ROW_KEYS)
        fields.choice("source", sources)
        row = _row(fields, groups, widths)
        names, units = fields.texts("names"), _row_units(fields)
        if not names:
            raise fields.fail("names", "must name a mnemonic")
        if len(units) not in {1, len(names)}:
            raise fields.fail("unit", "must be one unit, or one for each mnemonic")
        for index, name in enumerate(names):
            out[name] = (*out.get(name, ()), replace(row, unit=units[index % len(units)]))
    return out


def _row_units(row: Fields) -> tuple[FunctionalUnit, ...]:
    if not isinstance(row.values.get("unit"), list):
        return (row.choice("unit", FunctionalUnit),)
    units = row.texts("unit")
    if not set(units) <= set(FunctionalUnit):
        raise row.fail("unit", f"must be of {', '.join(FunctionalUnit)}")
    return tuple(map(FunctionalUnit, units))


def _row(fields: Fields, groups: Mapping[str, tuple[str, ...]], widths: Mapping[str, WidthRule]) -> OpcodeRow:
    modifiers: list[str] = [*fields.texts("with"), *fields.texts("partial")]
    for name in fields.texts("modifiers"):
        if name.startswith("@") and name not in groups:
            raise fields.fail("modifiers", f"unknown group '{name}'")
        modifiers += groups.get(name, (name,))
    forms = tuple(parse_form(text, fields.path("forms")) for text in fields.texts("forms"))
    if not forms:
        raise fields.fail("forms", "must hold a form")
    for name in _width_names(forms):
        if name not in widths:
            raise fields.fail("forms", f"unknown width rule '{name}'")
        modifiers += widths[name].spans
    effects = tuple(read_effects(fields, forms, groups, frozenset(modifiers)))
    row = OpcodeRow(
        required=frozenset(fields.texts("with")),
        modifiers=frozenset(modifiers),
        forms=forms,
        agree=_agree(fields, effects),
        flow=fields.choice("flow", Flow, Flow.NONE),
        tag=fields.text("tag", ""),
        uniform=fields.flag("uniform"),
        undecided=fields.flag("undecided"),
        partial=frozenset(fields.texts("partial")),
        masked=fields.flag("masked"),
        source=fields.text("source"),
        unit=_row_units(fields)[0],
        effects=effects,
    )
    if row.tag and row.flow not in _TAGGED:
        raise fields.fail("tag", "must be absent for this flow class")
    return row


def read_effects(
    fields: Fields, forms: tuple[Form, ...], groups: Mapping[str, tuple[str, ...]], modifiers: frozenset[str]
) -> Iterator[Effect]:
    """Yield the effects of a row: a text for opcodes without modifiers, or one for each set of modifiers."""
    text = fields.values.get("effect", {})
    section = replace(fields, values={"effect": {"": text} if isinstance(text, str) else text}).table("effect")
    for key in section.values:
        try:
            yield parse_effect(key, section.text(key), forms, groups, modifiers)
        except BadEffect as error:
            raise section.fail(key, f"expected {error}") from None


def _agree(fields: Fields, effects: tuple[Effect, ...]) -> Uniformity:
    """Return when threads agree on the results: an effect says it, other rows say so themselves."""
    if not effects:
        return fields.choice("agree", Uniformity, Uniformity.NEVER)
    if "agree" in fields.values:
        raise fields.fail("agree", "must be absent beside an effect, which implies it")
    used = frozenset(name for effect in effects for name in effect.functions)
    return next((agree for name, agree in _AGREE_BY_FUNCTION.items() if name in used), Uniformity.LANEWISE)


def _width_names(forms: tuple[Form, ...]) -> list[str]:
    return [slot.width for form in forms for slot in form if isinstance(slot.width, str)]


def _widths(section: Fields) -> dict[str, WidthRule]:
    out: dict[str, WidthRule] = {}
    for key in section.values:
        fields = section.table(key)
        fields.only("spans", "columns", "nth", "absent")
        nth = fields.choice("nth", _NTH, "")
        spans = _counts(fields.table("spans")) | _columns(fields.table("columns"))
        out[key] = WidthRule(spans, _NTH[nth], fields.whole("absent", least=0))
    return out


def _columns(section: Fields) -> dict[str, int]:
    """Return the spans of a family of matrix shapes: `64x8x16 = 2` stands for 64xNx16 with N / 2 registers, N = 8, 16 … 256."""
    out: dict[str, int] = {}
    for shape, divisor in _counts(section).items():
        match shape.split("x"):
            case [rows, "8", depth] if divisor:
                out |= {f"{rows}x{columns}x{depth}": columns // divisor for columns in range(8, 257, 8)}
            case _:
                raise section.fail(shape, "must be a shape of 8 columns and what divides them")
    return out


def _counts(section: Fields) -> dict[str, int]:
    return {key: section.whole(key, least=0) for key in section.values}


def _sets(section: Fields) -> dict[str, tuple[str, int]]:
    out: dict[str, tuple[str, int]] = {}
    for key, value in section.values.items():
        match value:
            case [str(file), int(count)]:
                out[key] = (file, count)
            case _:
                raise section.fail(key, "must be a register file and a number")
    return out
