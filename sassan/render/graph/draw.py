"""DOT text to SVG, PNG or PDF, with the Graphviz in pygraphviz: no program `dot` is needed."""

import importlib.util
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import MissingToolError, SelfCheckError, UsageError
from sassan.system.processes import OWN, finish, module_command

FORMATS = ("dot", "svg", "png", "pdf")
_WORKER = Path(__file__).with_name("worker.py")
_TIP = re.compile(r'<a xlink:title="([^"]*)">')
_DATE = re.compile(rb"/CreationDate \(D:\d{14}")
_LARGEST = 1 << 30
"""Bytes of a drawing."""
_SCALED = re.compile(r"Scaling by ([0-9.]+)")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The bytes of a file; `notes` report a simpler layout or a picture that was scaled down."""

    data: bytes
    notes: tuple[str, ...] = ()


_LAYOUTS = (
    ("dot", ""),
    ("rows", "the full layout takes too long for this graph: drawn in rows, with straight edges and without boxes for loops"),
)
"""Layouts with their notes; each gets half of the time, the first 2 s of the processor. The second takes linear time (worker.py)."""


def draw(dot: str, form: str, *, seconds: float = 50.0) -> Drawing:
    """Return a drawing of DOT text as `svg`, `png` or `pdf` (`dot`: the text itself), in at most about `seconds`.

    When the full layout takes too long, a simpler one is drawn and noted. Raises UsageError `unknown-format`, or `layout-timeout` when no
    layout ends in time, and MissingToolError when pygraphviz is not installed.
    """
    if form not in FORMATS:
        raise UsageError(
            "unknown-format", f"cannot draw '{form}'", hint=f"use a file name that ends in {', '.join(f'.{suffix}' for suffix in FORMATS)}"
        )
    if form == "dot":
        return Drawing(dot.encode())
    if importlib.util.find_spec("pygraphviz") is None:
        raise MissingToolError("missing-extra", f"drawing {form} needs pygraphviz", hint="pip install pygraphviz, or write a .dot file")
    for layout, note in _LAYOUTS:
        drawing = _attempt(dot, form, layout, seconds / len(_LAYOUTS))
        if drawing is not None:
            return Drawing(drawing.data, (note, *drawing.notes)) if note else drawing
    raise UsageError(
        "layout-timeout", f"the layout did not finish within {seconds:g} s", hint="draw a single function, or write a .dot file"
    )


def _attempt(dot: str, form: str, layout: str, seconds: float) -> Drawing | None:
    done = finish(module_command(_WORKER, form, layout), program=OWN, given=dot.encode(), seconds=seconds, size=_LARGEST)
    if done.late or done.status == -getattr(signal, "SIGXCPU", 0) != 0:
        return None
    messages = done.messages.decode(errors="replace")
    if done.status != 0 or not done.output:
        raise SelfCheckError("layout-failed", f"Graphviz ended with status {done.status}: {_last_line(messages)}", hint="write a .dot file")
    scaled = _SCALED.search(messages)
    if scaled is None:
        return Drawing(_finish(done.output, form))
    return Drawing(
        _finish(done.output, form),
        (f"the picture is too large for {form} and was scaled by {float(scaled[1]):.2f}; .svg and .pdf keep every detail",),
    )


def _last_line(messages: str) -> str:
    lines = messages.split("\n")
    return next((line for line in reversed(lines) if line.strip()), "no message")


def _finish(data: bytes, form: str) -> bytes:
    match form:
        case "svg":
            return _native_tooltips(data.decode()).encode()
        case "pdf":
            # The same input gives the same bytes: no time of day in the file. The length stays, since offsets follow.
            return _DATE.sub(b"/CreationDate (D:19700101000000", data)
        case _:
            return data


def _native_tooltips(svg: str) -> str:
    """Return the SVG with tooltips as `title` elements, which every viewer shows, in place of links that lead nowhere."""
    # Every no-break space is Graphviz' form of a repeated blank (text.py escapes any other): copied text should contain blanks.
    return _TIP.sub(r"<g><title>\1</title>", svg).replace("</a>", "</g>").replace("&#160;", " ")
