"""A graph as GraphML, the XML that yEd, Gephi, Cytoscape and networkx read: the keys are those of `sassan cfg --json`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of XML 1.0 may hold."""
_END = "exit"
"""The node that stands for the end of the warp, as in `Graph.to_networkx`."""
_NAMES = frozenset({"id", "src", "dst"})
"""Keys of a document that GraphML has attributes for."""


def graphml(document: Mapping[str, Any]) -> str:
    """The GraphML text of a document of `sassan cfg --json`: a node per block, an edge per edge, lists as words, null as no value.

    Characters that XML cannot hold, such as those of a hostile name, become U+FFFD.
    """
    nodes, edges, loops = document["nodes"], document["edges"], {loop["head"]: loop["bound"] for loop in document["loops"]}
    blocks: list[dict[str, Any]] = [{**node, "loop_bound": loops.get(node["id"])} for node in nodes]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [*_keys("node", blocks), *_keys("edge", edges)]
    lines.append(f'  <graph id={_quoted(document["name"])} edgedefault="directed">')
    for block in blocks:
        lines += [f"    <node id={_quoted(block['id'])}>", *_data("node", block), "    </node>"]
    if any(edge["dst"] is None for edge in edges):
        lines.append(f'    <node id="{_END}"/>')
    for at, edge in enumerate(edges):
        ends = f"source={_quoted(edge['src'])} target={_quoted(edge['dst'] or _END)}"
        lines += [f'    <edge id="e{at}" {ends}>', *_data("edge", edge), "    </edge>"]
    return "\n".join((*lines, "  </graph>", "</graphml>")) + "\n"


def _keys(of: str, parts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The declarations of the values that parts of a graph have."""
    kinds: dict[str, str] = {}
    for part in parts:
        kinds.update({key: _kind(value) for key, value in part.items() if key not in _NAMES and value is not None})
    return [f'  <key id="{of}_{key}" for="{of}" attr.name="{key}" attr.type="{kind}"/>' for key, kind in sorted(kinds.items())]


def _kind(value: object) -> str:
    return "boolean" if isinstance(value, bool) else "long" if isinstance(value, int) else "string"


def _data(of: str, part: Mapping[str, Any]) -> list[str]:
    values = {key: value for key, value in part.items() if key not in _NAMES and value is not None}
    return [f'      <data key="{of}_{key}">{escape(_text(value))}</data>' for key, value in values.items()]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _NO_XML.sub("\ufffd", " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def _quoted(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", text))
