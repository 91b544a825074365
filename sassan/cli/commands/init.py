"""`sassan init`: a project file for what is given."""

from pathlib import Path
from typing import Annotated

import typer

from sassan.app import documents, new_project
from sassan.app.project import NAME
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import document
from sassan.cli.output.files import save
from sassan.cli.output.finish import finish
from sassan.errors import UsageError

ProjectOutput = Annotated[str, typer.Option("-o", "--output", metavar=NAME, help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file, and the baseline beside it.")]


@analysis
def init(asked: AnalysisCommand, *, output: ProjectOutput = NAME, overwrite: Overwrite = False) -> None:
    """Write a project file: what the other commands take from it.

    The files are analyzed under the options that are given; these, the files, and the gates that pass today are written down, what does
    not pass as a comment that says why. The results become the baseline beside it. 'sassan check' alone then holds later builds to both.

    \b
    Examples:
      sassan init build/kernels.cubin
      sassan init k.cubin --gpu T4 --block-dim 256 --grid 4096 --param n=1024
      sassan init a.out --gpu T4 --launches launches.toml
    """
    path = Path(output)
    baseline = path.with_name(new_project.BASELINE)
    for each in () if overwrite else (path, baseline):
        if each.exists():
            raise UsageError("exists", f"'{each}' exists", hint="pass --overwrite, or another name to -o")
    if "-" in asked.request.files:
        raise UsageError("standard-input", "a project cannot read standard input", hint="name the files")
    results, inputs = asked.request.results(asked.observer)
    if not inputs.refused:
        text = new_project.text(asked.request, asked.given, results, path.parent)
        save(path, text.encode(), quiet=asked.observer.quiet)
        rows = [documents.analysis(result) for result in results]
        save(baseline, document.text(rows, ()).encode(), quiet=asked.observer.quiet)
    finish(inputs)
