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

LANES, HELD, THREADS = "sassan.domains.lanes", "sassan.values.lanes.abstract_word", "sassan.values.threads"
BITWISE, ARITHMETIC, CONDITIONS = (f"sassan.values.lanes.{name}" for name in ("bitwise", "arithmetic", "conditions"))
ENVIRONMENT = "sassan.values.environment"
PATTERNS, COMPILER = "sassan.values.patterns", "sassan.values.compiler"
ALGEBRA, EVALUATE = "sassan.values.lanes.algebra", "sassan.values.evaluate"
ARRIVALS, FLOW, PRESENT, VALUES = "sassan.values.edge_join", "sassan.values.flow", "sassan.values.present", "sassan.values.warp_values"
MODULES = (
    *(LANES, HELD, BITWISE, ARITHMETIC, CONDITIONS, THREADS, ENVIRONMENT, PATTERNS, COMPILER, ALGEBRA, EVALUATE),
    *(ARRIVALS, FLOW, PRESENT, VALUES),
)
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
            made[name] = ModuleType(name)
            _put(name, made[name])
            exec(compile(source, f"{module.__file__}, mutated", "exec"), made[name].__dict__)  # noqa: S102  # our own source
        yield made
    finally:
        for name, module in kept.items():
            _put(name, module)


def _put(name: str, module: ModuleType) -> None:
    """Let a module be found by its name, and in its package."""
    package, _, leaf = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], leaf, module)


PROGRAMS = "programs"
MUTANTS = (
    WrongLine("a quotient shared by too many lanes", "divide", ARITHMETIC, "each // min(power, value.modulus)", "each // value.modulus"),
    WrongLine(
        "the bounds of a quotient rounded up", "divide", ARITHMETIC, "(value.low // divisor, value", "(-(-value.low // divisor), value"
    ),
    WrongLine("lanes not negated", "subtract", ARITHMETIC, "_lanewise(operator.sub, x, y)", "_lanewise(operator.add, x, y)"),
    WrongLine("a sum wraps around within its bounds", "add", ARITHMETIC, "if low // SIZE == high // SIZE:", "if True:"),
    WrongLine(
        "a product with too great a modulus", "multiply", ARITHMETIC, "x.modulus * (factor & -factor)", "2 * x.modulus * (factor & -factor)"
    ),
    WrongLine("a carry ignored", "bit_or", BITWISE, "carries if alike(carries) is not None else None", "None"),
    WrongLine("carries of a shift ignored", "shift_right", ARITHMETIC, "alike(carries, rows or carries)", "rows"),
    WrongLine("rows of a product forgotten", "multiply", ARITHMETIC, "_bounds(low, high), rows=x.rows)", "_bounds(low, high))"),
    WrongLine("a mask one bit too wide", "mask of the modulus", BITWISE, "mask < value.modulus", "mask <= value.modulus"),
    WrongLine(
        "lanes shifted too far", "shift_right", ARITHMETIC, "[part >> places for part in low]", "[part >> places + 1 for part in low]"
    ),
    WrongLine("a shift of words that wrap around", "wrapping shift", ARITHMETIC, "value.high - value.low >= SIGN", "False"),
    WrongLine("lanes lost without notice", "popc", HELD, "rows = equal_lanes(*[each.value for each in inputs])", "rows = None"),
    WrongLine("a pair shifted by the wrong distance", "funnel_left", ARITHMETIC, "number(WORD_BITS - distance)", "number(distance)"),
    WrongLine("n no multiple of 32", "tail", CONDITIONS, "if (y.offset - rest) % modulus == 0 and", "if"),
    WrongLine("at most taken as less than", "tail", CONDITIONS, 'rest = 0 if relation in {"LT", "GE"} else -1', "rest = 0"),
    WrongLine("signs ignored", "compare", CONDITIONS, "if signed and (x.high >= SIGN or y.high >= SIGN):", "if False:"),
    WrongLine(
        "unequal for the greater modulus",
        "equal",
        CONDITIONS,
        "modulus = min(x.modulus, y.modulus)\n    return all",
        "modulus = max(x.modulus, y.modulus)\n    return all",
    ),
    WrongLine(
        "a condition ignored",
        "choose",
        CONDITIONS,
        "first.value, second.value), condition, first, second)",
        "first.value, second.value), first, second)",
    ),
    WrongLine(
        "lanes that a condition picks in one row", "choose", CONDITIONS, "alike(*tables)), first, second)", "rows_of(x, y)), first, second)"
    ),
    WrongLine("a join keeps lanes", "choose", LANES, "a.base, _common_rows(a, b, apart))", "a.base, rows_of(a, b))"),
    WrongLine("a join keeps the modulus", "join", LANES, "a.offset - b.offset, *(apart or ()))", "a.offset - b.offset)"),
    WrongLine("agreement on lanes kept without them", PROGRAMS, LANES, "_common_rows(a, b, distances(a, b)) == b.rows", "True"),
    WrongLine("lanes forgotten, not their multiples", "multiply", LANES, "gcd(a.modulus, *a.lanes)", "a.modulus"),
    WrongLine(
        "a base forgotten, not what it adds",
        "join",
        LANES,
        "word(0, 1, a.lanes, (a.low, a.high), rows=a.rows) if a.base",
        "a._replace(base='') if a.base",
    ),
    WrongLine("rows keep less than they add", "bit_xor", LANES, "lane & -modulus)", "lane)"),
    WrongLine("a wrong stride", "thread_index", THREADS, "block[0] * block[1])[axis]", "block[0])[axis]"),
    WrongLine("every warp as the first", "thread_index", THREADS, "for lane in range(live))", "for lane in range(1))"),
    WrongLine(
        "a block of one warp",
        "thread_index",
        THREADS,
        "modulus = gcd(*[row[0] - table[index * LANES % length] for index, row in enumerate(rows)])",
        "modulus = 0",
    ),
    WrongLine("a guard that always holds", PROGRAMS, EVALUATE, "{name: join(words.held.get(name, UNKNOWN), value)", "{name: value"),
    WrongLine(
        "a predicate of lanes agreed on",
        PROGRAMS,
        EVALUATE,
        "(shared or 1 << target & (ONE_PER_WARP | PREDICATES))",
        "(shared or 1 << target & ONE_PER_WARP)",
    ),
    WrongLine(
        "a load from where lanes are",
        PROGRAMS,
        EVALUATE,
        "effect if rows is not None or not (effect.needs or 0) & words.laned else WriteEffect(effect.writes, None)",
        "effect",
    ),
    WrongLine(
        "lanes brought from elsewhere",
        PROGRAMS,
        FLOW,
        "out[address] = lost | sum(1 << name for name in mixed), outcome",
        "out[address] = lost, outcome",
    ),
    WrongLine("registers that need no agreement", PROGRAMS, EVALUATE, "0 if value.modulus == SIZE and not value.base else registers", "0"),
    WrongLine(
        "agreed up to lanes taken for agreed", PROGRAMS, VALUES, "node.agreement & ~((laned & ~PREDICATES) |", "node.agreement & ~(0 |"
    ),
    WrongLine(
        "instructions of one pattern read other places",
        PROGRAMS,
        COMPILER,
        "number_of(file, operand.index) + place)",
        "number_of(file, operand.index))",
    ),
    WrongLine("an outcome for other words kept", PROGRAMS, EVALUATE, "if given != plan.given:", "if plan.given is None:"),
    WrongLine(
        "a guard taken for its opposite", PROGRAMS, VALUES, "bit_length() - 1, not guard.negated)", "bit_length() - 1, guard.negated)"
    ),
    WrongLine("threads of a guard that was written since", "rewritten", VALUES, "if facts.writes >> guard[0] & 1:", "if False:"),
    WrongLine("a sum that forgets a sign", PROGRAMS, ALGEBRA, 'Apply("subtract", (total', 'Apply("add", (total'),
    WrongLine("registers of the warp by one thread", "divided", FLOW, "wide = _warp_wide(cfg, blocks, evaluator, facts)", "wide = {}"),
    WrongLine("sides of a negated guard exchanged", PROGRAMS, ARRIVALS, "if guard.negated else", "if False else"),
    WrongLine("the last way to a place alone", "met", ARRIVALS, "out.get(dst, 0) | out[src]", "out[src]"),
    WrongLine(
        "lanes of one side instead of another", PROGRAMS, ARRIVALS, "fails if dst == last.following", "holds if dst == last.following"
    ),
    WrongLine(
        "two words for one lane", PROGRAMS, ARRIVALS, "by_lane.setdefault(lane, value) != value", "by_lane.setdefault(lane, value) < 0"
    ),
    WrongLine("lanes of the other value of a guard", "met", VALUES, "if bool(each) == value)", "if bool(each) != value)"),
    WrongLine("threads that wait are active", PROGRAMS, PRESENT, "0 if cfg.waiting_points[index] else", "0 if False else"),
    WrongLine("threads that have ended are active", PROGRAMS, PRESENT, "if src in ends and", "if False and"),
    WrongLine("all lanes on a known side", PROGRAMS, PRESENT, "return lanes & some", "return lanes"),
    WrongLine("all lanes on an unknown side", PROGRAMS, PRESENT, "and edge.kind in _TOGETHER else 0", "else 0"),
    WrongLine("a guard of no agreement", PROGRAMS, VALUES, "else -(self.agreed >> name & 1)", "else -1"),
    WrongLine("words that are not known", PROGRAMS, ARRIVALS, "if all(each.known for _, each in words) else", "if True else"),
)
