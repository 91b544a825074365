"""The pages of the reference that are made: from sassan itself (commands, errors, GPUs, architectures, the library), and from figures."""

import ast
import inspect
import itertools
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Unpack, get_args, get_origin, get_type_hints

import codes
import json_page
import silicon_page
import typer
from manpage import _ENVIRONMENT, _STATUS, of_papers

import sassan
from sassan.arch import files
from sassan.cli import group
from sassan.fields.field import Field, Record
from sassan.products import products

_HEAD = "<!-- made by scripts/docs: change the source that it names, not this page -->\n"
_DATA = Path(files.__file__).parent / "data"
_PLACES = ("l2", "returning", "reducing", "shared")
_WORDS = {"double": 8, "wide": 8}
"""Bytes of an operation, where they are not 4."""


def pages() -> Mapping[str, str]:
    """The text of each generated page, by its path below docs/."""
    return {
        "reference/commands.md": _commands(),
        "reference/error-codes.md": _errors(),
        "reference/gpus.md": _gpus(),
        "reference/architectures.md": _architectures(),
        "reference/api.md": _api(),
        "reference/silicon.md": silicon_page.page(_HEAD),
        **json_page.pages(_HEAD),
    }


def _commands() -> str:
    lines = ["# Commands", "", _HEAD, "`sassan COMMAND --help` prints the same.", ""]
    lines += _table(("command", ""), [(f"[`sassan {name}`](#sassan-{name})", text) for name, text in group.SUMMARIES.items()])
    lines += ["", "## Exit status", "", *_table(("status", "meaning"), _STATUS)]
    lines += ["", "An error goes to standard error, once: code, place, hint ([error codes](error-codes.md)).", "", "## Environment", ""]
    lines += _table(("variable", "meaning"), [(f"`{name}`", text) for name, text in _ENVIRONMENT])
    for name in group.SUMMARIES:
        lines += ["", *_command(name)]
    return "\n".join(lines) + "\n"


def _command(name: str) -> Iterator[str]:
    command = group.command(name)
    context = command.make_context(name, [], resilient_parsing=True)
    yield f"## sassan {name}"
    for paragraph in textwrap.dedent(command.help or "").strip().split("\n\n"):
        yield ""
        if paragraph.startswith("\b"):
            yield from ("```text", *paragraph.removeprefix("\b\n").split("\n"), "```")
        else:
            yield _cell(" ".join(paragraph.split()))
    panels = {**command.panels(context), **(of_papers() if name == "experiment" else {})}
    for heading, parameters in panels.items():
        yield ""
        yield from _table((heading.lower(), ""), [row for parameter in parameters for row in _option(parameter, context)])


def _option(parameter: typer.core.TyperArgument | typer.core.TyperOption, context: typer.Context) -> Iterator[tuple[str, str]]:
    if parameter.param_type_name == "argument":
        yield f"`{parameter.metavar}`", parameter.help or ""
    elif record := parameter.get_help_record(context):
        yield f"`{record[0]}`", record[1]


_SAID = {
    "arguments": "the arguments of a call do not fit the schema of its tool: …",
    "bad-declaration": "a declaration of PTX is not well formed: …, at the place that is printed",
    "facts-branch": "a fact of a branch does not fit its code: …",
    "internal": "a defect of sassan: the kind of the exception, and its text",
    "launch": "no GPU runs this launch: …",
    "restriction": "a restriction of a tuning space has no value: …",
    "text-differs": "the text of the instruction at 0x… contradicts its encoding, which has …",
    "worker-failed": "a worker ended by an exception: …",
}
"""What errors say whose messages stand elsewhere in the source."""

_REMEDIES = Path(__file__).with_name("error_remedies.toml")
_IN_A_FILE = "a key or a value of the file is not one that it may have; the message names it"
_DEFECT = "a defect of sassan: report it with the input"


def _errors() -> str:
    lines = [
        "# Error codes",
        "",
        _HEAD,
        "An error is printed as `error[CODE]: message`, with a place and a hint where there is one. `…` is what a message fills in.",
        "",
    ]
    rows: list[tuple[str, str, str, str]] = []
    remedies = tomllib.loads(_REMEDIES.read_text("utf-8"))
    for code, places in codes.errors().items():
        status = {str(place.status) for place in places if place.status is not None}
        # The message of a format of files is its hint.
        causes = dict.fromkeys(place.message for place in places if place.call != "Format" and place.message.strip("… :,'()"))
        formats = dict.fromkeys(place.message for place in places if place.call == "Format")
        hints = dict.fromkeys(place.hint for place in places if place.hint.strip("… :,'()"))
        cause = "; ".join(list(causes)[:2]) or _SAID.get(code) or (_IN_A_FILE if formats else "")
        remedy = "; ".join(list({**hints, **formats})[:2]) or remedies.get(code) or (_DEFECT if status == {"5"} else "")
        if not cause or not remedy:
            raise ValueError(f"{code}: no cause, or no remedy: give the error a hint, or a row in {_REMEDIES.name}")
        rows.append((f"`{code}`", ", ".join(sorted(status)) or "2 or 3", cause, remedy))
    lines += _table(("code", "status", "cause", "what to do"), rows)
    return "\n".join(lines) + "\n"


def _gpus() -> str:
    lines = [
        "# GPUs",
        "",
        _HEAD,
        "The products that `--gpu` knows. `sassan gpus NAME` prints each figure with its source; `sassan/products/data` holds the files.",
        "",
    ]
    rows = [
        (
            one.name,
            one.architecture,
            one.sms,
            one.boost_clock,
            one.dram,
            f"{one.dram_bandwidth:g}",
            one.l2_size or "-",
            f"{one.dram_efficiency:g}",
        )
        for one in products()
    ]
    lines += _table(("product", "architecture", "SMs", "boost MHz", "DRAM", "GB/s", "L2 KiB", "efficiency of DRAM"), rows)
    lines += ["", "## Sources", ""]
    lines += [f"* {text}" for text in sorted({text for one in products() for _, texts in one.sources for text in texts.split("; ")})]
    return "\n".join(lines) + "\n"


def _architectures() -> str:
    lines = ["# Architectures", "", _HEAD, "What each architecture file of `sassan/arch/data` says, and on whose word.", ""]
    described = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(_DATA.glob("*.toml"))}
    rows = [
        (
            f"`{name}`",
            file.get("generation") or file.get("extends", "-"),
            ", ".join(file.get("inherits", [])) or "-",
            ", ".join(sorted(set(file) & set(files.SECTIONS))),
        )
        for name, file in described.items()
    ]
    lines += _table(("file", "generation, or what it extends", "taken from another SM", "sections of its own"), rows)
    lines += ["", "## Latencies", "", "Cycles of a class that `--latency NAME=N` replaces.", ""]
    named = [(name, key, row) for name, file in described.items() for key, row in file.get("latencies", {}).get("cycles", {}).items()]
    rows = [(f"`{name}`", f"`{key}`", row.get("cycles", "-"), "assumed" if row.get("unsure") else _source(row)) for name, key, row in named]
    lines += _table(("file", "class", "cycles", "source"), rows)
    lines += ["", *_atomics(described)]
    lines += ["", "## Sources", ""]
    for name, file in described.items():
        if "sources" in file:
            lines += [f"**{name}**", "", *(f"* `{key}`: {_cell(text)}" for key, text in file["sources"].items()), ""]
    return "\n".join(lines).rstrip() + "\n"


def _atomics(described: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The rates of atomic operations that each file gives, for the four ways in which the lanes of a warp may lie to each other."""
    about = (
        "Cycles for which the operations of a warp keep the atomic units of L2 (`l2`: with and without a result), or the shared memory of "
        "an SM: where all 32 lanes are on one word, in as few sectors as they need, and in 32 lines. A file goes over what it extends; an "
        "operation without a row is a gap `no-rate`, and one that the whole system sees takes as many times as long as `system` says. "
        "`scripts/atomics` prints the rates of each architecture with a kernel that stands for each."
    )
    rows: list[tuple[object, ...]] = []
    for name, file in described.items():
        table = file.get("atomics", {})
        assert isinstance(table, dict)
        for place, kind, row in ((place, kind, row) for place, every in table.items() if place in _PLACES for kind, row in every.items()):
            word, sector = row["word"], row.get("sector", row["word"])
            accessed = 32 * _WORDS.get(kind, 4) // 32
            lanes = (32 * word, min(32 * word, accessed * sector), 32 * word) if place != "shared" else (32 * word, word, 32 * word)
            source = f"assumed ({_source(row)})" if row.get("unsure") else _source(row)
            rows.append((f"`{name}`", f"`{place}`", f"`{kind}`", word, sector, *lanes, f"{row['usual']:g}", source))
    heads = ("file", "place", "operation", "word", "sector", "32 on one word", "neighbours", "apart", "usual", "source")
    return ["## Atomic operations", "", about, "", *_table(heads, rows)]


def _api() -> str:
    about = "What `import sassan` offers; all else may change between versions. The [tutorial](../tutorial/README.md) shows it in use."
    lines, listed = ["# Python", "", _HEAD, about, ""], dict[type, str]()
    for name in sassan.__all__:
        value = getattr(sassan, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            lines += [f"## {name}", "", *_described(name, value, listed), ""]
            members = ((key, member) for key, member in _members(value).items() if not key.startswith("_"))
            lines += [*(line for key, member in members for line in _member(key, member)), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _members(value: type | FunctionType) -> Mapping[str, object]:
    """What a class defines, the fields that it inherits, and what classes of the library give it."""
    if not inspect.isclass(value):
        return {}
    records = [base for base in value.__mro__ if issubclass(base, Record)]
    of_library = [base for base in reversed(value.__mro__) if base.__module__.startswith("sassan.api.")]
    fields = {name: each for base in records for name, each in vars(base).items() if isinstance(each, Field)}
    return {**fields, **{name: each for base in of_library for name, each in vars(base).items()}, **vars(value)}


def _described(name: str, value: type | FunctionType, listed: dict[type, str]) -> list[str]:
    lines = [_cell(line) for line in (inspect.getdoc(value) or "").split("\n")]
    if inspect.isclass(value):
        return lines
    # Keywords that a TypedDict names are listed, not spelled as its class.
    signature = re.sub(r"\*<class '[\w.]*\.(\w+)'>", r"\1", str(inspect.signature(value)))
    return ["```python", f"{name}{signature}", "```", "", *lines, *_keywords(name, value, listed)]


def _keywords(name: str, function: FunctionType, listed: dict[type, str]) -> list[str]:
    """The keywords of a function that takes those of a TypedDict, each with the text below it; `listed` are those of functions before."""
    kinds = (get_args(hint)[0] for hint in get_type_hints(function).values() if get_origin(hint) is Unpack)
    lines: list[str] = []
    for kind in kinds:
        if kind in listed:
            lines += ["", f"`{kind.__name__}`: those of [{listed[kind]}](#{listed[kind]})."]
            continue
        listed[kind] = name
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        assert isinstance(body, ast.ClassDef)
        lines += ["", f"`{kind.__name__}`: {_cell(ast.get_docstring(body) or '')}", ""]
        for field, below in itertools.zip_longest(body.body, body.body[1:]):
            if isinstance(field, ast.AnnAssign):
                says = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
                text = f": {_cell(str(says))}" if says else ""
                lines.append(f"* `{ast.unparse(field.target)}: {ast.unparse(field.annotation)}`{text}")
    return lines


def _member(name: str, member: object) -> list[str]:
    text = inspect.getdoc(member) if isinstance(member, property | FunctionType | Field) else None
    return [f"* `{name}`: {_cell(text)}"] if text else []


def _source(row: Mapping[str, object]) -> str:
    source = row.get("source", "")
    return ", ".join(source) if isinstance(source, list) else str(source)


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]] | tuple[tuple[str, str], ...]) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in rows)]


def _cell(text: str) -> str:
    """A text as a cell of a table: no end of it, no end of the line, no tag."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;" if "`" not in text else "<").split())
