"""Reading and checking the genes of a configuration: only choices that keep the results of a kernel, unless inexact flags are allowed."""

import re

from sassan.checked import Fields
from sassan.evolve.space.genes import Gene, GeneKind, GenomeSpace, Value

EXACT = ("--maxrregcount", "--ptxas-options", "--extra-device-vectorization")
"""Flags of NVRTC that keep every result bit by bit; of the ptxas options all but level 0."""
INEXACT = ("--fmad", "--use_fast_math", "--ftz", "--prec-div", "--prec-sqrt")
"""Flags that change the rounding of floating-point results."""
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
"""From level 1 on ptxas fuses a product and a sum without rounding modifiers into an `fma` (PTX ISA 8.8, 9.7.3), at level 0 it does not."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,79}", re.ASCII)
_TEXT = re.compile(r"[\w.+*/() -]{1,80}", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KINDS = ("macro", "flag", "launch", "order")
_FEWEST = 2
_ALLOW = "set allow_inexact = true in [search] to allow it"


def read_genes(top: Fields, *, inexact: bool, ptx: bool) -> GenomeSpace:
    """Return the space of the genes of a file; raises UsageError `bad-config`."""
    genes: list[Gene] = []
    for table in top.tables("gene", required=True):
        kinds = [kind for kind in _KINDS if kind in table]
        if len(kinds) != 1:
            raise table.fail(", ".join(_KINDS), "exactly one of them is required")
        gene = _order(table) if kinds == ["order"] else _chosen(table, GeneKind(kinds[0]), inexact=inexact)
        _check_gene(table, gene, genes, ptx=ptx)
        genes.append(gene)
    return GenomeSpace(tuple(genes))


def check_names(top: Fields, space: GenomeSpace, *, used: frozenset[str], file: str, text: str) -> None:
    """Refuse a gene without effect: a macro that is not in the code, a number that no expression of the launch (`used`) contains.

    A misspelt macro that sizes the grid would omit work, which would look like an improvement. Raises UsageError `bad-config`.
    """
    known = words(text)
    for table, gene in zip(top.tables("gene"), space.genes, strict=True):
        if gene.kind is GeneKind.MACRO and gene.name not in known:
            raise table.fail("macro", f"'{gene.name}' does not occur in '{file}' or in the headers that it includes")
        if gene.kind is GeneKind.LAUNCH and gene.name not in used:
            raise table.fail("launch", f"'{gene.name}' does not occur in launch.block or launch.grid")


def words(text: str) -> frozenset[str]:
    """Return the identifiers in a source, without those in comments."""
    return frozenset(_WORD.findall(_COMMENT.sub(" ", text)))


def _order(table: Fields) -> Gene:
    table.only("order", "levels")
    return Gene(GeneKind.ORDER, "order", (), table.whole("order", most=100_000), table.whole("levels", 4, least=_FEWEST, most=1000))


def _chosen(table: Fields, kind: GeneKind, *, inexact: bool) -> Gene:
    table.only(kind.value, "values")
    name = table.text(kind.value)
    name = _ALIASES.get(name, name)
    if kind is GeneKind.FLAG:
        if name not in (*EXACT, *INEXACT):
            raise table.fail("flag", f"unknown flag '{name}' (known: {', '.join((*EXACT, *INEXACT))})")
        if name in INEXACT and not inexact:
            raise table.fail("flag", f"'{name}' changes rounding: {_ALLOW}")
    elif _NAME.fullmatch(name) is None:
        raise table.fail(kind.value, f"'{name}' is not an identifier")
    values = table.items("values")
    if len(values) < _FEWEST or len({repr(value) for value in values}) != len(values):
        raise table.fail("values", "must have at least two different values; the first is the default")
    gene = Gene(kind, name, tuple(_value(table, kind, name, value) for value in values))
    unfused = next(
        (value for value in gene.values if name == "--ptxas-options" and isinstance(value, str) and _UNFUSED.fullmatch(value)), None
    )
    if unfused is not None and not inexact:
        raise table.fail("values", f"'{unfused}' changes rounding (products and sums are not fused): {_ALLOW}")
    return gene


def _value(table: Fields, kind: GeneKind, name: str, value: object) -> Value:
    fits = _fits_flag(name, value) if kind is GeneKind.FLAG else _fits_name(kind, value)
    if not fits or not isinstance(value, int | str):
        raise table.fail("values", f"{value!r} is not a valid value of {name}")
    return value


def _fits_name(kind: GeneKind, value: object) -> bool:
    if isinstance(value, bool):
        return kind is GeneKind.MACRO
    return isinstance(value, int) or (kind is GeneKind.MACRO and isinstance(value, str) and _TEXT.fullmatch(value) is not None)


def _fits_flag(name: str, value: object) -> bool:
    if value is False:
        return True
    match name:
        case "--maxrregcount":
            return isinstance(value, int) and not isinstance(value, bool) and 16 <= value <= 255  # noqa: PLR2004 - the range of ptxas
        case "--ptxas-options":
            return isinstance(value, str) and _PTXAS.fullmatch(value) is not None
        case "--use_fast_math" | "--extra-device-vectorization":
            return value is True
        case _:
            return value in {"true", "false"}


def _check_gene(table: Fields, gene: Gene, before: list[Gene], *, ptx: bool) -> None:
    """Check a gene against the preceding genes and the kind of source."""
    several = gene.name == "--ptxas-options"
    if not several and gene.name in {earlier.name for earlier in before}:
        raise table.fail(gene.kind.value, f"duplicate gene '{gene.name}'")
    if ptx and (gene.kind is GeneKind.MACRO or (gene.kind is GeneKind.FLAG and gene.name not in _AFTER_PTX)):
        raise table.fail(gene.kind.value, f"'{gene.name}' has no effect on a PTX source")
