"""The simulation of one SM, compiled."""

from dataclasses import astuple

import numpy as np

from sassan.errors import SelfCheckError
from sassan.estimate.program import Program, Run, Sm, Stall


def simulate(program: Program, sm: Sm) -> Run:
    """Return how the blocks of an SM run.

    Raises SelfCheckError where warps wait for each other for ever.
    """
    from sassan.estimate import kernel  # noqa: PLC0415 - imports the compiler, which takes most of a second

    dispatched, stalls, totals = np.zeros(sm.blocks), np.zeros((len(program.rows), len(Stall))), np.zeros(4)
    code = kernel.Code(program.rows, program.starts, program.nodes, program.weights, program.shared)
    if not kernel.run(code, kernel.Shape(*astuple(sm)), totals, dispatched, stalls):
        raise SelfCheckError("deadlock", "the simulated warps wait for each other")
    cycles, resident, tail, assumed = map(float, totals)
    return Run(cycles, dispatched, stalls, resident, tail, assumed)
