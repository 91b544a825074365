"""The remedy of products whose operands come from shared memory for few results each: several results per thread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from sassan.access.opcodes import MemorySpace, space
from sassan.app.advise.changes import with_places
from sassan.app.advise.code import Code, FactsOf, control_of, editable, innermost, with_code, with_control, writes_of
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.app.registers import registers_of_result
from sassan.errors import UsageError
from sassan.ir import Instruction, Register
from sassan.isa.registers import bit
from sassan.machine import machine_of
from sassan.machine.occupancy import occupancy

_TILES = ((2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (8, 1), (1, 8), (4, 2), (2, 4), (4, 4), (8, 4), (4, 8), (8, 8))
"""Rows and columns of results that are tried in the place of each."""
_PRODUCTS = ("FFMA", "DFMA", "HFMA2", "IMAD")
_MOST_REGISTERS = 255
_EXAMPLE = """\
float sum[8][8] = {{}}, left[8], right[8];
for (int k = 0; k < DEPTH; ++k) {{
    // 16 loads from the tiles for 64 products: each of left is used 8 times, and each of right
    for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
}}"""


@dataclass(frozen=True, slots=True)
class OperandLoads:
    """Loads of a node that bring the left, and the right, operands of its products, and the products, by address."""

    left: frozenset[int]
    right: frozenset[int]
    products: frozenset[int]
    registers: int
    """Those that hold the results."""


_NONE = OperandLoads(frozenset(), frozenset(), frozenset(), 0)


def tiled_in_registers(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedies of loops that load two operands from shared memory for each product, or few: more results per thread."""
    prepared, known = launched.prepared, launched.result.residency
    resident = known.occupancy if known is not None else None
    if not editable(prepared) or resident is None:
        return
    inside = innermost(prepared.kernel.cfg)
    loads = {
        number: known_loads
        for number in inside
        if (known_loads := operand_loads(prepared.kernel.cfg.nodes[number].code, launched.result.isa.facts)) is not None
    }
    live = registers_of_result(launched.result)
    if not loads or live is None:
        return
    machine = machine_of(launched.result.function.arch, launched.result.settings.machine)
    places = tuple(sorted({at for each in loads.values() for at in each.left | each.right}))
    products = sum(len(each.products) for each in loads.values())
    for rows, columns in _TILES:
        results = max(each.registers for each in loads.values())
        more = results * (rows * columns - 1) + max(
            len(each.left) * (rows - 1) + len(each.right) * (columns - 1) for each in loads.values()
        )
        shared = ceil(resident.demand.shared * (rows + columns) / 2)
        registers = max(resident.demand.registers, live.most + more)
        if registers > _MOST_REGISTERS or prepared.grid.blocks < rows * columns:
            continue
        try:
            blocks = occupancy(machine, replace(resident.demand, registers=registers, shared=shared)).blocks
        except UsageError:
            continue
        why = f"{len(places)} loads from shared memory bring the operands of {products} products: each is used few times"
        sure = (
            f"likely: {rows} x {columns} results in the place of each; {registers} registers per thread and "
            f"{shared} bytes of shared memory are counted"
        )
        yield Remedy(AdviceCode.REUSE, places, why, _tiled(prepared, loads, rows, columns, blocks), sure, _EXAMPLE.format())


def operand_loads(code: Code, facts_of: FactsOf) -> OperandLoads | None:
    """Return the loads from shared memory whose words straight code multiplies with each other, None where it does not."""
    held, pairs, results = dict[int, int](), dict[int, tuple[int, int]](), 0
    for each in (*code, *code):  # a load may bring the operands of the next iteration
        if each.opcode.startswith(_PRODUCTS):
            sources = [held[each_bit] for operand in each.operands[1:3] if (each_bit := _bit(operand)) in held]
            if len(sources) == 2:  # noqa: PLR2004 - a product has two factors
                pairs[each.address] = sources[0], sources[1]
                results |= writes_of(facts_of, each)
        written = writes_of(facts_of, each)
        held = {register: load for register, load in held.items() if not register & written}
        if each.opcode.startswith("LDS"):
            held |= {1 << place: each.address for place in range(written.bit_length()) if written >> place & 1}
    sides = _sides(list(pairs.values()))
    if not pairs or sides is None:
        return None
    return OperandLoads(sides[0], sides[1], frozenset(pairs), results.bit_count())


def _bit(operand: object) -> int:
    return bit(operand.file, operand.index) if isinstance(operand, Register) else 0


def _sides(pairs: Sequence[tuple[int, int]]) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return two sets of loads such that each product has an operand of either, None where there are none."""
    near: dict[int, set[int]] = {}
    for first, second in pairs:
        near.setdefault(first, set()).add(second)
        near.setdefault(second, set()).add(first)
    side: dict[int, bool] = {}
    for start in sorted(near):
        stack = [start] if start not in side else []
        side.setdefault(start, False)
        while stack:
            load = stack.pop()
            for other in near[load]:
                if other not in side:
                    side[other] = not side[load]
                    stack.append(other)
                elif side[other] == side[load]:
                    return None
    return frozenset(load for load in side if not side[load]), frozenset(load for load in side if side[load])


def _tiled(prepared: Prepared, loads: Mapping[int, OperandLoads], rows: int, columns: int, places: int) -> Prepared:
    """Return a launch whose threads have so many results in the place of each, and that has as many blocks fewer."""
    cfg, inside = prepared.kernel.cfg, innermost(prepared.kernel.cfg)
    tiles = ceil((rows + columns) / 2)
    code: dict[int, Code] = {}
    for number, node in enumerate(cfg.nodes):
        out: list[Instruction] = []
        known = loads.get(number, _NONE)
        for each in node.code:
            is_global = space(each.opcode) is MemorySpace.GLOBAL
            if each.address in known.products or (is_global and number not in inside):
                out += _repeated(each, rows * columns)
            elif is_global or (number in inside and each.opcode.startswith("STS")):
                out += _repeated(each, tiles)
            else:
                out += _repeated(each, rows if each.address in known.left else columns if each.address in known.right else 1)
        code[number] = out
    changed = with_places(with_code(prepared, code), places)
    return replace(changed, grid=replace(changed.grid, blocks=ceil(prepared.grid.blocks / (rows * columns))))


def _repeated(each: Instruction, times: int) -> list[Instruction]:
    """Return an instruction several times in a row, for independent results: what waits for the last waits as long as before."""
    control = control_of(each)
    first = with_control(each, replace(control, stall=min(control.stall, 1) or 1))
    return [*[first] * (times - 1), with_control(each, replace(control, stall=max(1, control.stall - times + 1)))]
