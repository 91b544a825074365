"""Divisions in code that is run: quotients and remainders as such, in the place of the steps by which ptxas computes them.

The first of these steps is the reciprocal of the special-function unit, of which no rule says the bits; what the last one leaves is exact
(`sassan/values/divisions.py`).
"""

from collections.abc import Iterator
from dataclasses import replace

from sassan.simt.code import ALWAYS, ExactQuotient, ExecutableFunction, Linear, Operation
from sassan.values.divisions import Divisions


def with_quotients(code: ExecutableFunction, known: Divisions) -> ExecutableFunction:
    """Return code that divides where a division by a known number ends, what it divides having been kept where that is read."""
    if not known.results:
        return code
    blocks = tuple(
        replace(block, operations=tuple(part for each in block.operations for part in _divided(each, known))) for block in code.blocks
    )
    return replace(code, blocks=blocks, registers=tuple(sorted({*code.registers, *(kept.name for kept in known.dividends.values())})))


def _divided(operation: Operation, known: Divisions) -> Iterator[Operation]:
    address = operation.instruction.address
    kept, result = known.dividends.get(address), known.results.get(address)
    if kept is not None:
        yield operation._replace(reads=(kept.register,), writes=(kept.name,), condition=ALWAYS, gathered=(), exact=Linear(0, (1,)))
    if result is not None and operation.writes == (result.register,):
        whole = ExactQuotient(result.divisor, result.remainder)
        yield operation._replace(reads=(result.name,), condition=ALWAYS, gathered=(), exact=whole)
    else:
        yield operation
