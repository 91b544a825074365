"""Executions of an estimate are those of warps that are run as a whole, whatever is leapt over; what is not counted says so."""

import numpy as np
import pytest

from budget import part
from loop_samples import Sample, entries, sample
from samples import EVERY
from sassan.estimate import observed, watch
from sassan.estimate.warps import Sample as Warps
from sassan.estimate.warps import sample as warps_of
from sassan.ipet.loop_bounds.decoder import TableDecoder
from sassan.ipet.loop_bounds.launch_warps import warps_at
from sassan.isa import tables
from sassan.machine.launch import Launch
from sassan.simt.code import lower
from sassan.simt.integers import Integers
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice
from sassan.simt.state import Order, RunStatus, Session
from sassan.simt.values import Rows

DECIDED = [(arch, name) for arch in EVERY for name, entry in entries().items() if set(entry.get(arch, entry["verdicts"])) == {"told"}]
"""Samples of whose loops a reader says that no memory decides them."""


class Visits:
    """Counts visits of nodes, and nothing else."""

    def __init__(self, one: Sample, runs: int) -> None:
        self.nodes = {(node.context, node.start): index for index, node in enumerate(one.cfg.nodes)}
        self.visits = np.zeros((len(self.nodes), runs), np.int64)

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        for row in rows.tolist():
            context = session.contexts.strings[session.warps.context[row]]
            node = self.nodes.get((context, session.code.blocks[block].address))
            if node is not None:
                self.visits[node, row] += 1


def whole(one: Sample, launch: Launch, chosen: Warps) -> tuple[np.ndarray, bool]:
    """Return the visits of nodes by warps that are run to their end, and whether they came to it."""
    function = one.cfg.function
    code = control_slice(lower(function, TableDecoder(tables.load(function.arch).facts), [node.start for node in one.cfg.nodes]))
    place, active = warps_at(function, launch, chosen.spots, np.random.default_rng(2026))
    seen = Visits(one, len(chosen))
    order = Order.RANDOM if one.cfg.function.arch not in {"sm_52", "sm_61"} else Order.TAKEN_FIRST
    outcome = Machine(code, Integers(place), order, Limits(steps=4000)).run(active, seen)
    return seen.visits, bool((outcome.status == RunStatus.ENDED).all())


@pytest.mark.parametrize(("arch", "name"), DECIDED)
def test_executions_are_those_of_warps_that_are_run_as_a_whole(arch: str, name: str, monkeypatch: pytest.MonkeyPatch):
    one = sample(arch, name)
    if one is None:
        pytest.skip("the graph has gaps")
    launch = one.launch(grid=(3, 1, 1))
    chosen = warps_of(launch.block or (1, 1, 1), launch.grid or (1, 1, 1))
    monkeypatch.setattr(watch, "_LEAPS", 0)
    monkeypatch.setattr(watch, "_WORK", 1 << 30)
    monkeypatch.setattr(watch, "_GUESSES", 1 << 30)
    found, done = observed.run(one.cfg, tables.load(arch).facts, launch, chosen, (0,) * len(one.cfg.loops))
    visits, ended = whole(one, launch, chosen)
    d=found.leaps.values.drawn==0
    print(arch, name, "ended", ended, done.all(), "leapt", found.leapt.any(), "same", (found.visits == visits).all(), (found.visits == visits)[:,d].all(), d.sum(), int(visits.sum(axis=0).max()), found._work)
