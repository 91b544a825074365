"""The head of a drawing: title, figures, and a legend of what occurs in it."""

from sassan.plurals import count_of
from sassan.render import palette
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.levels import DrawnEdge, Level
from sassan.render.text import in_html, shorten
from sassan.warpcfg.graph import EdgeKind, WarpCfg

_TITLE = 96
_SMALL = 40
_GAPS_SHOWN = 5
_TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="{}">'
# A table with no fixed size grows to the width of the title.
_SAMPLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE" WIDTH="66" HEIGHT="17" ALIGN="LEFT">'
_HEADS = {"vee": "&#8594;", "normal": "&#9654;", "onormal": "&#9655;", "box": "&#9632;", "obox": "&#9633;", "tee": "|"}
_TAILS = {"odiamond": "&#9671;", "dot": "&#8226;"}


def header(cfg: WarpCfg, arcs: tuple[DrawnEdge, ...], decorations: Decorations, level: Level, omitted: str = "") -> str:
    """Return the HTML-like label of the whole graph; `omitted` says what is not drawn."""
    rows = [
        _title(cfg, decorations),
        _figures(cfg, arcs, level),
        *([in_html(omitted)] if omitted else []),
        *_stray_gaps(cfg),
        _legend(cfg, arcs, decorations, level),
    ]
    body = "".join(f'<TR><TD ALIGN="LEFT">{row}</TD></TR>' for row in rows)
    return f"<{_TABLE.format(2)}{body}</TABLE>>"


def _title(cfg: WarpCfg, decorations: Decorations) -> str:
    name = in_html(shorten(decorations.name or cfg.function.name, _TITLE))
    wcet = f"   WCET {in_html(decorations.wcet)}" if decorations.wcet else ""
    return f'<FONT POINT-SIZE="16"><B>{name}</B>   {in_html(cfg.function.arch)}{wcet}</FONT>'


def _figures(cfg: WarpCfg, arcs: tuple[DrawnEdge, ...], level: Level) -> str:
    divergent = sum(node.divergent for node in cfg.nodes)
    parts = [
        f"{level.value}-level graph",
        count_of(len(cfg.nodes), "block"),
        count_of(len(arcs), "edge"),
        count_of(divergent, "divergent branch", "divergent branches"),
    ]
    if cfg.gaps:
        parts.append(f'<FONT COLOR="{palette.GAP}"><B>{count_of(len(cfg.gaps), "gap")}: no bound</B></FONT>')
    return ", ".join(parts)


def _stray_gaps(cfg: WarpCfg) -> list[str]:
    """Return a line for each gap outside the drawn blocks."""
    inside = {instruction.address for node in cfg.nodes for instruction in node.instructions}
    stray = [gap for gap in cfg.gaps if gap.address not in inside]
    lines = [f"gap[{in_html(gap.code)}] at 0x{gap.address:04x}: {in_html(shorten(gap.message, _TITLE))}" for gap in stray[:_GAPS_SHOWN]]
    if len(stray) > _GAPS_SHOWN:
        lines.append(f"{len(stray) - _GAPS_SHOWN} more gaps outside the blocks drawn")
    return [f'<FONT COLOR="{palette.GAP}">{line}</FONT>' for line in lines]


def _legend(cfg: WarpCfg, arcs: tuple[DrawnEdge, ...], decorations: Decorations, level: Level) -> str:
    entries = [*_line_entries(arcs, level), *_block_entries(cfg, decorations)]
    columns = 1 if len(cfg.nodes) <= _SMALL else 2
    rows = [entries[at : at + columns] for at in range(0, len(entries), columns)]
    body = "".join(f"<TR>{''.join(row)}</TR>" for row in rows)
    return f"{_TABLE.format(1)}{body}</TABLE>"


def _line_entries(arcs: tuple[DrawnEdge, ...], level: Level) -> list[str]:
    kinds = {arc.kind for arc in arcs}
    return [_entry(_line(edge_style, kind), _means(kind, level)) for kind, edge_style in palette.EDGE_STYLES.items() if kind in kinds]


def _means(kind: EdgeKind, level: Level) -> str:
    means = palette.EDGE_STYLES[kind].means
    return palette.THREAD_MEANS.get(kind, means) if level is Level.THREAD else means


def _block_entries(cfg: WarpCfg, decorations: Decorations) -> list[str]:
    entries: list[str] = []
    if decorations.counts:
        entries.append(
            _entry(
                _box(palette.TEXT, palette.WORST_FILL, 2),
                "on a worst path: cost &#215; executions, the darker the greater; bold edges",
            )
        )
    if any(node.divergent for node in cfg.nodes):
        entries.append(_entry(_box(palette.TEXT, palette.PAPER, 1, "&#9671;"), "divergent branch (double border)"))
    if cfg.loops:
        entries += _loop_entries(cfg, decorations)
    if any(node.context for node in cfg.nodes):
        entries.append(_entry(_box(palette.CONTEXT_LINE, palette.CONTEXT_FILL, 1), "called code, once per call site"))
    if cfg.gaps:
        entries.append(_entry(_box(palette.GAP, palette.PAPER, 3), "gap: not analyzed, or without a bound"))
    return entries


def _loop_entries(cfg: WarpCfg, decorations: Decorations) -> list[str]:
    bounded = [loop for loop in cfg.loops if cfg.nodes[loop.head].start in decorations.bounds]
    sample = _box(palette.LOOP_LINE, palette.LOOP_FILLS[1], 1)
    entries: list[str] = []
    if any(loop.single_witness for loop in bounded):
        entries.append(_entry(sample, "loop &#8804; N: at most N back edges per entry"))
    if not all(loop.single_witness for loop in bounded):
        entries.append(_entry(sample, "loop &#8804; N &#215; 32: at most N back edges per entry in each of the 32 threads"))
    if len(bounded) < len(cfg.loops):
        entries.append(_entry(_box(palette.GAP, palette.LOOP_FILLS[1], 1), "loop without a bound: the WCET needs a flow fact"))
    return entries


def _entry(sample: str, means: str) -> str:
    return f'<TD ALIGN="LEFT">{sample}</TD><TD ALIGN="LEFT">{means}   </TD>'


def _line(look: palette.EdgeStyle, kind: EdgeKind) -> str:
    # Cell borders draw a true line sample; glyphs for dashes depend on the fonts of the reader.
    half = f'<TD SIDES="B" BORDER="2" STYLE="{look.style}" COLOR="{look.color}" WIDTH="34" HEIGHT="7" FIXEDSIZE="TRUE"></TD>'
    line = f'{_TABLE.format(0)}<TR>{half}</TR><TR><TD WIDTH="34" HEIGHT="7" FIXEDSIZE="TRUE"></TD></TR></TABLE>'
    tail = _TAILS.get(look.tail, "")
    head = _HEADS[palette.EDGE_STYLES[kind].head]
    return f"{_SAMPLE}<TR>{_glyph(tail, look)}<TD>{line}</TD>{_glyph(head, look)}</TR></TABLE>"


def _glyph(text: str, look: palette.EdgeStyle) -> str:
    shown = f'<FONT COLOR="{look.color}">{text}</FONT>' if text else ""
    return f'<TD WIDTH="14" HEIGHT="14" FIXEDSIZE="TRUE">{shown}</TD>'


def _box(line: str, fill: str, border: int, mark: str = "") -> str:
    cell = f'<TD BORDER="{border}" COLOR="{line}" BGCOLOR="{fill}" WIDTH="44" HEIGHT="15" FIXEDSIZE="TRUE">{mark}</TD>'
    return f"{_SAMPLE}<TR><TD></TD>{cell}<TD></TD></TR></TABLE>"
