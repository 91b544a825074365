"""The CI examples of samples/integrations, run as they stand: the steps of the workflow and of its action, and pre-commit."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from budget import PATIENCE, whole
from cli.shell import ROOT, SAMPLES
from sarif import assert_valid
from sassan.cli import main

pytestmark = pytest.mark.slow

GITHUB = SAMPLES / "integrations" / "github"
PRE_COMMIT = SAMPLES / "integrations" / "pre-commit"
FAILURE = (
    "build/blur.cubin:blur:0x0000: growth: the WCET (unit model) grew from 230 to 250 (+8.7%); allowed is 2%; "
    "what differs: bound of the loop at 0x00b0 8 → 10 [/kernels/blur.cu:4]"
)
PULL_REQUEST = {"pull_request": {"number": 7}}
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""How the host runs `shell: bash`."""

needs_nvdisasm = pytest.mark.skipif(sys.platform != "linux", reason="nvdisasm is packaged for Linux only")


class Host(ThreadingHTTPServer):
    """The comments of pull request 7 of a host, by the paths of its interface; other pull requests may not be written."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Comments)
        self.comments: dict[int, str] = {}
        self.people: set[int] = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Comments(BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        page = int(self.path.partition("&page=")[2])
        known = [
            {"id": each, "body": body, "user": {"type": "User" if each in self.server.people else "Bot"}}
            for each, body in self.server.comments.items()
        ]
        self.answer(known[page - 1 : page])  # pages of one

    def do_POST(self) -> None:
        self.write("/repos/o/r/issues/7/comments", 1 + len(self.server.comments))

    def do_PATCH(self) -> None:
        number = int(self.path.rpartition("/")[2])
        self.write(f"/repos/o/r/issues/comments/{number}", number)

    def write(self, path: str, number: int) -> None:
        allowed = self.path == path and self.headers["Authorization"] == "Bearer secret"
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if allowed:
            self.server.comments[number] = body
        self.answer({"id": number}, 200 if allowed else 403)

    def answer(self, document: object, status: int = 200) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""


@cache
def of_today() -> str:
    """Return the baseline of the example with the tables of today: a table that grows is no other condition of these tests."""
    shipped = json.loads((GITHUB / "sassan-baseline.json").read_text("utf-8"))
    with redirect_stdout(StringIO()) as printed:
        assert main.run(["analyze", "--model", "unit", "--json", str(GITHUB / "builds" / "before" / "blur.cubin")]) == 0
    (function,), (made,) = shipped["functions"], json.loads(printed.getvalue())["functions"]
    assert (function["text"], function["wcet"]["value"]) == (made["text"], made["wcet"]["value"])
    function["settings"]["tables"] = made["settings"]["tables"]
    return json.dumps(shipped)


class Repository:
    """A project laid out as the README of the example says, with a compiler that hands out one of the two builds."""

    def __init__(self, folder: Path, build: str) -> None:
        self.folder = folder
        action = folder / ".github" / "actions" / "sassan" / "action.yml"
        action.parent.mkdir(parents=True)
        shutil.copy(GITHUB / "action.yml", action)
        shutil.copy(GITHUB / "comment.py", action.parent)
        (folder / "sassan-baseline.json").write_text(of_today(), "utf-8")
        shutil.copytree(GITHUB / "kernels", folder / "kernels")
        programs = folder / "programs"
        programs.mkdir()
        # The name behind -o gets the build.
        script = f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "{GITHUB}/builds/{build}/blur.cubin" "$2"\n'
        (programs / "nvcc").write_text(script, "utf-8")
        (programs / "nvcc").chmod(0o755)
        paths = (str(programs), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = {**os.environ, "PATH": os.pathsep.join(paths), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
        self.host = Host()
        self.environment |= {
            "GITHUB_API_URL": f"http://127.0.0.1:{self.host.server_port}",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_ACTION_PATH": str(action.parent),
        }
        self.status, self.said = self.run()
        self.comments = dict(self.host.comments)

    def comment(self, event: object = PULL_REQUEST, comments: Mapping[int, str] = MappingProxyType({})) -> tuple[int, str]:
        """Run the step that writes the comment anew, for an event and a host with these comments."""
        self.host.comments = dict(comments)
        return self.run(event, only="comment")

    def run(self, event: object = PULL_REQUEST, only: str = "") -> tuple[int, str]:
        """Run the steps of the workflow; behind one that fails, those that run always. Other actions, and the installation, are done."""
        (self.folder / "event.json").write_text(json.dumps(event), "utf-8")
        (job,) = yaml.safe_load((GITHUB / "workflow.yml").read_text("utf-8"))["jobs"].values()
        said, status = "", 0
        for step in job["steps"]:
            for one, values in self.shells(step):
                if only not in {"", one.get("id")}:
                    continue
                if status and "!cancelled()" not in one.get("if", ""):
                    continue
                assert one.get("if", "") in {"", "${{ !cancelled() && inputs.comment == 'true' }}"}
                done = self.shell(one, values)
                said += done.stdout + done.stderr
                status = status or done.returncode
        return status, said

    def shells(self, step: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, str]]]:
        """Return the shell steps of a step, those of the action in the repository among them, with what its inputs are."""
        if "run" in step:
            return [(step, {})]
        if not step["uses"].startswith("./"):
            return []
        action = yaml.safe_load((self.folder / step["uses"] / "action.yml").read_text("utf-8"))
        values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | {"token": "secret"} | step["with"]
        assert set(step["with"]) <= set(action["inputs"])
        return [(one, values) for one in action["runs"]["steps"] if one["id"] != "install"]

    def shell(self, step: dict[str, Any], values: dict[str, str]) -> subprocess.CompletedProcess[str]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        variables = {}
        for name, text in step.get("env", {}).items():
            assert text.startswith("${{ inputs.")
            variables[name] = values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        environment = self.environment | variables
        return subprocess.run(
            [*BASH, step["run"]], cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("before"), "before")


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("after"), "after")


@needs_nvdisasm
def test_a_build_that_kept_its_wcet_passes(before: Repository):
    assert (before.status, before.said) == (0, "1 function checked, all pass\nwrote sassan-summary.txt\nwrote sassan.sarif\n")
    assert (before.folder / "summary.md").read_text("utf-8") == "### sassan: the function passes\n\n1 without a change.\n"


@needs_nvdisasm
def test_a_build_whose_wcet_grew_fails(after: Repository):
    assert after.status == 1
    assert after.said.splitlines()[:2] == [FAILURE, "1 function checked, 1 failed"]
    log = json.loads((after.folder / "sassan.sarif").read_text("utf-8"))
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["growth"]
    assert_valid(log)
    (body,) = after.comments.values()
    assert body.startswith("<!-- sassan check -->\n### sassan: 1 of 1 function failed")
    assert (after.folder / "summary.md").read_text("utf-8") in body


@needs_nvdisasm
def test_the_next_run_replaces_its_comment_and_no_other(after: Repository):
    comments = {1: "<!-- sassan check -->\nof a person", 2: "<!-- sassan check -->\nold", 3: "of a bot"}
    after.host.people = {1}
    assert after.comment(comments=comments)[0] == 0
    assert after.host.comments[1].endswith("of a person")
    assert "1 of 1 function failed" in after.host.comments[2]
    assert (after.host.comments[3], len(after.host.comments)) == ("of a bot", 3)


@needs_nvdisasm
@pytest.mark.parametrize("event", [{}, {"pull_request": {"number": 8}}])
def test_a_push_writes_no_comment_and_a_token_that_may_not_write_one_fails_nothing(before: Repository, event: dict[str, object]):
    status, said = before.comment(event)
    assert (status, before.host.comments) == (0, {})
    assert ("::warning::no comment was written: HTTP Error 403" in said) == bool(event)


def test_the_readme_shows_what_the_build_says():
    assert f"    {FAILURE}\n    1 function checked, 1 failed\n" in (GITHUB / "README.md").read_text("utf-8")


@whole("pre-commit makes an environment")
@needs_nvdisasm
@pytest.mark.parametrize(("build", "status"), [("after", 1), ("before", 0)])
def test_a_commit_of_a_build_that_misses_its_deadline_is_refused(build: str, status: int, tmp_path: Path):
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    for name in (".pre-commit-config.yaml", "gates.toml"):
        shutil.copy(PRE_COMMIT / name, tmp_path)
    with (tmp_path / "gates.toml").open("a") as gates:
        gates.write('[function."of_another_file"]\nmax-wcet = 9\n')
    shutil.copy(GITHUB / "builds" / build / "blur.cubin", tmp_path)
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": programs, "PRE_COMMIT_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    for command in (["git", "init", "-q"], ["git", "add", "."]):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    command = [sys.executable, "-m", "pre_commit", "run", "--color=never"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == status, done.stdout + done.stderr
    assert ('the WCET (unit model) is 250, above the limit 240 of gates.toml: function."blur*"' in done.stdout) == bool(status)


def test_the_hooks_that_are_published_name_commands_that_exist():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [one["id"] for one in hooks] == ["sassan-check", "sassan-check-control"]
    listing = str(SAMPLES / "sm_75" / "saxpy.cuobjdump.sass")
    assert [main.run([*one["entry"].split()[1:], *one.get("args", []), listing]) for one in hooks] == [0, 0]
