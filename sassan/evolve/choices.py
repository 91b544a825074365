"""The genes of a configuration, checked: only what keeps the result of a kernel, unless inexact flags are allowed."""

import re

from sassan.checked import Fields
from sassan.evolve.genes import Gene, Kind, Space, Value

EXACT = ("--maxrregcount", "--ptxas-options", "--extra-device-vectorization")
"""Flags of NVRTC under which every result stays as it is, bit by bit; of ptxas's options all but level 0."""
INEXACT = ("--fmad", "--use_fast_math", "--ftz", "--prec-div", "--prec-sqrt")
"""Flags under which floating-point results are rounded otherwise."""
_AFTER_PTX = ("--maxrregcount", "--ptxas-options")
_ALIASES = {"-maxrregcount": "--maxrregcount", "-Xptxas": "--ptxas-options", "-fmad": "--fmad", "-use_fast_math": "--use_fast_math"}
_PTXAS = re.compile(
    r"(?:-O|-O=|--opt-level[= ])[0-3]"
    r"|--?allow-expensive-optimizations[= ](?:true|false)"
    r"|--?(?:def-load-cache|def-store-cache|dlcm|dscm)[= ](?:ca|cg|cs|cv|wb|wt)"
    r"|--?register-usage-level[= ][0-9]{1,2}"
    r"|--?(?:disable-optimizer-constants|dont-merge-basicblocks|no-fastreg)",
    re.ASCII,
)
_UNFUSED = re.compile(r"(?:-O|-O=|--opt-level[= ])0")
"""From level 1 on ptxas makes one `fma` of a product and a sum that ask for no rounding (PTX ISA 8.8, 9.7.3), at 0 it does not."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,79}", re.ASCII)
_TEXT = re.compile(r"[\w.+*/() -]{1,80}", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KINDS = ("macro", "flag", "launch", "order")
_FEWEST = 2
_ALLOW = "allow it with allow_inexact = true in [search]"


def read_genes(top: Fields, *, inexact: bool, ptx: bool) -> Space:
    """Return the space of the genes of a file; raises UsageError `bad-config`."""
    found: list[Gene] = []
    for table in top.tables("gene", required=True):
        kinds = [kind for kind in _KINDS if kind in table]
        if len(kinds) != 1:
            raise table.fail(", ".join(_KINDS), "exactly one of them must be there")
        gene = _order(table) if kinds == ["order"] else _chosen(table, Kind(kinds[0]), inexact=inexact)
        _fits(table, gene, found, ptx=ptx)
        found.append(gene)
    return Space(tuple(found))


def check_names(top: Fields, space: Space, *, used: frozenset[str], file: str, words: str) -> None:
    """Refuse a gene that reaches nothing: a macro that is not in the code, a number that no expression of the launch (`used`) has.

    A misspelt macro that sizes the grid would leave work undone, and that would pass for a gain. Raises UsageError `bad-config`.
    """
    found = frozenset(_WORD.findall(_COMMENT.sub(" ", words)))
    for table, gene in zip(top.tables("gene"), space.genes, strict=True):
        if gene.kind is Kind.MACRO and gene.name not in found:
            raise table.fail("macro", f"'{gene.name}' is nowhere in '{file}', nor in what that includes from beside it")
        if gene.kind is Kind.LAUNCH and gene.name not in used:
            raise table.fail("launch", f"'{gene.name}' is in no expression of launch.block and launch.grid")


def _order(table: Fields) -> Gene:
    table.only("order", "levels")
    return Gene(Kind.ORDER, "order", (), table.whole("order", most=100_000), table.whole("levels", 4, least=_FEWEST, most=1000))


def _chosen(table: Fields, kind: Kind, *, inexact: bool) -> Gene:
    table.only(kind.value, "values")
    name = table.text(kind.value)
    name = _ALIASES.get(name, name)
    if kind is Kind.FLAG:
        if name not in (*EXACT, *INEXACT):
            raise table.fail("flag", f"'{name}' is none of {', '.join((*EXACT, *INEXACT))}")
        if name in INEXACT and not inexact:
            raise table.fail("flag", f"'{name}' changes rounding: {_ALLOW}")
    elif _NAME.fullmatch(name) is None:
        raise table.fail(kind.value, f"'{name}' is no name")
    values = table.items("values")
    if len(values) < _FEWEST or len({repr(one) for one in values}) != len(values):
        raise table.fail("values", "must hold two values or more, all different; the first is the default")
    gene = Gene(kind, name, tuple(_value(table, kind, name, one) for one in values))
    odd = next((one for one in gene.values if name == "--ptxas-options" and isinstance(one, str) and _UNFUSED.fullmatch(one)), None)
    if odd is not None and not inexact:
        raise table.fail("values", f"'{odd}' changes rounding (it fuses no products with sums): {_ALLOW}")
    return gene


def _value(table: Fields, kind: Kind, name: str, value: object) -> Value:
    fits = _fits_flag(name, value) if kind is Kind.FLAG else _fits_name(kind, value)
    if not fits or not isinstance(value, int | str):
        raise table.fail("values", f"{value!r} is no value of {name}")
    return value


def _fits_name(kind: Kind, value: object) -> bool:
    if isinstance(value, bool):
        return kind is Kind.MACRO
    return isinstance(value, int) or (kind is Kind.MACRO and isinstance(value, str) and _TEXT.fullmatch(value) is not None)


def _fits_flag(name: str, value: object) -> bool:
    if value is False:
        return True
    match name:
        case "--maxrregcount":
            return isinstance(value, int) and not isinstance(value, bool) and 16 <= value <= 255  # noqa: PLR2004 - what ptxas takes
        case "--ptxas-options":
            return isinstance(value, str) and _PTXAS.fullmatch(value) is not None
        case "--use_fast_math" | "--extra-device-vectorization":
            return value is True
        case _:
            return value in {"true", "false"}


def _fits(table: Fields, gene: Gene, before: list[Gene], *, ptx: bool) -> None:
    """Refuse a gene that contradicts those before it, or the kind of source."""
    several = gene.name == "--ptxas-options"
    if not several and gene.name in {one.name for one in before}:
        raise table.fail(gene.kind.value, f"'{gene.name}' is a gene already")
    if ptx and (gene.kind is Kind.MACRO or (gene.kind is Kind.FLAG and gene.name not in _AFTER_PTX)):
        raise table.fail(gene.kind.value, f"'{gene.name}' means nothing to a source that is PTX already")
