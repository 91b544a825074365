"""`sassan doctor`: what of a machine can be used, and how to get what is missing."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.shell import Sassan
from sassan import extras
from sassan.app import doctor
from sassan.frontend.cubin import tools
from sassan.frontend.cubin.tools import NVDISASM, Tool


def examined(sassan: Sassan, status: int = 0) -> dict[str, dict[str, Any]]:
    """Return what was looked at, by purpose."""
    result = sassan("doctor", "--json")
    assert result.status == status, result.err
    return {each["purpose"]: each for each in result.document["examined"]}


def test_each_thing_is_there_or_has_the_line_that_mends_it(sassan: Sassan):
    found = examined(sassan)
    assert {"sassan", "packages", "PTX", "CUDA C++", "record", "searches"} <= found.keys()
    assert all((each["state"] == "ok") == (each["remedy"] is None) for each in found.values())
    assert found["sassan"]["state"] == found["packages"]["state"] == "ok"
    assert "lark" in found["packages"]["details"]


def test_a_bare_machine_is_told_how_to_read_cubins(sassan: Sassan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    for name in ("CUDA_HOME", "CUDA_PATH", "CC"):
        monkeypatch.delenv(name, raising=False)
    found = examined(sassan)
    assert found["cubins of sm_75 and later"]["remedy"].startswith(extras.install("cubin"))
    assert "triton==3.3.1" in found["cubins of sm_50 to sm_72"]["remedy"]
    assert found["record"]["remedy"] == "apt install gcc (or set the variable CC)"
    text = sassan("doctor").out
    assert "what to do:\n" in text
    assert "no nvdisasm" in text


def test_a_disassembler_newer_than_the_tables_is_named(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    newer = Tool("nvdisasm-of-next-year", "99.1.2", frozenset({80}))
    monkeypatch.setattr(doctor, "tools", lambda name: (newer,) if name == NVDISASM else ())
    found = examined(sassan)["toolkit"]
    assert found["state"] == "missing"
    assert "99.1.2" in found["details"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_cache_that_others_may_write_is_wrong(sassan: Sassan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "caches"))
    folder = tmp_path / "caches" / "disassembly"
    folder.mkdir(parents=True)
    assert examined(sassan)["cache disassembly"]["state"] == "ok"
    folder.chmod(0o777)
    found = examined(sassan, 4)["cache disassembly"]
    assert (found["state"], found["remedy"]) == ("wrong", f"chmod go-w {folder}")
    shutil.rmtree(folder)
    assert examined(sassan)["cache disassembly"]["details"].endswith("empty")


def test_a_package_that_is_gone_is_wrong(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: ["lark>=1", "no-such-package>=2", "other; extra == 'plots'"])
    found = examined(sassan, 4)
    assert found["packages"]["remedy"] == "pip install no-such-package"
    assert "other" in found["pictures of `measure`"]["details"]
