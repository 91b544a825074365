"""The machine again in plain Python, one run and one thread at a time: the twin that `machine.py` is held to.

It shares the lowered code and the drawn runs with the vectorised machine, and nothing that computes or moves threads.
"""

from dataclasses import dataclass, field

from sassan.isa.facts import Flow
from sassan.simt.code import AGAIN, ALWAYS, RETURN_TAG, SIDE, WARPSYNC_TAG, ExecutableBlock, ExecutableFunction, TransitionKind, Unity
from sassan.simt.state import SideOrder
from sassan.simt.trace import CallString, StackEntry, Transition
from sassan.simt.values import LANES
from simt.plain_data import PlainThreads
from simt.uninterpreted import Runs


@dataclass(slots=True)
class _Suspended:
    """`released`: a WARPSYNC that all threads have reached."""

    block: int
    context: CallString
    tag: str
    threads: set[int]
    released: bool = False
    origin: int = -1


_CALLS = frozenset({Flow.CALL, Flow.INDIRECT_CALL})
_Place = tuple[int, CallString]
_After = tuple[int, set[int]] | None
"""The block that runs next and its threads; None: the run is over."""


@dataclass(slots=True)
class PlainRun:
    """One run. After `execute`, `path` is what the warp did, `ended` whether it did so to the end, and `fault` what it must not have done.

    `called` starts it inside a call from nowhere.
    """

    code: ExecutableFunction
    runs: Runs
    index: int
    called: bool = False
    order: SideOrder = SideOrder.TAKEN_FIRST
    path: list[Transition] = field(default_factory=list[Transition])
    ended: bool = False
    fault: str = ""
    threads: PlainThreads = field(init=False)
    _stack: list[_Suspended] = field(default_factory=list[_Suspended])
    _barriers: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    _gone: set[int] = field(default_factory=set[int])
    _context: CallString = ()

    def __post_init__(self) -> None:
        """Start with the registers of the run."""
        self.threads = PlainThreads(self.runs, self.index)

    def execute(self, steps: int) -> None:
        """Run until the warp ends, a fault, or `steps` blocks are done."""
        number, threads = self.code.entry, {lane for lane in range(LANES) if int(self.runs.active[self.index]) >> lane & 1}
        if self.called and not any(block.control and block.control.flow is Flow.RETURN for block in self.code.blocks):
            self._stack.append(_Suspended(-1, (), RETURN_TAG, set(threads)))
        for self.threads.time in range(steps):
            block = self.code.blocks[number]
            for one in block.operations:
                self.threads.operate(one, threads)
            condition = block.control.condition if block.control is not None else ALWAYS
            taken = {lane for lane in threads if self.threads.holds(condition, lane)}
            after = self._leave(number, threads, taken) if self._push(block, threads) else None
            if after is None:
                return
            number, threads = after

    def _push(self, block: ExecutableBlock, threads: set[int]) -> bool:
        for tag, target in block.pushes:
            name = self.code.tags[tag]
            if target >= 0:
                self._stack.append(_Suspended(target, self._context, name, set(threads)))
                self._barriers[name] = set(threads)
                continue
            if self._barriers.get(name, set()) & threads:
                self.fault = "a barrier is emptied that threads are in"
            self._barriers[name] = set()
        return not self.fault

    def _step(self, block: ExecutableBlock, move: TransitionKind, target: int, pushed: StackEntry | None = None) -> None:
        address = self.code.blocks[target].address
        self.path.append(Transition(self._context, block.address, block.last, self._context, address, move, pushed))

    def _leave(self, number: int, threads: set[int], taken: set[int]) -> _After:
        block = self.code.blocks[number]
        flow = block.control.flow if block.control is not None else Flow.NONE
        if not taken and flow not in AGAIN:
            return self._pass(block, threads)
        match flow:
            case Flow.BRANCH:
                return self._branch(block, threads, self._united(block, threads, taken), (block.target, self._context))
            case Flow.INDIRECT_BRANCH:
                goes = self._targets(block, threads, taken, self._context)
                return self._split(number, threads, taken, (goes, TransitionKind.TAKEN))
            case Flow.RETURN:
                return self._return(number, threads, taken)
            case Flow.CALL | Flow.INDIRECT_CALL:
                return self._call(number, threads, taken)
            case _:
                return self._stay(block, flow, threads, taken)

    def _stay(self, block: ExecutableBlock, flow: Flow, threads: set[int], taken: set[int]) -> _After:
        """Carry out what leads nowhere by itself."""
        match flow:
            case Flow.TRAP:
                self._end(block)
                return None
            case Flow.BREAK:
                return self._break(block, threads, taken)
            case Flow.NONE:
                return self._move(block, threads, taken)
            case _:
                return self._suspend(block, threads, taken)

    def _pass(self, block: ExecutableBlock, threads: set[int]) -> _After:
        self._step(block, TransitionKind.FALLTHROUGH, block.follow)
        return block.follow, threads

    def _end(self, block: ExecutableBlock) -> None:
        self.path.append(Transition(self._context, block.address, block.last, (), None, TransitionKind.EXIT))
        self.ended = True

    def _united(self, block: ExecutableBlock, threads: set[int], taken: set[int]) -> set[int]:
        assert block.control is not None
        match block.control.unity:
            case Unity.EACH:
                return taken
            case Unity.FIRST:
                return threads if min(threads) in taken else set()
            case Unity.OPEN:
                return threads if taken == threads and self.threads.coin() >> 7 & 1 else set()

    def _branch(
        self, block: ExecutableBlock, threads: set[int], taken: set[int], target: _Place, whole: TransitionKind = TransitionKind.TAKEN
    ) -> _After:
        if not taken:
            return self._pass(block, threads)
        if taken == threads:
            return self._jump(block, threads, target, whole, None)
        late = self.order is SideOrder.FALLTHROUGH_FIRST or (self.order is SideOrder.RANDOM and self.threads.coin() & 1 == 1)
        here: _Place = (block.follow, self._context)
        first, other = (here, target) if late else (target, here)
        rest = taken if late else threads - taken
        origin = block.last if late else -1
        self._stack.append(_Suspended(*other, SIDE, set(rest), origin=origin))
        pushed = StackEntry(other[1], self.code.blocks[other[0]].address, SIDE, origin)
        return self._jump(block, threads - rest, first, TransitionKind.DIVERGE, pushed)

    def _jump(self, block: ExecutableBlock, threads: set[int], target: _Place, move: TransitionKind, pushed: StackEntry | None) -> _After:
        address = self.code.blocks[target[0]].address
        self.path.append(Transition(self._context, block.address, block.last, target[1], address, move, pushed))
        self._context = target[1]
        return target[0], threads

    def _call(self, number: int, threads: set[int], taken: set[int]) -> _After:
        block = self.code.blocks[number]
        inside = (*self._context, block.last)
        if block.control is not None and block.control.flow is Flow.INDIRECT_CALL:
            return self._branch_or_split(number, threads, taken, self._targets(block, threads, taken, inside), TransitionKind.CALL)
        if not block.tag:
            return self._branch(block, threads, taken, (block.target, inside), TransitionKind.CALL)
        self._stack.append(_Suspended(block.follow, self._context, RETURN_TAG, set(threads)))
        return self._jump(block, threads, (block.target, inside), TransitionKind.CALL, None)

    def _targets(self, block: ExecutableBlock, threads: set[int], taken: set[int], inside: CallString) -> dict[int, _Place]:
        assert block.control is not None
        goes = dict.fromkeys(threads, (block.follow, self._context))
        for lane in taken:
            place = self.threads.selected(block.control.selector, block.control.key, lane, len(block.targets))
            goes[lane] = (block.targets[place], inside)
        return goes

    def _return(self, number: int, threads: set[int], taken: set[int]) -> _After:
        block = self.code.blocks[number]
        assert block.control is not None
        if self.called and not self._context and taken:
            return self._suspend(block, threads, taken)
        goes = dict.fromkeys(threads, (block.follow, self._context))
        for lane in taken:
            address = (self.threads.get(block.control.selector[0], lane) + block.control.base) & 0xFFFFFFFF
            sites = {one.last: one.follow for one in self.code.blocks if one.control is not None and one.control.flow in _CALLS}
            depths = [
                depth for depth, site in enumerate(self._context) if sites[site] >= 0 and self.code.blocks[sites[site]].address == address
            ]
            if not depths:
                self.fault = "the return address is unknown"
                return None
            goes[lane] = (sites[self._context[depths[-1]]], self._context[: depths[-1]])
        return self._branch_or_split(number, threads, taken, goes, TransitionKind.RETURN)

    def _branch_or_split(self, number: int, threads: set[int], taken: set[int], goes: dict[int, _Place], whole: TransitionKind) -> _After:
        """A call or return by register: a branch where all who take it go to one place."""
        places = {goes[lane] for lane in taken}
        if len(places) > 1:
            return self._split(number, threads, taken, (goes, whole))
        block = self.code.blocks[number]
        return self._branch(block, threads, taken, places.pop() if places else (block.follow, self._context), whole)

    def _split(self, number: int, threads: set[int], taken: set[int], ways: tuple[dict[int, _Place], TransitionKind]) -> _After:
        """Let the threads of one target go there; the others wait at the instruction."""
        goes, whole = ways
        block = self.code.blocks[number]
        start = self.threads.coin() % LANES
        leader = min(threads, key=lambda lane: (lane - start) % LANES)
        together = {lane for lane in threads if goes[lane] == goes[leader]}
        if together == threads:
            return self._jump(block, together, goes[leader], whole if taken else TransitionKind.FALLTHROUGH, None)
        self._stack.append(_Suspended(number, self._context, SIDE, threads - together))
        return self._jump(block, together, goes[leader], TransitionKind.DIVERGE, StackEntry(self._context, block.address, SIDE))

    def _break(self, block: ExecutableBlock, threads: set[int], taken: set[int]) -> _After:
        assert block.control is not None
        self._barriers.setdefault(block.control.tag, set()).difference_update(taken)
        for entry in reversed(self._stack):
            if entry.tag == block.control.tag:
                entry.threads -= taken
                break
        self._stack = [entry for entry in self._stack if entry.threads]
        return self._pass(block, threads)

    def _move(self, block: ExecutableBlock, threads: set[int], taken: set[int]) -> _After:
        """BMOV; or no control instruction at all."""
        moves = block.control.moves if block.control is not None else None
        if moves is None:
            return self._pass(block, threads)
        if moves.save:
            mask = sum(1 << lane for lane in self._barriers.get(moves.tag, set()))
            for lane in taken if moves.register is not None else ():
                self.threads.put(moves.register or 0, lane, mask)
            if moves.clear:
                self._barriers[moves.tag] = set()
            return self._pass(block, threads)
        if moves.source is not None or moves.mask is not None:
            whole = {lane for lane in range(LANES) if (moves.mask or 0) >> lane & 1}
            self._barriers[moves.tag] = whole if moves.source is None else set(self._barriers.get(moves.source, set()))
            if moves.source is not None and moves.clear:
                self._barriers[moves.source] = set()
            return self._pass(block, threads)
        masks = {lane: 0 if moves.register is None else self.threads.get(moves.register, lane) for lane in taken}
        if len(set(masks.values())) > 1:
            self.fault = "threads restore different barriers"
            return None
        self._barriers[moves.tag] = {lane for lane in range(LANES) if masks[min(masks)] >> lane & 1} - self._gone
        return self._pass(block, threads)

    def _suspend(self, block: ExecutableBlock, threads: set[int], taken: set[int]) -> _After:
        assert block.control is not None
        above, leaving = 0, taken
        if block.control.flow is Flow.WARP_BARRIER:
            above = len(self._stack) + 1
            leaving = self._arrive(block, threads, taken)
        elif block.control.flow is Flow.POP:
            above, leaving = self._meet(block, taken)
        else:
            self._gone |= taken
            self._barriers = {name: mask - taken for name, mask in self._barriers.items()}
        if self.fault:
            return None
        for entry in self._stack[above:]:
            entry.threads -= leaving
        self._stack = [entry for entry in self._stack if entry.threads]
        if leaving != threads:
            return self._pass(block, threads - leaving)
        return self._resume(block)

    def _meet(self, block: ExecutableBlock, taken: set[int]) -> tuple[int, set[int]]:
        """Return the number of entries up to the token, and who leaves to it."""
        assert block.control is not None
        tag = block.control.tag
        barrier = tag[1:].isdigit()
        levels = [level for level, entry in enumerate(self._stack) if entry.tag == tag]
        register = self._barriers.get(tag, set())
        if not levels:
            if not barrier:
                self.fault = "there is no token"
            elif register & taken:
                self.fault = "register and token disagree on the threads that are here"
            return len(self._stack), set() if barrier else taken
        token = self._stack[levels[-1]]
        if not barrier:
            return levels[-1] + 1, taken
        leaving = taken & token.threads
        if leaving and (token.block, token.context) != (block.follow, self._context):
            self.fault = "the token resumes somewhere else"
        elif (register ^ token.threads) & taken:
            self.fault = "register and token disagree on the threads that are here"
        elif leaving and register != token.threads:
            self.fault = "register and token disagree on the threads to wait for"
        return levels[-1] + 1, leaving

    def _arrive(self, block: ExecutableBlock, threads: set[int], taken: set[int]) -> set[int]:
        """WARPSYNC: wait above the nearest token, with those who wait for the same; return who does."""
        sides = [entry.tag == SIDE or entry.released for entry in self._stack]
        tokens = [level for level, entry in enumerate(self._stack) if not sides[level] and entry.tag != WARPSYNC_TAG]
        bottom = tokens[-1] + 1 if tokens else 0
        if any(sides[:bottom]):
            self.fault = "sides wait below the token that encloses a WARPSYNC"
            return taken
        waiting = [entry for entry in self._stack[bottom:] if entry.tag == WARPSYNC_TAG and not entry.released]
        complete = taken == threads and not any(sides[bottom:])
        if complete:
            self._release(bottom)
        for entry in waiting:
            if (entry.block, entry.context) == (block.follow, self._context):
                entry.threads |= taken
                if complete:
                    self._stack.remove(entry)
                    self._stack.append(entry)
                return taken
        if complete:
            return set()
        self._stack.insert(bottom, _Suspended(block.follow, self._context, WARPSYNC_TAG, set(taken)))
        return taken

    def _release(self, bottom: int) -> None:
        """All have arrived that wait above a level."""
        for entry in self._stack[bottom:]:
            entry.released = True

    def _resume(self, block: ExecutableBlock) -> _After:
        if not self._stack or self._stack[-1].block < 0:
            self._end(block)
            return None
        bottom = len(self._stack)
        while bottom and (self._stack[bottom - 1].tag, self._stack[bottom - 1].released) == (WARPSYNC_TAG, False):
            bottom -= 1
        waiting = len(self._stack) - bottom
        self._release(bottom)
        place = (self.threads.coin() >> 9) % waiting if waiting and self.order is SideOrder.RANDOM else 0
        top = self._stack.pop(len(self._stack) - 1 - place)
        if top.tag[1:].isdigit():
            if self._barriers.get(top.tag, set()) != top.threads:
                self.fault = "register and token disagree on the threads that resume"
                return None
            self._barriers[top.tag] = set()
        move = {SIDE: TransitionKind.REACTIVATE, RETURN_TAG: TransitionKind.RETURN}.get(top.tag, TransitionKind.RECONVERGE)
        popped = StackEntry(top.context, self.code.blocks[top.block].address, top.tag, top.origin)
        self.path.append(Transition(self._context, block.address, block.last, top.context, popped.address, move, None, popped))
        self._context = top.context
        return top.block, top.threads
