"""Recorded contents of memory: they bound the loops that they decide, as long as no kernel may have changed them."""

import hashlib
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from budget import FULL, some
from cli.shell import SAMPLES, Sassan
from sassan.launches import archive

KERNEL = SAMPLES / "sm_80" / "spmv_csr.cubin"
GPU = ("--gpu", "A100-SXM4-40GB")
ROWS = [row % 7 + 20 * (row == 16) for row in range(32)]
"""How many values each row of the matrix has."""
POINTERS = b"".join(start.to_bytes(4, "little") for start in accumulate(ROWS, initial=0))
NAME = f"sha256:{hashlib.sha256(POINTERS).hexdigest()}"
ROW, COLUMN, VALUE, X, Y = (0x200000000000 + 0x10000 * place for place in range(5))
WRITE = f'{{address = "{ROW:#x}", size = {len(POINTERS)}, data = "{NAME}"}}'


def launch(*writes: str, y: int = Y, count: int = 1) -> str:
    """Return a launch of y = A x with a thread for each row, one warp in all."""
    params = [f'{{offset = 0, size = 4, value = "{len(ROWS):#x}"}}']
    for place, each in enumerate((ROW, COLUMN, VALUE, X, y), 1):
        buffer = f"{{buffer = {place}, offset = 0, size = {len(POINTERS) if each == ROW else 4096}}}"
        params.append(f'{{offset = {8 * place}, size = 8, value = "{each:#x}", pointer = {buffer}}}')
    more = f"writes = [{', '.join(writes)}]\n" if writes else ""
    return f'[[launch]]\nkernel = "spmv_csr"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\nparams = [{", ".join(params)}]\ncount = {count}\n{more}'


@pytest.fixture
def asked(sassan: Sassan, tmp_path: Path):
    """Return the launches of a recording, analyzed."""

    def call(*launches: str, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        with (tmp_path / "x.data").open("wb") as file:
            archive({NAME: POINTERS}, file)
        (tmp_path / "x.toml").write_text('data = "x.data"\n' + "".join(launches))
        rows: list[dict[str, Any]] = sassan("analyze", KERNEL, "--launches", tmp_path / "x.toml", *GPU, *options, "--json").document[
            "launches"
        ]
        return rows

    return call


def gaps(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[gap["code"] for gap in row["gaps"]] for row in rows]


def test_row_pointers_of_the_host_bound_the_loops_over_rows(asked):
    (row,) = asked(launch(WRITE))
    assert (row["known_bytes"], row["gaps"]) == (len(POINTERS), [])
    said = dict(zip(row["bound"]["assumptions"], row["bound"]["assumption_kinds"], strict=True))
    inferred = {text: kind for text, kind in said.items() if "recorded contents" in text}
    assert set(inferred.values()) == {"recorded"}
    assert said[f"contents of memory as recorded: {len(POINTERS)} bytes that the host wrote ({digest(said)})"] == "recorded"
    # The longest row decides, and not more.
    assert any(str(max(ROWS) - 1) in text or str(max(ROWS) // 4 - 1) in text for text in inferred)


def digest(said: dict[str, str]) -> str:
    (text,) = (text for text in said if text.startswith("contents of memory"))
    return text[-13:-1]


def test_without_data_and_with_data_that_are_not_wanted_there_is_a_gap(asked):
    assert set(gaps(asked(launch()))[0]) == {"unbounded-loop"}
    rows = asked(launch(WRITE), options=("--data", "assume-none"))
    assert (set(gaps(rows)[0]), rows[0]["known_bytes"]) == ({"unbounded-loop"}, 0)
    assert rows[0]["estimate"] is not None


@pytest.mark.parametrize(
    "later",
    some(
        [
            f'{{address = "{ROW + 8:#x}", size = 1}}',
            f'{{address = "{ROW:#x}", size = 4096}}',
            f'{{address = "{ROW + 100:#x}", size = 4, source = "{COLUMN:#x}"}}',
        ],
        of=3,
    ),
)
def test_a_byte_that_is_overwritten_makes_it_a_gap_again(asked, later: str):
    assert list(map(set, gaps(asked(launch(WRITE), launch(later), launch(WRITE))))) == [set(), {"unbounded-loop"}, set()]


def test_a_kernel_that_stores_to_the_buffer_makes_it_a_gap_for_itself_and_later(asked):
    assert list(map(set, gaps(asked(launch(WRITE), launch(y=ROW), launch())))) == [set(), {"unbounded-loop"}, {"unbounded-loop"}]
    if FULL:
        assert gaps(asked(launch(WRITE), launch(), launch())) == [[], [], []]


def test_a_copy_within_the_device_moves_what_is_known(asked):
    moved = f'{{address = "{ROW:#x}", size = {len(POINTERS)}, source = "{X:#x}"}}'
    assert gaps(asked(launch(WRITE.replace(f"{ROW:#x}", f"{X:#x}"), moved))) == [[]]


def test_a_launch_of_an_unknown_kernel_makes_everything_unknown(asked):
    other = launch().replace('"spmv_csr"', '"other"')
    assert list(map(set, gaps(asked(launch(WRITE), other, launch())))) == [set(), {"unknown-kernel"}, {"unbounded-loop"}]


def test_a_missing_file_of_data_is_an_error(sassan: Sassan, tmp_path: Path):
    (tmp_path / "x.toml").write_text('data = "x.data"\n' + launch(WRITE))
    result = sassan("analyze", KERNEL, "--launches", tmp_path / "x.toml", *GPU)
    assert (result.status, result.codes) == (3, ["launches-data"])


SUMS = SAMPLES / "sm_80" / "prefix_sum.cubin"
LENGTHS = b"".join(length.to_bytes(4, "little") for length in ROWS)
OF_LENGTHS = f"sha256:{hashlib.sha256(LENGTHS).hexdigest()}"


def test_launches_that_are_run_say_what_later_ones_read(sassan: Sassan, tmp_path: Path):
    with (tmp_path / "x.data").open("wb") as file:
        archive({OF_LENGTHS: LENGTHS}, file)
    of_row = f"buffer = 1, offset = {{}}, size = {len(POINTERS)}"
    sums = f"""[[launch]]
kernel = "prefix_sum"
grid = [1, 1, 1]
block = [16, 1, 1]
shared = 128
params = [
    {{offset = 0, size = 8, value = "{ROW:#x}", pointer = {{{of_row.format(0)}}}}},
    {{offset = 8, size = 8, value = "{ROW + len(LENGTHS):#x}", pointer = {{{of_row.format(len(LENGTHS))}}}}},
]
writes = [{{address = "{ROW:#x}", size = {len(LENGTHS)}, data = "{OF_LENGTHS}"}}]
"""
    (tmp_path / "x.toml").write_text('data = "x.data"\n' + sums + launch())
    command = ("analyze", SUMS, KERNEL, "--launches", tmp_path / "x.toml", *GPU, "--json")
    without, with_run = sassan(*command), sassan(*command, "--run-before")
    assert list(map(set, gaps(without.document["launches"]))) == [set(), {"unbounded-loop"}]
    _, row = with_run.document["launches"]
    assert (row["known_bytes"], row["gaps"]) == (len(POINTERS), [])
    said = dict(zip(row["bound"]["assumptions"], row["bound"]["assumption_kinds"], strict=True))
    text = "memory that earlier launches wrote is what a run of them, in one order of their threads, leaves there"
    assert said[f"{text}: {len(POINTERS)} bytes"] == "assumed"
    assert not any("that the host wrote" in text for text in said)
    # The product itself reads a vector that nobody has written: it is not run, and says so.
    assert "spmv_csr was not run" in with_run.err
    assert "reads memory that is not known" in with_run.err


def test_to_run_launches_and_to_hold_for_any_contents_exclude_each_other(sassan: Sassan):
    for options in (("--run-before",), ("--run-before", "--data", "assume-none", "--launches", "x.toml")):
        assert sassan("analyze", KERNEL, *options).status == 2
