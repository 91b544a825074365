"""`sassan serve`: the page in a file, and the server as its readers see it."""

import base64
import gzip
import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import cubins
from cli.shell import SAMPLES, Sassan, assert_refused
from cli.test_cuda_source import needs_nvrtc
from sassan.frontend.cubin import tools

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
SOURCE = """#include "factor.h"
extern "C" __global__ void scale(float* x)
{
    x[threadIdx.x] *= FACTOR;
}
"""


def head(text: str) -> Any:
    return json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])


def packed(text: str, name: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(re.findall(rf'id="{name}">(.*?)</script>', text)[0])))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    return write_sources(tmp_path / "src")


def write_sources(place: Path) -> Path:
    """Make a folder with a source and its header."""
    place.mkdir()
    (place / "factor.h").write_text("#define FACTOR 2\n", "utf-8")
    (place / "k.cu").write_text(SOURCE, "utf-8")
    return place


@needs_nvrtc
@pytest.mark.slow
def test_source_ptx_and_machine_code_have_common_places(sassan: Sassan, folder: Path):
    result = sassan("serve", folder, "--arch", "sm_80", "--export", folder.parent / "page.html", "-q")
    assert (result.status, result.out, result.err) == (0, "", "")
    text = (folder.parent / "page.html").read_text("utf-8")
    assert head(text)["version"] is None
    assert "connect-src" not in text
    (name,) = head(text)["sources"]
    assert name == f"{folder / 'k.cu'}:k.cu"
    assert packed(text, "source-0") == SOURCE.splitlines()
    one = packed(text, "detail-0")
    assert one["code"]["sources"] == ["k.cu"]
    ptx = {place for _, place in one["code"]["ptx"]}
    machine = {row["source"].rpartition("/")[2] for row in one["graph"]["rows"]}
    assert "k.cu:4" in ptx & machine
    assert any("global" in row["pattern"] for row in one["graph"]["rows"])


@pytest.mark.slow
def test_a_folder_of_listings_is_one_page_and_what_is_refused_is_in_it(sassan: Sassan, tmp_path: Path):
    for path in (SAXPY, BFS):
        (tmp_path / f"{path.name.partition('.')[0]}.sass").write_bytes(path.read_bytes())
    (tmp_path / "bad.sass").write_text("nothing", "utf-8")
    result = sassan("serve", tmp_path, "--export", tmp_path / "page.html", "-q")
    assert (result.status, result.codes) == (3, ["unknown-input"])
    page = head((tmp_path / "page.html").read_text("utf-8"))
    assert [one["name"] for one in page["functions"]] == ["bfs_step", "saxpy"]
    assert [one["file"] for one in page["refused"]] == [str(tmp_path / "bad.sass")]


@pytest.mark.parametrize(
    "words", [("serve", ".", "--export", "page.html", "-q"), ("report", "k.cubin", "-o", "page.html")], ids=lambda words: words[0]
)
def test_a_line_table_shows_no_file_of_another_folder(
    words: tuple[str, ...], sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tools_folder = cubins.recorder(tmp_path / "tools", "sm_61/debug_build")
    for listing in cubins.recorded(tools_folder):
        text = listing.read_text("utf-8")
        for address, name in (("0008", "linked"), ("0010", "own"), ("0018", "../secret")):
            text = text.replace(f"        /*{address}*/ ", f'\t//## File "/src/{name}.cuh", line 1\n        /*{address}*/ ')
        listing.write_text(text, "utf-8")
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "k.cubin").write_bytes((SAMPLES / "sm_61" / "debug_build.cubin").read_bytes())
    (tmp_path / "secret.cuh").write_text("of another folder", "utf-8")
    (folder / "linked.cuh").symlink_to(tmp_path / "secret.cuh")
    (folder / "own.cuh").write_text("of this folder", "utf-8")
    monkeypatch.setenv("PATH", str(tools_folder))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    monkeypatch.chdir(folder)
    assert sassan(*words).status in {0, 3}
    text = Path("page.html").read_text("utf-8")
    texts = [packed(text, name) for name in re.findall(r'id="(source-\d+)">', text)]
    assert texts == [["of this folder"]]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-folder"], "missing-file"),
        ([SAXPY, "--export", "page.pdf"], "output-format"),
        ([SAXPY, "--port", "70000"], "usage"),
        ([SAXPY, "--gpu", "H100", "--sms", "1", "--export", "page.html"], "usage"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(sassan: Sassan, arguments: list[str], code: str):
    result = sassan("serve", *arguments)
    assert_refused(result, 2)
    assert result.codes == [code]


@contextmanager
def served(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Yield the process of a server, and its port."""
    command = [sys.executable, "-m", "sassan", "serve", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())
            assert match is not None
            yield process, int(match[1])
        finally:
            process.kill()


def answer(port: int, path: str = "/", host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
    response = connection.getresponse()
    text = response.readline() if path == "/events" else response.read()
    connection.close()
    return response.status, text.decode()


@pytest.mark.slow
def test_the_page_is_served_to_this_host_alone_and_an_interrupt_ends_it():
    with served(SAXPY) as (process, port):
        status, text = answer(port)
        assert (status, head(text)["functions"][0]["name"]) == (200, "saxpy")
        assert "connect-src 'self'" in text
        assert json.loads(answer(port, "/events", "localhost:" + str(port))[1].removeprefix("data: ")) == {
            "version": head(text)["version"],
            "busy": False,
        }
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", ""):
            assert answer(port, host=host or " ") == (421, "421 Misdirected Request\n")
        assert [answer(port, path)[0] for path in ("/../etc/passwd", "/saxpy", "/?x")] == [404] * 3
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_port_that_is_taken_is_an_error(sassan: Sassan):
    with served(SAXPY) as (_, port):
        result = sassan("serve", SAXPY, "--port", port)
        assert_refused(result, 2)
        assert result.codes == ["port"]
