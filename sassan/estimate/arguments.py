"""Arguments that are not given, and loops whose iterations they decide: a bound for all of their values says nothing of those to expect."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sassan.ipet.loop_bounds import infer
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import ParameterLocation, Setting, places
from sassan.warpcfg.graph import WarpCfg

POINTER = 8
"""Bytes of a parameter that may be a pointer."""
_TRIED = (1, 1 << 20)
"""Values of such an argument: a loop that it decides is bounded otherwise with each of them than with any."""


def numbers_missing(function: Function, launch: LaunchConfiguration) -> tuple[ParameterLocation, ...]:
    """Return the parameters that are not given, but for pointers and structures: numbers decide how much there is to do."""
    given = {place.offset for _, place in launch.placed(function)}
    return tuple(each for each in places(function) if each.offset not in given and each.size < POINTER)


def with_numbers(launch: LaunchConfiguration, missing: Sequence[ParameterLocation]) -> LaunchConfiguration:
    """Return a launch with numbers that are not given: as many as it has threads in a row, since most say how much there is to do."""
    assert launch.block is not None
    assert launch.grid is not None
    threads = max(block * grid for block, grid in zip(launch.block, launch.grid, strict=True))
    return replace(launch, parameters=(*launch.parameters, *(_setting(each, threads) for each in missing)))


def decided_by_missing(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration, bounds: Sequence[int | None]
) -> tuple[int, ...]:
    """Return the loops of a graph whose bounds (back edges per entry, inferred for any value) hang on numbers that are not given."""
    missing = numbers_missing(cfg.function, launch)
    if not missing or not cfg.loops:
        return ()
    left = [index for index, bound in enumerate(bounds) if bound is not None]
    for value in _TRIED if left else ():
        tried = infer(cfg, facts_of, replace(launch, parameters=(*launch.parameters, *(_setting(each, value) for each in missing))))
        left = [index for index in left if tried and tried[index].bound != bounds[index]]
        if not left:
            break
    return tuple(left)


def _setting(place: ParameterLocation, value: int) -> Setting:
    return Setting("" if place.offset >= 0 else place.name, place.offset, min(value, (1 << 8 * place.size - 1) - 1), place.size)
