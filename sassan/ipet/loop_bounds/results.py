"""What was found of the loops of a graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.endings import LoopEnding
from sassan.ipet.loop_bounds.values import MEMORY, Origins
from sassan.values.environment import BLOCK, GRID, PARAMETER


class Refutation(NamedTuple):
    """An inferred bound that a run went beyond: a defect of the inference, never of the input. `argument` is that of the bound."""

    bound: int
    seen: int
    argument: str


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was found of one loop: its bound and the argument, or None and what the exits depend on, or how its bound was refuted.

    `missing`: what the exits depend on, or a bound rests on, that is not given.

    `recorded`: the bound rests on recorded contents of memory; `assumed`: on what no publication says of instructions.
    """

    loop: int
    head: int
    bound: int | None
    reason: str
    missing: Origins = frozenset()
    refutation: Refutation | None = None
    recorded: bool = False
    assumed: bool = False
    ended: LoopEnding | None = None
    """What ends a loop without a bound, where that is known."""
    extent: LoopBound | None = None
    """Its bound if accesses stay within their buffers, where that is known (`extents.py`)."""

    @property
    def advice(self) -> str:
        """Return what is missing, and how it could be given; '' where that is unknown."""
        parameters = sorted(origin for origin in self.missing if origin.startswith(PARAMETER))
        if self.ended is not None:
            return str(self.ended)
        options = [origin for origin in (BLOCK, GRID) if origin in self.missing]
        options += [f"--param {parameter.removeprefix(PARAMETER)}=N" for parameter in parameters]
        rest = sorted(self.missing - {*parameters, BLOCK, GRID})
        known = [f"depends on {joined(rest)}"] if rest else []
        return "; ".join(known + ([f"pass {' '.join(options)}"] if options and not rest else []))


def joined(origins: Sequence[str]) -> str:
    """Words that are unknown, in a list that names memory once: `memory, read by LDG at 0x00e8 and LDG at 0x00f0; the result of MUFU …`."""
    read = [origin.removeprefix(MEMORY) for origin in origins if origin.startswith(MEMORY)]
    others = [origin for origin in origins if not origin.startswith(MEMORY)]
    return "; ".join(([f"{MEMORY}{_and(read)}"] if read else []) + ([_and(others)] if others else []))


def _and(texts: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(texts[:-1]), texts[-1]) if part)


class Inference(NamedTuple):
    """What was found of each loop, in the order of `cfg.loops`, and the addresses of the blocks that no thread of the launch executes."""

    loops: tuple[Inferred, ...] = ()
    unreached: tuple[int, ...] = ()


def can_be_given(origin: str) -> bool:
    """Say whether an option of the command line gives what words come from."""
    return origin in {BLOCK, GRID} or origin.startswith(PARAMETER)
