"""The recordings of real GPUs, which are not in the repository but next to the checkout, or in SASSAN_SILICON."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SASSAN_SILICON") or Path(__file__).resolve().parents[2] / "shared" / "silicon")


def silicon(name: str) -> str:
    """Return the path of a recording; skips the test if it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"there is no {path}: the recordings of real GPUs are not here")
    return str(path)
