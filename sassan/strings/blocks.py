"""Strings of blocks and of paths over a warp-level CFG."""

from collections.abc import Callable
from collections.abc import Sequence as Many

from sassan.alphabet import Letter
from sassan.ir import Instruction
from sassan.strings.fold import Loop, Sequence, normal, rename
from sassan.strings.kernel_string import Group, KernelString, Part, letters, of
from sassan.warpcfg.graph import Node, WarpCfg

LetterOf = Callable[[Instruction], Letter]
"""The letter table of one architecture."""


def block_string(node: Node, letter_of: LetterOf) -> KernelString:
    """Return one letter per instruction of the block, run-length coded."""
    return letters(letter_of(one) for one in node.code)


def block_strings(cfg: WarpCfg, letter_of: LetterOf) -> tuple[KernelString, ...]:
    """Return the string of every block, in the order of the nodes."""
    return tuple(block_string(node, letter_of) for node in cfg.nodes)


def path_blocks(cfg: WarpCfg, path: Sequence) -> Sequence:
    """Return the blocks that a path of edges runs, in order, with repeats folded: every edge runs its source block."""
    return normal(rename(path, lambda edge: cfg.edges[edge].src))


def path_string(blocks: Sequence, strings: Many[KernelString]) -> KernelString:
    """Return the string along a row of blocks, repeats kept as groups."""
    parts: list[Part] = []
    for item in blocks:
        if isinstance(item, Loop):
            parts.append(Group(path_string(item.body, strings), item.times))
        else:
            parts.extend(strings[item].parts)
    return of(parts)
