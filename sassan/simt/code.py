"""A function made ready to be executed: straight-line blocks of operations, each with one exit.

What an instruction does comes from a `Decoder`, so that the same machine runs with other tables, and so that an oracle may bring
a decoder of its own that shares no line with the analyser. A register is named by its bit number in `sassan.isa.registers`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from sassan.errors import SassanError
from sassan.ir import Function, Instruction
from sassan.isa.facts import Flow
from sassan.isa.registers import bit

AGAIN = frozenset({Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.RETURN})
"""Threads with other targets wait at the instruction itself, and execute it again."""


class TransitionKind(StrEnum):
    """How a warp gets from one block to the next: the edge kinds of docs/reference/json.md."""

    FALLTHROUGH = "fallthrough"
    TAKEN = "taken"
    DIVERGE = "diverge"
    REACTIVATE = "reactivate"
    RECONVERGE = "reconverge"
    CALL = "call"
    RETURN = "return"
    EXIT = "exit"


MOVES = tuple(TransitionKind)
SIDE = ""
RETURN_TAG = "RET"
WARPSYNC_TAG = "WARPSYNC"
RELEASED_TAG = "WARPSYNC, released"
"""All threads arrived, some at other WARPSYNCs: no thread joins this entry any more."""
BARRIERS = 16
"""B0 to B15: the barrier registers since Volta."""


def number(file: str, index: int | None) -> int | None:
    """Return the bit number of a register, None for RZ, PT and whatever else holds no state."""
    mask = bit(file, index)
    return mask.bit_length() - 1 if mask else None


@dataclass(frozen=True, slots=True)
class Test:
    """One register that must hold (predicates: 1 is true); `flags` is the key of a CC test on it, None for a plain predicate."""

    register: int
    negated: bool = False
    flags: int | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A thread executes iff every test holds; `never` is a constant false one (`@!PT`)."""

    tests: tuple[Test, ...] = ()
    never: bool = False


ALWAYS = Condition()


@dataclass(frozen=True, slots=True)
class Linear:
    """An exact result: `constant` + Σ factor · input (mod 2³²), one factor per register that the operation reads."""

    constant: int
    factors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ExactQuotient:
    """The quotient of the one input by `divisor`, both without signs, or the `remainder`."""

    divisor: int
    remainder: bool


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """A load from, or a store to, the thread's own memory at `offset` + the sum of the first `base` registers read, in 32-bit words.

    A store writes the registers read after those, or so many `zeros`; `whole` is false where the width is not a multiple of a word: what is
    stored then is unknown. `shared`: it is the memory of the thread's block, and the registers are multiplied by `scales`.
    """

    offset: int
    base: int
    store: bool
    whole: bool = True
    zeros: int = 0
    shared: bool = False
    scales: tuple[int, ...] = ()


class Operation(NamedTuple):
    """A data instruction: a function from `reads` to `writes`, for the threads where `condition` holds.

    `key` names the function (opcode, modifiers, constants). `lane` says that the result may differ between threads with equal inputs,
    `time` that the same inputs give another result next time (memory, clocks). `gathered` are inputs that every executing thread
    contributes and all of them see alike (votes, shuffles from one lane). `broadcast` says that the written registers have one copy
    per warp (UR, UP). Where `exact` is given, the result is what it says: code addresses and stack pointers have to be real numbers.
    Threads that execute it together and hold the same in the inputs `agreeing` get one result, also where it is drawn; None: each its own.
    """

    instruction: Instruction
    key: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    condition: Condition = ALWAYS
    lane: bool = True
    time: bool = False
    gathered: tuple[int, ...] = ()
    broadcast: bool = False
    exact: Linear | ExactQuotient | LocalAccess | None = None
    agreeing: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Push:
    """Push a token: its threads resume at `target` after they left to `tag`."""

    tag: str
    target: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty a barrier register (`BMOV.32.CLEAR RZ, B0`): no executing thread may be in it."""

    tag: str


@dataclass(frozen=True, slots=True)
class BarrierMove:
    """BMOV between barrier register `tag` and data register `register` (None: RZ): `save` (and `clear`), or restore.

    A restore may instead take a number (`mask`), or what barrier register `source` holds, which `clear` then empties.
    """

    tag: str
    register: int | None
    save: bool
    clear: bool = False
    mask: int | None = None
    source: str | None = None


class Unity(StrEnum):
    """How the threads of a warp decide on a branch: each for itself, all as the first of them, or all alike by an unknown condition.

    Open: none takes it, or all do where the condition holds of all.
    """

    EACH = "each"
    FIRST = "first"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class ControlTransfer:
    """The last instruction of a block. `selector` are the registers that choose among `targets` of an indirect branch.

    A return goes to `base` + the first register of the selector. `moves` is (barrier register, data register, how) of a BMOV (`Flow.NONE`).
    """

    flow: Flow
    condition: Condition = ALWAYS
    tag: str = ""
    target: int | None = None
    targets: tuple[int, ...] = ()
    selector: tuple[int, ...] = ()
    key: int = 0
    unity: Unity = Unity.EACH
    base: int = 0
    moves: BarrierMove | None = None


Decoded = Operation | Push | Clear | ControlTransfer | None


class Decoder(Protocol):
    """What the machine knows of an instruction set; None stands for an instruction that changes neither registers nor flow."""

    def decode(self, instruction: Instruction) -> Decoded:
        """Return what the instruction does; raise `SassanError` where the table does not know it."""
        ...


@dataclass(frozen=True, slots=True)
class ExecutableBlock:
    """Straight-line code: every instruction runs once per visit. `follow`, `target` and `targets` are block numbers, -1 for none.

    `pushes` are (tag number, block number) in program order, block -1 for a barrier register that is emptied; `address` and `last` are
    those of the first and the last instruction.
    """

    address: int
    last: int
    size: int
    operations: tuple[Operation, ...]
    pushes: tuple[tuple[int, int], ...]
    control: ControlTransfer | None
    follow: int
    target: int
    targets: tuple[int, ...]
    tag: int


@dataclass(frozen=True, slots=True)
class ExecutableFunction:
    """All blocks of one function; `entry` is a block number; `tags[0]` is the untagged side; `registers` are those that occur, sorted."""

    function: Function
    blocks: tuple[ExecutableBlock, ...]
    entry: int
    tags: tuple[str, ...]
    registers: tuple[int, ...]


def lower(function: Function, decoder: Decoder, leaders: Iterable[int] = ()) -> ExecutableFunction:
    """Return the function as blocks; `leaders` are further addresses at which a block must start.

    Raises `SassanError` `unsupported-instruction` where the decoder refuses one, and `bad-target` where control goes to no instruction.
    """
    decoded = {instruction.address: decoder.decode(instruction) for instruction in function.instructions}
    starts = _leaders(function, decoded) | set(leaders)
    known = {instruction.address for instruction in function.instructions}
    strange = sorted(starts - known)
    if strange:
        raise SassanError("bad-target", f"{function.name}: {strange[0]:#x} is not the address of an instruction")
    groups = _groups(function, decoded, starts)
    numbers = {group[0].address: index for index, group in enumerate(groups)}
    tags = _tags(decoded)
    blocks = tuple(_block(group, decoded, numbers, tags) for group in groups)
    return ExecutableFunction(function, blocks, numbers[function.entry], tags, _registers(decoded))


def _leaders(function: Function, decoded: dict[int, Decoded]) -> set[int]:
    known = {instruction.address for instruction in function.instructions}
    starts = {function.entry}
    for instruction in function.instructions:
        match decoded[instruction.address]:
            case Push(target=target):
                starts.add(target)
            case ControlTransfer(target=target, targets=targets, flow=flow):
                starts |= {instruction.following} & known
                starts |= set(targets) | ({target} if target is not None else set())
                if flow in AGAIN:
                    starts.add(instruction.address)
            case _:
                pass
    return starts


def _groups(function: Function, decoded: dict[int, Decoded], starts: set[int]) -> list[list[Instruction]]:
    groups: list[list[Instruction]] = []
    fresh = True
    for instruction in function.instructions:
        if fresh or instruction.address in starts:
            groups.append([])
        groups[-1].append(instruction)
        fresh = isinstance(decoded[instruction.address], ControlTransfer)
    return groups


def _tags(decoded: dict[int, Decoded]) -> tuple[str, ...]:
    tags = {effect.tag for effect in decoded.values() if isinstance(effect, (Push, Clear, ControlTransfer))}
    moves = [effect.moves for effect in decoded.values() if isinstance(effect, ControlTransfer) and effect.moves is not None]
    tags |= {tag for move in moves for tag in (move.tag, move.source) if tag is not None}
    tags |= {RELEASED_TAG} if WARPSYNC_TAG in tags else set()
    return (SIDE, RETURN_TAG, *sorted(tags - {SIDE, RETURN_TAG}))


def _registers(decoded: dict[int, Decoded]) -> tuple[int, ...]:
    registers: set[int] = set()
    for effect in decoded.values():
        match effect:
            case Operation():
                registers |= {*effect.reads, *effect.gathered, *effect.writes, *(test.register for test in effect.condition.tests)}
            case ControlTransfer():
                registers |= {*effect.selector, *(test.register for test in effect.condition.tests)}
                if effect.moves is not None and effect.moves.register is not None:
                    registers.add(effect.moves.register)
            case _:
                pass
    return tuple(sorted(registers))


def _block(group: list[Instruction], decoded: dict[int, Decoded], numbers: dict[int, int], tags: tuple[str, ...]) -> ExecutableBlock:
    things = [decoded[instruction.address] for instruction in group]
    last = things[-1]
    control = last if isinstance(last, ControlTransfer) else None
    target = control.target if control is not None else None
    return ExecutableBlock(
        address=group[0].address,
        last=group[-1].address,
        size=len(group),
        operations=tuple(effect for effect in things if isinstance(effect, Operation)),
        pushes=tuple(_pushes(things, numbers, tags)),
        control=control,
        follow=numbers.get(group[-1].following, -1),
        target=numbers[target] if target is not None else -1,
        targets=tuple(numbers[target_address] for target_address in control.targets) if control is not None else (),
        tag=tags.index(control.tag) if control is not None else 0,
    )


def _pushes(things: list[Decoded], numbers: dict[int, int], tags: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    for effect in things:
        if isinstance(effect, Push):
            yield tags.index(effect.tag), numbers[effect.target]
        elif isinstance(effect, Clear):
            yield tags.index(effect.tag), -1
