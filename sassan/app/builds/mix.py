"""Gates on the instruction mix: the share of the instructions of a function that one kind of unit executes."""

from collections.abc import Iterator, Sequence

from sassan.alphabet import Letter
from sassan.app.builds.gates import Failure, Gate, GateRule
from sassan.app.result import AnalysisResult

_PERCENT = 100


def failures(result: AnalysisResult, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every gate of the mix that a function fails; instructions count once each, whatever calls lead to them."""
    letters = dict(_letters(result))
    for gate in gates:
        if gate.rule not in {GateRule.MAX_MIX, GateRule.MIN_MIX} or gate.limit is None:
            continue
        unknown = next((address for address, letter in letters.items() if letter is None), None)
        least = gate.rule is GateRule.MIN_MIX
        limit, kind = f"the limit {gate.limit} % of {gate.source}", f"instructions of letter {gate.letter}"
        if unknown is not None:
            message = f"the share of {kind} is unknown (an unknown instruction), and unknown is not {'above' if least else 'below'} {limit}"
            yield Failure(gate.rule, message, unknown, limit=gate.limit)
            continue
        places = [address for address, letter in letters.items() if letter is gate.letter]
        share = _PERCENT * len(places) / len(letters) if letters else 0
        if (share < gate.limit) if least else (share > gate.limit):
            message = f"{len(places)} of {len(letters)} {kind} ({share:.1f} %), {'below' if least else 'above'} {limit}"
            yield Failure(gate.rule, message, None if least else places[0], limit=gate.limit)


def _letters(result: AnalysisResult) -> Iterator[tuple[int, Letter | None]]:
    """Yield each instruction that is reached with its letter, None where it is unknown."""
    for node in result.cfg.nodes:
        for instruction in node.code:
            fact = result.isa.facts(instruction)
            yield instruction.address, fact.letter if fact is not None else None
