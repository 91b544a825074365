"""Small inputs that grow: each ends within 5 s of processor time, with the right status and one message."""

import random
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from cli.shell import SAMPLES, Result, Sassan, assert_refused

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n"
SAXPY = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"
SECONDS = 5


def listing(code: list[str], name: str = "k") -> str:
    rows = "".join(f"        /*{16 * index:04x}*/                   {text} ;\n" for index, text in enumerate(code))
    return f"\tcode for sm_80\n\t\tFunction : {name}\n{rows}\t\t..........\n"


def nested_loops(depth: int) -> str:
    ends = [
        line
        for level in reversed(range(depth))
        for line in (f"IADD3 R{level}, R{level}, 0x1, RZ", f"ISETP.GE.AND P0, PT, R{level}, 0x3, PT", f"@!P0 BRA 0x{16 * (level + 1):x}")
    ]
    return listing([f"MOV R{level}, RZ" for level in range(depth)] + ends + ["EXIT"])


def random_branches(count: int) -> str:
    draw = random.Random(1)
    code = [
        line
        for _ in range(count)
        for line in (f"ISETP.GE.AND P0, PT, R{draw.randrange(20)}, 0x7, PT", f"@P0 BRA 0x{16 * draw.randrange(2 * count):x}")
    ]
    return listing([*code, "EXIT"])


def nested_ifs(depth: int, name: str = "k") -> str:
    code = [
        line for level in range(depth) for line in (f"ISETP.GE.AND P0, PT, R0, 0x{level:x}, PT", f"@P0 BRA 0x{16 * (3 * depth - level):x}")
    ]
    return listing([*code, *["MOV R2, R3"] * (depth + 1), "EXIT"], name)


def calls(depth: int, each: int) -> str:
    callee = "".join(f".func f{level}()\n{{\n{f'call f{level + 1};' * each}\nret;\n}}\n" for level in reversed(range(depth)))
    return f"{PTX}.func f{depth}()\n{{\nret;\n}}\n{callee}.visible .entry k()\n{{\ncall f0;\nret;\n}}\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (lambda: nested_loops(25), None),
        (lambda: random_branches(1000), "too-large"),
        (lambda: nested_ifs(600), "too-large"),
        (lambda: calls(14, 2), "too-large"),
        (lambda: calls(300, 1), "too-large"),
        (lambda: calls(300, 2), "too-large"),
    ],
    ids=["nested loops", "random branches", "nested ifs", "calls that double", "nested calls", "nested calls that double"],
)
def test_what_grows_ends_in_time_with_a_gap(text: Callable[[], str], code: str | None, sassan: Sassan):
    result = timed(sassan, "analyze", "-", "-f", "k", "--json", stdin=text().encode())
    (function,) = result.document["functions"]
    if code is not None:
        assert code in [gap["code"] for gap in function["gaps"]]
        assert result.codes == ["gaps"]
    assert result.status == (3 if function["gaps"] else 0)


@pytest.mark.parametrize("string", ["L999999999999C", "(LC)^1000000000", "(L9999999C)^1000000000"])
def test_a_run_is_not_expanded(string: str, sassan: Sassan):
    result = timed(sassan, "makespan", string, "-W", "4", "--time-limit", "1", "--json")
    assert result.status == 0
    assert result.document["upper"] >= 4 * 10**9 > 0
    assert result.document["exact"] is None
    assert_refused(timed(sassan, "makespan", string, "-W", "4", "--time-limit", "1", "--engine", "beam"), 2)


@pytest.mark.parametrize("command", ["analyze", "cfg", "ipet"])
def test_the_time_of_a_command_has_an_end(command: str, sassan: Sassan, tmp_path: Path):
    (tmp_path / "grows.sass").write_text(random_branches(1000))
    result = sassan(command, tmp_path / "grows.sass", "--time-limit", "0.2")
    assert_refused(result, 3)
    assert result.codes == ["time-limit"]
    assert "grows.sass" in result.err


@pytest.mark.skipif(sys.platform != "linux", reason="the system enforces no limit on memory")
def test_what_needs_more_memory_than_the_limit_is_refused(sassan: Sassan, tmp_path: Path):
    (tmp_path / "grows.sass").write_text(random_branches(1000))
    result = sassan("analyze", tmp_path / "grows.sass", SAXPY, "--memory-limit", "0.01")
    assert_refused(result, 3)
    assert result.codes == ["memory-limit"]


def test_a_command_in_time_is_not_touched_by_its_limits(sassan: Sassan):
    limited = sassan("analyze", SAXPY, "--time-limit", "100", "--memory-limit", "4")
    assert (limited.status, limited.out) == (0, sassan("analyze", SAXPY).out)


def timed(sassan: Sassan, *arguments: str, stdin: bytes = b"") -> Result:
    begin = process_time()
    result = sassan(*arguments, stdin=stdin)
    assert process_time() - begin < SECONDS
    return result
