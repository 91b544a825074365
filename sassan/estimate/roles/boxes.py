"""Which box of which tensor a copy of the copy engine (TMA) moves: by the addresses that warps of the run pass it.

A map is a parameter of the kernel, or stands in known memory.
"""

from collections.abc import Sequence

from sassan.estimate.roles.copies import Boxes
from sassan.estimate.roles.tensor_operands import descriptor
from sassan.estimate.roles.traces import WarpTrace
from sassan.ir import Instruction
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import bank_layout
from sassan.machine.tensor_map import MapKind, TensorMap, map_in_memory
from sassan.values.environment import PARAMETER_WINDOW
from sassan.warpcfg.graph import WarpCfg

_ROWS = frozenset({"GATHER4", "SCATTER4"})
"""Copies of four rows that are named one by one: how many bytes those have, the map alone does not say."""
_SHARED = frozenset({"MULTICAST", "2CTA"})


def boxes_of(cfg: WarpCfg, launch: LaunchConfiguration, traces: Sequence[WarpTrace]) -> Boxes:
    """Return the tensor maps that copies of a run are passed, each where it says what the instruction moves."""
    where = bank_layout(cfg.function)
    parameters = {} if where is None else {PARAMETER_WINDOW + offset - where.parameters: each for offset, each in launch.maps}
    contents = launch.initial or launch.contents
    code = {each.address: each for node in cfg.nodes for each in node.code}
    passed = {(met.address, met.map) for trace in traces for met in trace.executions if met.map is not None}
    return {(at, place): _fitting(code[at], parameters.get(place) or map_in_memory(contents, place)) for at, place in sorted(passed)}


def shared_copies(cfg: WarpCfg) -> frozenset[int]:
    """Return the copies that other blocks of a cluster get, or count, too."""
    several = (each for node in cfg.nodes for each in node.code if descriptor(each) is not None)
    return frozenset(each.address for each in several if not _SHARED.isdisjoint(each.opcode.split(".")))


def _fitting(instruction: Instruction, known: TensorMap | None) -> TensorMap | None:
    """Return a map where it says what an instruction moves, None where the form of the instruction is not that of the map."""
    _, *modifiers = instruction.opcode.split(".")
    if known is None or known.shared_bytes is None or not _ROWS.isdisjoint(modifiers):
        return None
    tiled = "IM2COL" not in modifiers
    return known if f"{known.rank}D" in modifiers and tiled == (known.kind is MapKind.TILED) else None
