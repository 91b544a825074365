"""Peak rates of products against their data sheets: within 1 %, or the digits that are printed."""

import pytest

from sassan.app.options import machine_of_product
from sassan.app.peaks import check_peaks
from sassan.products import PEAKS, Product, find, products

WITH_PEAKS = [product for product in products() if product.peaks]


@pytest.mark.parametrize("product", WITH_PEAKS, ids=lambda product: product.name)
def test_every_rate_is_that_of_the_data_sheet(product: Product):
    assert [each for each in check_peaks(product) if not each.agrees] == []


def test_every_kind_of_rate_is_compared_for_several_products():
    kinds = [peak.kind for product in WITH_PEAKS for peak in product.peaks]
    assert all(kinds.count(kind) >= 5 for kind in PEAKS)
    assert len(kinds) >= 370


def test_the_data_sheets_that_have_no_tensor_rates():
    """Products with tensor cores whose data sheet was not at hand, or prints AI TOPS of all engines together."""
    lacking = [product.name for product in products() if machine_of_product(product, "").sm.tensor and not product.peaks]
    modes = [name for name in lacking if "," in name]
    assert len(modes) == 33
    assert [name for name in lacking if "Laptop" not in name and name not in modes] == [
        "Jetson Xavier NX",
        "A800 40GB Active",
        "Jetson AGX Orin 32GB",
        "Jetson Orin NX 16GB",
        "Jetson Orin NX 8GB",
        "Jetson Orin NX 16GB Super",
        "Jetson Orin NX 8GB Super",
        "IGX Orin 700",
        "RTX PRO 5000 Blackwell",
        "RTX PRO 4500 Blackwell",
        "RTX PRO 4000 Blackwell",
    ]


# Cycles from one product of a warp to the next.
@pytest.mark.parametrize(
    ("name", "opcode", "cycles"),
    [
        ("RTX 3080", "HMMA.16816.F32", 32),
        ("A10", "HMMA.16816.F32", 16),
        ("A40", "HMMA.1688.F32.TF32", 16),
        ("RTX 4090", "IMMA.16832.S8.S8", 16),
        ("L40", "IMMA.16832.S8.S8", 32),
        ("L40S", "QMMA.16832.F32.E4M3.E4M3", 16),
        ("RTX 2080 Ti", "HMMA.1688.F32", 16),
        ("T4", "HMMA.1688.F32", 8),
        ("RTX PRO 6000", "HMMA.16816.F32", 16),
        ("RTX 5090", "OMMA.SF.16864.F32.E2M1.E2M1", 16),
        ("H100 SXM", "HGMMA.64x256x16.F32", 128),
        ("H20", "HGMMA.64x256x16.F32", 512),
        ("GTX 1660", "HMMA.1688.F32", None),
    ],
)
def test_a_matrix_product_keeps_the_unit_by_the_rate_of_the_product(name: str, opcode: str, cycles: int | None):
    assert machine_of_product(find(name), "--gpu").sm.interval("tensor", opcode) == cycles


def test_an_h800_has_two_lanes_for_doubles_that_the_whole_sm_shares():
    sm = machine_of_product(find("H800 PCIe"), "--gpu").sm
    assert (sm.interval("fp64", "DFMA"), sm.interval("tensor", "DMMA.16x8x16"), sm.partitions) == (16, 1024, True)
