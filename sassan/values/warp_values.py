"""The graph of a function with the words of its registers: explored again where lanes say that threads agree."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sassan.domains.lanes import LaneWord, const
from sassan.ir import Instruction, Language
from sassan.isa.facts import Facts, WriteEffect
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration
from sassan.values.environment import LaunchEnvironment
from sassan.values.evaluate import PREDICATES, Evaluation, Evaluator, Words
from sassan.values.flow import LaneEffects, WordFlow, word_flow
from sassan.values.present import present
from sassan.values.threads import WarpContext
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.externals import clobbering
from sassan.warpcfg.graph import Node, WarpCfg


@dataclass(frozen=True, slots=True)
class WarpValues:
    """What is known of registers at every instruction of a graph.

    `agreed` are the registers on which the active threads agree up to lanes at the start of each node; `node.agreement` of the graph are
    those on which they agree altogether. `threads` are how many each warp of a table has. `present` are the lanes that are active at
    each visit of a node.
    """

    cfg: WarpCfg
    agreed: tuple[int, ...]
    flow: WordFlow
    effects: LaneEffects
    facts: dict[int, Facts]
    threads: tuple[int, ...]
    present: tuple[int, ...]

    def along(self, index: int) -> Iterator[tuple[Instruction, "PointValues"]]:
        """Yield the instructions of a node, each with what is known before it; a point is to be read before the next one is taken."""
        threads, lanes = self._entering(index), self.lanes(index)
        for instruction in self.cfg.nodes[index].instructions:
            facts = self.facts[instruction.address]
            threads.agreed &= ~facts.forgets
            yield instruction, PointValues(threads.words, threads.agreed, lanes, self.present[index])
            threads.execute(instruction, facts)

    def executing(self, index: int, wanted: Callable[[Instruction], bool]) -> Iterator[tuple[Instruction, "PointValues"]]:
        """Yield those instructions of a node that are wanted, each with what is known before it of the threads for which its guard holds.

        A guard divides the threads of a node from the last write of its predicate on: `@!P1 IADD3 R4, ..` and `@!P1 LDG R5, [R4]` are
        executed by the same threads, which agree on R4 where they do on what it is made of (docs/proofs/words-of-lanes.md). A point is
        to be read before the next one is taken.
        """
        node = self.cfg.nodes[index]
        guards = {guard for each in node.instructions if wanted(each) and (guard := _literal(each)) is not None}
        threads, lanes = self._entering(index), self.lanes(index)
        some = {guard: threads.where(*guard) for guard in guards}
        for instruction in node.instructions:
            facts = self.facts[instruction.address]
            if wanted(instruction):
                guard = _literal(instruction)
                known = threads if guard is None else some[guard]
                among = lanes if guard is None else lanes & threads.lanes(*guard)
                sure = self.present[index] if guard is None else self.present[index] & threads.surely(*guard)
                yield instruction, PointValues(known.words, known.agreed & ~facts.forgets, among, sure)
            threads.execute(instruction, facts)
            for guard, those in some.items():
                if facts.writes >> guard[0] & 1:
                    some[guard] = threads.where(*guard)
                else:
                    those.execute(instruction, facts)

    def lanes(self, index: int) -> int:
        """Return the lanes whose threads may execute a node, as a set of bits, of those of a table."""
        return self.flow.lanes.get(self.cfg.nodes[index].start, 0)

    def _entering(self, index: int) -> "_Threads":
        return _Threads(self.flow.evaluator, Words(self.flow.starts[self.cfg.nodes[index].start].words), self.agreed[index])


Literal = tuple[int, bool]
"""A predicate by its bit number, and what it is."""


def _literal(instruction: Instruction) -> Literal | None:
    """Return when an instruction is executed, None where that is always or never."""
    guard = instruction.guard
    return None if guard is None or guard.index is None else (bit(guard.file, guard.index).bit_length() - 1, not guard.negated)


@dataclass(slots=True)
class _Threads:
    """Threads that execute a node together: their words, and the registers on which they agree up to lanes."""

    evaluator: Evaluator
    words: Words
    agreed: int

    def where(self, name: int, value: bool) -> "_Threads":
        """Return those of them for which a predicate has a value."""
        words = Words(self.words.held)
        words.put(name, const(int(value)))
        return _Threads(self.evaluator, words, self.agreed | 1 << name)

    def lanes(self, name: int, value: bool) -> int:
        """Return the lanes in which a predicate may have a value, as a set of bits."""
        word = self.words.held.get(name, LaneWord())
        if not word.known:
            return -1
        if word.lanes is None:
            return -int(bool(word.offset) == value)
        return sum(1 << lane for lane, each in enumerate(word.words) if bool(each) == value)

    def surely(self, name: int, value: bool) -> int:
        """Return the lanes in which a predicate has a value whenever it has that in any active one, as a set of bits."""
        known = self.words.held.get(name, LaneWord()).known
        return self.lanes(name, value) if known else -(self.agreed >> name & 1)

    def execute(self, instruction: Instruction, facts: Facts) -> None:
        """Write what an instruction does; `facts` say what it forgets."""
        self.words.forget_lanes(facts.forgets)
        outcome = self.evaluator.run(self.words, instruction)
        guarded = instruction.guard is not None and not outcome.unguarded
        self.agreed = _after(self.agreed & ~facts.forgets, outcome.effects, facts.guard if guarded else 0, guarded=guarded)


@dataclass(frozen=True, slots=True)
class PointValues:
    """What is known before an instruction: words by register, and those on which the active threads agree up to lanes.

    `lanes` are those whose threads may execute it, as a set of bits, of those of a table; `present` those that do whenever one does.
    """

    words: Words
    agreed: int
    lanes: int
    present: int

    def word(self, name: int) -> LaneWord | None:
        """Return the word of a register (its bit number), None where threads may differ in more than its lanes."""
        value = self.word_of_thread(name)
        return value if value.known or self.agreed >> name & 1 else None

    def word_of_thread(self, name: int) -> LaneWord:
        """Return the word of a register (its bit number) for each thread by itself: it need not be the one of another."""
        return self.words.held.get(name, LaneWord())


def _after(agreed: int, effects: Iterable[WriteEffect], guard: int, *, guarded: bool) -> int:
    for effect in effects:
        if effect.needs is None or (effect.needs | guard) & ~agreed:
            agreed &= ~effect.writes
        elif not guarded:
            agreed |= effect.writes
    return agreed


def with_values(
    cfg: WarpCfg, facts_of: FactsOf, launch: LaunchConfiguration, explore: Callable[[FactsOf], WarpCfg], warp: WarpContext | None = None
) -> WarpValues | None:
    """Return the words of a graph for a launch, with the graph explored again by facts that know them: in any warp, or in a given one.

    None where they are not followed: for PTX, and in a graph with gaps. Behind a call of a function that the input does not hold, nothing
    is known of any register. Raises SelfCheckError, UsageError (`LaunchConfiguration.placed`), and ValueError for a warp of another block.
    """
    if cfg.gaps or cfg.function.language is Language.PTX:
        return None
    clobbered = clobbering(facts_of, cfg.externals)
    table = {instruction.address: clobbered(instruction) for node in cfg.nodes for instruction in node.instructions}
    known = {address: facts for address, facts in table.items() if facts is not None}
    if len(known) != len(table):
        return None
    environment = LaunchEnvironment(cfg.function, launch, warp)
    flow = word_flow(cfg, known, environment)
    effects = flow.effects()
    laned = {address: _with_lanes(known[address], *lost) for address, lost in effects.items()}
    for node in cfg.nodes:
        # What the exploration takes for granted of an external call is its own matter: only lanes are lost there.
        end, plain = node.instructions[-1], facts_of(node.instructions[-1])
        if plain is not None and end.address in {external.address for external in cfg.externals}:
            laned[end.address] = plain._replace(forgets=laned[end.address].forgets)
    again = explore(lambda instruction: laned.get(instruction.address) or facts_of(instruction))
    after = {**known, **laned}
    return WarpValues(
        replace(again, nodes=tuple(_altogether(node, flow, laned) for node in again.nodes)),
        tuple(node.agreement for node in again.nodes),
        flow,
        effects,
        after,
        environment.threads,
        present(again, after, flow.lanes, flow.taken),
    )


def _with_lanes(facts: Facts, lost: int, outcome: Evaluation) -> Facts:
    if not lost and outcome.effects == facts.effects and not outcome.unguarded:
        return facts
    return facts._replace(effects=outcome.effects, forgets=lost, unguarded=outcome.unguarded)


def _altogether(node: Node, flow: WordFlow, facts: dict[int, Facts]) -> Node:
    laned = sum(1 << name for name, value in flow.starts[node.start].words.items() if value.varies)
    first = facts.get(node.start)
    return replace(node, agreement=node.agreement & ~((laned & ~PREDICATES) | (first.forgets if first is not None else 0)))
