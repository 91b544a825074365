"""`sassan measure --assumptions`: the program that measures a target, and its answers as the GPU file of the board."""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path

from sassan.app import documents
from sassan.app.reading import read_gpu, read_text
from sassan.cli.output import csv as sheet
from sassan.cli.output import table
from sassan.cli.output.files import check_writable, extension, save
from sassan.cli.output.terminal import note, out, safe
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.measure.target import answers, program
from sassan.measure.target.board import TargetRow, board, rows, source
from sassan.measure.target.fields import TargetRowFields
from sassan.products import Product

_HINT = "sassan measure --assumptions --gpu NAME -o measure.cu, and with its answers: … --assumptions answers.toml --gpu NAME -o board.toml"


def measure_target(
    files: Sequence[str], gpu: str | None, output: str | None, others: Mapping[str, object], *, csv: bool, json: bool, quiet: bool
) -> None:
    """Write the program for a product, or read its answers; `others` are options that have no effect here.

    Raises UsageError, InputError `bad-answers`.
    """
    option = next((name for name, value in others.items() if value not in (None, False)), None)
    if option is not None:
        raise UsageError("usage", f"{option} has no effect on --assumptions", hint=_HINT)
    if len(files) > 1:
        raise UsageError("usage", "the answers of a target are one file", hint=_HINT)
    if gpu is None:
        raise UsageError("usage", "--assumptions needs the product that is measured: --gpu NAME", hint=_HINT)
    product = read_gpu(gpu)
    if files:
        _read(files[0], product, output, csv=csv, json=json, quiet=quiet)
    else:
        _write(product, output, csv=csv, json=json, quiet=quiet)


def _write(product: Product, output: str | None, *, csv: bool, json: bool, quiet: bool) -> None:
    """Write the program, or print it."""
    if csv or json:
        raise UsageError("usage", "--csv and --json print what was measured, and no answers are given", hint=_HINT)
    if output is None:
        out(program.program(product))
        return
    extension(output, ("cu",))
    save(output, program.program(product).encode(), quiet=quiet)
    if not quiet:
        line = program.compile_line(product, Path(output).name)
        note(f"on the target: {safe(line)} && ./measure > answers.toml\n")


def _read(file: str, product: Product, output: str | None, *, csv: bool, json: bool, quiet: bool) -> None:
    """Print what was measured, and write the GPU file."""
    if output is not None:
        extension(output, ("toml",))
        check_writable(output, (file,))
    known = answers.read(file, read_text(file, answers.FORMAT.code, answers.FORMAT.hint), product)
    measured = rows(product, known)
    if output is not None:
        save(output, board(product, known, f"{product.name}, {Path(output).stem}").encode(), quiet=quiet)
    if json:
        whole = {**documents.tool(), "source": source(known), "figures": [document(TargetRowFields, row) for row in measured]}
        out(dumps(whole, indent=2) + "\n")
    elif csv:
        sheet.of_fields(TargetRowFields, measured)
    elif not (quiet and output is not None):
        _show(known, measured)


def _show(known: answers.TargetAnswers, measured: Sequence[TargetRow]) -> None:
    out(f"{safe(source(known))}\n")
    table.show(table.of_fields(TargetRowFields, measured))
    cpu, graph = known.figures["cpu_gb_per_s"], known.figures["between_in_graph_us"]
    out(
        f"\ndram_share: what the CPU left while its cores moved {cpu.median:.3g} GB/s; --dram-share says otherwise for one command\n"
        f"between launches of a graph: {graph.most:.4g} us at most\n"
    )
    refuted = [row.figure for row in measured if row.verdict == "refuted"]
    if refuted:
        out(f"worse than was taken for granted: {', '.join(refuted)}\n")
