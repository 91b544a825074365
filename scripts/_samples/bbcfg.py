"""Golden: blocks and edges out of the DOT text of ``nvdisasm -novliw -bbcfg -poff``.

The text has one cluster per symbol, one record per basic block and one edge per line. An edge leaves a record through
the port ``exit0`` when its last instruction is a control instruction, and through ``entry`` when the block
ends only because the next one begins.
"""

import re
from dataclasses import dataclass, field

_CLUSTER = re.compile(r'^subgraph "cluster_(?P<name>.*)" \{$')
_NODE = re.compile(r'^"(?P<name>.*)"$')
_LABEL = re.compile(r'^\[label="(?P<text>.*)"\]$')
_EDGE = re.compile(r'^"(?P<src>.*)":(?P<port>\w+):\w+ -> "(?P<dst>.*)":entry:n \[style=solid\];$')
_OTHER = re.compile(r"^(node \[.*\];|digraph f \{|\}|)$")
_OFFSET = re.compile(r"^(?:[|{]|<\w+>)*([0-9a-f]{4,}):")

Block = tuple[str, str]


@dataclass(slots=True)
class _Kernel:
    """What is known of one kernel and of the functions that ptxas put behind it in the same section."""

    blocks: dict[str, Block] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)

    def golden(self) -> dict[str, list[list[str]]]:
        jumps = {(self.blocks[s][1], self.blocks[d][0]) for s, port, d in self.edges if port != "entry"}
        falls = {(self.blocks[s][1], self.blocks[d][0]) for s, port, d in self.edges if port == "entry"}
        return {
            "blocks": [list(block) for block in sorted(self.blocks.values())],
            "edges": [list(edge) for edge in sorted(jumps)],
            "falls": [list(edge) for edge in sorted(falls)],
        }


def _block(label: str) -> Block:
    """Return the addresses of the first and the last instruction of a record."""
    lines = label.split(r"\l")
    offsets = [int(match[1], 16) for line in lines if (match := _OFFSET.match(line))]
    return f"0x{offsets[0]:04x}", f"0x{offsets[-1]:04x}"


def bbcfg(dot: str) -> dict[str, dict[str, list[list[str]]]]:
    """Return per kernel: blocks (first, last), edges of control instructions (from, to), and plain falls (from, to).

    Clusters of device functions (their names start with ``$``) belong to the kernel before them.

    Raises:
        ValueError: a line that this reader does not understand.

    """
    kernels: dict[str, _Kernel] = {}
    kernel = _Kernel()
    node = ""
    for line in dot.splitlines():
        if match := _CLUSTER.match(line):
            if not match["name"].startswith("$"):
                kernel = kernels.setdefault(match["name"], _Kernel())
        elif match := _EDGE.match(line):
            kernel.edges.append((match["src"], match["port"], match["dst"]))
        elif match := _LABEL.match(line):
            kernel.blocks[node] = _block(match["text"])
        elif match := _NODE.match(line):
            node = match["name"]
        elif not _OTHER.match(line):
            message = f"nvdisasm -bbcfg: unknown line {line[:80]!r}"
            raise ValueError(message)
    return {name: kernels[name].golden() for name in sorted(kernels)}
