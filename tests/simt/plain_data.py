"""What threads compute, one at a time in plain Python: the data half of the twin in `plain.py`."""

from dataclasses import dataclass, field

from sassan.simt.code import Condition, Linear, LocalAccess, Operation
from sassan.simt.values import FACTOR, LANES, ONE_COPY, PREDICATES
from simt.uninterpreted import PARTITIONS, THRESHOLDS, Runs

_WORD = 0xFFFFFFFF


def stir(state: int, word: int) -> int:
    """Return the hash state after one more input word."""
    mixed = ((state ^ word) * FACTOR) & _WORD
    return mixed ^ (mixed >> 15)


@dataclass(slots=True)
class PlainThreads:
    """The registers and the local memory of the threads of one run; `time` is the number of blocks executed before."""

    runs: Runs
    index: int
    time: int = 0
    _registers: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _local: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def coin(self) -> int:
        """Return the word for choices that the architecture leaves open."""
        return stir(stir(int(self.runs.salt[self.index]), self.time), 1)

    def get(self, register: int, lane: int) -> int:
        """Return what a register holds."""
        word = stir(self._key(register), 0 if register in ONE_COPY else lane)
        return self._registers.get((register, lane), word >> 31 if register in PREDICATES else word)

    def put(self, register: int, lane: int, word: int) -> None:
        """Write a register."""
        self._registers[register, lane] = word

    def selected(self, selector: tuple[int, ...], name: int, lane: int, count: int) -> int:
        """Return which of `count` targets a thread chooses."""
        state = self._key(name)
        for register in selector:
            state = stir(state, self.get(register, lane))
        return stir(state, 1) % count

    def holds(self, condition: Condition, lane: int) -> bool:
        """Say whether a condition holds of a thread."""
        for test in condition.tests:
            word = self.get(test.register, lane)
            if test.flags is None:
                truth = word != 0
            else:
                base = self._key(test.flags)
                truth = self._below(stir(base, word), base)
            if truth == test.negated:
                return False
        return not condition.never

    def operate(self, one: Operation, threads: set[int]) -> None:
        """Execute a data instruction."""
        executing = sorted(lane for lane in threads if self.holds(one.condition, lane))
        found = self._exact(one, executing) if one.exact is not None else self._hashed(one, executing)
        if one.broadcast and executing:
            found = dict.fromkeys(range(LANES), found[executing[0]])
        for lane, words in found.items():
            for register, word in zip(one.writes, words, strict=True):
                self._registers[register, lane] = word

    def _key(self, name: int) -> int:
        return stir(int(self.runs.salt[self.index]), name)

    def _below(self, word: int, base: int) -> bool:
        return stir(word, 1) < int(self.runs.thresholds[self.index, base % THRESHOLDS])

    def _hashed(self, one: Operation, executing: list[int]) -> dict[int, list[int]]:
        base = self._key(one.key)
        states = dict.fromkeys(executing, base)
        for register in one.gathered:
            states = {lane: stir(state, self.get(register, lane)) for lane, state in states.items()}
        if one.gathered:
            states = dict.fromkeys(executing, stir(base, sum(states.values()) & _WORD))
        for register in one.reads:
            states = {lane: stir(state, self.get(register, lane)) for lane, state in states.items()}
        if one.time:
            states = {lane: stir(state, self.time) for lane, state in states.items()}
        if one.lane:
            words = self.runs.partitions[self.index, (base >> 3) % PARTITIONS]
            states = {lane: stir(state, int(words[lane])) for lane, state in states.items()}
        return {
            lane: [self._word(register, stir(state, n), base) for n, register in enumerate(one.writes)] for lane, state in states.items()
        }

    def _word(self, register: int, word: int, base: int) -> int:
        return int(self._below(word, base)) if register in PREDICATES else word

    def _exact(self, one: Operation, executing: list[int]) -> dict[int, list[int]]:
        match one.exact:
            case Linear(constant=constant, factors=factors):
                terms = list(zip(factors, one.reads, strict=True))
                sums = {lane: constant + sum(factor * self.get(register, lane) for factor, register in terms) for lane in executing}
                return {lane: [total & _WORD] for lane, total in sums.items()}
            case LocalAccess(store=True):
                for lane in executing:
                    self._store(one, one.exact, lane)
                return {lane: [] for lane in executing}
            case LocalAccess():
                return self._load(one, one.exact, executing)
            case None:
                return {}

    def _address(self, one: Operation, how: LocalAccess, lane: int) -> int:
        return (how.offset + sum(self.get(register, lane) for register in one.reads[: how.base])) & _WORD

    def _store(self, one: Operation, how: LocalAccess, lane: int) -> None:
        words = [self.get(register, lane) for register in one.reads[how.base :]] + [0] * how.zeros
        for place, word in enumerate(words):
            known = word if how.whole else (word * FACTOR + self.time) & _WORD
            self._local[(self._address(one, how, lane) + 4 * place) & _WORD, lane] = known

    def _load(self, one: Operation, how: LocalAccess, executing: list[int]) -> dict[int, list[int]]:
        unknown = self._hashed(one, executing)
        out: dict[int, list[int]] = {}
        for lane in executing:
            start = self._address(one, how, lane)
            out[lane] = [self._local.get(((start + 4 * place) & _WORD, lane), word) for place, word in enumerate(unknown[lane])]
        return out
