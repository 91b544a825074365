"""Samples under each cost model, on every architecture: unit, table and control WCETs side by side, and the parts of the control WCET.

One loop bound for all loops. '' in the CSV where a gap forbids the number; `gaps` names it. Three further columns say what dominates
`control`: its WCET if memory answered in one cycle, if no instruction waited for the lanes of its unit, and (since Volta; no bound then) if
sides of a divergence ran one after the other.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from _lib.sample_tables import archs_of, each, show, write

from sassan import frontend
from sassan.arch import architecture
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.image import Image
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.sm.barriers import block_barriers
from sassan.ipet.sm.bounds import resident_bound
from sassan.ipet.sm.optima import path_optima
from sassan.ipet.sm.residency import Residents
from sassan.ipet.sm.shares import of_code
from sassan.ipet.wcet import problem, wcet
from sassan.isa import tables
from sassan.machine import load
from sassan.machine.occupancy import Resources, demand_of, occupancy
from sassan.machine.user import MachineFile
from sassan.timing import CostModel, Quantity, UnitCostModel
from sassan.timing.control import ControlCostModel
from sassan.timing.model import NO_ACCESSES
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel
from sassan.warpcfg import explore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sassan.ipet.wcet import WcetProblem
    from sassan.ir import CompilerFacts, Function
    from sassan.timing.model import BlockCosts
    from sassan.warpcfg.graph import WarpCfg

THREADS = 256
"""Of the blocks that fill an SM."""
MEMORY = ("global", "store", "atomic", "constant", "texture", "shared")


class Row(NamedTuple):
    """A kernel on an architecture; None where a number is unknown, with the reasons in `gaps`."""

    kernel: str
    arch: str
    instructions: int
    unit: int | None
    table: int | None
    control: int | None
    warps: int | None
    full_sm: int | None
    fast_memory: int | None
    free_units: int | None
    no_turns: int | None
    gaps: str


@dataclass(frozen=True)
class Ordered:
    """`control` without interleaving of diverged sides: not a bound since Volta."""

    tables: Tables

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return "control without turns"

    @property
    def quantity(self) -> Quantity:
        """Return cycles."""
        return Quantity.CYCLES

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the costs of a graph on which no stack holds a pending side."""
        return ControlCostModel(self.tables).block_costs(replace(cfg, stack_points=((),) * len(cfg.nodes)), busy)


def rows(folder: Path, loop_bound: int, parameters: dict[str, int]) -> Iterator[Row]:
    """Yield a row for every function of DIR/sm_NN; a file that is refused is named."""

    def of_file(path: Path) -> Iterator[Row]:
        facts = _facts(path)
        for function in _functions(path):
            yield _row(replace(function, compiler=facts.get(function.name)), loop_bound, parameters)

    return each(folder, "*.nvdisasm.sass", of_file)


def _functions(path: Path) -> Iterator[Function]:
    """Yield the functions of a listing of nvdisasm, which has jump tables, with the encodings of that of cuobjdump beside it.

    Where code of other sections was linked to a function, its listing of cuobjdump is taken.
    """
    beside = path.with_name(path.name.replace(".nvdisasm.", ".cuobjdump."))
    coded = {function.name: function for function in (frontend.read(frontend.load(str(beside))).functions if beside.exists() else ())}
    for function in frontend.read(frontend.load(str(path))).functions:
        other = coded.get(function.name)
        yield function if other is None else _with_codes(function, other)


def _facts(path: Path) -> Mapping[str, CompilerFacts]:
    """Return the compiler facts of the functions of a listing from its cubin."""
    cubin, arch = path.with_name(path.name.replace(".nvdisasm.sass", ".cubin")), architecture(path.parent.name)
    if arch is None or not cubin.exists():
        return {}
    image = Image(str(cubin), cubin.read_bytes())
    return compiler_facts(image, Elf(image), arch)


def _with_codes(function: Function, other: Function) -> Function:
    codes = {instruction.address: instruction for instruction in other.instructions}
    if any((same := codes.get(instruction.address)) is None or same.opcode != instruction.opcode for instruction in function.instructions):
        return other
    pairs = ((instruction, codes[instruction.address]) for instruction in function.instructions)
    return replace(
        function, instructions=tuple(replace(instruction, encoding=same.encoding, control=same.control) for instruction, same in pairs)
    )


def _full_sm(problem: WcetProblem) -> tuple[int | None, int | None]:
    """Return the number of warps that fill an SM, and the bound of their makespan in cycles."""
    function = problem.cfg.function
    sm = load(function.arch)
    demand = demand_of(function, THREADS, Resources(), sm) if function.kernel else None
    if demand is None:
        return None, None
    full = occupancy(sm, demand)
    taken = [of_code(sm, node.code) for node in problem.cfg.nodes]
    barriers = block_barriers(problem.cfg, tables.load(function.arch).facts)
    optima = path_optima(problem, taken, sm, barriers).optima
    return full.warps, None if optima is None else resident_bound(optima, Residents(full.warps, full.block_warps))


def _row(function: Function, loop_bound: int, parameters: dict[str, int]) -> Row:
    cfg = explore(function, tables.load(function.arch).facts)
    bounds = bounds_of(cfg, None, loop_bound)
    gaps: set[str] = set()

    def value(model: CostModel) -> int | None:
        result = wcet(problem(cfg, model, bounds))
        gaps.update(gap.code for gap in result.gaps)
        return result.value

    usual = Tables(given=parameters)
    sm = load(function.arch)
    free = replace(sm, pipes=tuple(replace(pipe, cycles=1) for pipe in sm.pipes))
    return Row(
        function.name,
        function.arch,
        len(function.instructions),
        value(UnitCostModel()),
        value(TableCostModel(usual)),
        value(ControlCostModel(usual)),
        *_full_sm(problem(cfg, ControlCostModel(usual), bounds)),
        value(ControlCostModel(Tables(given=parameters | dict.fromkeys(MEMORY, 1)))),
        value(ControlCostModel(Tables(MachineFile("free units", "an experiment", free), parameters))),
        value(Ordered(usual)),
        " ".join(sorted(gaps)),
    )


def run(folder: Path, output: Path | None, loop_bound: int, parameters: dict[str, int]) -> int:
    """Print the tables, and write the CSV."""
    table_rows = list(rows(folder, loop_bound, parameters))
    if not table_rows:
        print(f"no listing of nvdisasm under {folder}/sm_*", file=sys.stderr)
        return 3
    show(f"WCET by unit / table / control / control on a full SM, loop bound {loop_bound}", table_rows, _cell, 36)
    _summary(table_rows, archs_of(table_rows))
    write(table_rows, Row._fields, output)
    return 0


def _cell(row: Row) -> str:
    return " / ".join("-" if value is None else str(value) for value in (row.unit, row.table, row.control, row.full_sm))


def _summary(table_rows: Iterable[Row], archs: Iterable[str]) -> None:
    print("\nmedians over the kernels: cycles per instruction, control / table, and the part of control that goes without ...")
    print(
        f"{'':8}{'kernels':>9}{'table/unit':>12}{'control/unit':>14}{'control/table':>15}{'SM/control':>12}{'memory':>9}{'units':>8}{'turns':>8}"
    )
    for arch in archs:
        known = [row for row in table_rows if row.arch == arch and row.control]
        ratios = [
            [(row.table or 0) / (row.unit or 1) for row in known],
            [(row.control or 0) / (row.unit or 1) for row in known],
            [(row.control or 0) / (row.table or 1) for row in known],
            [(row.full_sm or 0) / (row.control or 1) for row in known if row.full_sm],
        ]
        parts = [[1 - (value or 0) / (row.control or 1) for row, value in zip(known, values, strict=True)] for values in _without(known)]
        cells = [median(values) if values else 0.0 for values in (*ratios, *parts)]
        count = f"{len(known)} of {sum(row.arch == arch for row in table_rows)}"
        print(
            f"{arch:8}{count:>9}{cells[0]:12.1f}{cells[1]:14.1f}{cells[2]:15.2f}{cells[3]:12.2f}{cells[4]:9.0%}{cells[5]:8.0%}{cells[6]:8.0%}"
        )


def _without(known: list[Row]) -> tuple[list[int | None], list[int | None], list[int | None]]:
    return [row.fast_memory for row in known], [row.free_units for row in known], [row.no_turns for row in known]
