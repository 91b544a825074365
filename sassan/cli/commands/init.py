"""`sassan init`: a project file for what is given."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sassan.app import new_project
from sassan.app.builds.build import build_of
from sassan.app.document_fields import ProfiledFields
from sassan.app.inputs import RequestObserver
from sassan.app.project import NAME
from sassan.app.request import AnalysisRequest
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import document
from sassan.cli.output.files import check_writable, save
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import note, safe
from sassan.errors import UsageError
from sassan.fields import field as fields
from sassan.launches import Launches

ProjectOutput = Annotated[str, typer.Option("-o", "--output", metavar=NAME, help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file, and the baseline beside it.")]


@analysis
def init(command: AnalysisCommand, *, output: ProjectOutput = NAME, overwrite: Overwrite = False) -> None:
    """Write a project file with options of other commands.

    The files are analyzed under the options that are given; these, the files, and the gates that pass today are written down, what does
    not pass as a comment that says why. The results become the baseline beside it: of every function the bound, registers, instructions,
    local memory, accesses and divergent branches. 'sassan check' alone then holds later builds to both.

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
    if "-" in command.request.files:
        raise UsageError("standard-input", "a project cannot read standard input", hint="name the files")
    check_writable(output)
    request, kept = _kept(command)
    build = build_of(request, command.observer)
    if not build.inputs.refused:
        given = {name: value for name, value in command.given.items() if name != "launches" or request.recording is not None}
        text = new_project.text(request, given, build, path.parent, kept)
        save(path, text.encode(), quiet=command.observer.quiet)
        rows = [fields.document(ProfiledFields, result) for result in build.results]
        save(baseline, document.text(rows, ()).encode(), quiet=command.observer.quiet)
        unseen = new_project.unseen(build.results)
        if unseen and not command.observer.quiet:
            note(f"note: {safe(unseen)}\n")
    finish(build.inputs)


def _kept(command: AnalysisCommand) -> tuple[AnalysisRequest, Launches | None]:
    """Return the request, and the launches that stand in the project file: those of kernels that the inputs hold stay."""
    request, project = command.request, command.project
    if project is None or project.recording is None or request.recording is not project.recording:
        return request, None
    names = request.inputs(RequestObserver(), changed=True).names
    launches = tuple(launch for launch in project.recording.launches if launch.kernel in names)
    kept = replace(project.recording, launches=launches) if launches else None
    return replace(request, recording=kept), kept
