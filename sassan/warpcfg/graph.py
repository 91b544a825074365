"""The warp-level control-flow graph: what exploration finds and every later stage reads.

A node is (call context, basic block); the graph is a multigraph, because "all threads take the branch" and "some do" are two edges between
the same two blocks and only the second is a push (docs/concepts/warp-machine.md, "Edges").
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from sassan.errors import Gap
from sassan.ir import Function, Instruction

Context = tuple[int, ...]
"""Call string: the addresses of the call instructions, outermost first."""


class EdgeKind(StrEnum):
    """Edge kinds of docs/reference/json.md."""

    FALLTHROUGH = "fallthrough"
    TAKEN = "taken"
    DIVERGE = "diverge"
    REACTIVATE = "reactivate"
    RECONVERGE = "reconverge"
    CALL = "call"
    RETURN = "return"
    EXIT = "exit"


class ActivationPoint(NamedTuple):
    """An activation point: where suspended threads resume. `tag` '' is a side of a divergence, else SYNC, BRK, CONT, RET, B0 and so on.

    A side that waits to take its branch names the branch too, as `origin` (-1 elsewhere): many branches may lead to one place, and whether
    a loop was entered or iterated depends on which of them it was.
    """

    context: Context
    address: int
    tag: str
    origin: int = -1

    def __str__(self) -> str:
        """Return `tag@address`, the spelling of row names and messages."""
        return f"{self.tag or 'side'}@{self.address:04x}" + (f"_by_{self.origin:04x}" if self.origin >= 0 else "")


@dataclass(frozen=True, slots=True)
class Node:
    """One basic block in one call context; `agreement` is the set of registers on which the active threads agree at its start.

    `divergent` says that its last instruction may split the active threads. `pushes` are the tokens that it pushes.
    """

    context: Context
    instructions: tuple[Instruction, ...]
    agreement: int = 0
    divergent: bool = False
    pushes: tuple[ActivationPoint, ...] = ()

    @property
    def code(self) -> tuple[Instruction, ...]:
        """Return the instructions that the input spells out: what is counted and takes time."""
        return (
            self.instructions
            if not any(instruction.virtual for instruction in self.instructions)
            else tuple(instruction for instruction in self.instructions if not instruction.virtual)
        )

    @property
    def start(self) -> int:
        """Return the address of the first instruction."""
        return self.instructions[0].address

    @property
    def end(self) -> int:
        """Return the address of the last instruction."""
        return self.instructions[-1].address

    @property
    def id(self) -> str:
        """Return the name of the node in every output: `n0068`, with the call string appended: `n0068_c0190`."""
        return f"n{self.start:04x}" + "".join(f"_c{site:04x}" for site in self.context)


@dataclass(frozen=True, slots=True)
class Edge:
    """`src` and `dst` index `WarpCfg.nodes`; `dst` None is the end of the warp (kind EXIT).

    `pushed` is the point that a DIVERGE edge suspends; `popped` the point that a REACTIVATE, RECONVERGE or RETURN edge resumes.
    """

    src: int
    dst: int | None
    kind: EdgeKind
    pushed: ActivationPoint | None = None
    popped: ActivationPoint | None = None


class ThreadEdge(NamedTuple):
    """One step of a single thread between blocks: a branch, a fall-through, or a token's target reached through its own stack."""

    src: int
    dst: int


@dataclass(frozen=True, slots=True)
class CfgLoop:
    """A loop of the thread-level graph in one call context (Bourdoncle's nesting; irreducible ones too).

    `head` and `nodes` index `WarpCfg.nodes`; `nodes` is sorted and holds those of inner loops and of calls made inside. `back` are the
    thread-level back edges as (src, dst). `single_witness` says that one thread sees every traversal: at the head, no thread waits at a
    point inside the loop that was pushed inside it (docs/proofs/ipet-rows.md: k = 1, else 32).
    """

    head: int
    nodes: tuple[int, ...]
    back: tuple[tuple[int, int], ...]
    parent: int | None
    single_witness: bool


class External(NamedTuple):
    """A call, at `address`, of the function `name`, which the input does not hold."""

    address: int
    name: str


@dataclass(frozen=True, slots=True)
class WarpCfg:
    """The graph of one function: every order is fixed, `nodes[entry]` is where the warp starts.

    Nodes are sorted by (context, start), edges by (src, dst, kind, popped, pushed). With `gaps`, the graph is what could be explored, and
    no bound may be given over it. `token_targets` maps a token instruction's address to where its threads resume, all contexts together.
    """

    function: Function
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    entry: int
    thread_edges: tuple[ThreadEdge, ...] = ()
    loops: tuple[CfgLoop, ...] = ()
    token_targets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    gaps: tuple[Gap, ...] = ()
    assumptions: tuple[str, ...] = ()
    stack_points: tuple[tuple[ActivationPoint, ...], ...] = ()
    """Per node, the points that some stack may hold on entry."""
    waiting_points: tuple[tuple[ActivationPoint, ...], ...] = ()
    """Per node, those of them where threads may wait that are not active: not where all threads of the entry are."""
    externals: tuple[External, ...] = ()
    """The calls of functions that the input does not hold: the graph goes on behind them."""
    spins: tuple[int, ...] = ()
    """The addresses of loop heads that iterate only where YIELD splits threads: assumed never to."""

    @property
    def calls(self) -> frozenset[int]:
        """The addresses of the calls by which nodes are entered."""
        return frozenset(address for node in self.nodes for address in node.context)
