"""Kill -9 at random moments, or when the first result was written: what is resumed equals what was done in one go."""

import sys

import pytest

from budget import FULL
from cli.shell import ROOT
from scripted import scripted


@pytest.mark.slow
@pytest.mark.parametrize("name", ["batch", "evolve", "serve", "experiments", "record"] if FULL else ["batch"])
def test_a_command_that_is_killed_and_started_again_ends_as_one_that_was_not(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "scripts")])
    kills = scripted("kills")
    monkeypatch.setattr(kills, "_STARTS", 6 if FULL else 2)
    try:
        tally = kills.campaign(name, 100 if FULL else 1, 1, written=not FULL)
    except kills.Missing as missing:
        pytest.skip(str(missing))
    assert (tally.different, tally.left) == (0, 0)
    assert tally.equal > 0
    assert FULL or (tally.kills, tally.early) == (1, 0)
