"""What registers hold where threads of different lanes come together again, and a branch that parted them is known lane by lane.

`if (threadIdx.x < 16) n = 3; else n = threadIdx.x;` leaves a number in every lane. Each thread at a place came there by one step, from
a block at whose end its registers are known, and only certain lanes take that step (docs/proofs/words-of-lanes.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sassan.domains.lanes import UNKNOWN, LaneState, LaneWord, from_words
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import ONE_PER_WARP, bit
from sassan.values.environment import LaunchEnvironment

_ALL = -1
"""All lanes; sets of lanes are sets of bits, of which those behind the last lane do not matter."""
_DECIDED = frozenset({Flow.BRANCH, Flow.EXIT})
Step = tuple[int, int]
"""A step of a thread from one block to another, by their addresses."""
Side = tuple[int, LaneState]
"""The lanes whose threads may come to a place by one step, and the words that they bring."""


def edge_join(  # noqa: PLR0913, PLR0917  # a graph, and what is known of it
    blocks: Mapping[int, Sequence[Instruction]],
    facts: Mapping[int, Facts],
    following: Mapping[int, Sequence[int]],
    starts: Mapping[int, LaneState],
    ends: Mapping[int, LaneState],
    entry: int,
    environment: LaunchEnvironment,
) -> Mapping[int, LaneState]:
    """Return the words that are known at the start of blocks in each lane that comes there, where those in `starts` are not.

    `starts` and `ends` are the words around each block that is reached, `following` the blocks behind it. In lanes that never come, a
    word is what it is in one that does.
    """
    taken = steps(blocks, facts, following, ends)
    if all(lanes == _ALL for lanes in taken.values()):
        return {}
    coming = lanes_of_blocks(taken, following, entry, environment.present)
    sides: dict[int, list[Side]] = {}
    for (src, dst), lanes in taken.items():
        if lanes & coming.get(src, 0):
            sides.setdefault(dst, []).append((lanes & coming[src], ends[src]))
    joined = {start: _met(starts[start], each, environment.lanes) for start, each in sides.items() if len(each) > 1}
    return {start: LaneState(words) for start, words in joined.items() if words}


def steps(
    blocks: Mapping[int, Sequence[Instruction]],
    facts: Mapping[int, Facts],
    following: Mapping[int, Sequence[int]],
    ends: Mapping[int, LaneState],
) -> Mapping[Step, int]:
    """Return which lanes may take each step between blocks; `ends` are the words behind each block that is reached."""
    return {(src, dst): lanes for src, end in ends.items() for dst, lanes in _taken(blocks[src][-1], facts, following[src], end)}


def _taken(last: Instruction, facts: Mapping[int, Facts], following: Iterable[int], end: LaneState) -> Iterator[tuple[int, int]]:
    """Yield the blocks behind one that ends with an instruction, each with the lanes whose threads may go there."""
    known, guard = facts[last.address], last.guard
    holds = fails = _ALL
    decides = known.flow in _DECIDED and known.guard_alone and not last.condition and known.target != last.following
    if decides and guard is not None and guard.index is not None and guard.file == "P":
        word = end.words.get(bit(guard.file, guard.index).bit_length() - 1, UNKNOWN)
        if word.known:
            holds = sum(1 << lane for lane, value in enumerate(word.words) if value) if word.lanes is not None else -word.offset
            holds, fails = (~holds, holds) if guard.negated else (holds, ~holds)
    for dst in following:
        yield dst, fails if dst == last.following else holds if dst == known.target else _ALL


def lanes_of_blocks(taken: Mapping[Step, int], following: Mapping[int, Sequence[int]], entry: int, present: int) -> Mapping[int, int]:
    """Return which lanes may come to each block, of those that begin at the entry: the least solution over the steps."""
    out, todo = {entry: present}, [entry]
    while todo:
        src = todo.pop()
        for dst in following[src]:
            lanes = out.get(dst, 0) | out[src] & taken.get((src, dst), 0)
            if lanes != out.get(dst, 0):
                out[dst] = lanes
                todo.append(dst)
    return out


def _met(start: LaneState, sides: Sequence[Side], count: int) -> dict[int, LaneWord]:
    """Return the words that are known in each lane where these sides meet, but those known at its `start` anyway."""
    out: dict[int, LaneWord] = {}
    for name, word in sides[0][1].words.items():
        if word.known and not 1 << name & ONE_PER_WARP and not start.words.get(name, UNKNOWN).known:
            words = [(lanes, end.words.get(name, UNKNOWN)) for lanes, end in sides]
            met = _each(words, count) if all(each.known for _, each in words) else None
            if met is not None:
                out[name] = met
    return out


def _each(words: Sequence[tuple[int, LaneWord]], count: int) -> LaneWord | None:
    """Return the word that is one of these in the lanes of each, None where two of them differ in a lane."""
    by_lane: dict[int, int] = {}
    for lanes, each in words:
        table = each.words if each.lanes is not None else (each.offset,) * count
        if any(by_lane.setdefault(lane, value) != value for lane, value in enumerate(table) if lanes >> lane & 1):
            return None
    other = next(iter(by_lane.values()))
    return from_words(tuple([by_lane.get(lane, other) for lane in range(count)]))
