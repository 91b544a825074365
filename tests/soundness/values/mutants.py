"""Wrong versions of what is known of registers, one line of `sassan/values` or `domains/lanes.py` at a time.

The modules are loaded anew with the line changed, those that use them too.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import getsource
from types import ModuleType

LANES, WORDS, ENVIRONMENT = "sassan.domains.lanes", "sassan.values.words", "sassan.values.environment"
PATTERNS, EVALUATE = "sassan.values.patterns", "sassan.values.evaluate"
FLOW, VALUES = "sassan.values.flow", "sassan.values.warp_values"
MODULES = (LANES, WORDS, ENVIRONMENT, PATTERNS, EVALUATE, FLOW, VALUES)
"""In the order in which they use each other."""


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A text that occurs once in a module, and what stands there instead; `by` names the check that notices it."""

    what: str
    by: str
    module: str
    right: str
    wrong: str


@contextmanager
def loaded(mutant: WrongLine) -> Iterator[dict[str, ModuleType]]:
    """Yield the modules with the line changed."""
    kept = {name: import_module(name) for name in MODULES}
    made: dict[str, ModuleType] = {}
    try:
        for name, module in kept.items():
            source = getsource(module)
            if name == mutant.module:
                assert source.count(mutant.right) == 1, mutant.what
                source = source.replace(mutant.right, mutant.wrong)
            made[name] = sys.modules[name] = ModuleType(name)
            exec(compile(source, f"{module.__file__}, mutated", "exec"), made[name].__dict__)  # noqa: S102  # our own source
        yield made
    finally:
        sys.modules.update(kept)


PROGRAMS = "programs"
MUTANTS = (
    WrongLine("lanes not negated", "subtract", WORDS, "_lanewise(operator.sub, x, y)", "_lanewise(operator.add, x, y)"),
    WrongLine("a sum wraps around within its bounds", "add", WORDS, "if low // SIZE == high // SIZE:", "if True:"),
    WrongLine(
        "a product with too great a modulus", "multiply", WORDS, "x.modulus * (factor & -factor)", "2 * x.modulus * (factor & -factor)"
    ),
    WrongLine("a carry ignored", "bit_or", WORDS, "if len({number // modulus for number in words}) == 1 else None", "if words else None"),
    WrongLine("a mask one bit too wide", "bit_and", WORDS, "mask < value.modulus", "mask <= value.modulus"),
    WrongLine(
        "lanes shifted too far", "shift_right", WORDS, "[part >> places for part in parts]", "[part >> places + 1 for part in parts]"
    ),
    WrongLine("a shift of words that wrap around", "wrapping shift", WORDS, "value.high - value.low >= _SIGN", "False"),
    WrongLine("lanes lost without notice", "popc", WORDS, "None if any(each.value.lanes is not None for each in inputs) else", ""),
    WrongLine("a pair shifted by the wrong distance", "funnel_left", WORDS, "number(_WORD_BITS - distance)", "number(distance)"),
    WrongLine("n no multiple of 32", "tail", WORDS, "if (y.offset - rest) % modulus == 0 and", "if"),
    WrongLine("at most taken as less than", "tail", WORDS, 'rest = 0 if relation in {"LT", "GE"} else -1', "rest = 0"),
    WrongLine("signs ignored", "compare", WORDS, "if signed and (x.high >= _SIGN or y.high >= _SIGN):", "if False:"),
    WrongLine(
        "unequal for the greater modulus",
        "equal",
        WORDS,
        "modulus = min(x.modulus, y.modulus)\n    return all",
        "modulus = max(x.modulus, y.modulus)\n    return all",
    ),
    WrongLine("a condition ignored", "choose", WORDS, "_union((condition, first, second))", "_union((first, second))"),
    WrongLine("lanes of a condition ignored", "choose", WORDS, " or condition.value.lanes is not None:", ":"),
    WrongLine("a join keeps lanes", "join", LANES, "a, b = flat(a), flat(b)", "b = b._replace(lanes=a.lanes)"),
    WrongLine("lanes forgotten, not their multiples", "join", LANES, "gcd(a.modulus, *a.lanes)", "a.modulus"),
    WrongLine("a base forgotten, not what it adds", "join", LANES, "LaneWord(0, 1, a.lanes, a.low, a.high)", "a._replace(base='')"),
    WrongLine("a wrong stride", "thread_index", ENVIRONMENT, "block[0] * block[1])[axis]", "block[0])[axis]"),
    WrongLine("every warp as the first", "thread_index", ENVIRONMENT, "for lane in range(count))", "for lane in range(1))"),
    WrongLine("a block of one warp", "thread_index", ENVIRONMENT, "modulus = gcd(*[row[0] - first[0] for row in table])", "modulus = 0"),
    WrongLine("a guard mixes lanes", PROGRAMS, EVALUATE, "return lost\n", "return 0\n"),
    WrongLine("a guard that always holds", PROGRAMS, EVALUATE, "new[name] = join(old, value)", "new[name] = value"),
    WrongLine(
        "a predicate of lanes agreed on",
        PROGRAMS,
        EVALUATE,
        "(shared or 1 << target & (WARP_WIDE | PREDICATES))",
        "(shared or 1 << target & WARP_WIDE)",
    ),
    WrongLine(
        "a load from where lanes are",
        PROGRAMS,
        EVALUATE,
        "effect if effect.needs is None or not effect.needs & words.laned else Effect(effect.writes, None)",
        "effect",
    ),
    WrongLine(
        "lanes brought from elsewhere",
        PROGRAMS,
        FLOW,
        "out[address] = lost | sum(1 << name for name in mixed), effects",
        "out[address] = lost, effects",
    ),
    WrongLine("registers that need no agreement", PROGRAMS, EVALUATE, "0 if value.modulus == SIZE and not value.base else registers", "0"),
    WrongLine(
        "agreed up to lanes taken for agreed", PROGRAMS, VALUES, "node.agreement & ~((laned & ~PREDICATES) |", "node.agreement & ~(0 |"
    ),
    WrongLine("instructions of one pattern read other places", PROGRAMS, PATTERNS, "(position, behind + place)", "(position, behind)"),
    WrongLine("an outcome for other words kept", PROGRAMS, EVALUATE, "if given != plan.given:", "if plan.given is None:"),
    WrongLine("registers of the warp by one thread", "divided", FLOW, "wide = _warp_wide(cfg, blocks, evaluator, facts)", "wide = {}"),
)
