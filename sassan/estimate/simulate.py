"""The simulation of one SM, compiled."""

from dataclasses import astuple

import numpy as np

from sassan.errors import SelfCheckError
from sassan.estimate.policy import Policy
from sassan.estimate.program import BINS, Numbers, SimulatedRun, Sm, Stall, WarpProgram
from sassan.isa.control import BARRIERS


def simulate(program: WarpProgram, sm: Sm) -> SimulatedRun:
    """Return how the blocks of an SM run.

    Raises SelfCheckError where warps wait for each other for ever.
    """
    from sassan.estimate import kernel  # noqa: PLC0415 - imports the compiler, which takes most of a second

    code = kernel.ProgramArrays(
        program.rows,
        program.starts,
        program.nodes,
        program.weights,
        program.shared,
        program.below,
        program.turns,
        program.paths,
        program.events,
    )
    size, schedulers = sm.places * sm.block_warps, sm.schedulers
    warps = kernel.WarpArrays(*_zeros(7, size), *_zeros(3, size, BARRIERS), *_zeros(5, size), *_zeros(1, size, kernel.GROUPS))
    free, queues, counters = (
        np.zeros((schedulers + 1, len(program.shared)), np.int64),
        np.zeros(kernel.QUEUES, np.int64),
        np.zeros(5, np.int64),
    )
    look, last = _zeros(2, schedulers)
    live, arrived, over = _zeros(3, sm.places)
    dispatched, stalls, totals = np.zeros(sm.blocks), np.zeros((len(program.rows), len(Stall))), np.zeros(3)
    assumed = np.zeros(len(program.rows))
    counts, open_from = _zeros(2, sm.places, max(1, program.barriers))
    timeline = np.zeros((BINS, schedulers + len(program.shared) + kernel.QUEUES + 1), np.int64)
    state = kernel.SmState(
        free, queues, look, last, live, arrived, over, counters, totals, dispatched, stalls, assumed, timeline, counts, open_from
    )
    shape = kernel.SmParameters(*astuple(sm))._replace(policy=list(Policy).index(sm.policy))
    if not kernel.run(kernel.Simulation(code, shape, warps, state)):
        raise SelfCheckError("deadlock", "the simulated warps wait for each other")
    cycles, resident, tail = map(float, totals)
    return SimulatedRun(
        cycles, int(counters[kernel.FINISH]), dispatched, stalls, resident, tail, assumed, timeline, int(counters[kernel.WIDTH])
    )


def _zeros(count: int, *shape: int) -> list[Numbers]:
    return [np.zeros(shape, np.int64) for _ in range(count)]
