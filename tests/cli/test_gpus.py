"""`sassan gpus`: the table, one product with its sources, and what is refused."""

from pathlib import Path

import pytest

from cli.shell import Sassan, assert_refused

BOARD = """
[sources]
sheet = "a data sheet"
[product."Board\\u001b[31m"]
architecture = "sm_86"
sms = 10
boost_mhz = 1000
dram = "GDDR6"
dram_gb = 8
dram_gb_per_s = 100.5
source = "sheet"
"""


def test_a_row_per_product_in_80_columns(sassan: Sassan):
    result = sassan("gpus")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == ["product", "arch", "SMs", "base", "boost", "DRAM", "GB", "GB/s", "MiB", "B/clk"]
    assert ["A100-PCIE-40GB", "sm_80", "108", "765", "1410", "HBM2", "40", "1555", "40", "3733"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80


def test_one_product_has_a_source_per_figure(sassan: Sassan):
    out = sassan("gpus", "rtx3080").out
    assert out.startswith("RTX 3080\nalso: RTX 3080 10GB\n")
    assert "boost clock        1710  MHz   [1]\n" in out
    assert "L2 bandwidth          -\n" in out
    assert "\n[1] NVIDIA Ampere GA102 GPU Architecture whitepaper, 2021\n" in out


def test_the_document_has_every_figure(sassan: Sassan):
    document = sassan("gpus", "NVIDIA GeForce RTX 3070", "--json").document
    (product,) = document["gpus"]
    assert set(document) == {"schema", "tool", "gpus"}
    assert (product["name"], product["arch"], product["sms"], product["boost_mhz"]) == ("RTX 3070", "sm_86", 46, 1725)
    assert (product["dram_gb_per_s"], product["l2_kib"], product["l2_bytes_per_cycle"]) == (448.0, 4096, None)
    assert product["sources"]["sms"] == "NVIDIA Ampere GA102 GPU Architecture whitepaper, 2021"
    assert len(sassan("gpus", "--json").document["gpus"]) >= 90


def test_a_file_describes_another_product_and_steers_no_terminal(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "my.toml"
    path.write_text(BOARD, "utf-8")
    result = sassan("gpus", path)
    assert result.status == 0
    assert "\x1b" not in result.out
    assert "a data sheet" in result.out


@pytest.mark.parametrize(("name", "code"), [("RTX 9999", "unknown-gpu"), ("a100", "unknown-gpu")])
def test_an_unknown_name_is_an_error_of_use(name: str, code: str, sassan: Sassan):
    result = sassan("gpus", name)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_the_rates_of_a_data_sheet_stand_beside_those_that_are_computed(sassan: Sassan):
    result = sassan("gpus", "A10", "--check")
    assert (result.status, result.err) == (0, "")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0] == ["product", "kind", "MHz", "sheet", "computed", "ratio", "verdict"]
    assert ["A10", "fp16_single", "1695", "125", "125", "0.9998"] in lines
    assert result.out.endswith("\nrates: 5, off: 0\n")


def test_a_rate_that_is_off_is_a_status_of_its_own(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "my.toml"
    path.write_text(BOARD + 'peaks = { fp32 = "2.6", fp16_single = "10.2", source = "sheet" }\n', "utf-8")
    result = sassan("gpus", path, "--check", "--json")
    assert result.status == 1
    assert [(each["kind"], each["agrees"]) for each in result.document["peaks"]] == [("fp32", True), ("fp16_single", False)]
    assert sassan("gpus", path, "--check", "--csv").out.splitlines()[2].partition(",")[2].startswith("fp16_single,1000,10.2,5.12,")


def test_a_product_of_no_data_sheet_has_nothing_to_compare(sassan: Sassan):
    result = sassan("gpus", "GTX 1080", "--check")
    assert_refused(result, 2)
    assert result.codes == ["no-peaks"]


@pytest.mark.parametrize(("text", "code"), [("[", "bad-gpu"), (BOARD + "cores = 3", "bad-gpu"), (None, "cannot-read")])
def test_a_broken_file_is_refused(text: str | None, code: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "my.toml"
    if text is not None:
        path.write_text(text, "utf-8")
    result = sassan("gpus", path)
    assert_refused(result, 3)
    assert result.codes == [code]
