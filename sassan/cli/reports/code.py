"""What `sassan diff --sass` says: per function what became of its blocks, and the instructions of those that changed."""

import html
import sys
from collections.abc import Iterator, Sequence

from sassan.app.builds.code import BlockPair, BlockState, CodeBlock, FunctionPair
from sassan.cli.output.terminal import colourful, heading, label, out, safe
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, FLAG, STRING, TEXT, address, array, choice, nullable, one
from sassan.ir import Function
from sassan.plurals import count_of

_COLOURS = {"-": "\x1b[31m", "+": "\x1b[32m", "~": "\x1b[33m"}
_PLAIN = "\x1b[0m"
_AROUND = 2
"""Unchanged instructions that are shown around a change."""


def show(pairs: Sequence[FunctionPair]) -> None:
    """Print every function that changed, with its changed blocks, and how many are the same."""
    for pair in pairs:
        if not pair.same:
            out(f"{heading(pair.name)} ({pair.arch}): {_head(pair)}\n")
            for block in pair.blocks:
                _block(block)
            out("\n")
    same = sum(pair.same for pair in pairs)
    text = f"{count_of(len(pairs), 'function')}: {len(pairs) - same} with other code, {same} with the same"
    registers = sum(pair.same and BlockState.RENAMED.value in pair.count for pair in pairs)
    names = sum(pair.same and bool(_was(pair)) for pair in pairs)
    parts = [f"{count} of these with {change}" for count, change in ((registers, "other registers"), (names, "another name")) if count]
    out(text + (f" ({', '.join(parts)})" if parts else "") + "\n")


def _was(pair: FunctionPair) -> str:
    """Return the old name of a function that now has another one, else ''."""
    return pair.old.name if pair.old is not None and pair.old.name != pair.name else ""


def _head(pair: FunctionPair) -> str:
    if pair.old is None or pair.new is None:
        function = pair.old or pair.new
        assert function is not None
        return f"{'removed' if pair.new is None else 'added'}, {len(function.instructions)} instructions"
    counts = ", ".join(f"{count} {state}" for state, count in pair.count.items())
    archs = f", was {pair.old.arch}" if pair.old.arch != pair.new.arch else ""
    return f"{len(pair.old.instructions)} → {len(pair.new.instructions)} instructions{archs}; blocks: {counts}"


def _block(pair: BlockPair) -> None:
    if pair.state in {BlockState.SAME, BlockState.RENAMED}:
        return
    out(f"  block {_place(pair.old)} → {_place(pair.new)} {pair.state}\n")
    colours = _COLOURS if colourful(sys.stdout) else {}
    for sign, was, now in _near(tuple(lines_of(pair))):
        start = colours.get(sign, "")
        out(f"    {start}{sign} {safe(now or was)}{_PLAIN if start else ''}\n")


def _place(block: CodeBlock | None) -> str:
    return "-" if block is None else address(block.address)


def lines_of(pair: BlockPair) -> Iterator[tuple[str, str, str]]:
    """Yield the instructions of a pair: sign, old text, new text."""
    if pair.state is BlockState.CHANGED:
        yield from pair.lines
    elif pair.new is None:
        yield from (("-", line, "") for line in (pair.old.text if pair.old is not None else ()))
    elif pair.old is None:
        yield from (("+", "", line) for line in pair.new.text)
    else:
        yield from ((" " if was == now else "~", was, now) for was, now in zip(pair.old.text, pair.new.text, strict=True))


def _near(lines: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of a change and a few around each; an ellipsis stands for the others."""
    wanted = {near for place, (sign, _, _) in enumerate(lines) if sign in "-+" for near in range(place - _AROUND, place + _AROUND + 1)}
    cut = False
    for place, line in enumerate(lines):
        if place in wanted:
            yield line
        elif not cut:
            yield " ", "…", "…"
        cut = place not in wanted


_of, _of_block = Declare[FunctionPair](), Declare[BlockPair]()


class BlockPairFields(Record[BlockPair]):
    """A block of each side."""

    old = _of_block(nullable(ADDRESS), "its address before", lambda pair: pair.old.address if pair.old is not None else None)
    new = _of_block(nullable(ADDRESS), "its address now", lambda pair: pair.new.address if pair.new is not None else None)
    state = _of_block(choice(*BlockState), "what became of it", lambda pair: pair.state.value)
    lines = _of_block(
        array(STRING), "of a changed one, each behind its sign", lambda pair: [f"{sign} {now or was}" for sign, was, now in pair.lines]
    )


def _latest(pair: FunctionPair) -> Function:
    latest = pair.new or pair.old
    assert latest is not None
    return latest


class CodeFields(Record[FunctionPair]):
    """What `sassan diff --sass` says of one function."""

    name = _of(STRING, "name of the function, as the input has it", lambda pair: _latest(pair).name)
    arch = _of(STRING, "architecture: `sm_61`", lambda pair: _latest(pair).arch)
    was = _of(TEXT, "its name before, null where it was not there", lambda pair: pair.old.name if pair.old is not None else None)
    old = _of(BOUND, "how many it had", lambda pair: len(pair.old.instructions) if pair.old is not None else None, key="instructions.old")
    new = _of(BOUND, "how many it has", lambda pair: len(pair.new.instructions) if pair.new is not None else None, key="instructions.new")
    same = _of(FLAG, "whether they are the same but for the numbers of registers")
    blocks = _of(array(one(BlockPairFields)), "in the order of the new side, removed ones between")


_STYLE = """
:root { color-scheme: light dark; --page: light-dark(#f4f5f7, #11151a); --panel: light-dark(#fff, #1a2028);
  --ink: light-dark(#1a1f26, #e4e8ed); --muted: light-dark(#59636e, #9aa6b2); --line: light-dark(#d5dae0, #333d48);
  --gone: light-dark(#fdeef0, #35191e);
  --came: light-dark(#e8f6ef, #14301f); --moved: light-dark(#fff8e6, #2c2415); }
body { margin: 0 auto; padding: 1rem; max-width: 110rem;
  background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
details { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; margin: 0.6rem 0; padding: 0.5rem 0.8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; } summary small { color: var(--muted); }
table { border-collapse: collapse; width: 100%; table-layout: fixed; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
td { padding: 0 0.5rem; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; border-left: 1px solid var(--line); }
tr.head td { color: var(--muted); padding-top: 0.6rem; } td.gone { background: var(--gone); } td.came { background: var(--came); }
td.moved { background: var(--moved); }
"""


def page(pairs: Sequence[FunctionPair], old: str, new: str) -> str:
    """Return one self-contained page: the two sides beside each other, functions that changed open."""
    body = "".join(map(_function, pairs))
    title = html.escape(f"{old} → {new}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1><p>Addresses, control codes and branch targets are not compared. Yellow: other registers alone.</p>\n"
        f"{body}</body></html>\n"
    )


def _function(pair: FunctionPair) -> str:
    rows = "".join(_rows(pair.blocks))
    name, opened = html.escape(label(pair.name)), "" if pair.same else " open"
    if was := _was(pair):
        name += f"</b>, was <b>{html.escape(label(was))}"
    return f"<details{opened}><summary><b>{name}</b> <small>{pair.arch}: {_head(pair)}</small></summary><table>{rows}</table></details>\n"


def _rows(blocks: Sequence[BlockPair]) -> Iterator[str]:
    for pair in blocks:
        yield f'<tr class="head"><td>{_place(pair.old)}</td><td>{_place(pair.new)} {pair.state}</td></tr>'
        for sign, was, now in lines_of(pair):
            left, right = html.escape(safe(was)), html.escape(safe(now))
            kinds = {"-": (' class="gone"', ""), "+": ("", ' class="came"'), "~": (' class="moved"',) * 2}.get(sign, ("", ""))
            yield f"<tr><td{kinds[0]}>{left}</td><td{kinds[1]}>{right}</td></tr>"
