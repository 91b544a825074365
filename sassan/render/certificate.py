"""A certificate as a page that prints: one column, no script, nothing fetched; untrusted text stays text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from html import escape
from math import ceil, floor
from typing import Any

from sassan.fields.kinds import plain
from sassan.names import brief, visible
from sassan.render import palette

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 14px/1.45 {font}; color: {text}; background: {paper}; max-width: 62em; margin: 2em auto; padding: 0 1.5em; }}
h1 {{ font-size: 1.6em; margin: 0 0 0.2em; }}
h2 {{ font-size: 1.15em; margin: 2em 0 0.5em; border-bottom: 1px solid #bbbbbb; break-after: avoid; }}
p {{ margin: 0.4em 0; }}
.verdict {{ border: 2px solid; border-radius: 4px; padding: 0.6em 1em; margin: 1em 0; font-size: 1.1em; }}
.met {{ border-color: #00664a; }}
.missed {{ border-color: {gap}; color: {gap}; }}
.muted {{ color: {muted}; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.92em; }}
th, td {{ text-align: left; padding: 0.25em 0.8em 0.25em 0; border-bottom: 1px solid #dddddd; vertical-align: top; }}
td {{ overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }}
th.n, td.n {{ text-align: right; white-space: nowrap; }}
th.s, td.s {{ white-space: nowrap; }}
tr {{ break-inside: avoid; }}
thead {{ display: table-header-group; }}
code {{ font-family: {mono}; font-size: 0.88em; }}
svg {{ max-width: 100%; height: auto; break-inside: avoid; }}
@media print {{
  @page {{ size: A4; margin: 16mm 14mm; }}
  body {{ font-size: 10pt; max-width: none; margin: 0; padding: 0; }}
}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def html(document: Mapping[str, Any], gantt: str, tornado: str) -> str:
    """Return the page of a certificate with these two charts, as SVG."""
    title = f"Certificate: {document['task']['name'] or document['task']['program'] or 'response time'}"
    return _PAGE.format(
        title=_text(title),
        font=palette.FONT,
        mono=palette.MONO,
        text=palette.TEXT,
        muted=palette.MUTED,
        paper=palette.PAPER,
        gap=palette.GAP,
        body="\n".join(_body(document, gantt, tornado, title)),
    )


def _body(document: Mapping[str, Any], gantt: str, tornado: str, title: str) -> Iterator[str]:
    task, product = document["task"], document["product"]
    yield f"<h1>{_text(title)}</h1>"
    tool, versions = document["tool"], document["versions"]
    made = f"{tool['name']} {tool['version']}, Python {versions['python']} on {versions['machine']}"
    yield f'<p class="muted">{_text(product["name"])} ({_text(product["architecture"])}); made by {_text(made)}</p>'
    yield _verdict(task)
    if task["period_us"]:
        part = Fraction(task["bound_us"]) / Fraction(task["period_us"])
        yield f"<p>Period {plain(float(Fraction(task['period_us'])))} us, of which the bound takes {float(part):.1%}.</p>"
    yield f"<p>{'; '.join(map(_text, task['conditions']))}.</p>"
    yield f"<p>Check this page against its data: <code>sassan verify-certificate</code>, {_text(document['digest'])}</p>"
    yield "<h2>The sequence</h2>"
    yield gantt
    yield "".join(_sequence(document))
    yield "<h2>What moves the bound</h2>"
    yield tornado
    yield "<h2>Figures of the GPU</h2>"
    yield _figures(product)
    yield "<h2>Inputs</h2>"
    rows = [(each["role"], each["name"], str(each["bytes"]), each["sha256"]) for each in document["inputs"]]
    yield _table(("role", "file", "bytes", "SHA-256"), rows, numbers={2}, code={3})
    counts = {status: sum(each["status"] == status for each in document["assumptions"]) for status in _statuses(document)}
    yield f"<h2>Assumptions ({len(document['assumptions'])}: {', '.join(f'{count} {name}' for name, count in counts.items())})</h2>"
    yield "<p>The bound holds where all of them do. Each has what backs it, and how to check it.</p>"
    yield from _assumptions(document)
    yield "<h2>Integer programs</h2>"
    yield (
        "<p>Their texts, solutions and multipliers are in the JSON beside this page; any solver that reads the LP format solves them "
        "again (glpsol --lp, cbc, highs). A bound is made of optima as docs/proofs/grid-bound.md and docs/proofs/gpu-memory.md say.</p>"
    )
    yield _programs(document)


def _verdict(task: Mapping[str, Any]) -> str:
    bound = f"response time at most {_up(task['bound_us'])} us"
    if task["deadline"] == "none":
        return f'<div class="verdict">{bound}; no deadline is given</div>'
    due = plain(float(Fraction(task["deadline_us"])))
    if task["deadline"] == "met":
        return f'<div class="verdict met">Deadline {due} us is met: {bound}, slack {_down(task["slack_us"])} us</div>'
    late = _up(str(-Fraction(task["slack_us"])))
    return f'<div class="verdict missed">Deadline {due} us may be missed: {bound}, {late} us too late</div>'


def _sequence(document: Mapping[str, Any]) -> Iterator[str]:
    if document["task"]["mode"] == "interfered":
        yield from _overlapping(document)
        return
    whole, end = Fraction(document["task"]["bound_us"]), Fraction(0)
    rows: list[tuple[str, ...]] = []
    for step in document["steps"]:
        bound = Fraction(step["bound_us"])
        end += bound
        launch = document["launches"][step["launch"]]
        kernel = Fraction(launch["cycles"], document["product"]["clock_mhz"])
        rows.append((
            brief(step["kernel"]),
            "x".join(map(str, step["grid"])),
            "x".join(map(str, step["block"])),
            str(step["count"]),
            _up(str(kernel)),
            _up(str(bound - step["count"] * kernel)),
            f"{float(bound / whole):.1%}",
            _up(str(end)),
        ))  # fmt: skip
    yield _table(("kernel", "grid", "block", "count", "kernel us", "beside it us", "share", "ends by us"), rows, numbers={3, 4, 5, 6, 7})
    yield (
        '<p class="muted">Beside a kernel: the time between launches, copies, and what earlier work leaves in L2 to be written back.</p>'
    )


def _overlapping(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what launches add that may overlap, and the other tasks."""
    whole = Fraction(document["task"]["bound_us"])

    def row(step: Mapping[str, Any], runs: int, task: str) -> tuple[str, ...]:
        bound, shape = runs * Fraction(step["bound_us"]), ("x".join(map(str, step[key])) for key in ("grid", "block"))
        return brief(step["kernel"]), *shape, str(runs * step["count"]), _up(str(bound)), f"{float(bound / whole):.1%}", task

    rows = [row(step, 1, "") for step in document["steps"]]
    for other in document["others"]:
        rows += [row(step, other["runs"], other["name"]) for step in other["steps"]]
    yield _table(("kernel", "grid", "block", "count", "adds us", "share", "of another task"), rows, numbers={3, 4, 5})
    proof = "docs/proofs/overlapping-launches.md"
    yield f'<p class="muted">Launches overlap in any order; each adds to the time in which all of them end ({proof}).</p>'
    if document["others"]:
        tasks = [
            (other["name"], *(_up(other[key]) for key in ("period_us", "response_us")), str(other["runs"]), _up(other["bound_us"]))
            for other in document["others"]
        ]
        yield _table(("other task", "period us", "its response us", "runs meanwhile", "they add us"), tasks, numbers={1, 2, 3, 4})


def _figures(product: Mapping[str, Any]) -> str:
    shown = {
        "sms": ("SMs", str(product["sms"])),
        "boost_clock": ("clock", f"{product['clock_mhz']} MHz"),
        "dram_bandwidth": ("DRAM, for the GPU", f"{float(Fraction(product['dram_bytes_per_us'])) / 1000:.4g} GB/s"),
        "l2_size": ("L2", f"{product['l2_bytes'] // 1024} KiB"),
        "launch_us": ("launch overhead", f"{float(Fraction(product['launch_us'])):g} us"),
        "between_us": ("time between launches", f"{float(Fraction(product['between_us'])):g} us"),
        "block_cycles": ("dispatch of a block", f"{float(Fraction(product['dispatch_cycles'])):.3g} cycles"),
    }
    rows = [(name, value, product["sources"].get(key, "")) for key, (name, value) in shown.items()]
    share = Fraction(product["dram_share"])
    if share < 1:
        rows.append(("what others leave of DRAM", f"{float(share):.1%}", product["sources"].get("dram_share", "given by the user")))
    return _table(("figure", "value", "source"), rows, numbers={1}, whole={0})


def _statuses(document: Mapping[str, Any]) -> list[str]:
    order = ("assumed", "recorded", "published", "checked", "proved")
    known = {each["status"] for each in document["assumptions"]}
    return [status for status in order if status in known]


def _assumptions(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table for each status, the unverified ones first."""
    users = [set(launch["assumptions"]) for launch in document["launches"]]
    for status in _statuses(document):
        several = [(at, each) for at, each in enumerate(document["assumptions"]) if each["status"] == status]
        yield f"<p><b>{_text(status)}</b>: {_text(several[0][1]['check'])}</p>"
        rows = [(str(at + 1), each["text"], _used(document, users, at)) for at, each in several]
        yield _table(("no.", "assumption", "used by"), rows, numbers={0}, whole={2})


def _used(document: Mapping[str, Any], users: Sequence[set[int]], at: int) -> str:
    if at in document["task"]["assumptions"]:
        return "the sum"
    names = dict.fromkeys(brief(launch["kernel"]) for launch, used in zip(document["launches"], users, strict=True) if at in used)
    return "all kernels" if all(at in used for used in users) else ", ".join(names)


def _programs(document: Mapping[str, Any]) -> str:
    used: dict[int, list[str]] = {}
    for launch in document["launches"]:
        for name, several in launch["optima"].items():
            for each in several:
                used.setdefault(each["program"], []).append(f"{brief(launch['kernel'])}: {name.replace('_', ' ')}")
    rows = [
        (
            str(at),
            "; ".join(used.get(at, [])),
            str(each["value"] if each["scale"] == 1 else Fraction(each["value"], each["scale"])),
            str(each["lp"].count("\n")),
            "multipliers in the certificate" if each["proof"] == "dual" else "word of the solver",
        )
        for at, each in enumerate(document["programs"])
    ]
    return _table(("no.", "bounds", "optimum, cycles", "lines", "proof"), rows, numbers={0, 2, 3})


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: AbstractSet[int] = frozenset(),
    code: AbstractSet[int] = frozenset(),
    whole: AbstractSet[int] = frozenset(),
) -> str:
    """Return a table; columns of `numbers` stand to the right, cells of `code` in its font, and those of `whole` on one line."""
    kinds = [' class="n"' if at in numbers else ' class="s"' if at in whole else "" for at in range(len(heads))]
    head = "".join(f"<th{kind}>{_text(text)}</th>" for kind, text in zip(kinds, heads, strict=True))
    body = "".join(f"<tr>{''.join(_cells(row, kinds, code))}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _cells(row: Sequence[str], kinds: Sequence[str], code: AbstractSet[int]) -> Iterator[str]:
    for at, (kind, text) in enumerate(zip(kinds, row, strict=True)):
        shown = _text(text)
        yield f"<td{kind}>{f'<code>{shown}</code>' if at in code else shown}</td>"


def _up(us: str) -> str:
    return f"{ceil(Fraction(us) * 100) / 100:.2f}"


def _down(us: str) -> str:
    return f"{floor(Fraction(us) * 100) / 100:.2f}"


def _text(text: str) -> str:
    return escape(visible(text))
