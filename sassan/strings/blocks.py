"""The blocks along paths over a warp-level CFG, and their strings."""

from collections.abc import Sequence as Many

from sassan.strings.fold import Repeat, Sequence, normal, rename
from sassan.strings.kernel_string import KernelString, Part, RepeatedString, of
from sassan.warpcfg.graph import WarpCfg


def path_blocks(cfg: WarpCfg, path: Sequence) -> Sequence:
    """Return the blocks along a path of edges, in order, with repeats folded: every edge executes its source block."""
    return normal(rename(path, lambda edge: cfg.edges[edge].src))


def path_string(blocks: Sequence, strings: Many[KernelString]) -> KernelString:
    """Return the string along a sequence of blocks, with repeats as groups."""
    parts: list[Part] = []
    for item in blocks:
        if isinstance(item, Repeat):
            parts.append(RepeatedString(path_string(item.body, strings), item.times))
        else:
            parts.extend(strings[item].parts)
    return of(parts)
