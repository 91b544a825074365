"""`sassan mcp`: a client of the protocol drives the server, and hostile calls end nothing but themselves."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.shell import ROOT, SAMPLES, Sassan, assert_refused
from cli.test_cuda_source import needs_nvrtc, reads_sm_80

pytest.importorskip("mcp")

from anyio.from_thread import start_blocking_portal
from mcp import ClientSession, StdioServerParameters, stdio_client

pytestmark = pytest.mark.slow

SAXPY = SAMPLES / "sm_75" / "saxpy.cuobjdump.sass"
SHARED = SAMPLES / "sm_75" / "reduce_shared.cuobjdump.sass"
LAUNCH = {"gpu": "T4", "block": 256, "grid": 4096, "registers": 16, "shared": 0}
ENDLESS = """\
template <int A, int B> struct Tree { static constexpr int v = Tree<A + 1, 2 * B>::v + Tree<A + 1, 2 * B + 1>::v; };
template <int B> struct Tree<30, B> { static constexpr int v = B; };
__global__ void endless(int *x) { *x = Tree<0, 0>::v; }
"""

Answer = tuple[bool, dict[str, Any]]
Call = Callable[..., Answer]


@asynccontextmanager
async def connected(folder: Path, options: tuple[str, ...]) -> AsyncIterator[ClientSession]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    arguments = ["-m", "sassan", "mcp", "--root", str(folder), "--jobs", "1", *options]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=folder)
    async with stdio_client(parameters) as (received, sent), ClientSession(received, sent) as session:
        await session.initialize()
        yield session


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Call]:
    """Give a function that calls a tool: whether it was refused, and its answer."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected(folder, options)) as session:

        def call(tool: str, **arguments: object) -> Answer:
            result = portal.call(session.call_tool, tool, arguments)
            text = json.loads(result.content[0].text)
            assert text == result.structured_content
            return bool(result.is_error), text

        call.tools = portal.call(session.list_tools).tools  # type: ignore[attr-defined]
        yield call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("served")
    (place / "root").mkdir()
    (place / "root" / "saxpy.sass").write_bytes(SAXPY.read_bytes())
    (place / "outside.sass").write_bytes(SAXPY.read_bytes())
    (place / "root" / "link.sass").symlink_to("../outside.sass")
    (place / "root" / "launches.toml").write_text('[[launch]]\nkernel = "saxpy"\ngrid = [512, 1, 1]\nblock = [128, 1, 1]\ncount = 3\n')
    return place / "root"


@pytest.fixture(scope="module")
def call(folder: Path) -> Iterator[Call]:
    with served(folder, "--time-limit", "60", "--max-input", "0.25") as made:
        yield made


def test_the_tools_say_what_they_are_for(call: Call):
    tools = {tool.name: tool for tool in call.tools}
    assert list(tools) == ["estimate", "explain", "advise", "bound", "listing", "diff"]
    for tool in tools.values():
        assert len(tool.description) > 200
        assert tool.input_schema["additionalProperties"] is False
    assert tools["estimate"].input_schema["required"] == ["gpu"]


def test_an_estimate_is_that_of_the_command_line(call: Call, sassan: Sassan):
    options = ("--gpu", "T4", "--block-dim", "256", "--grid", "4096", "--registers", "16", "--shared", "0")
    (printed,) = sassan("estimate", SAXPY, *options, "--json").document["functions"]
    for code in ({"file": "saxpy.sass"}, {"text": SAXPY.read_text("utf-8"), "language": "sass"}):
        refused, answer = call("estimate", **code, **LAUNCH)
        assert not refused
        (function,) = answer["functions"]
        assert function["name"] == "saxpy"
        assert function["estimate"]["us"] == pytest.approx(printed["estimate"]["us"], rel=1e-3)
        assert function["estimate"]["bound_by"] == printed["estimate"]["bound_by"]
        assert function["assumptions"] == len(printed["assumptions"])
        assert function["stalls"][0]["share"] == max(stall["share"] for stall in function["stalls"])
        assert len(json.dumps(answer)) < 2000


def test_a_recording_is_estimated_by_kernel(call: Call):
    refused, answer = call("estimate", file="saxpy.sass", gpu="T4", registers=16, launches="launches.toml")
    assert not refused
    assert [(each["kernel"], each["launches"]) for each in answer["kernels"]] == [("saxpy", 3)]
    assert answer["us"] == pytest.approx(3 * answer["launches"][0]["us"], rel=1e-3)
    assert call("estimate", file="saxpy.sass", gpu="T4", launches="launches.toml", block=3)[1]["error"]["code"] == "usage"
    assert call("estimate", file="saxpy.sass", gpu="T4")[1]["error"]["code"] == "usage"


def test_bounds_explanations_listings_and_differences(call: Call):
    _, answer = call("bound", file="saxpy.sass", **LAUNCH)
    (bound,) = answer["functions"]
    assert bound["grid"]["us"] > 0
    assert bound["wcet"]["value"] > 0
    _, answer = call("explain", file="saxpy.sass", **LAUNCH)
    (why,) = answer["functions"]
    assert why["occupancy"]["limited_by"]
    assert why["warp_alone"][0]["cycles"] > 0
    assert why["estimate"]["us"] < bound["grid"]["us"]
    _, answer = call("advise", file="saxpy.sass", **LAUNCH)
    assert answer["binds"]
    assert all(each["gain_us"] > 0 for each in answer["advice"])
    _, answer = call("listing", file="saxpy.sass", rows=2)
    (listed,) = answer["functions"]
    assert [row["address"] for row in listed["rows"]] == ["0x0000", "0x0010"]
    assert listed["next"] == "0x0020"
    _, answer = call("listing", file="saxpy.sass", first=listed["next"], rows=1)
    assert answer["functions"][0]["rows"][0]["address"] == "0x0020"
    other = {"text": SHARED.read_text("utf-8"), "language": "sass"}
    _, answer = call("diff", old={"file": "saxpy.sass"}, new=other)
    assert answer["summary"] == {"added": 1, "removed": 1}


HOSTILE = [
    ("estimate", {"file": "../outside.sass", **LAUNCH}, "outside-root"),
    ("estimate", {"file": "link.sass", **LAUNCH}, "outside-root"),
    ("estimate", {"file": "/etc/passwd", **LAUNCH}, "outside-root"),
    ("estimate", {"file": "none.sass", **LAUNCH}, "missing-file"),
    ("estimate", {"file": "saxpy.sass", "gpu": "../x.toml", "block": 1, "grid": 1}, "outside-root"),
    ("estimate", {"file": "saxpy.sass", "gpu": "T4", "launches": "../x.toml"}, "outside-root"),
    ("diff", {"old": {"file": "../outside.sass"}, "new": {"file": "saxpy.sass"}}, "outside-root"),
    ("bound", {"text": '#include "/etc/passwd"\n', "language": "cuda", "arch": "sm_80"}, "outside-root"),
    ("bound", {"text": "x" * 300_000, "language": "sass"}, "too-large"),
    ("bound", {"text": "x" * 3_000_000, "language": "sass"}, "too-large"),
    ("bound", {"text": "\x00\x01garbage", "language": "sass"}, "binary-input"),
    ("bound", {"text": "garbage", "language": "ptx"}, "truncated"),
    ("bound", {"text": "x", "language": "fortran"}, "arguments"),
    ("bound", {"file": "saxpy.sass", "shell": "rm"}, "arguments"),
    ("bound", {"file": ["saxpy.sass"]}, "arguments"),
    ("bound", {"file": "saxpy.sass", "block": [1, 2, 3, 4]}, "arguments"),
    ("bound", {"file": "saxpy.sass", "block": 100_000}, "launch"),
    ("estimate", {}, "arguments"),
    ("record", {"program": "saxpy.sass"}, "unknown-tool"),
    ("x" * 5000, {}, "unknown-tool"),
]


@pytest.mark.parametrize(("tool", "given", "code"), HOSTILE, ids=lambda each: str(each)[:40])
def test_a_hostile_call_is_refused_with_a_code(call: Call, tool: str, given: dict[str, object], code: str):
    refused, answer = call(tool, **given)
    assert refused
    assert set(answer) == {"error"}
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert len(json.dumps(answer)) < 3000


def test_the_server_lives_on_behind_all_of_them(call: Call):
    assert call("listing", file="saxpy.sass", rows=1)[0] is False


TRANSPOSE = """\
constexpr int T = 32, ROWS = 8;
__global__ void transpose(float *out, const float *in, int n) {
    __shared__ float tile[T][T + PAD];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    int u = blockIdx.y * T + threadIdx.x, v = blockIdx.x * T + threadIdx.y;
    for (int j = 0; j < T; j += ROWS) {
#if TILED
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    }
    __syncthreads();
    for (int j = 0; j < T; j += ROWS) {
        out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
#else
        out[x * n + y + j] = in[(y + j) * n + x];
#endif
    }
}
"""
OF_TRANSPOSE = {"gpu": "A100-PCIE-40GB", "block": [32, 8], "grid": [64, 64], "parameters": {"n": 2048}}


def transpose(*, tiled: bool, pad: int) -> dict[str, object]:
    return {"text": f"#define TILED {int(tiled)}\n#define PAD {pad}\n{TRANSPOSE}", "language": "cuda"}


@needs_nvrtc
@reads_sm_80
def test_the_loop_mends_a_bad_transpose(call: Call):
    """Estimate, explain, change: what the answers say decides, until nothing is wasted."""
    choice: dict[str, Any] = {"tiled": False, "pad": 0}
    times: list[float] = []
    for _ in range(4):
        (estimated,) = call("estimate", **transpose(**choice), **OF_TRANSPOSE)[1]["functions"]
        times.append(estimated["estimate"]["us"])
        (why,) = call("explain", **transpose(**choice), **OF_TRANSPOSE)[1]["functions"]
        wasted = [access["space"] for access in why["accesses"]]
        if not wasted:
            break
        choice = {"tiled": True, "pad": 0} if "global" in wasted else {"tiled": True, "pad": 1}
    (good,) = call("estimate", **transpose(tiled=True, pad=1), **OF_TRANSPOSE)[1]["functions"]
    assert choice == {"tiled": True, "pad": 1}
    assert len(times) == 3
    assert times[0] > 1.1 * times[-1]
    assert times[-1] <= 1.1 * good["estimate"]["us"]


@needs_nvrtc
def test_what_does_not_end_is_ended_and_the_server_lives_on(call: Call):
    refused, answer = call("bound", text=ENDLESS, language="cuda", arch="sm_80", time_limit=0.5)
    assert refused
    assert answer["error"]["code"] in {"time-limit", "memory-limit", "compile-failed"}
    assert call("listing", file="saxpy.sass", rows=1)[0] is False


def test_without_the_extra_the_command_says_how_to_install_it(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "sassan.mcp.server", raising=False)
    result = sassan("mcp")
    assert_refused(result, 4)
    assert result.codes == ["missing-extra"]
    assert "mcp" in result.err.partition("hint: ")[2]


def test_a_folder_that_is_none_is_refused(sassan: Sassan, tmp_path: Path):
    assert_refused(sassan("mcp", "--root", tmp_path / "none"), 2)
