"""The graph of a function with the words of its registers: explored again where lanes say that threads agree."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sassan.domains.lanes import LaneWord
from sassan.ir import Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import Launch
from sassan.values.evaluate import PREDICATES, Outcome, Words
from sassan.values.flow import LaneEffects, WordFlow, word_flow
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.externals import clobbering
from sassan.warpcfg.graph import Node, WarpCfg


@dataclass(frozen=True, slots=True)
class WarpValues:
    """What is known of registers at every instruction of a graph.

    `agreed` are the registers on which the active threads agree up to lanes at the start of each node; `node.agreement` of the graph are
    those on which they agree altogether.
    """

    cfg: WarpCfg
    agreed: tuple[int, ...]
    flow: WordFlow
    effects: LaneEffects
    facts: dict[int, Facts]

    def along(self, index: int) -> Iterator[tuple[Instruction, "Point"]]:
        """Yield the instructions of a node, each with what is known before it; a point is to be read before the next one is taken."""
        agreed = self.agreed[index]
        node = self.cfg.nodes[index]
        words = Words(self.flow.starts[node.start].words)
        for instruction in node.instructions:
            facts = self.facts[instruction.address]
            agreed &= ~facts.forgets
            yield instruction, Point(words, agreed)
            words.forget_lanes(facts.forgets)
            self.flow.evaluator.run(words, instruction)
            agreed = _after(agreed, facts, guarded=instruction.guard is not None and not facts.unguarded)


@dataclass(frozen=True, slots=True)
class Point:
    """What is known before an instruction: words by register, and those on which the active threads agree up to lanes."""

    words: Words
    agreed: int

    def word(self, name: int) -> LaneWord | None:
        """Return the word of a register (its bit number), None where threads may differ in more than its lanes."""
        value = self.words.held.get(name, LaneWord())
        return value if value.known or self.agreed >> name & 1 else None


def _after(agreed: int, facts: Facts, *, guarded: bool) -> int:
    for effect in facts.effects:
        if effect.needs is None or (effect.needs | (facts.guard if guarded else 0)) & ~agreed:
            agreed &= ~effect.writes
        elif not guarded:
            agreed |= effect.writes
    return agreed


def with_values(cfg: WarpCfg, facts_of: FactsOf, launch: Launch, explore: Callable[[FactsOf], WarpCfg]) -> WarpValues | None:
    """Return the words of a graph for a launch, with the graph explored again by facts that know them.

    None where they are not followed: for PTX, and in a graph with gaps. Behind a call of a function that the input does not hold, nothing
    is known of any register. Raises SelfCheckError.
    """
    if cfg.gaps or cfg.function.frames:
        return None
    clobbered = clobbering(facts_of, cfg.externals)
    table = {instruction.address: clobbered(instruction) for node in cfg.nodes for instruction in node.instructions}
    known = {address: facts for address, facts in table.items() if facts is not None}
    if len(known) != len(table):
        return None
    flow = word_flow(cfg, known, launch)
    effects = flow.effects()
    laned = {address: _with_lanes(known[address], *lost) for address, lost in effects.items()}
    for node in cfg.nodes:
        # What the exploration takes for granted of an external call is its own matter: only lanes are lost there.
        end, plain = node.instructions[-1], facts_of(node.instructions[-1])
        if plain is not None and end.address in {external.address for external in cfg.externals}:
            laned[end.address] = plain._replace(forgets=laned[end.address].forgets)
    again = explore(lambda instruction: laned.get(instruction.address) or facts_of(instruction))
    return WarpValues(
        replace(again, nodes=tuple(_altogether(node, flow, laned) for node in again.nodes)),
        tuple(node.agreement for node in again.nodes),
        flow,
        effects,
        {**known, **laned},
    )


def _with_lanes(facts: Facts, lost: int, outcome: Outcome) -> Facts:
    if not lost and outcome.effects == facts.effects and not outcome.unguarded:
        return facts
    return facts._replace(effects=outcome.effects, forgets=lost, unguarded=outcome.unguarded)


def _altogether(node: Node, flow: WordFlow, facts: dict[int, Facts]) -> Node:
    laned = sum(1 << name for name, value in flow.starts[node.start].words.items() if value.varies)
    first = facts.get(node.start)
    return replace(node, agreement=node.agreement & ~((laned & ~PREDICATES) | (first.forgets if first is not None else 0)))
