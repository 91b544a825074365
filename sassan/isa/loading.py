"""From the TOML files of `data/` to checked tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pkgutil import get_data

from sassan.alphabet import Letter
from sassan.isa.effects import BadEffect, Effect, parse_effect
from sassan.isa.facts import Flow
from sassan.isa.forms import Form, parse_form
from sassan.isa.rows import Agree, LetterRule, Letters, Row, Table, Unit, Width
from sassan.isa.toml import Section

_FILE_KEYS = ("archs", "base", "sources", "units", "rule", "modifiers", "widths", "operands", "special", "op")
_ROW_KEYS = (
    "names",
    "unit",
    "with",
    "forms",
    "modifiers",
    "agree",
    "flow",
    "tag",
    "uniform",
    "undecided",
    "partial",
    "masked",
    "source",
    "effect",
)
_NTH = {"": -1, "first": 0, "second": 1}
_AGREE_BY_FUNCTION = {"special": Agree.SPECIAL, "constant": Agree.ADDRESS, "lane": Agree.ALWAYS}
_TAGGED = (Flow.PUSH, Flow.POP, Flow.CALL)


def data_text(name: str) -> str:
    """Return the text of one file of `data/`; raises FileNotFoundError."""
    data = get_data("sassan.isa", f"data/{name}")
    assert data is not None, "a package read from files can read its data"
    return data.decode("utf-8")


def read_table(name: str, text: str, find: Callable[[str], Table | None]) -> Table:
    """Return the checked table; its rows come before those of the table that it names as its base, which `find` returns.

    Raises InputError `bad-table` with the file and the key.
    """
    file = Section.parse(name, text)
    file.only(*_FILE_KEYS)
    parent = file.string("base", "")
    base = find(parent) if parent else None
    if parent and base is None:
        raise file.fail("base", "the name of an earlier table")
    operands, special = file.section("operands"), file.section("special")
    widths = dict(base.widths if base else {}) | _widths(file.section("widths"))
    table = Table(
        name=name,
        archs=file.strings("archs"),
        rows=_merged(_rows(file, widths), base.rows if base else {}),
        units=_units(file),
        widths=widths,
        carry_in=frozenset(file.section("rule").strings("carry_in")) | (base.carry_in if base else frozenset()),
        selectors=frozenset(operands.strings("selectors")) | (base.selectors if base else frozenset()),
        sets=dict(base.sets if base else {}) | _sets(operands.section("sets")),
        prefixes=dict(base.prefixes if base else {}) | _counts(operands.section("prefixes")),
        agreeing=frozenset(special.strings("agree")) | (base.agreeing if base else frozenset()),
        block_dim=frozenset(special.strings("block_dim")) | (base.block_dim if base else frozenset()),
    )
    if not table.archs:
        raise file.fail("archs", "at least one architecture")
    return table


def read_letters(name: str, text: str, mapping: str) -> Letters:
    """Return one mapping to L/C/S/D letters; raises InputError `bad-table`."""
    section = Section.parse(name, text).section(mapping)
    section.only("source", "default", "rule")
    section.string("source")
    rules: list[LetterRule] = []
    for one in section.sections("rule"):
        one.only("letter", "names", "immediate_address", "constant_operand")
        letter = one.choice("letter", Letter, Letter.COMPUTE)
        rules.append(LetterRule(letter, one.strings("names"), one.flag("immediate_address"), one.flag("constant_operand")))
    return Letters(tuple(rules), section.choice("default", Letter, Letter.COMPUTE))


def _merged(first: Mapping[str, tuple[Row, ...]], then: Mapping[str, tuple[Row, ...]]) -> dict[str, tuple[Row, ...]]:
    out = dict(then)
    for name, rows in first.items():
        out[name] = rows + out.get(name, ())
    return out


def _rows(file: Section, widths: Mapping[str, Width]) -> dict[str, tuple[Row, ...]]:
    groups = {f"@{key}": file.section("modifiers").strings(key) for key in file.section("modifiers").values}
    sources = frozenset(file.section("sources").values)
    out: dict[str, tuple[Row, ...]] = {}
    for one in file.sections("op"):
        one.only(*_ROW_KEYS)
        row = _row(one, groups, widths)
        if row.source not in sources:
            raise one.fail("source", f"one of {', '.join(sorted(sources))}")
        names, units = one.strings("names"), _row_units(one)
        if not names or len(units) not in {1, len(names)}:
            raise one.fail("names" if not names else "unit", "at least one mnemonic" if not names else "one unit, or one for each mnemonic")
        for index, name in enumerate(names):
            out[name] = (*out.get(name, ()), replace(row, unit=units[index % len(units)]))
    return out


def _row_units(one: Section) -> tuple[Unit, ...]:
    value = one.values.get("unit")
    units = (one.string("unit"),) if not isinstance(value, list) else one.strings("unit")
    return tuple(_unit(one, "unit", name) for name in units)


def _unit(section: Section, key: str, name: str) -> Unit:
    if name not in [one.value for one in Unit]:
        raise section.fail(key, f"one of {', '.join(Unit)}")
    return Unit(name)


def _units(file: Section) -> dict[str, dict[Unit, Unit]]:
    """Return the units of classes by architecture: `half = "fma"` for all of the table, `[units.sm_80]` for one."""
    section = file.section("units")
    common = {_unit(section, key, key): _unit(section, key, section.string(key)) for key in section.values if key in list(Unit)}
    out: dict[str, dict[Unit, Unit]] = {}
    for arch in file.strings("archs"):
        special = section.section(arch)
        out[arch] = common | {_unit(special, key, key): _unit(special, key, special.string(key)) for key in special.values}
    section.only(*Unit, *out)
    return out


def _row(one: Section, groups: Mapping[str, tuple[str, ...]], widths: Mapping[str, Width]) -> Row:
    modifiers: list[str] = [*one.strings("with"), *one.strings("partial")]
    for name in one.strings("modifiers"):
        if name.startswith("@") and name not in groups:
            raise one.fail("modifiers", f"a group that exists, not '{name}'")
        modifiers += groups.get(name, (name,))
    forms = tuple(parse_form(text, f"{one.name}: {one.where}forms") for text in one.strings("forms"))
    if not forms:
        raise one.fail("forms", "at least one form")
    for name in _width_names(forms):
        if name not in widths:
            raise one.fail("forms", f"a width rule that exists, not '{name}'")
        modifiers += widths[name].spans
    effects = tuple(_effects(one, forms, groups, frozenset(modifiers)))
    row = Row(
        required=frozenset(one.strings("with")),
        modifiers=frozenset(modifiers),
        forms=forms,
        agree=_agree(one, effects),
        flow=one.choice("flow", Flow, Flow.NONE),
        tag=one.string("tag", ""),
        uniform=one.flag("uniform"),
        undecided=one.flag("undecided"),
        partial=frozenset(one.strings("partial")),
        masked=one.flag("masked"),
        source=one.string("source"),
        unit=_row_units(one)[0],
        effects=effects,
    )
    if row.tag and row.flow not in _TAGGED:
        raise one.fail("tag", "none for this flow class")
    return row


def _effects(one: Section, forms: tuple[Form, ...], groups: Mapping[str, tuple[str, ...]], modifiers: frozenset[str]) -> Iterator[Effect]:
    """Yield the effects of a row: a text for opcodes without modifiers, or one for each set of modifiers."""
    text = one.values.get("effect", {})
    section = Section(one.name, one.where, {"effect": {"": text} if isinstance(text, str) else text}).section("effect")
    for key in section.values:
        try:
            yield parse_effect(key, section.string(key), forms, groups, modifiers)
        except BadEffect as error:
            raise section.fail(f'"{key}"', str(error)) from None


def _agree(one: Section, effects: tuple[Effect, ...]) -> Agree:
    """Return when threads agree on the results: an effect says it, other rows say so themselves."""
    if not effects:
        return one.choice("agree", Agree, Agree.NEVER)
    if "agree" in one.values:
        raise one.fail("agree", "nothing beside an effect, which says it")
    used = frozenset(name for effect in effects for name in effect.functions)
    return next((agree for name, agree in _AGREE_BY_FUNCTION.items() if name in used), Agree.LANEWISE)


def _width_names(forms: tuple[Form, ...]) -> list[str]:
    return [slot.width for form in forms for slot in form if isinstance(slot.width, str)]


def _widths(section: Section) -> dict[str, Width]:
    out: dict[str, Width] = {}
    for key in section.values:
        one = section.section(key)
        one.only("spans", "columns", "nth", "absent")
        nth = one.string("nth", "")
        if nth not in _NTH:
            raise one.fail("nth", "first or second")
        spans = _counts(one.section("spans")) | _columns(one.section("columns"))
        out[key] = Width(spans, _NTH[nth], one.count("absent"))
    return out


def _columns(section: Section) -> dict[str, int]:
    """Return the spans of a family of matrix shapes: `64x8x16 = 2` stands for 64xNx16 with N / 2 registers, N = 8, 16 … 256."""
    out: dict[str, int] = {}
    for shape, divisor in _counts(section).items():
        match shape.split("x"):
            case [rows, "8", depth] if divisor:
                out |= {f"{rows}x{columns}x{depth}": columns // divisor for columns in range(8, 257, 8)}
            case _:
                raise section.fail(shape, "a shape of 8 columns and what divides them")
    return out


def _counts(section: Section) -> dict[str, int]:
    return {key: section.count(key) for key in section.values}


def _sets(section: Section) -> dict[str, tuple[str, int]]:
    out: dict[str, tuple[str, int]] = {}
    for key, value in section.values.items():
        match value:
            case [str(file), int(count)]:
                out[key] = (file, count)
            case _:
                raise section.fail(key, "a register file and a number")
    return out
