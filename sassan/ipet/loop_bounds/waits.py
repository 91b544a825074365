"""The bounds of loops in which threads wait for others, and of those that elect each of their threads once.

docs/proofs/warps-with-roles.md proves the first, for waits for a barrier and for words of memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sassan.domains.lanes import LANES
from sassan.ipet.loop_bounds.results import Inferred
from sassan.isa.languages import isa_of
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.looks import looks
from sassan.warpcfg.waits import elections, waits

TRIES = 1
"""Back edges of a wait that nothing else takes: the try that is on its way when the wait is over may have failed."""


def with_waits(cfg: WarpCfg, inferred: Sequence[Inferred], entering: Callable[[int], int] | None = None) -> tuple[Inferred, ...]:
    """Return inferred bounds with those of waits and elections among the loops that have none, or a larger one."""
    waited, elected = waits(cfg), elections(cfg, entering or (lambda _: LANES))
    looked = looks(cfg, isa_of(cfg.function).facts) if any(loop.bound is None for loop in inferred) else {}

    def of(loop: Inferred) -> Inferred:
        if loop.loop in waited:
            tried = waited[loop.loop]
            why = f"a wait: what {tried.opcode} at 0x{tried.address:04x} tries more often, it tries while others work"
            return _no_more(loop, TRIES, why, assumed=True)
        if loop.loop in looked and loop.bound is None:
            look = looked[loop.loop]
            why = f"a wait: the word that {look.load.opcode} at 0x{look.load.address:04x} reads is there, or others work until it is"
            return _no_more(loop, look.back_edges, why, assumed=True)
        if loop.loop in elected:
            election, most = elected[loop.loop]
            does = "elects" if election.opcode == "ELECT" else "is taken to move the word of"
            why = f"{election.opcode} at 0x{election.address:04x} {does} each of at most {most + 1} threads once"
            return _no_more(loop, most, why, assumed=election.opcode != "ELECT")
        return loop

    return tuple(map(of, inferred))


def with_extents(inferred: Sequence[Inferred]) -> tuple[Inferred, ...]:
    """Return inferred bounds with those of loops that have none but that which the extent of a buffer gives them."""

    def of(loop: Inferred) -> Inferred:
        return (
            loop if loop.extent is None or loop.bound is not None else _no_more(loop, loop.extent.bound, loop.extent.reason, assumed=True)
        )

    return tuple(map(of, inferred))


def _no_more(loop: Inferred, most: int, why: str, *, assumed: bool) -> Inferred:
    if loop.refutation is not None or (loop.bound is not None and loop.bound <= most):
        return loop
    return replace(loop, bound=most, reason=why, missing=frozenset(), recorded=False, assumed=assumed)
