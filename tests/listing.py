"""Listings from assembly that a test can be read in: real text for the front end, and graphs in the labels of that text.

    code = assemble('''
        @P0 BRA else
    then:
        SYNC
    else: ...
    ''')

A label stands on a line of its own and is used by its bare name; `BRX R0 -0x8 -> one, two` lists the targets of a jump table. A label
`f():` begins a device function. The code starts at the label `kernel`, or at its first line.
"""

import re
from dataclasses import dataclass
from pathlib import PurePath

from sassan.arch import described
from sassan.frontend import read
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.registers import names
from sassan.source import Source
from sassan.warpcfg import Options, explore
from sassan.warpcfg.graph import WarpCfg

KERNEL = "kernel"
_LABEL = re.compile(r"([a-z]\w*)(\(\))?:")


@dataclass(frozen=True, slots=True)
class Code:
    """A function as read from its listing, and the address of every label."""

    function: Function
    labels: dict[str, int]

    def name(self, address: int) -> str:
        """Return the first label at an address, or the address."""
        return next((label for label, at in self.labels.items() if at == address), f"{address:04x}")

    def graph(self, **options: object) -> WarpCfg:
        """Return the warp-level CFG under these exploration options."""
        return explore(self.function, tables.load(self.function.arch).facts, Options(**options))  # type: ignore[arg-type]


def assemble(text: str, arch: str = "sm_61", tool: str = "nvdisasm") -> Code:
    """Return the code of a listing in the style of `tool`; jump tables and device functions are known to nvdisasm only."""
    lines, labels, functions = _split(text, arch)
    listing = (_nvdisasm if tool == "nvdisasm" else _cuobjdump)(lines, labels, functions, arch)
    (function,) = read(Source(PurePath("test.sass").name, listing)).functions
    return Code(function, labels)


def address(index: int, arch: str = "sm_61") -> int:
    """Return the address of instruction `index`: up to Pascal a control word precedes every three, since Volta each has its own."""
    return 8 * (index + index // 3 + 1) if described(arch).control_words else 16 * index


def edges(code: Code, graph: WarpCfg | None = None) -> list[str]:
    """Return `source kind target` of every warp edge, blocks named by their labels, calls by their site: `f@0010`."""
    graph = graph or code.graph()
    nodes = [_node(code, graph, index) for index in range(len(graph.nodes))]
    return sorted({f"{nodes[edge.src]} {edge.kind.value} {'end' if edge.dst is None else nodes[edge.dst]}" for edge in graph.edges})


def steps(code: Code, graph: WarpCfg | None = None) -> list[str]:
    """Return `source -> target` of every thread edge."""
    graph = graph or code.graph()
    return sorted(f"{_node(code, graph, thread_edge.src)} -> {_node(code, graph, thread_edge.dst)}" for thread_edge in graph.thread_edges)


def gaps(graph: WarpCfg) -> list[tuple[int, str]]:
    """Return address and code of every gap."""
    return [(gap.address, gap.code) for gap in graph.gaps]


def _node(code: Code, graph: WarpCfg, index: int) -> str:
    node = graph.nodes[index]
    return "".join([code.name(node.start), *(f"@{site:04x}" for site in node.context)])


def _split(text: str, arch: str) -> tuple[list[str], dict[str, int], list[str]]:
    """Return the instructions, the address of every label in order, and which labels are functions."""
    lines: list[str] = []
    labels: dict[str, int] = {}
    functions: list[str] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        label = _LABEL.fullmatch(line)
        if label is None:
            lines.append(line)
            continue
        labels[label[1]] = address(len(lines), arch)
        functions += [label[1]] * bool(label[2])
    labels.setdefault(KERNEL, address(0, arch))
    return lines, labels, functions


def _nvdisasm(lines: list[str], labels: dict[str, int], functions: list[str], arch: str) -> str:
    known = {(at := address(index, arch)): f"{{}}\n\t/*{at:04x}*/ {_pointed(line, labels)} ;" for index, line in enumerate(lines)}
    for place, entry in known.items():
        known[place] = entry.format("".join(f"\n{label}:" for label, at in labels.items() if at == place))
    types = "".join(f"\t.type {name},@function\n" for name in (KERNEL, *functions))
    return (
        f'\t.headerflags @"EF_CUDA_{arch.replace("_", "").upper()}"\n\t.section .text.{KERNEL},"ax",@progbits\n{types}'
        f"\t.size {KERNEL},(.L_end - {KERNEL})\n.text.{KERNEL}:\n{''.join(known.values())}\n.L_end:\n"
    )


def _pointed(line: str, labels: dict[str, int]) -> str:
    """Return the instruction as nvdisasm prints it: labels quoted, a jump table as a note."""
    text, _, table = line.partition(" -> ")
    for label in labels:
        text = re.sub(rf"(?<=\s){label}$", f"`({label})", text)
    return text + (f' (*"BRANCH_TARGETS {",".join(table.split(", "))}"*)' if table else "")


def _cuobjdump(lines: list[str], labels: dict[str, int], functions: list[str], arch: str) -> str:
    assert not functions, "cuobjdump names one function per section"
    out = [f"\tcode for {arch}\n\t\tFunction : {KERNEL}\n"]
    for index, line in enumerate(lines):
        for label, at in labels.items():
            line = re.sub(rf"(?<=\s){label}$", hex(at), line)  # noqa: PLW2901 - one label after the other
        out.append(f"\t/*{address(index):04x}*/ {line} ;\n")
    return "".join([*out, "\t\t..........\n"])


def agreed(code: Code, label: str, graph: WarpCfg | None = None) -> str:
    """Return the warp-uniform registers at the start of a block, in all contexts."""
    nodes = [node for node in (graph or code.graph()).nodes if node.start == code.labels[label]]
    assert nodes, label
    common = nodes[0].agreement
    for node in nodes:
        common &= node.agreement
    return " ".join(names(common))
