"""The report of `gpus`: a table of products, or the figures of one with their sources."""

from collections.abc import Mapping, Sequence

from sassan.app.documents import Value
from sassan.app.peaks import PeakCheck
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports.analysis import NONE
from sassan.products import Product

_COLUMNS = (
    Column("product", widest=20),
    Column("arch"),
    Column("SMs", number=True),
    Column("base", number=True),
    Column("boost", number=True),
    Column("DRAM"),
    Column("GB", number=True),
    Column("GB/s", number=True),
    Column("MiB", number=True),
    Column("B/clk", number=True),
)
_PEAKS = (
    Column("product", widest=28),
    Column("kind"),
    Column("MHz", number=True),
    Column("sheet", number=True),
    Column("computed", number=True),
    Column("ratio", number=True),
    Column("verdict"),
)
_FIGURES = {
    "architecture": ("architecture", ""),
    "sms": ("SMs", ""),
    "base_clock": ("base clock", "MHz"),
    "boost_clock": ("boost clock", "MHz"),
    "dram": ("DRAM", ""),
    "dram_size": ("DRAM size", "GB"),
    "dram_bandwidth": ("DRAM bandwidth", "GB/s"),
    "dram_efficiency": ("DRAM efficiency", ""),
    "l2_size": ("L2 size", "KiB"),
    "l2_bytes_per_cycle": ("L2 bandwidth", "B/cycle"),
    "launch_us": ("launch overhead", "us"),
    "block_cycles": ("block dispatch", "clk"),
    "kept_clock": ("kept clock", "MHz"),
    "lanes": ("lanes", "of an SM"),
}
"""What people call each figure of a product, and its unit."""
_KIB = 1024
"""KiB of a MiB."""


def show(products: Sequence[Product]) -> None:
    """Print a row per product."""
    table.show(Table(_COLUMNS, tuple(_row(product) for product in products)))


def _row(product: Product) -> tuple[str, ...]:
    figures = (product.sms, product.base_clock, product.boost_clock, product.dram, product.dram_size, product.dram_bandwidth)
    l2 = (product.l2_size / _KIB if product.l2_size is not None else None, product.l2_bytes_per_cycle)
    return (product.name, product.architecture, *map(_shown, (*figures, *l2)))


def _shown(value: str | float | tuple[tuple[str, int], ...] | None) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{key}={lanes}" for key, lanes in value)
    return NONE if value is None else value if isinstance(value, str) else f"{value:.6g}"


def show_figures(product: Product) -> None:
    """Print each figure of a product with its unit and its source, and which are not known."""
    out(f"{safe(product.name)}\n")
    if product.aliases:
        out(f"also: {safe(', '.join(product.aliases))}\n")
    marks: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    for figure, (title, unit) in _FIGURES.items():
        value = getattr(product, figure)
        if figure == "lanes" and not value:
            continue
        if value is None:
            rows.append((title, NONE, "", ""))
            continue
        mark = marks.setdefault(product.source(figure), f"[{len(marks) + 1}]")
        rows.append((title, _shown(value), unit, mark))
    table.show(Table((Column("figure"), Column("value", number=True), Column("unit"), Column("source")), tuple(rows)))
    out("\n" + "".join(f"{mark} {safe(source)}\n" for source, mark in marks.items()))


def show_peaks(checks: Sequence[PeakCheck]) -> None:
    """Print a row per rate, how many there are, and how many are off."""
    table.show(Table(_PEAKS, tuple(_peak(each) for each in checks)))
    off = sum(not each.agrees for each in checks)
    out(f"\nrates: {len(checks)}, off: {off}\n")


def _peak(each: PeakCheck) -> tuple[str, ...]:
    computed, ratio = (NONE if value is None else f"{float(value):.4g}" for value in (each.computed, each.ratio))
    return (each.product, each.peak.kind, str(each.peak.clock), each.peak.printed, computed, ratio, "" if each.agrees else "off")


def peak_row(each: PeakCheck) -> Mapping[str, Value]:
    """Return what the document says of one rate."""
    return {
        "product": each.product,
        "kind": each.peak.kind,
        "mhz": each.peak.clock,
        "sheet": each.peak.printed,
        "computed": float(each.computed) if each.computed is not None else None,
        "ratio": each.ratio,
        "agrees": each.agrees,
        "source": each.peak.source,
    }


def row(product: Product) -> Mapping[str, Value]:
    """Return what the document says of one product."""
    return {
        "name": product.name,
        "aliases": list(product.aliases),
        "arch": product.architecture,
        "sms": product.sms,
        "base_mhz": product.base_clock,
        "boost_mhz": product.boost_clock,
        "dram": product.dram,
        "dram_gb": product.dram_size,
        "dram_gb_per_s": product.dram_bandwidth,
        "dram_efficiency": product.dram_efficiency,
        "l2_kib": product.l2_size,
        "l2_bytes_per_cycle": product.l2_bytes_per_cycle,
        "launch_us": product.launch_us,
        "block_cycles": product.block_cycles,
        "kept_mhz": product.kept_clock,
        "lanes": dict(product.lanes),
        "sources": dict(product.sources),
    }
