"""The fixture that runs the command line in process."""

import json
import sys
from pathlib import Path

import pytest

from cli.shell import Input, Result, Sassan
from json_schemas import violations
from sassan.cli import main


@pytest.fixture
def sassan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sassan:
    """Return a function that runs one command line: `sassan("cfg", "x.sass", stdin=b"")`; JSON that it prints is held to its schema."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", Input(stdin))
        capsys.readouterr()
        status = main.run([str(one) for one in arguments])
        seen = capsys.readouterr()
        if "--json" in arguments and seen.out.startswith("{"):
            assert violations(str(arguments[0]), json.loads(seen.out)) == []
        return Result(status, seen.out, seen.err)

    return call
