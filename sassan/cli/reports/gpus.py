"""The report of `gpus`: a table of products, or the figures of one with their sources."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sassan.app.peaks import PeakCheck
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import COUNT, FIGURE, FLAG, POSITIVE, STRING, TEXT, array, mapping
from sassan.products import Product

_KIB = 1024
"""KiB of a MiB."""


def _rate(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}"


_RATE, _PRINTED = replace(FIGURE, shown=_rate), replace(STRING, number=True)
_of, _of_peak = Declare[Product](), Declare[PeakCheck]()


def _mebibytes(product: Product) -> str:
    return _shown(product.l2_size / _KIB if product.l2_size is not None else None)


class ProductFields(Record[Product]):
    """A GPU that `--gpu` names; each text is what people call the figure."""

    name = _of(STRING, "name", csv=True, head="product", widest=20)
    aliases = _of(array(STRING), "other names", csv=True)
    architecture = _of(STRING, "architecture", key="arch", csv=True, head="arch")
    sms = _of(POSITIVE, "SMs", csv=True, head="SMs")
    base_clock = _of(FIGURE, "base clock", unit="MHz", key="base_mhz", csv=True, head="base")
    boost_clock = _of(FIGURE, "boost clock", unit="MHz", key="boost_mhz", csv=True, head="boost")
    dram = _of(TEXT, "DRAM", csv=True, head="DRAM")
    dram_size = _of(FIGURE, "DRAM size", unit="GB", key="dram_gb", csv=True, head="GB")
    dram_bandwidth = _of(FIGURE, "DRAM bandwidth", unit="GB/s", key="dram_gb_per_s", csv=True, head="GB/s")
    dram_efficiency = _of(FIGURE, "DRAM efficiency", csv=True)
    l2_size = _of(FIGURE, "L2 size", unit="KiB", key="l2_kib", csv=True, head="MiB", shown=_mebibytes)
    l2_bytes_per_cycle = _of(FIGURE, "L2 bandwidth", unit="B/cycle", csv=True, head="B/clk")
    launch_us = _of(FIGURE, "launch overhead", unit="us", csv=True)
    between_us = _of(FIGURE, "launch spacing", unit="us", csv=True)
    block_cycles = _of(FIGURE, "block dispatch", unit="clk", csv=True)
    kept_clock = _of(FIGURE, "kept clock", unit="MHz", key="kept_mhz", csv=True)
    lanes = _of(mapping(COUNT), "lanes", lambda product: dict(product.lanes), unit="of an SM", csv=True)
    latency = _of(mapping(COUNT), "latencies", lambda product: dict(product.latency), unit="cycles", csv=True)
    dram_share = _of(FIGURE, "DRAM share", lambda product: float(product.dram_share) if product.dram_share < 1 else None, csv=True)
    integrated = _of(FLAG, "whether its DRAM is that of a CPU, too")
    sources = _of(mapping(STRING), "source of each figure", lambda product: dict(product.sources))


_LISTS = ("lanes", "latency")
_FIGURES = [each for each in ProductFields.fields if each.name not in {"name", "aliases", "integrated", "sources"}]


class PeakFields(Record[PeakCheck]):
    """A peak rate of a data sheet, in 10^12 operations a second."""

    product = _of_peak(STRING, "the product", csv=True, head="product", widest=28)
    kind = _of_peak(STRING, "of operations: `fp16_single`", lambda each: each.peak.kind, csv=True, head="kind")
    clock = _of_peak(POSITIVE, "of the data sheet", lambda each: each.peak.clock, unit="MHz", key="mhz", csv=True, head="MHz")
    sheet = _of_peak(_PRINTED, "as printed", lambda each: each.peak.printed, csv=True, head="sheet")
    computed = _of_peak(
        _RATE, "from lanes and SMs", lambda each: float(each.computed) if each.computed is not None else None, csv=True, head="computed"
    )
    ratio = _of_peak(_RATE, "computed over printed", csv=True, head="ratio")
    agrees = _of_peak(FLAG, "whether both are the same", csv=True, head="verdict", shown=lambda each: "" if each.agrees else "off")
    source = _of_peak(STRING, "of the printed rate", lambda each: each.peak.source, csv=True)


def show(products: Sequence[Product]) -> None:
    """Print a row per product."""
    table.show(table.of_fields(ProductFields, products))


def _shown(value: str | float | Fraction | tuple[tuple[str, int], ...] | None) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{key}={lanes}" for key, lanes in value)
    return NONE if value is None else value if isinstance(value, str) else f"{float(value):.6g}"


def show_figures(product: Product) -> None:
    """Print each figure of a product with its unit and its source, and which are not known."""
    out(f"{safe(product.name)}\n")
    if product.aliases:
        out(f"also: {safe(', '.join(product.aliases))}\n")
    marks: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    for figure in _FIGURES:
        value = getattr(product, figure.name)
        if (figure.name in _LISTS and not value) or (figure.name == "dram_share" and product.dram_share == 1):
            continue
        if value is None:
            rows.append((figure.text, NONE, "", ""))
            continue
        mark = marks.setdefault(product.source(figure.name), f"[{len(marks) + 1}]")
        rows.append((figure.text, _shown(value), figure.unit, mark))
    if product.integrated:
        out("integrated: its DRAM is that of the CPU, too (--dram-share, --co-runners)\n")
    table.show(Table((Column("figure"), Column("value", number=True), Column("unit"), Column("source")), tuple(rows)))
    out("\n" + "".join(f"{mark} {safe(source)}\n" for source, mark in marks.items()))


def show_peaks(checks: Sequence[PeakCheck]) -> None:
    """Print a row per rate, how many there are, and how many are off."""
    table.show(table.of_fields(PeakFields, checks))
    off = sum(not each.agrees for each in checks)
    out(f"\nrates: {len(checks)}, off: {off}\n")
