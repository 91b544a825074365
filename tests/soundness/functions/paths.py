"""What a path knows: conditions that it assumes, and states that become one, in drawn worlds.

`conditions.py` and `states.py` decide by these functions which words are left; each public one has a case here, or a test fails.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import ModuleType

import numpy as np

from sassan.ipet.loop_bounds import conditions, states
from sassan.ipet.loop_bounds.values import Compare, Known, SymbolicState, Truth, conjunction, constant, difference, disjunction
from worlds import Bools, Numbers, Worlds, related

WORLDS = 256
_REGISTERS = (2, 3, 4)
_COMBINED: tuple[tuple[Callable[[Truth, Truth], Truth], Callable[[Numbers, Numbers], Numbers]], ...] = (
    (conjunction, np.bitwise_and),
    (disjunction, np.bitwise_or),
    (difference, np.bitwise_xor),
)
Modules = Mapping[str, ModuleType]
MODULES: Modules = {"conditions": conditions, "states": states}


def _condition(worlds: Worlds) -> tuple[Truth, Numbers]:
    """Return a condition of up to three."""
    truth, numbers = worlds.truth()
    for _ in range(worlds.random.choice((0, 0, 1, 2))):
        other, more = worlds.truth()
        combine, compute = worlds.random.choice(_COMBINED)
        truth, numbers = combine(truth, other), compute(numbers, more)
    return truth, numbers


def _registers(worlds: Worlds) -> tuple[dict[int, Known], dict[int, Numbers]]:
    words = {name: worlds.word() for name in _REGISTERS} | {256: worlds.truth()}
    return {name: known for name, (known, _) in words.items()}, {name: numbers for name, (_, numbers) in words.items()}


def _allowed(worlds: Worlds, late: Sequence[SymbolicState], contents: Mapping[int, Numbers]) -> Bools:
    allowed = np.zeros(worlds.count, dtype=np.bool_)
    for state in late:
        allowed |= worlds.allows(state, [(known, contents[name]) for name, known in state.registers.items()])
    return allowed


def _assume(random: Random, modules: Modules) -> tuple[Worlds, Bools, Bools]:
    """Assume up to three conditions one after the other, each as it is or its opposite, where some worlds are left."""
    worlds = Worlds(random, WORLDS)
    registers, contents = _registers(worlds)
    truths = [(*_condition(worlds), random.random() < 0.5) for _ in range(random.randrange(1, 4))]
    left, late = np.ones(WORLDS, dtype=np.bool_), [worlds.state(registers)]
    for truth, numbers, wanted in truths:
        left &= (numbers != 0) == wanted
        late = [one for state in late for one in modules["conditions"].assume(state, truth, wanted, random.choice((1, 2, 12)))]
    return worlds, left, _allowed(worlds, late, contents)


def _sides(worlds: Worlds, modules: Modules) -> tuple[list[SymbolicState], dict[int, Numbers]]:
    """Return states of paths that part at conditions, and what registers hold in the worlds of each."""
    late, contents = [], {name: np.zeros(WORLDS, dtype=np.int64) for name in (*_REGISTERS, 256)}
    truths = [_condition(worlds) for _ in range(worlds.random.randrange(1, 3))]
    written = [_registers(worlds) for _ in range(1 << len(truths))]
    for index, (drawn, words_drawn) in enumerate(written):
        registers, words = drawn, words_drawn
        own, here = [worlds.state({})], np.ones(WORLDS, dtype=np.bool_)
        for place, (truth, numbers) in enumerate(truths):
            wanted = bool(index >> place & 1)
            here &= (numbers != 0) == wanted
            own = [state for each in own for state in modules["conditions"].assume(each, truth, wanted, 1)]
        if worlds.random.random() < 0.4 and late:
            # Some registers are those of another path.
            shared = worlds.random.choice(_REGISTERS)
            registers, words = {**registers, shared: written[0][0][shared]}, {**words, shared: written[0][1][shared]}
        late += [states.with_registers(state, registers) for state in own]
        contents = {name: np.where(here, words[name], contents[name]) for name in contents}
    return late, contents


def _merging(
    merge: Callable[[Modules, Random, list[SymbolicState]], Sequence[SymbolicState]],
) -> Callable[[Random, Modules], tuple[Worlds, Bools, Bools]]:
    def case(random: Random, modules: Modules) -> tuple[Worlds, Bools, Bools]:
        worlds = Worlds(random, WORLDS)
        late, contents = _sides(worlds, modules)
        return worlds, np.ones(WORLDS, dtype=np.bool_), _allowed(worlds, merge(modules, random, late), contents)

    return case


def _shifted(random: Random, modules: Modules) -> tuple[Worlds, Bools, Bools]:
    """Join states in which registers keep their distance: an interval that is halved."""
    worlds = Worlds(random, WORLDS)
    registers, contents = _registers(worlds)
    which = worlds.dice.integers(0, 3, size=WORLDS)
    late = []
    distance = random.choice((1, 5, 256, -7, random.getrandbits(32)))
    for index in range(3):
        (base, words), apart = worlds.word(), distance if random.random() < 0.8 else distance + index
        state = worlds.state({})
        own = {2: base, 3: state.plus(base, constant(apart))}
        late.append({**registers, **own})
        contents[2] = np.where(which == index, words, contents[2])
        contents[3] = np.where(which == index, words + apart & 0xFFFFFFFF, contents[3])
    merged = modules["states"].merge_shifted([worlds.state(each) for each in late])
    return worlds, np.ones(WORLDS, dtype=np.bool_), _allowed(worlds, merged, contents)


def _chosen(random: Random, modules: Modules) -> tuple[Worlds, Bools, Bools]:
    """Narrow one of two words on the path on which a comparison of them holds or does not."""
    worlds = Worlds(random, WORLDS)
    (left, a), (right, b) = worlds.word(), worlds.word()
    relation, is_signed, wanted = random.choice(("<", "<=", "==")), random.random() < 0.5, random.random() < 0.5
    truth = Truth(Compare(relation, is_signed, left, right), random.random() < 0.5)
    holds = related(relation, is_signed, a, b) != truth.negated
    known, numbers = random.choice(((left, a), (right, b), worlds.word()))
    state = worlds.state({})
    narrowed = modules["conditions"].chosen(state, truth, known, holds=wanted)
    allowed = np.zeros(WORLDS, dtype=np.bool_)
    for late in modules["conditions"].assume(state, truth, wanted, 12):
        allowed |= worlds.allows(late, [(narrowed, numbers)])
    return worlds, holds == wanted, allowed


CASES: Mapping[str, Callable[[Random, Modules], tuple[Worlds, Bools, Bools]]] = {
    "assume": _assume,
    "chosen": _chosen,
    "join": _merging(lambda modules, _, late: [modules["states"].join(late)] if late else []),
    "reduce": _merging(lambda modules, random, late: modules["states"].reduce(late, random.choice((1, 2, 3)))),
    "trimmed": _merging(lambda modules, _, late: [modules["states"].trimmed(state) for state in late]),
    "merge_shifted": _shifted,
}
PARTS = frozenset({"compare", "join_known", "with_registers"})
"""Public functions that are no case of their own: `compare` is one of the language, the others are parts of `join`."""


def check(random: Random, name: str, modules: Modules = MODULES) -> tuple[int, str]:
    """Return how many worlds one draw tries, and what is wrong, '' where nothing is."""
    _, wanted, allowed = CASES[name](random, modules)
    wrong = wanted & ~allowed
    return int(wanted.sum()), f"{name}: no state allows world {int(np.argmax(wrong))} of {int(wanted.sum())}" if wrong.any() else ""
