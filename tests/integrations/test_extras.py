"""Integrations without their libraries: quick to import, and an error that names the extra when they are used."""

import subprocess
import sys

import pytest

from budget import PATIENCE
from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.integrations import numba as sassan_numba
from sassan.integrations import triton as sassan_triton


@pytest.mark.slow
def test_importing_an_integration_imports_no_library():
    names = "nvcc, cmake, triton, numba, nvrtc"
    libraries = "{'triton', 'numba', 'numba_cuda', 'cupy', 'cuda'}"
    # Some of them put a name into every interpreter that starts where they are installed.
    code = (
        f"import sys\nbefore = set(sys.modules)\nfrom sassan.integrations import {names}\nprint({libraries} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == "set()\n"


def test_triton_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setitem(sys.modules, "triton.compiler", None)
    with pytest.raises(MissingToolError) as error:
        sassan_triton.compile_for(print, {})
    assert (error.value.status, error.value.hint) == (4, install("triton"))
    with pytest.raises(MissingToolError), sassan_triton.watching():
        pass


def test_numba_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    with pytest.raises(MissingToolError) as error:
        sassan_numba.analyze(print, "void(int32)")
    assert (error.value.status, error.value.hint) == (4, install("numba"))
