"""What an analysis may know of one instruction: the record that the opcode tables fill."""

from enum import StrEnum
from typing import NamedTuple

from sassan.alphabet import Letter
from sassan.isa.computations import Computation


class Flow(StrEnum):
    """What an instruction does to the PC and to the token stack (docs/concepts/warp-machine.md)."""

    NONE = "none"
    BRANCH = "branch"
    INDIRECT_BRANCH = "indirect-branch"
    CALL = "call"
    INDIRECT_CALL = "indirect-call"
    PUSH = "push"
    """SSY, PBK, PCNT, PRET, BSSY: push a token."""
    POP = "pop"
    """SYNC, BRK, CONT, RET (before Volta), BSYNC: leave to the nearest token of `tag`."""
    RETURN = "return"
    """Volta and later: return through a register."""
    BREAK = "break"
    """Volta and later: take the threads out of the nearest token of `tag`; no thread waits."""
    BARRIER_MOVE = "barrier-move"
    """BMOV: copy a convergence barrier to a register, or back."""
    EXIT = "exit"
    WARP_BARRIER = "warp-barrier"
    """WARPSYNC."""
    BLOCK_BARRIER = "block-barrier"
    TRAP = "trap"
    """The kernel ends with an error: BPT.TRAP and its like."""
    UNSUPPORTED = "unsupported"
    """Known to change the flow, not modelled: a gap."""


class WriteEffect(NamedTuple):
    """Registers written together, and when the writing threads agree on them.

    `needs` is the set of registers on which the executing threads must agree so that they agree on `writes`; None: they never do.
    """

    writes: int
    needs: int | None


class Facts(NamedTuple):
    """Sets of registers are ints (`isa.registers`).

    `reads` leaves out the guard, which is `guard`; `condition` is everything that decides whether a thread takes a control
    instruction: guard, CC test and predicate operands. `guard_alone` says that the guard by itself decides. `uniform` says that the
    condition cannot differ inside a warp (uniform predicates, BRA.U, BRA.DIV). `tag` belongs to PUSH, POP, BREAK, BARRIER_MOVE and CALL:
    SYNC, BRK, CONT, RET (pre-Volta), `B0`…. `target` is the direct code target of a BRANCH, CALL or PUSH, None where there is none.
    `computes` says what is written, None where no effect covers the opcode: its results are unknown. On `forgets` threads agree no more
    before it runs; with `unguarded`, its effects do not depend on its guard, if it has one. The tables leave both empty (`values/`).
    """

    reads: int
    effects: tuple[WriteEffect, ...]
    guard: int
    flow: Flow
    letter: Letter
    condition: int = 0
    guard_alone: bool = True
    uniform: bool = False
    tag: str = ""
    target: int | None = None
    computes: Computation | None = None
    forgets: int = 0
    unguarded: bool = False

    @property
    def is_barrier(self) -> bool:
        """Say whether the token is a convergence barrier (B0 and so on): threads that are no part of it pass its POP."""
        return self.tag[1:].isdigit()

    @property
    def writes(self) -> int:
        """Return the set of all registers that the instruction may write."""
        if len(self.effects) == 1:
            return self.effects[0].writes
        out = 0
        for effect in self.effects:
            out |= effect.writes
        return out
