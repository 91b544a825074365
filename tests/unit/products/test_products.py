"""The shipped products: each is plausible, has sources, and is found by the names that tools print."""

import pickle
from fractions import Fraction

import pytest

from sassan.arch import described
from sassan.errors import UsageError
from sassan.machine import load
from sassan.machine.multiprocessor import capabilities
from sassan.products import Product, find, products

PLAUSIBLE = {
    "sms": (1, 200),
    "boost_clock": (300, 2700),
    "dram_size": (2, 280),
    "dram_bandwidth": (25, 8000),
    "dram_efficiency": (0.5, 0.95),
    "launch_us": (1, 10),
    "block_cycles": (30, 300),
}
PLAUSIBLE_IF_KNOWN = {"base_clock": (560, 2410), "l2_size": (256, 132_000), "l2_bytes_per_cycle": (500, 6000)}
every_product = pytest.mark.parametrize("product", products(), ids=lambda product: product.name)


@every_product
def test_every_figure_is_plausible(product: Product):
    assert all(least <= getattr(product, figure) <= most for figure, (least, most) in PLAUSIBLE.items())
    known = {figure: value for figure in PLAUSIBLE_IF_KNOWN if (value := getattr(product, figure)) is not None}
    assert all(PLAUSIBLE_IF_KNOWN[figure][0] <= value <= PLAUSIBLE_IF_KNOWN[figure][1] for figure, value in known.items())
    assert product.source("sms")
    assert all(product.source(figure) for figure in (*PLAUSIBLE, *known))


@every_product
def test_an_l2_is_faster_than_its_dram(product: Product):
    assert product.l2_bytes_per_cycle is None or product.l2_bytes_per_cycle > product.dram_bytes_per_cycle


def test_the_sm_of_every_product_is_described():
    architectures = {product.architecture for product in products()}
    assert all(described(name).isa for name in architectures)
    assert architectures <= {load(capability).arch for capability in capabilities()}


def test_what_counts_without_a_product_is_the_slowest_but_for_those_that_the_sm_names():
    slower = {product.name for product in products() for key, lanes in product.lanes if 0 < lanes < load(product.architecture).lanes[key]}
    assert slower == {"H20", "H800 SXM", "H800 PCIe"}
    assert load("sm_90").slower == ("H20", "H800")


def test_a_power_mode_is_a_product_of_fewer_sms_and_lower_clocks():
    whole, half = find("Jetson AGX Orin 64GB"), find("orin agx, 30w")
    assert (whole.sms, whole.boost_clock, half.sms, half.boost_clock) == (16, 1300, 8, 612)
    assert "nvpmodel" in half.source("sms")
    assert "nvpmodel" not in half.source("l2_size")


@every_product
def test_a_product_is_found_by_each_of_its_names(product: Product):
    assert {find(name) for name in (product.name, *product.aliases)} == {product}
    assert find(f"NVIDIA GeForce {product.name.upper()}") == product


def test_the_products_span_maxwell_to_blackwell_and_embedded_gpus():
    assert len({product.name for product in products()}) >= 90
    generations = {described(product.architecture).generation for product in products()}
    assert generations >= {"maxwell", "pascal", "volta", "turing", "ampere", "hopper", "blackwell"}
    assert sum(product.dram.startswith("LPDDR") for product in products()) >= 10


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rtx3080", "RTX 3080"),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti"),
        ("Tesla V100-PCIE-16GB", "V100-PCIE-16GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA A100 80GB PCIe", "A100 80GB PCIe"),
        ("Orin AGX", "Jetson AGX Orin 64GB"),
        ("orin nx 8gb", "Jetson Orin NX 8GB"),
        ("xavier nx", "Jetson Xavier NX"),
        ("A10", "A10"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA Thor", "Jetson Thor T5000"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop GPU"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell"),
    ],
)
def test_a_product_is_found_as_tools_and_people_write_it(text: str, name: str):
    assert find(text).name == name


@pytest.mark.parametrize(
    ("text", "code", "near"),
    [
        ("A100", "unknown-gpu", "A100-PCIE-40GB"),
        ("3080", "unknown-gpu", "RTX 3080 Ti"),
        ("GH20", "unknown-gpu", "GH200"),
        ("B2", "unknown-gpu", "B200"),
        ("RTX A40", "unknown-gpu", "A40, RTX A4000"),
        ("H100", "unknown-gpu", "H100 SXM"),
        ("Jetson AGX Orin 64GB, 31W", "unknown-gpu", "Jetson AGX Orin 64GB, 30W"),
        ("RTX 3085", "unknown-gpu", "RTX 3080"),
        ("", "unknown-gpu", "sassan gpus"),
        ("é" * 5000, "unknown-gpu", "sassan gpus"),
    ],
)
def test_a_name_that_is_not_exact_is_refused_with_those_near(text: str, code: str, near: str):
    with pytest.raises(UsageError) as refused:
        find(text)
    assert refused.value.code == code
    assert near in f"{refused.value.message} {refused.value.hint}"


def test_the_clocks_and_bandwidths_of_recorded_gpus():
    recorded = [find(name) for name in ("A100-PCIE-40GB", "RTX 3080", "RTX 3070")]
    assert [(gpu.boost_clock, gpu.sms, gpu.dram_bandwidth) for gpu in recorded] == [(1410, 108, 1555), (1710, 68, 760), (1725, 46, 448)]


def test_bytes_and_times_are_those_of_the_boost_clock():
    gpu = find("A100-PCIE-40GB")
    assert gpu.dram_bytes_per_cycle == Fraction(1_555_000, 1410)
    assert gpu.us(2820) == 2.0
    assert gpu.launch_cycles == 2820


def test_a_product_travels_to_another_process():
    assert pickle.loads(pickle.dumps(find("T4"))) == find("T4")  # noqa: S301 - our own bytes
