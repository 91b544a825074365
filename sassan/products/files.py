"""Product files: `data/*.toml`, those of the folder that SASSAN_GPUS names, and a user's own. README.md describes the format."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from typing import NamedTuple

from sassan.arch import architecture, known_names, rows
from sassan.checked import Fields, Format
from sassan.errors import UsageError
from sassan.products.product import Peak, Product
from sassan.system import reading

FOLDER = "SASSAN_GPUS"
"""The environment variable that names a folder of further product files."""
FORMAT = Format("bad-gpu", "sassan/products/README.md describes product files")
_SHIPPED = Path(__file__).parent / "data"
_COMMON = "common.toml"
_NEEDED = ("architecture", "sms", "boost_clock", "dram", "dram_size", "dram_bandwidth")
_KEYS: Mapping[str, str] = {
    "base_clock": "base_mhz",
    "boost_clock": "boost_mhz",
    "dram_size": "dram_gb",
    "dram_bandwidth": "dram_gb_per_s",
    "l2_size": "l2_kib",
    "kept_clock": "kept_mhz",
}
"""How a file calls a figure, where that is not its name: with its unit."""
_MEASURED = ("l2_bytes_per_cycle", "dram_efficiency", "dram_share", "launch_us", "between_us", "block_cycles", "kept_clock")
Find = Callable[[str], Product]
"""Finds a product by its name."""
PEAKS = ("fp64", "fp64_tensor", "fp32", "tf32", "fp16", "fp16_single", "fp8", "fp8_single", "int8", "int4", "fp4")
"""Kinds of peak rates: `fp64` and `fp32` of the lanes, the others of tensor cores; `_single`: with sums of single precision."""
VECTOR = ("fp64", "fp32")
"""Those of the lanes."""
_AT_BOOST = (*VECTOR, "fp64_tensor")
"""Those that a data sheet prints at the boost clock, where it prints others at another one."""
_NOT_LANES = ("warps", "blocks", "registers")
_MOST = 1_000_000
"""Beyond every figure, whatever its unit."""


def further() -> str:
    """Return the folder of further product files, '' for none."""
    return os.environ.get(FOLDER, "")


def paths(folder: str) -> Iterator[Path]:
    """Yield the product files, those of a folder of further ones behind the shipped ones.

    Raises UsageError where there is no such folder.
    """
    yield from (path for path in sorted(_SHIPPED.glob("*.toml")) if path.name != _COMMON)
    if folder:
        if not Path(folder).is_dir():
            raise UsageError("gpus", f"{FOLDER}: '{folder}' is not a folder", hint="name a folder of product files")
        yield from sorted(Path(folder).glob("*.toml"))


def read_path(path: Path) -> tuple[Product, ...]:
    """Return the products of a file; raises InputError `bad-gpu`."""
    label = path.name if path.parent == _SHIPPED else str(path)
    try:
        text = reading.text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise FORMAT.refused(f"{label}: cannot be read: {error}") from None
    return read(label, text)


def read(label: str, text: str, find: Find | None = None) -> tuple[Product, ...]:
    """Return the products of a TOML text; `label` is what errors call it, `find` finds the product that one is based on.

    Raises InputError `bad-gpu` that names the file and the key, and what `find` raises.
    """
    file = FORMAT.toml(label, text)
    file.only("sources", "product")
    sources = _sources(file)
    products = file.table("product", required=True)
    tables = {name: products.table(name) for name in products.values}
    return tuple(each for name, table in tables.items() for each in _products(name, table, sources, find))


def read_file(label: str, text: str, find: Find | None = None) -> Product:
    """Return the one product of a user's file, which may name another one as its base; raises InputError `bad-gpu`."""
    products = read(label, text, find)
    if len(products) != 1:
        raise FORMAT.refused(f"{label}: describes {len(products)} products, not one; name its folder in {FOLDER}")
    return products[0]


def _products(name: str, fields: Fields, sources: Mapping[str, str], find: Find | None) -> Iterator[Product]:
    if not any(char.isalnum() for char in name):
        raise fields.fail("base" if "base" in fields else "architecture", "a product needs a name with a letter or a digit")
    if "base" in fields:
        yield _based(name, fields, sources, find)
    else:
        yield from _with_modes(_product(name, fields, sources), fields, sources)


def _product(name: str, fields: Fields, sources: Mapping[str, str]) -> Product:
    given = (*_NEEDED, "base_clock", "l2_size")
    fields.only(
        "aliases",
        *(_KEYS.get(figure, figure) for figure in given),
        "integrated",
        "source",
        "measured",
        "latency",
        "lanes",
        "peaks",
        "modes",
    )
    arch = architecture(fields.text("architecture"))
    if arch is None:
        raise fields.fail("architecture", f"must be one of {known_names()}, not '{fields.text('architecture')}'")
    boost, base = fields.whole("boost_mhz", most=_MOST), _optional(fields, "base_mhz")
    if base is not None and base > boost:
        raise fields.fail("base_mhz", f"must be {boost} at most, the boost clock")
    dram = fields.text("dram")
    efficiency, efficiency_source, integrated = _defaults().get(dram, (None, "", False))
    if efficiency is None and "dram_efficiency" not in fields.table("measured"):
        raise fields.fail("dram", f"must be one of {', '.join(key for key in _defaults() if key)}, or 'measured' has 'dram_efficiency'")
    (launch, launch_source), (between, between_source), (block, block_source) = _launch(), between_launches(), _blocks()
    sms = fields.whole("sms", most=_MOST)
    lanes = fields.table("lanes")
    cited = {
        "dram_efficiency": efficiency_source,
        "launch_us": launch_source,
        "between_us": between_source,
        "block_cycles": block_source,
        **dict.fromkeys((figure for figure in given if _KEYS.get(figure, figure) in fields), fields.citation(sources)),
        **({"lanes": lanes.citation(sources)} if lanes.values else {}),
    }
    product = Product(
        name=name,
        aliases=fields.texts("aliases"),
        architecture=arch.name,
        sms=sms,
        boost_clock=boost,
        dram=dram,
        dram_size=fields.number("dram_gb", least=0, most=_MOST),
        dram_bandwidth=fields.number("dram_gb_per_s", least=1, most=_MOST),
        dram_efficiency=1 if efficiency is None else efficiency,
        launch_us=launch,
        between_us=between,
        block_cycles=block.cycles(sms),
        sources=tuple(cited.items()),
        base_clock=base,
        l2_size=_optional(fields, "l2_kib"),
        lanes=_lanes(arch.name, lanes),
        peaks=_peaks(fields.table("peaks"), boost, sources),
        integrated=fields.flag("integrated", default=integrated),
    )
    return _measured(product, fields, sources)


def _based(name: str, fields: Fields, sources: Mapping[str, str], find: Find | None) -> Product:
    """Return the product that `base` names, with what was measured on one board of it."""
    fields.only("base", "aliases", "measured", "latency")
    base = fields.text("base")
    if find is None:
        raise fields.fail("base", "may stand in a file that is passed itself, not in one of a folder")
    return _measured(replace(find(base), name=name, aliases=fields.texts("aliases"), peaks=()), fields, sources)


def _measured(product: Product, fields: Fields, sources: Mapping[str, str]) -> Product:
    """Return a product with the figures that were measured in the place of those that it has."""
    measured, latency = fields.table("measured"), fields.table("latency")
    measured.only(*(_KEYS.get(figure, figure) for figure in _MEASURED), "source")
    kept = _optional(measured, "kept_mhz")
    if kept is not None and kept > product.boost_clock:
        raise measured.fail("kept_mhz", f"must be {product.boost_clock} at most, the boost clock")
    cited = dict[str, str]()
    if measured.values:
        cited |= dict.fromkeys((figure for figure in _MEASURED if _KEYS.get(figure, figure) in measured), measured.citation(sources))
    if latency.values:
        cited["latency"] = latency.citation(sources)
    cycles = {name: latency.whole(name, most=_MOST) for name in latency.values if name != "source"}
    return replace(
        product,
        dram_efficiency=measured.number("dram_efficiency", product.dram_efficiency, least=0.01, most=1),
        dram_share=Fraction(str(measured.number("dram_share", float(product.dram_share), least=0.01, most=1))),
        launch_us=measured.number("launch_us", product.launch_us, least=0, most=_MOST),
        between_us=measured.number("between_us", product.between_us, least=0, most=_MOST),
        block_cycles=measured.number("block_cycles", product.block_cycles, least=0, most=_MOST),
        l2_bytes_per_cycle=_optional(measured, "l2_bytes_per_cycle") or product.l2_bytes_per_cycle,
        kept_clock=kept or product.kept_clock,
        latency=tuple({**dict(product.latency), **cycles}.items()),
        sources=tuple({**dict(product.sources), **cited}.items()),
    )


def _lanes(arch: str, fields: Fields) -> tuple[tuple[str, int], ...]:
    """Return the lanes of the SM that a product has otherwise than its architecture file says."""
    sm = rows(arch, "sm").get("")
    known = [key for key, value in sm.fields.values.items() if type(value) is int and key not in _NOT_LANES] if sm is not None else []
    fields.only(*known, "source")
    return tuple((key, fields.whole(key, least=0, most=_MOST)) for key in fields.values if key != "source")


def _peaks(fields: Fields, boost: int, sources: Mapping[str, str]) -> tuple[Peak, ...]:
    if not fields.values:
        return ()
    fields.only(*PEAKS, "tensor_mhz", "source")
    source, tensor = fields.citation(sources), fields.whole("tensor_mhz", boost, most=_MOST)
    kinds = (kind for kind in PEAKS if kind in fields)
    return tuple(Peak(kind, _printed(fields, kind), boost if kind in _AT_BOOST else tensor, source) for kind in kinds)


def _printed(fields: Fields, kind: str) -> str:
    text = fields.text(kind)
    try:
        if 0 < Decimal(text) <= _MOST:
            return text
    except ArithmeticError:
        pass
    raise fields.fail(kind, f"must be a number in quotes, as the data sheet prints it, not '{text}'")


def _with_modes(product: Product, fields: Fields, sources: Mapping[str, str]) -> Iterator[Product]:
    """Yield a product, and for each of its power modes one that has fewer SMs or lower clocks: `Jetson Orin NX 16GB, 15W`."""
    yield product
    modes = fields.table("modes")
    for mode in modes.values:
        table = modes.table(mode)
        table.only("sms", "boost_mhz", "dram_gb_per_s", "source")
        figures = ("sms", "boost_clock", "dram_bandwidth")
        cited = dict.fromkeys((figure for figure in figures if _KEYS.get(figure, figure) in table), table.citation(sources))
        yield replace(
            product,
            name=f"{product.name}, {mode}",
            aliases=tuple(f"{alias}, {mode}" for alias in product.aliases),
            sms=table.whole("sms", product.sms, most=product.sms),
            boost_clock=table.whole("boost_mhz", product.boost_clock, most=product.boost_clock),
            dram_bandwidth=table.number("dram_gb_per_s", product.dram_bandwidth, least=1, most=product.dram_bandwidth),
            sources=tuple({**dict(product.sources), **cited}.items()),
            base_clock=None,
            peaks=(),
        )


def _optional(fields: Fields, key: str) -> int | None:
    return fields.whole(key, most=_MOST) if key in fields else None


def _sources(file: Fields) -> Mapping[str, str]:
    table = file.table("sources")
    return {key: table.text(key) for key in table.values}


@cache
def _common() -> Fields:
    file = FORMAT.toml(_COMMON, reading.text(_SHIPPED / _COMMON))
    file.only("sources", "launch", "dram")
    return file


@cache
def _launch() -> tuple[float, str]:
    """Return the microseconds of a launch, with their source."""
    launch = _common().table("launch")
    return launch.number("us", least=0, most=_MOST), launch.citation(_sources(_common()))


@cache
def between_launches() -> tuple[float, str]:
    """Return the microseconds between two launches of a stream, where nothing else is known of a product, with their source."""
    between = _common().table("launch").table("between")
    return between.number("us", least=0, most=_MOST), between.citation(_sources(_common()))


class _Blocks(NamedTuple):
    """The cycles in which an SM takes a block, and in which the GPU hands one out, whichever SM gets it."""

    sm: float
    gpu: float

    def cycles(self, sms: int) -> float:
        """Return the whole cycles in which each of so many SMs gets a block, while all of them want one."""
        return ceil(max(self.sm, self.gpu * sms))


@cache
def _blocks() -> tuple[_Blocks, str]:
    blocks = _common().table("launch").table("blocks")
    sm, gpu = (blocks.number(key, least=0, most=_MOST) for key in ("cycles", "gpu_cycles"))
    return _Blocks(sm, gpu), blocks.citation(_sources(_common()))


def block_cycles(sms: int) -> float:
    """Return the cycles in which each of `sms` SMs gets a block, where nothing else is known of a product."""
    return _blocks()[0].cycles(sms)


@cache
def _defaults() -> Mapping[str, tuple[float, str, bool]]:
    """Return the efficiency of each kind of DRAM, with its source, and whether it is that of a CPU, too."""
    sources, kinds = _sources(_common()), _common().table("dram")
    tables = {kind: kinds.table(kind) for kind in kinds.values}
    return {
        kind: (fields.number("efficiency", least=0.01, most=1), fields.citation(sources), fields.flag("integrated"))
        for kind, fields in tables.items()
    }
