"""The labels of blocks, at three sizes: with every instruction, with a few lines, or in one line."""

from dataclasses import dataclass
from enum import Enum

from sassan.errors import Gap
from sassan.render import palette
from sassan.render.graph.decorations import Decorations
from sassan.render.text import in_html, in_tooltip, shorten, wrap
from sassan.warpcfg.graph import Node, WarpCfg

_LETTERS = 26
_LETTER_ROWS = 3
_COMPACT_LETTERS = 12
_GAP_WIDTH = 48
_TOOLTIP_ROWS = 60
_LISTING_ROWS = 400
_LISTING_WIDTH = 110


class Detail(Enum):
    """How much of a block is drawn."""

    LISTING = "listing"
    BLOCK = "block"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """The facts shown for one block; `cost` and `count` are None when they are unknown."""

    node: Node
    letters: str
    cost: int | None
    count: int | None
    gaps: tuple[Gap, ...]
    heat: float = 0.0
    """Its cost on the worst path, as a part of that of the most expensive block."""

    @property
    def worst(self) -> bool:
        """Say whether the block lies on the worst path."""
        return bool(self.count)


def facts(cfg: WarpCfg, decorations: Decorations) -> tuple[BlockFacts, ...]:
    """Return the facts of each block, in the order of the nodes."""
    counts = decorations.node_counts(cfg)
    spent = [(cost or 0) * count for cost, count in zip(decorations.costs, counts, strict=True)] if decorations.costs and counts else []
    most = max(spent, default=0)
    return tuple(
        BlockFacts(
            node,
            decorations.letters[at] if decorations.letters else "",
            decorations.costs[at] if decorations.costs else None,
            counts[at] if counts else None,
            tuple(gap for gap in cfg.gaps if node.start <= gap.address <= node.end),
            spent[at] / most if most else 0.0,
        )
        for at, node in enumerate(cfg.nodes)
    )


def attributes(block: BlockFacts, detail: Detail) -> dict[str, str]:
    """Return the Graphviz attributes of a block."""
    out = {
        "label": f"<{_label(block, detail)}>",
        "id": block.node.id,
        "tooltip": in_tooltip(_tooltip(block)),
        "fillcolor": palette.heat(block.heat) if block.worst else palette.PAPER,
        "penwidth": "2.2" if block.worst else "1",
    }
    if block.node.divergent:
        out["peripheries"] = "2"
    if block.gaps:
        out |= {"color": palette.GAP, "penwidth": "3"}
    return out


def _label(block: BlockFacts, detail: Detail) -> str:
    match detail:
        case Detail.COMPACT:
            return _rows(_compact(block))
        case Detail.BLOCK:
            return _rows(_summary(block))
        case Detail.LISTING:
            return _rows([*_summary(block), *_listing(block.node)], align="LEFT")


def _rows(lines: list[str], align: str = "CENTER") -> str:
    cells = "".join(f'<TR><TD ALIGN="{align}">{line}</TD></TR>' for line in lines)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{cells}</TABLE>'


def _compact(block: BlockFacts) -> list[str]:
    # One line: graphs of this size are long, and each line saved keeps their proportions.
    parts = [f"<B>{block.node.start:04x}</B>{' &#9671;' if block.node.divergent else ''}"]
    if block.letters:
        parts.append(_mono(shorten(block.letters, _COMPACT_LETTERS)))
    if block.cost is not None:
        parts.append(_cost(block))
    return ["  ".join(parts), *_gap_lines(block)]


def _summary(block: BlockFacts) -> list[str]:
    node = block.node
    size = len(node.code)
    lines = [f'<B>0x{node.start:04x} &#8211; 0x{node.end:04x}</B>  <FONT COLOR="{palette.MUTED}">{size} instr.</FONT>']
    lines += [_mono(piece) for piece in wrap(block.letters, _LETTERS, _LETTER_ROWS)]
    if block.cost is not None:
        lines.append(f"cost {_cost(block)}")
    if node.divergent:
        lines.append(f'<FONT COLOR="{palette.DIVERGENT}">&#9671; divergent branch</FONT>')
    return lines + _gap_lines(block)


def _cost(block: BlockFacts) -> str:
    # The product is the block's share of the WCET.
    return f"{block.cost} &#215; {block.count}" if block.worst else f"{block.cost}"


def _mono(text: str) -> str:
    return f'<FONT FACE="{palette.MONO}">{in_html(text)}</FONT>'


def _gap_lines(block: BlockFacts) -> list[str]:
    codes = sorted({gap.code for gap in block.gaps})
    return [f'<FONT COLOR="{palette.GAP}"><B>gap: {in_html(shorten(code, _GAP_WIDTH))}</B></FONT>' for code in codes]


def _listing(node: Node) -> list[str]:
    shown = node.instructions[:_LISTING_ROWS]
    lines = [
        _mono(f"{instruction.address:04x}  {shorten(instruction.text or instruction.opcode, _LISTING_WIDTH)}") for instruction in shown
    ]
    left = len(node.instructions) - len(shown)
    return [*lines, f"… {left} more"] if left else lines


def _tooltip(block: BlockFacts) -> tuple[str, ...]:
    node = block.node
    calls = [f"called from {', '.join(f'0x{site:04x}' for site in node.context)}"] if node.context else []
    letters = [block.letters] if block.letters else []
    gaps = [f"gap[{gap.code}] at 0x{gap.address:04x}: {gap.message}" for gap in block.gaps]
    lines = [f"{instruction.address:04x}  {instruction.text or instruction.opcode}" for instruction in node.instructions[:_TOOLTIP_ROWS]]
    left = len(node.instructions) - len(lines)
    return (*calls, *letters, *gaps, *lines, *([f"… {left} more"] if left else []))
