"""The command line beside the library."""

import json

import pytest

from sassan.cli import main


@pytest.fixture
def sassan_json(capsys):
    """Return a function that runs a command with --json and returns its document."""

    def run(*arguments: object) -> object:
        assert main.run([*map(str, arguments), "--json", "--quiet"]) == 0
        return json.loads(capsys.readouterr().out)

    return run
