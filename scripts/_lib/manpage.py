"""Manual pages generated from the command: `sassan.1`, and a page per command, consistent with `--help`."""

import textwrap
from collections.abc import Iterator, Mapping

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from sassan import __version__
from sassan.cli import group
from sassan.cli.main import app
from sassan.cli.options.panels import Panel

Command = TyperCommand | TyperGroup

_STATUS = (
    ("0", "done; for analyze: every function has its numbers or lists its gaps"),
    (
        "1",
        "check: a gate failed; task: the deadline may be missed; validate: a measurement is above its bound; "  # noqa: ISC004
        "verify-certificate: it does not hold; listing --check, gpus --check, diff --fail-on-growth: a finding",
    ),
    ("2", "usage, or an output that cannot be written"),
    ("3", "an input was refused, or a function named with -f ('*' names all) has gaps that forbid the number asked for"),
    ("4", "an external tool or an extra is missing, and the message names the install command; or a disk is full, or a quota reached"),
    ("5", "an internal self-check failed: a defect of sassan"),
    ("130", "interrupted"),
)
_ENVIRONMENT = (
    ("CUDA_HOME, PATH", "where nvdisasm and cuobjdump are looked for"),
    ("SASSAN_ARCHITECTURES", "a folder of further architecture files"),
    ("SASSAN_CACHE", "where disassemblies and what is compiled are kept; not used where others may write it"),
    (
        "NUMBA_CACHE_DIR",
        "where compiled searches are kept, if no other user may write it; unset: beside the package, or in a cache of the user",
    ),
    ("NO_COLOR", "no colours, when it is set to anything"),
    ("COLUMNS", "the width of tables"),
    ("SASSAN_GPUS", "a folder of further products for --gpu"),
    ("SASSAN_NVCC", "the command that sassan-nvcc runs on what nvcc has compiled, with its options"),
    ("SASSAN_TRACEBACK", "show where an internal error was raised"),
)


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    command = typer.main.get_command(app)
    context = command.make_context("sassan", [], resilient_parsing=True)
    return dict(_pages("sassan", command, context))


def _pages(path: str, command: Command, context: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the page of a command, then those of the commands below it."""
    name = path.replace(" ", "-")
    below = {key: group.command(key) for key in group.SUMMARIES} if isinstance(command, TyperGroup) else {}
    arguments = [rf"\fI{_escaped(_spelled(parameter))}\fR" for parameter in command.params if parameter.param_type_name == "argument"]
    if below:
        arguments = [r"\fICOMMAND\fR", r"[\fIARGUMENT\fR]..."]
    body = [*_text(command.help), *_section("OPTIONS"), *_options(command, context)]
    if below:
        body += [
            *_section("COMMANDS"),
            *(line for key, subcommand in below.items() for line in _item(f"{name}-{key}(1)", _first(subcommand.help))),
        ]
    yield f"{name}.1", _page(name, _first(command.help).rstrip("."), [" ".join([rf"\fB{path}\fR [\fIOPTION\fR]...", *arguments])], body)
    for key, subcommand in below.items():
        yield from _pages(f"{path} {key}", subcommand, subcommand.make_context(key, [], parent=context, resilient_parsing=True))


def _spelled(argument: TyperArgument) -> str:
    return f"{argument.metavar}{'...' if argument.nargs == -1 else ''}"


def _page(name: str, summary: str, synopsis: list[str], body: list[str]) -> str:
    title = name.upper().replace("-", r"\-")
    lines = [
        f'.TH {title} 1 "" "sassan {__version__}" "User Commands"',
        ".SH NAME",
        rf"{_escaped(name)} \- {_escaped(summary)}",
        ".SH SYNOPSIS",
    ]
    lines += [*synopsis, ".SH DESCRIPTION", *body, *_section("EXIT STATUS")]
    lines += [line for status, meaning in _STATUS for line in _item(status, meaning)]
    lines += _section("ENVIRONMENT")
    lines += [line for variable, meaning in _ENVIRONMENT for line in _item(variable, meaning)]
    lines += [*_section("SEE ALSO"), r"\fBsassan\fR(1), \fBnvdisasm\fR, \fBcuobjdump\fR"]
    return "\n".join(lines) + "\n"


def _section(title: str) -> list[str]:
    return [f".SH {title}"]


def _item(term: str, text: str) -> list[str]:
    return [".TP", rf"\fB{_escaped(term)}\fR", _escaped(text)]


def of_papers() -> Mapping[str, list[TyperOption]]:
    """The options that `sassan experiment` adds to the help of a command."""
    command = group.command("analyze", papers=True)
    return {Panel.PAPERS: command.panels(command.make_context("analyze", [], resilient_parsing=True))[Panel.PAPERS]}


def _options(command: Command, context: typer.Context) -> Iterator[str]:
    papers = of_papers()[Panel.PAPERS] if command.name == "experiment" else []
    for parameter in [*command.get_params(context), *papers]:
        record = (
            parameter.get_help_record(context) if parameter.param_type_name == "option" else (_spelled(parameter), parameter.help or "")
        )
        if record:
            yield from _item(record[0], record[1])


def _first(text: str) -> str:
    return " ".join(text.split("\n\n", 1)[0].split())


def _text(text: str) -> Iterator[str]:
    r"""Yield the paragraphs of a help text; those behind a \b keep their lines."""
    for paragraph in textwrap.dedent(text).strip().split("\n\n"):
        yield ".PP"
        if not paragraph.startswith("\b"):
            yield _escaped(" ".join(paragraph.split()))
            continue
        title, *lines = paragraph.removeprefix("\b\n").split("\n")
        yield from (_escaped(title), ".PP", ".nf", *(_escaped(line) for line in lines), ".fi")


def _escaped(text: str) -> str:
    r"""Return a line of literal text for troff: no escape in it, no request at its start, and a `-` that can be copied."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("…", "...").replace("→", r"\(->")
    return rf"\&{plain}" if plain.startswith(".") else plain
