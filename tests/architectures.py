"""Architecture files for tests: a trial SM in a folder of further architectures."""

from pathlib import Path

import pytest

EVERYTHING = '["code", "sm", "units", "memory", "atomics", "fetch", "allocation", "parameters", "latencies", "hazards", "distances"]'
HEIR = f'extends = "sm_120"\ninherits = {EVERYTHING}\n'
"""The file of an SM that takes every section from sm_120."""


def describe(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, name: str = "sm_130") -> None:
    """Describe an SM by one file in `folder`, which is the folder of further architectures for the test."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text, "utf-8")
    monkeypatch.setenv("SASSAN_ARCHITECTURES", str(folder))
