"""The file of flow facts to fill in: what a bound still needs, and the forms that facts may have."""

import re
from collections.abc import Iterable

from sassan.checked import quoted
from sassan.errors import Gap
from sassan.ipet.facts.places import lines_of
from sassan.ipet.flow_facts import EXTERNAL, REFUTED, UNBOUNDED, LoopBounds
from sassan.ir import Function, Language
from sassan.machine.parameters import places
from sassan.warpcfg.graph import WarpCfg

_BY_REGISTER = frozenset({"indirect-branch", "indirect-call"})

_HEAD = """\
# Flow facts for sassan. bound: the largest number of back edges that one thread takes per entry into the loop.
# A loop may be named by line = "kernel.cu:42" in place of head: such facts survive recompilation and need no text.
# Further facts of a function NAME (docs/reference/flow-facts.md):
#   [[function.NAME.total]]       head, line or block, bound, per = "0x0060": at most so often per entry of an outer loop, or per run
#   never = ["0x0068"]            blocks that no thread executes, beside text
#   [[function.NAME.exclusive]]   blocks = ["0x0068", "0x00c8"], within = "0x0060": a thread executes at most one, per iteration or run
#   [[function.NAME.constraint]]  blocks = { "0x0068" = 2, "0x00c8" = -1 }, most, least or equal: a sum over the executions by one warp
#   [[function.NAME.branch]]      at = "0x0110", targets = ["0x0158"]: where a branch or call by register leads
#   [[function.NAME.access]]      at = "0x01b0", sectors or passes: at most so many per execution by a warp; distinct: see the page"""


def template(graphs: Iterable[tuple[WarpCfg, LoopBounds]]) -> str:
    """The TOML text of a file to fill in: every loop and call that still needs a fact, and why; every branch by register."""
    lines = [_HEAD]
    graphs = tuple(graphs)
    missing = {gap.address for _, bounds in graphs for gap in bounds.gaps if gap.code == EXTERNAL}
    for callee in sorted({external.name for cfg, _ in graphs for external in cfg.externals if external.address in missing}):
        lines += ["", f"[external.{quoted(callee)}]", "# cost = ", '# calls = "never"']
    for cfg, bounds in graphs:
        name = quoted(cfg.function.name)
        loops = [gap for gap in bounds.gaps if gap.code in {UNBOUNDED, REFUTED}]
        branches = [] if cfg.function.language is Language.PTX else sorted({gap.address for gap in cfg.gaps if gap.code in _BY_REGISTER})
        if not loops and not branches:
            continue
        lines += ["", f"[function.{name}]", f'text = "{cfg.function.text_hash}"', *_parameters(cfg.function)]
        for gap in loops:
            lines += [f"[[function.{name}.loop]]", f'head = "0x{gap.address:04x}"', *_source(cfg, gap.address), *_why(gap), "# bound = "]
        for address in branches:
            lines += [f"# [[function.{name}.branch]]", f'# at = "0x{address:04x}"', "# targets = []"]
    return "\n".join(lines) + "\n"


def _source(cfg: WarpCfg, head: int) -> list[str]:
    """The lines of the source that would name the loop, where the input has them."""
    loops = [loop for loop in cfg.loops if cfg.nodes[loop.head].start == head]
    names = {f"{line.file}:{line.line}": None for loop in loops for line in lines_of(cfg, loop)}
    return [f"# line = {quoted(name)}" for name in names]


def _parameters(function: Function) -> list[str]:
    """The line that names the parameters, where the input says where they stand."""
    known = [f'{quoted(place.called)} = "0x{place.offset:x}"' for place in places(function) if place.offset >= 0]
    return [f"parameters = {{ {', '.join(known)} }} # names for --param: change them as you like"] if known else []


def _why(gap: Gap) -> list[str]:
    reason = re.search(r" has no bound \((.*)\):", gap.message)
    return [f"# {reason[1]}"] if reason else []
