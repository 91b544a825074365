"""A function of PTX with another one inside whose exploration was stopped: a second exploration of that would be stopped, too.

In a chain of calls each function has all below it inside; without this, functions that are too large cost the square of the chain.
"""

from collections.abc import Collection
from dataclasses import replace

from sassan.errors import Gap
from sassan.ir import Function
from sassan.names import brief
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.explore import explore
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.options import Options
from sassan.warpcfg.work import TOO_LARGE


def stopped_callee(function: Function, stopped: Collection[str]) -> str | None:
    """The first function inside of a function of PTX whose exploration, by itself, was stopped; None where there is none."""
    return next((frame.name for frame in function.frames[1:] if frame.name in stopped), None)


def without_callees(function: Function, callee: str, facts_of: FactsOf, options: Options) -> WarpCfg:
    """The graph of the code of a function of PTX alone; its gap says that `callee` is too large.

    Raises SelfCheckError.
    """
    frame = function.frames[0]
    code = tuple(each for each in function.instructions if frame.start <= each.address < frame.end)
    graph = explore(replace(function, instructions=code, frames=(frame,), callees=None), facts_of, options)
    gap = Gap(function.entry, TOO_LARGE, f"the exploration of {brief(callee)}, which it may call, was stopped; pass --call-depth N")
    return replace(graph, function=function, gaps=(gap,))
