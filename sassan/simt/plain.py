"""The machine again in plain Python, one run and one thread at a time: the twin that `machine.py` is held to.

It shares the lowered code and the drawn runs with the vectorised machine, and nothing that computes.
"""

from dataclasses import dataclass, field

from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, RETURN_TAG, Block, Code, Condition, Move, Operation
from sassan.simt.trace import CallString, Entry, Transition
from sassan.simt.values import FACTOR, LANES, ONE_COPY, PARTITIONS, PREDICATES, THRESHOLDS, Runs

_WORD = 0xFFFFFFFF


def stir(state: int, word: int) -> int:
    """Return the hash state after one more input word."""
    mixed = ((state ^ word) * FACTOR) & _WORD
    return mixed ^ (mixed >> 15)


@dataclass(slots=True)
class _Suspended:
    block: int
    context: CallString
    tag: str
    threads: set[int]


@dataclass(slots=True)
class PlainRun:
    """One run with the taken side first. After `execute`, `path` is what the warp did and `ended` whether it did so to the end.

    `called` starts it inside a call from nowhere.
    """

    code: Code
    runs: Runs
    index: int
    called: bool = False
    path: list[Transition] = field(default_factory=list[Transition])
    ended: bool = False
    _stack: list[_Suspended] = field(default_factory=list[_Suspended])
    _registers: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _context: CallString = ()
    _time: int = 0

    def execute(self, steps: int) -> None:
        """Run until the warp ends, a token is missing, or `steps` blocks are done."""
        number, threads = self.code.entry, {lane for lane in range(LANES) if int(self.runs.active[self.index]) >> lane & 1}
        if self.called:
            self._stack.append(_Suspended(-1, (), RETURN_TAG, set(threads)))
        for self._time in range(steps):
            block = self.code.blocks[number]
            for one in block.operations:
                self._operate(one, threads)
            condition = block.control.condition if block.control is not None else ALWAYS
            taken = {lane for lane in threads if self._holds(condition, lane)}
            self._stack += [_Suspended(target, self._context, self.code.tags[tag], set(threads)) for tag, target in block.pushes]
            after = self._leave(number, threads, taken)
            if after is None:
                return
            number, threads = after

    def _step(self, block: Block, move: Move, target: int, pushed: int = -1) -> None:
        push = Entry(self._context, self.code.blocks[pushed].address, "") if pushed >= 0 else None
        address = self.code.blocks[target].address
        self.path.append(Transition(self._context, block.address, block.last, self._context, address, move, push))

    def _leave(self, number: int, threads: set[int], taken: set[int]) -> tuple[int, set[int]] | None:
        block = self.code.blocks[number]
        if block.control is None or not (taken or block.control.flow is Flow.INDIRECT_BRANCH):
            self._step(block, Move.FALLTHROUGH, block.follow)
            return block.follow, threads
        match block.control.flow:
            case Flow.BRANCH:
                return self._branch(block, threads, taken)
            case Flow.INDIRECT_BRANCH:
                return self._indirect(number, threads, taken)
            case Flow.CALL:
                self._stack.append(_Suspended(block.follow, self._context, RETURN_TAG, set(threads)))
                inside = (*self._context, block.last)
                address = self.code.blocks[block.target].address
                self.path.append(Transition(self._context, block.address, block.last, inside, address, Move.CALL))
                self._context = inside
                return block.target, threads
            case Flow.TRAP:
                self._end(block)
                return None
            case _:
                return self._suspend(block, threads, taken)

    def _end(self, block: Block) -> None:
        self.path.append(Transition(self._context, block.address, block.last, (), None, Move.EXIT))
        self.ended = True

    def _branch(self, block: Block, threads: set[int], taken: set[int]) -> tuple[int, set[int]]:
        if taken == threads:
            self._step(block, Move.TAKEN, block.target)
        else:
            self._stack.append(_Suspended(block.follow, self._context, "", threads - taken))
            self._step(block, Move.DIVERGE, block.target, block.follow)
        return block.target, taken

    def _indirect(self, number: int, threads: set[int], taken: set[int]) -> tuple[int, set[int]]:
        block = self.code.blocks[number]
        assert block.control is not None
        goes = dict.fromkeys(threads, block.follow)
        for lane in taken:
            state = self._key(block.control.key)
            for register in block.control.selector:
                state = stir(state, self._get(register, lane))
            goes[lane] = block.targets[stir(state, 1) % len(block.targets)]
        start = self._coin() % LANES
        leader = min(threads, key=lambda lane: (lane - start) % LANES)
        together = {lane for lane in threads if goes[lane] == goes[leader]}
        if together != threads:
            self._stack.append(_Suspended(number, self._context, "", threads - together))
            self._step(block, Move.DIVERGE, goes[leader], number)
        else:
            self._step(block, Move.TAKEN if taken else Move.FALLTHROUGH, goes[leader])
        return goes[leader], together

    def _suspend(self, block: Block, threads: set[int], taken: set[int]) -> tuple[int, set[int]] | None:
        assert block.control is not None
        above = 0
        if block.control.flow is Flow.POP:
            levels = [level for level, entry in enumerate(self._stack) if entry.tag == block.control.tag]
            if not levels:
                return None
            above = levels[-1] + 1
        for entry in self._stack[above:]:
            entry.threads -= taken
        self._stack = [entry for entry in self._stack if entry.threads]
        if taken != threads:
            self._step(block, Move.FALLTHROUGH, block.follow)
            return block.follow, threads - taken
        if not self._stack or self._stack[-1].block < 0:
            self._end(block)
            return None
        top = self._stack.pop()
        move = {"": Move.REACTIVATE, RETURN_TAG: Move.RETURN}.get(top.tag, Move.RECONVERGE)
        popped = Entry(top.context, self.code.blocks[top.block].address, top.tag)
        source = (self._context, block.address, block.last)
        self.path.append(Transition(*source, top.context, popped.address, move, None, popped))
        self._context = top.context
        return top.block, top.threads

    def _key(self, name: int) -> int:
        return stir(int(self.runs.salt[self.index]), name)

    def _coin(self) -> int:
        return stir(stir(int(self.runs.salt[self.index]), self._time), 1)

    def _below(self, word: int, base: int) -> bool:
        return stir(word, 1) < int(self.runs.thresholds[self.index, base % THRESHOLDS])

    def _get(self, register: int, lane: int) -> int:
        word = stir(self._key(register), 0 if register in ONE_COPY else lane)
        return self._registers.get((register, lane), word >> 31 if register in PREDICATES else word)

    def _holds(self, condition: Condition, lane: int) -> bool:
        for test in condition.tests:
            word = self._get(test.register, lane)
            if test.flags is None:
                truth = word != 0
            else:
                base = self._key(test.flags)
                truth = self._below(stir(base, word), base)
            if truth == test.negated:
                return False
        return not condition.never

    def _operate(self, one: Operation, threads: set[int]) -> None:
        executing = sorted(lane for lane in threads if self._holds(one.condition, lane))
        base = self._key(one.key)
        states = dict.fromkeys(executing, base)
        for register in one.gathered:
            states = {lane: stir(state, self._get(register, lane)) for lane, state in states.items()}
        if one.gathered:
            states = dict.fromkeys(executing, stir(base, sum(states.values()) & _WORD))
        for register in one.reads:
            states = {lane: stir(state, self._get(register, lane)) for lane, state in states.items()}
        if one.time:
            states = {lane: stir(state, self._time) for lane, state in states.items()}
        if one.lane:
            words = self.runs.partitions[self.index, (base >> 3) % PARTITIONS]
            states = {lane: stir(state, int(words[lane])) for lane, state in states.items()}
        if one.broadcast and executing:
            states = dict.fromkeys(range(LANES), states[executing[0]])
        for place, register in enumerate(one.writes):
            words_out = {lane: stir(state, place) for lane, state in states.items()}
            for lane, word in words_out.items():
                self._registers[register, lane] = int(self._below(word, base)) if register in PREDICATES else word
