"""Printing PTX and reading it again changes nothing: neither the records nor the ir."""

import hashlib
import tomllib

import pytest
from hypothesis import given

from budget import some
from ptx import FILES, NAMES, SAMPLES, again, functions, generated, placeless, source, syntax
from sassan.frontend.ptx.read import read_ptx
from sassan.frontend.ptx.syntax import Module
from sassan.frontend.ptx.text import module_text
from sassan.source import Source


@pytest.mark.parametrize("name", some(NAMES, of=20))
def test_a_sample_prints_as_it_was_read(name: str):
    for module in syntax(source(name)):
        assert again(module) == module


@pytest.mark.parametrize("name", some(NAMES, of=20))
def test_a_printed_sample_has_the_same_ir(name: str):
    (module,) = syntax(source(name))
    assert placeless(functions(module_text(module))) == placeless(read_ptx(source(name)))


@given(generated())
def test_a_generated_module_prints_as_it_is(module: Module):
    assert again(module) == module


@given(generated())
def test_a_generated_module_has_the_same_ir_when_it_is_printed_twice(module: Module):
    text = module_text(module)
    (read,) = syntax(Source("t.ptx", text))
    assert placeless(functions(module_text(read))) == placeless(functions(text))


def test_there_are_samples_of_many_versions():
    versions = {line.split()[1] for path in FILES for line in path.read_text("utf-8").splitlines() if line.startswith(".version")}
    assert {"3.2", "4.0", "4.3", "5.0", "6.3", "7.0", "7.8", "8.1", "8.4", "8.8", "9.5"} <= versions


def test_the_samples_are_those_of_their_record():
    record = tomllib.loads((SAMPLES / "ptx" / "PROVENANCE.toml").read_text("utf-8"))["sha256"]
    shipped = {str(path.relative_to(SAMPLES / "ptx")): path for path in (SAMPLES / "ptx").glob("*_*/*.ptx")}
    assert record == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in shipped.items()}
