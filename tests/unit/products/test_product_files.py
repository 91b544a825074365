"""Product files: what they add, and how broken ones are refused."""

from pathlib import Path

import pytest

from architectures import HEIR, describe
from sassan.app.options import machine_of_product
from sassan.errors import InputError, UsageError
from sassan.products import find, products, read_file
from sassan.products.files import read

WHOLE = """
[sources]
sheet = "a data sheet"
[product."Board 7"]
architecture = "sm_86"
sms = 10
boost_mhz = 1000
dram = "GDDR6"
dram_gb = 8
dram_gb_per_s = 100.5
source = "sheet"
"""


def test_what_a_file_leaves_out_is_unknown_or_common():
    product = read_file("my.toml", WHOLE)
    assert (product.base_clock, product.l2_size, product.l2_bytes_per_cycle) == (None, None, None)
    assert (product.dram_efficiency, product.launch_us) == (0.87, 2.0)
    assert (product.source("sms"), product.source("launch_us")) == ("a data sheet", "assumed")


def test_a_measured_figure_goes_over_the_common_one():
    product = read_file("my.toml", WHOLE + '[product."Board 7".measured]\nlaunch_us = 5\nsource = "sheet"\n')
    assert (product.launch_us, product.source("launch_us")) == (5, "a data sheet")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"sm_86"', '"sm_999"', "architecture"),
        ('"sm_86"', "86", "architecture"),
        ("sms = 10", "sms = 0", "sms"),
        ("sms = 10", f"sms = {10**30}", "sms"),
        ("sms = 10", "sms = true", "sms"),
        ("sms = 10\n", "", "sms"),
        ("sms = 10", "sms = 10\nbase_mhz = 1001", "base_mhz"),
        ("sms = 10", "sms = 10\nl2_kib = -1", "l2_kib"),
        ("sms = 10", "sms = 10\ncores = 10", "cores"),
        ("100.5", "nan", "dram_gb_per_s"),
        ("100.5", "inf", "dram_gb_per_s"),
        ("100.5", "0", "dram_gb_per_s"),
        ('"GDDR6"', '"GDDR9"', "dram"),
        ('source = "sheet"', 'source = "rumour"', "source"),
        ('source = "sheet"', "", "source"),
        ('source = "sheet"', "source = []", "source"),
        ('source = "sheet"', 'source = "sheet"\nmeasured = { dram_efficiency = 1.1, source = "sheet" }', "dram_efficiency"),
        ('source = "sheet"', 'source = "sheet"\nmeasured = { launch_us = 1 }', "source"),
        ('source = "sheet"', 'source = "sheet"\nmeasured = 7', "measured"),
        ('source = "sheet"', 'source = "sheet"\nlanes = { tensor = -1, source = "sheet" }', "tensor"),
        ('source = "sheet"', 'source = "sheet"\nlanes = { warps = 8, source = "sheet" }', "warps"),
        ('source = "sheet"', 'source = "sheet"\nlanes = { tensor = 8 }', "source"),
        ('source = "sheet"', 'source = "sheet"\npeaks = { fp16 = 8, source = "sheet" }', "fp16"),
        ('source = "sheet"', 'source = "sheet"\npeaks = { fp16 = "many", source = "sheet" }', "fp16"),
        ('source = "sheet"', 'source = "sheet"\npeaks = { fp16 = "nan", source = "sheet" }', "fp16"),
        ('source = "sheet"', 'source = "sheet"\npeaks = { fp12 = "1", source = "sheet" }', "fp12"),
        ('source = "sheet"', 'source = "sheet"\npeaks = { fp16 = "1" }', "source"),
        ('source = "sheet"', 'source = "sheet"\nmodes = { slow = { sms = 11, source = "sheet" } }', "sms"),
        ('source = "sheet"', 'source = "sheet"\nmodes = { slow = { boost_mhz = 500 } }', "source"),
        ('[product."Board 7"]', '[product."-"]', "architecture"),
        ('[sources]\nsheet = "a data sheet"', "sources = 3", "sources"),
    ],
)
def test_a_broken_file_is_refused_with_file_and_key(old: str, new: str, key: str):
    assert old in WHOLE
    with pytest.raises(InputError) as refused:
        read("my.toml", WHOLE.replace(old, new))
    assert refused.value.code == "bad-gpu"
    assert refused.value.message.startswith("my.toml: ")
    assert key in refused.value.message.partition(": ")[2]


@pytest.mark.parametrize("text", ["", "[", "product = 1", "[product]\nx = 1", "x = 1", "a = " + "[" * 5000, "x = 0x" + "f" * 10_000])
def test_what_is_no_product_file_is_refused(text: str):
    with pytest.raises(InputError) as refused:
        read_file("my.toml", text)
    assert refused.value.code == "bad-gpu"


def test_a_file_of_several_products_names_none():
    with pytest.raises(InputError, match="describes 2 products"):
        read_file("my.toml", WHOLE + WHOLE.partition('"a data sheet"')[2].replace("Board 7", "Board 8"))


def test_a_product_without_lanes_of_its_own_has_those_of_the_slowest():
    sm = machine_of_product(read_file("my.toml", WHOLE), "--gpu").sm
    assert sm.interval("tensor", "HMMA.16816.F32") == 32


def test_a_product_has_the_lanes_that_its_file_says():
    text = WHOLE + 'lanes = { tensor_single = 512, source = "sheet" }\n'
    sm = machine_of_product(read_file("my.toml", text), "--gpu").sm
    assert (sm.interval("tensor", "HMMA.16816.F32"), sm.interval("tensor", "HMMA.1688.F32.TF32")) == (16, 16)


def test_a_folder_adds_products(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    shipped = len(products())
    (tmp_path / "mine.toml").write_text(WHOLE, "utf-8")
    monkeypatch.setenv("SASSAN_GPUS", str(tmp_path))
    assert len(products()) == shipped + 1
    assert find("board7").sms == 10


def test_a_name_of_another_product_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "mine.toml").write_text(WHOLE.replace("Board 7", "GeForce RTX-3080"), "utf-8")
    monkeypatch.setenv("SASSAN_GPUS", str(tmp_path))
    with pytest.raises(InputError, match="stands for another product"):
        products()


def test_a_folder_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SASSAN_GPUS", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="SASSAN_GPUS"):
        find("RTX 3080")


def test_the_architecture_of_a_product_may_be_a_further_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    describe(monkeypatch, tmp_path, HEIR)
    assert read_file("my.toml", WHOLE.replace("sm_86", "sm_130")).architecture == "sm_130"


@pytest.mark.parametrize(
    ("name", "sms", "clock", "bandwidth"),
    [
        ("Jetson AGX Xavier, 10W", 4, 520, 68.1),
        ("Jetson AGX Xavier, 30W", 8, 900, 102.4),
        ("Xavier NX, 10W", 6, 803, 51.2),
        ("Jetson TX2, MAXQ", 2, 850, 42.5),
        ("Jetson AGX Orin 64GB, 30W", 8, 612, 204.8),
        ("Jetson Orin NX 16GB Super, 10W", 4, 612, 68.2),
        ("Orin Nano Super, 15W", 8, 612, 68.2),
        ("Jetson Thor T5000, 120W", 20, 1049, 273),
    ],
)
def test_power_modes_are_products(name: str, sms: int, clock: int, bandwidth: float):
    product = find(name)
    assert (product.sms, product.boost_clock, product.dram_bandwidth, product.integrated) == (sms, clock, bandwidth, True)
    assert "nvpmodel" in product.source("boost_clock") or "deviceQuery" in product.source("boost_clock")
