"""Where the loops and blocks that facts name stand in a graph."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from sassan.errors import InputError
from sassan.ipet.facts.model import FlowFacts, FunctionFacts, LineReference, LoopName
from sassan.ir import Function, SourceLine
from sassan.warpcfg.graph import CfgLoop, WarpCfg

_LISTED = 12
"""Blocks or loops that a hint names."""


def loops_at(cfg: WarpCfg, name: LoopName) -> tuple[CfgLoop, ...]:
    """The loops that a name means: one per call context, of a line one per copy, too."""
    if isinstance(name, int):
        return tuple(loop for loop in cfg.loops if cfg.nodes[loop.head].start == name)
    return tuple(loop for loop in cfg.loops if any(_matches(name, line) for line in lines_of(cfg, loop)))


def lines_of(cfg: WarpCfg, loop: CfgLoop) -> tuple[SourceLine, ...]:
    """The source lines of the branches that lead back to the head, in order: that of `for` or `while`, and of each `continue`."""
    lines = (_line_of(cfg.function, cfg.nodes[source].end) for source, _ in loop.back)
    return tuple(sorted({line for line in lines if line is not None}, key=lambda line: (line.file, line.line)))


def nodes_at(cfg: WarpCfg, address: int) -> tuple[int, ...]:
    """The nodes of the block that starts at an address, one per call context."""
    return tuple(index for index, node in enumerate(cfg.nodes) if node.start == address)


def inside(cfg: WarpCfg, scope: CfgLoop | None) -> frozenset[int]:
    """The nodes of a loop; None: of the whole function."""
    return frozenset(range(len(cfg.nodes)) if scope is None else scope.nodes)


def scopes(cfg: WarpCfg, name: LoopName | None) -> tuple[CfgLoop | None, ...]:
    """The loops that a fact is relative to; None: the function."""
    return (None,) if name is None else loops_at(cfg, name)


def check_names(cfg: WarpCfg, facts: FlowFacts) -> None:
    """Raise InputError where the facts of the function of a graph name a loop or a block that it does not have."""
    of_function = facts.of(cfg.function.name)
    if of_function is None:
        return
    for name in _loop_names(of_function):
        _check_loop(cfg, facts.name, name)
    blocks = {node.start for node in cfg.nodes}
    for address in _block_names(of_function):
        if address not in blocks:
            raise _unknown_block(cfg, facts.name, address)
    for counted, scope in _nested(of_function):
        if not any(_within(cfg, counted, loop) for loop in loops_at(cfg, scope)):
            message = f"{facts.name}: {spelled(counted)} does not lie in the loop at {spelled(scope)}"
            raise InputError("facts-outside-loop", message, hint="name a loop around it, or none: the fact then holds for one run")


def spelled(name: LoopName) -> str:
    """`0x00c8`, or `kernel.cu:42`."""
    return str(name) if isinstance(name, LineReference) else f"0x{name:04x}"


def _within(cfg: WarpCfg, counted: LoopName, scope: CfgLoop) -> bool:
    nodes = nodes_at(cfg, counted) if isinstance(counted, int) else tuple(loop.head for loop in loops_at(cfg, counted))
    return any(node in scope.nodes for node in nodes)


def _loop_names(facts: FunctionFacts) -> Iterator[LoopName]:
    yield from (name for name, _ in facts.bounds)
    yield from (total.counted for total in facts.totals if total.back)
    yield from (total.per for total in facts.totals if total.per is not None)
    yield from (exclusive.within for exclusive in facts.exclusive if exclusive.within is not None)


def _block_names(facts: FunctionFacts) -> Iterator[int]:
    yield from facts.never
    yield from (total.counted for total in facts.totals if isinstance(total.counted, int))
    yield from (block for exclusive in facts.exclusive for block in exclusive.blocks)
    yield from (address for constraint in facts.constraints for address, _ in constraint.terms)


def _nested(facts: FunctionFacts) -> Iterator[tuple[LoopName, LoopName]]:
    yield from ((total.counted, total.per) for total in facts.totals if total.per is not None)
    yield from ((block, fact.within) for fact in facts.exclusive if fact.within is not None for block in fact.blocks)


def _check_loop(cfg: WarpCfg, file: str, name: LoopName) -> None:
    loops, function = loops_at(cfg, name), cfg.function.name
    if isinstance(name, int):
        if not loops:
            headers = _addresses(cfg.nodes[loop.head].start for loop in cfg.loops)
            message = f"{file}: no loop of {function!r} begins at 0x{name:04x}"
            raise InputError("facts-unknown-loop", message, hint=f"loop headers: {headers}")
        return
    if not loops:
        listed = sorted({f"{line.file}:{line.line}" for loop in cfg.loops for line in lines_of(cfg, loop)})
        hint = (
            f"lines of loops: {', '.join(listed[:_LISTED])}"
            if listed
            else "the input has no source lines for its loops: compile with -lineinfo"
        )
        raise InputError("facts-unknown-line", f"{file}: no loop of {function!r} was compiled from {name}", hint=hint)
    files = sorted({line.file for loop in loops for line in lines_of(cfg, loop) if _matches(name, line)})
    if len(files) > 1:
        message = f"{file}: {name} is a line of several files with loops in {function!r}"
        raise InputError("facts-ambiguous-line", message, hint=f"write more of the path: {', '.join(files[:_LISTED])}")
    nested = next(((a, b) for a in loops for b in loops if a is not b and set(a.nodes) > set(b.nodes)), None)
    if nested is not None:
        heads = " and ".join(f"0x{cfg.nodes[loop.head].start:04x}" for loop in nested)
        message = f"{file}: {name} names two loops of {function!r}, one inside the other: {heads}"
        raise InputError("facts-ambiguous-line", message, hint='name each by its head = "0x…"')


def _unknown_block(cfg: WarpCfg, file: str, address: int) -> InputError:
    starts = sorted({node.start for node in cfg.nodes})
    around = next((node.start for node in cfg.nodes if any(each.address == address for each in node.instructions)), None)
    hint = f"it lies in the block at 0x{around:04x}" if around is not None else f"blocks: {_addresses(starts)}"
    return InputError("facts-unknown-block", f"{file}: no block of {cfg.function.name!r} begins at 0x{address:04x}", hint=hint)


def _addresses(addresses: Iterable[int]) -> str:
    known = sorted(set(addresses))
    return (", ".join(f"0x{address:04x}" for address in known[:_LISTED]) or "none") + (", …" if len(known) > _LISTED else "")


def _line_of(function: Function, address: int) -> SourceLine | None:
    index = bisect_right(function.lines, address, key=lambda line: line.address)
    return function.lines[index - 1] if index else None


def _matches(name: LineReference, line: SourceLine) -> bool:
    path = line.file.replace("\\", "/")
    return name.number == line.line and (path == name.file or path.endswith(f"/{name.file}"))
