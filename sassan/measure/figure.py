"""Drawing a figure with matplotlib into the bytes of a file."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from sassan.errors import MissingToolError
from sassan.extras import install

Axes = Any
"""Axes of matplotlib, an optional extra whose types may be missing."""
FORMATS = ("svg", "png")
MANY_POINTS = 3000
"""With more points, a vector file contains them as a bitmap."""


def render_figure(form: str, size: tuple[float, float], draw: Callable[[Axes], None]) -> bytes:
    """Return the figure that `draw` makes, as `svg` or `png`; equal figures give equal bytes. Units: `size` in inches.

    Raises MissingToolError `missing-extra` without matplotlib.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415 - an optional extra  # pyright: ignore[reportMissingImports]
        from matplotlib.figure import Figure  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingToolError("missing-extra", "pictures need matplotlib", hint=install("plots")) from error
    with rc_context({"svg.hashsalt": "sassan", "font.family": "DejaVu Sans", "axes.unicode_minus": False}):
        figure: Axes = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        out = BytesIO()
        figure.savefig(out, format=form, dpi=120, metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()
