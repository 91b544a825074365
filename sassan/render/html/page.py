"""The page: a self-contained HTML file with its style, its script and its data.

Names and texts of the input are untrusted. The file contains them only inside JSON without `<`, `>` and `&`, or packed;
the script writes them as text and never as markup; the policy of the page allows no other script and no network access.
"""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from sassan.names import brief, readable, short_names, visible
from sassan.render.html.ends import ends
from sassan.render.html.look import legend, style

_SCRIPTS = (
    *("dom", "data", "format", "virtual", "list", "sequence", "overview", "kernel", "code", "timeline", "estimate"),
    *("fold", "graph", "map", "view", "block", "overview_chart", "charts", "keys", "live", "main"),
)
_HEAD = 100
"""Characters of a name over a function."""
_MARK = re.compile(r"\{\{(\w+)\}\}")
_SUMMARY = ("name", "arch", "file", "instructions", "blocks", "edges", "divergent_branches", "reactivation_edges")


@dataclass(frozen=True, slots=True)
class Page:
    """The plain data of a page: `functions` as `AnalysisFields` with `graph` and `search`, `refused` as `RefusedFields`.

    `sources` are lines of text by `file:name`: of an input, and of a source of its functions (their key `code`). A page with a `version` is
    one of a local server, which it asks for newer ones; it shows a function of a refused input as it was before.
    """

    title: str
    tool: Mapping[str, Any]
    functions: Sequence[Mapping[str, Any]]
    refused: Sequence[Mapping[str, Any]] = ()
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    version: str | None = None
    spell: Callable[[str], str] = readable
    """How the name of a function is shown; its name in the input stays beside it."""
    sequence: Mapping[str, Any] | None = None
    """The launches of a program, as `sequence.document`."""


def html(page: Page) -> str:
    """Return the page as plain ASCII; the same data gives the same text."""
    sheet = _part("style.css") + style()
    script = joined_script()
    head = {
        "title": page.title,
        "tool": page.tool,
        "legend": legend(),
        "refused": list(page.refused),
        "functions": _summaries(page),
        "sources": {name: at for at, name in enumerate(page.sources)},
        "version": page.version,
        "sequence": _sequence(page),
    }
    parts = {
        "policy": _policy(sheet, script, asks=page.version is not None),
        "title": escape(visible(page.title)).encode("ascii", "xmlcharrefreplace").decode(),
        "style": sheet,
        "data": _data(head),
        "details": "\n".join([*_details(page), *_sources(page.sources)]),
        "script": script,
    }
    return _MARK.sub(lambda match: parts[match[1]], _part("template.html"))


def _part(name: str) -> str:
    return files("sassan.render.html").joinpath(name).read_text("utf-8")


def joined_script() -> str:
    """Return the script of a page."""
    parts = "\n".join(_part(f"script/{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _policy(sheet: str, script: str, *, asks: bool) -> str:
    """Return the content security policy: only these two texts, no address but that of the page's own server; the icon is data."""
    texts = f"style-src '{_hash(sheet)}'; script-src '{_hash(script)}'" + ("; connect-src 'self'" if asks else "")
    return f"default-src 'none'; {texts}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _summaries(page: Page) -> list[dict[str, Any]]:
    """Return the entries of the list of functions; `where` is the end of the path that distinguishes functions of one name."""
    places, heads = _places(page.functions), _heads(page)
    return [
        {**_summary(function), "shown": page.spell(function["name"]), "head": heads[function["name"]], "where": place}
        for function, place in zip(page.functions, places, strict=True)
    ]


def _heads(page: Page) -> Mapping[str, str]:
    """Return what stands over each function, and for it in lists: its name, of a long one as much as distinguishes it from the others."""
    short = short_names(dict.fromkeys(function["name"] for function in page.functions), _HEAD)
    return {name: text if page.spell(name) == readable(name) else page.spell(name) for name, text in short.items()}


def _places(functions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what distinguishes each function from others of its name: the end of its file, its launch; '' for a unique one."""
    named = [(function["name"], function["file"]) for function in functions]
    alike = Counter(named)
    launches = [function.get("launch", "") if alike[name] > 1 else "" for name, function in zip(named, functions, strict=True)]
    return [", ".join(filter(None, pair)) for pair in zip(ends(named), launches, strict=True)]


def _sequence(page: Page) -> Mapping[str, Any] | None:
    """Return the launches of a program with the names of their kernels: without parameters, where these distinguish none."""
    if page.sequence is None:
        return None
    kernels = dict.fromkeys(row["kernel"] for row in page.sequence["launches"])
    short = {kernel: brief(kernel) if page.spell(kernel) == readable(kernel) else page.spell(kernel) for kernel in kernels}
    alike = Counter(short.values())
    shown = {kernel: name if alike[name] == 1 else page.spell(kernel) for kernel, name in short.items()}
    return {**page.sequence, "launches": [{**row, "shown": shown[row["kernel"]]} for row in page.sequence["launches"]]}


def _summary(function: Mapping[str, Any]) -> dict[str, Any]:
    makespan = function["makespan"]
    return {
        **{key: function[key] for key in _SUMMARY},
        "loops": len(function["loops"]),
        "wcet": function["wcet"]["value"],
        "status": function["wcet"]["status"],
        "warps": makespan["warps"] if makespan else None,
        "makespan": makespan["upper"] if makespan else None,
        "gaps": sorted({gap["code"] for gap in function["gaps"]}),
        "gap_count": len(function["gaps"]),
        **_assumptions(function),
    }


def _assumptions(function: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the assumptions of a function's bounds, each once, and what backs each; empty without bounds."""
    makespan = function["makespan"] or {}
    several = (makespan, makespan.get("partition"), function["grid"])
    wcet = function["wcet"]
    bounded = wcet["value"] is not None or wcet["status"] == "experiment"
    bounds = [*([wcet] if bounded else ()), *(bound for bound in several if bound and bound["upper"] is not None)]
    kinds = dict(pair for bound in bounds for pair in zip(bound["assumptions"], bound["assumption_kinds"], strict=True))
    return {"assumptions": list(kinds), "assumption_kinds": list(kinds.values())}


def _data(value: object) -> str:
    """Return JSON for a script element: no character of it can end the element, or a line."""
    text = json.dumps(_shown(value), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _details(page: Page) -> list[str]:
    heads = _heads(page)
    return [
        _packed(
            f"detail-{at}", {**function, **_assumptions(function), "shown": page.spell(function["name"]), "head": heads[function["name"]]}
        )
        for at, function in enumerate(page.functions)
    ]


def _sources(sources: Mapping[str, Sequence[str]]) -> list[str]:
    return [_packed(f"source-{at}", [line.expandtabs(4) for line in lines]) for at, lines in enumerate(sources.values())]


def _packed(name: str, value: object) -> str:
    # Without a timestamp: the same data gives the same bytes.
    text = json.dumps(_shown(value), separators=(",", ":"))
    data = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f'<script type="text/plain" id="{name}">{data}</script>'


def _shown(value: object) -> object:
    """Return the value with printable texts: control characters and direction overrides are escaped."""
    match value:
        case str():
            return visible(value)
        case Mapping():
            return {visible(str(key)): _shown(item) for key, item in value.items()}
        case Sequence():
            return [_shown(item) for item in value]
        case _:
            return value
