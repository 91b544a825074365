"""Instructions at which warps of a block meet each other and engines: barriers in shared memory, named barriers, barriers of a cluster.

The forms are those of the PTX instructions mbarrier, barrier, barrier.cluster and cp.async.bulk (PTX ISA 8.8), as ptxas writes them.
"""

from enum import IntEnum, auto

from sassan.ir import Instruction, Memory, Operand, Register, Word


class BarrierOperation(IntEnum):
    """What an instruction does at a barrier.

    BEGIN: sets up a barrier in shared memory, for a number of arrivals. ARRIVE: threads arrive. EXPECT: threads arrive, and announce
    bytes. TEST: a wait for a phase of a barrier in shared memory. COPY: the copy engine arrives when it has brought the data. COMMIT: the
    tensor cores arrive when they have done what was asked of them. COPIED: copies of the thread (cp.async) arrive when they are over.
    SYNC: arrival at a barrier of warps, and wait; CHECK_IN: arrival alone. CLUSTER_ARRIVE and CLUSTER_WAIT: the barrier of a cluster.
    MOVE: the copy engine moves a box of a tensor, and arrives at no barrier.
    """

    BEGIN = 0
    ARRIVE = auto()
    EXPECT = auto()
    TEST = auto()
    COPY = auto()
    COMMIT = auto()
    COPIED = auto()
    SYNC = auto()
    CHECK_IN = auto()
    CLUSTER_ARRIVE = auto()
    CLUSTER_WAIT = auto()
    MOVE = auto()


IN_SHARED_MEMORY = frozenset(
    (
        BarrierOperation.BEGIN,
        BarrierOperation.ARRIVE,
        BarrierOperation.EXPECT,
        BarrierOperation.TEST,
        BarrierOperation.COPY,
        BarrierOperation.COMMIT,
        BarrierOperation.COPIED,
    )
)
_LOADS = frozenset({"UTMALDG", "UBLKCP"})
_MOVES = frozenset({"UTMASTG", "UTMAREDG", "UTMAPF"})
_PRODUCTS = ("UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCMXQMMA", "UTCCP", "UTCSHIFT")
_GROUPED = frozenset({"HGMMA", "IGMMA", "QGMMA", "BGMMA"})


def barrier_operation(instruction: Instruction) -> BarrierOperation | None:  # noqa: PLR0911 - one kind each
    """Return what an instruction does at a barrier; None for any other one."""
    name, *modifiers = instruction.opcode.split(".")
    match name:
        case "SYNCS" if "PHASECHK" in modifiers:
            return BarrierOperation.TEST
        case "SYNCS" if "EXCH" in modifiers:
            return BarrierOperation.BEGIN
        case "SYNCS" if "ARRIVE" in modifiers:
            return BarrierOperation.ARRIVE if "A1T0" in modifiers else BarrierOperation.EXPECT
        case "ARRIVES":
            return BarrierOperation.COPIED
        case "UTCBAR":
            return BarrierOperation.COMMIT
        case "BAR":
            return BarrierOperation.CHECK_IN if "ARV" in modifiers else BarrierOperation.SYNC
        case "UCGABAR_ARV":
            return BarrierOperation.CLUSTER_ARRIVE
        case "UCGABAR_WAIT":
            return BarrierOperation.CLUSTER_WAIT
        case _:
            return _of_copy_engine(name, modifiers)


def _of_copy_engine(name: str, modifiers: list[str]) -> BarrierOperation | None:
    if name in _LOADS and modifiers[:2] != ["G", "S"]:
        return BarrierOperation.COPY
    return BarrierOperation.MOVE if name in _MOVES else None


def waits_alone(instruction: Instruction) -> bool:
    """Say whether a warp waits at an instruction for some others, or for an engine, and not for all warps of its block."""
    kind = barrier_operation(instruction)
    if kind in {BarrierOperation.TEST, BarrierOperation.CHECK_IN, BarrierOperation.CLUSTER_WAIT}:
        return True
    return (kind is BarrierOperation.SYNC and amount(instruction) is not None) or groups_left(instruction) is not None


def place(instruction: Instruction) -> Operand | None:
    """Return the operand that names the barrier: an address in shared memory, or a number; None where no operand does."""
    memory = next((operand for operand in instruction.operands if isinstance(operand, Memory)), None)
    if memory is not None or instruction.opcode.partition(".")[0] != "BAR":
        return memory
    return instruction.operands[0] if instruction.operands else None


def amount(instruction: Instruction) -> Operand | None:
    """Return the operand behind the barrier: arrivals of its phases, bytes, parity, or threads; None where there is none."""
    at = next((index for index, operand in enumerate(instruction.operands) if operand is place(instruction)), -1)
    behind = instruction.operands[at + 1 :]
    return behind[0] if at >= 0 and behind and not (isinstance(behind[0], Register) and behind[0].file in {"P", "UP"}) else None


def is_queued(opcode: str) -> bool:
    """Say whether an engine takes an instruction into its queue, so that the warp goes on at once."""
    return opcode.partition(".")[0].startswith(_PRODUCTS)


def is_product(opcode: str) -> bool:
    """Say whether tensor cores work on an instruction while its warp goes on."""
    return is_queued(opcode) or opcode.partition(".")[0] in _GROUPED


def is_grouped(instruction: Instruction) -> bool:
    """Say whether a product of a warpgroup ends a group that WARPGROUP.DEPBAR counts."""
    last = instruction.operands[-1] if instruction.operands else None
    return instruction.opcode.partition(".")[0] in _GROUPED and isinstance(last, Word) and last.text.startswith("gsb")


def groups_left(instruction: Instruction) -> int | None:
    """Return how many groups of products may be on their way behind a wait for them; None for any other instruction."""
    if not instruction.opcode.startswith("WARPGROUP.DEPBAR"):
        return None
    left = instruction.operands[-1]
    return getattr(left, "value", 0)
