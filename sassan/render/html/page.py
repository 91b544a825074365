"""The page: one file of HTML with its style, its script and its data, which nothing outside is needed for.

Names and texts of the input are hostile. They stand in the file only inside JSON without `<`, `>` and `&`, or packed;
the script writes them as text and never as markup; the policy of the page lets no other script run and nothing be fetched.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from sassan.render.html.ends import ends
from sassan.render.html.look import legend, style
from sassan.render.text import visible

_SCRIPTS = ("dom", "data", "format", "list", "overview", "kernel", "graph", "map", "view", "block", "charts", "keys", "main")
_MARK = re.compile(r"\{\{(\w+)\}\}")
_SUMMARY = ("name", "arch", "file", "instructions", "blocks", "edges", "divergent_branches", "reactivation_edges")


@dataclass(frozen=True, slots=True)
class Page:
    """What a page holds, as plain data: `functions` as `documents.analysis` with `graph` and `search`, `refused` as `documents.refusal`."""

    title: str
    tool: Mapping[str, Any]
    functions: Sequence[Mapping[str, Any]]
    refused: Sequence[Mapping[str, Any]] = ()


def html(page: Page) -> str:
    """Return the page: plain ASCII; the same data gives the same text."""
    sheet = _part("style.css") + style()
    script = _script()
    head = {
        "title": page.title,
        "tool": page.tool,
        "legend": legend(),
        "refused": list(page.refused),
        "functions": _summaries(page.functions),
    }
    parts = {
        "policy": _policy(sheet, script),
        "title": escape(visible(page.title)).encode("ascii", "xmlcharrefreplace").decode(),
        "style": sheet,
        "data": _data(head),
        "details": "\n".join(_detail(at, one) for at, one in enumerate(page.functions)),
        "script": script,
    }
    return _MARK.sub(lambda found: parts[found[1]], _part("template.html"))


def _part(name: str) -> str:
    return files("sassan.render.html").joinpath(name).read_text("utf-8")


def _script() -> str:
    parts = "\n".join(_part(f"script/{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _policy(sheet: str, script: str) -> str:
    """Return the content security policy: only these two texts, no address whatever; the icon is data, so that none is asked for."""
    texts = f"style-src '{_hash(sheet)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {texts}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _summaries(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the list of functions shows; `where` is the end of the file that tells a function from others of its name."""
    places = ends([(one["name"], one["file"]) for one in functions])
    return [{**_summary(one), "where": place} for one, place in zip(functions, places, strict=True)]


def _summary(one: Mapping[str, Any]) -> dict[str, Any]:
    makespan = one["makespan"]
    return {
        **{key: one[key] for key in _SUMMARY},
        "loops": len(one["loops"]),
        "wcet": one["wcet"]["value"],
        "status": one["wcet"]["status"],
        "warps": makespan["warps"] if makespan else None,
        "makespan": makespan["upper"] if makespan else None,
        "gaps": sorted({gap["code"] for gap in one["gaps"]}),
        "gap_count": len(one["gaps"]),
        "assumptions": _assumptions(one),
    }


def _assumptions(one: Mapping[str, Any]) -> list[str]:
    """Return what the numbers of a function rest on; where there is none, nothing is assumed."""
    found = one["makespan"] or {}
    bounds = (found, found.get("partition"), one["grid"])
    said = [text for bound in bounds if bound and bound["upper"] is not None for text in bound["assumptions"]]
    wcet = one["wcet"]
    bounded = wcet["value"] is not None or wcet["status"] == "experiment"
    return list(dict.fromkeys([*(wcet["assumptions"] if bounded else ()), *said]))


def _data(value: object) -> str:
    """Return JSON that can stand inside a script element: no character of it can end one, or a line."""
    text = json.dumps(_shown(value), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _detail(at: int, one: Mapping[str, Any]) -> str:
    return f'<script type="text/plain" id="detail-{at}">{_packed(one)}</script>'


def _packed(one: Mapping[str, Any]) -> str:
    # Without a time of day: the same data gives the same bytes.
    text = json.dumps(_shown({**one, "assumptions": _assumptions(one)}), separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _shown(value: object) -> object:
    """Return the same with every text fit to be shown: what is not printable (controls, overrides of the direction) is spelled out."""
    match value:
        case str():
            return visible(value)
        case Mapping():
            return {visible(str(key)): _shown(one) for key, one in value.items()}
        case Sequence():
            return [_shown(one) for one in value]
        case _:
            return value
