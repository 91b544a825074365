"""Integers of warps for which every wait is over at once, whatever it waits for: an estimate follows the path, the simulation the time."""

import numpy as np

from sassan.estimate.counters import Counters, is_counter
from sassan.simt.code import Operation
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.micro_operations import MicroOperation, Translator
from sassan.simt.values import LANES, PREDICATES, Moment, Words


def over(operation: Operation, at: Moment) -> tuple[Words, ...] | None:
    """Return what an instruction writes that asks whether something has come: it has; None for any other instruction.

    ELECT chooses the first of the threads that execute it.
    """
    name, *modifiers = operation.instruction.opcode.split(".")
    if not ("PHASECHK" in modifiers or name == "ELECT" or "TRY_ALLOC" in modifiers):
        return None
    truth = np.ones((len(at.rows), LANES), np.uint32)
    if name == "ELECT":
        first = at.executing.argmax(axis=1)
        truth = (np.arange(LANES) == first[:, None]).astype(np.uint32)
        number = np.broadcast_to(first[:, None], truth.shape).astype(np.uint32)
        return tuple(truth if register in PREDICATES else number for register in operation.writes)
    return (truth,) * len(operation.writes)


class UntimedIntegers(Integers):
    """`Integers` whose waits are over, and whose blocks take values of counters in turn."""

    def __init__(self, place: WarpInputs) -> None:
        """Hold the warps."""
        super().__init__(place)
        self._counters = Counters(place)

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return what `Integers` do, where it is not a question of a wait."""
        known = over(operation, at)
        if known is None and is_counter(operation) and (value := self._counters.value(operation, inputs, at)) is not None:
            known = (value,) * len(operation.writes)
        return known if known is not None else super().outputs(operation, inputs, at)

    def drawn_row(self, rows: Translator, operation: Operation) -> MicroOperation | None:
        """Return the row of an operation whose words are drawn: none of one that takes a value of a counter."""
        return None if is_counter(operation) else super().drawn_row(rows, operation)
