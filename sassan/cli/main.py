"""The command `sassan`: its commands, what every exit status means, and the last stop of every error."""

import difflib
import os
import re
import sys
import warnings
from typing import Annotated

import typer

from sassan import __version__
from sassan.cli.group import LazyGroup
from sassan.cli.output import failure, terminal
from sassan.collector import collect_rarely
from sassan.errors import SassanError, SelfCheckError, StorageError, UsageError, is_full, no_space
from sassan.system.termination import terminations

_USAGE = UsageError.status
_INTERNAL = SelfCheckError.status
_INTERRUPTED = 130
_TRACEBACK = "SASSAN_TRACEBACK"

_LIMITS = re.compile(r"Input should be (greater|less) than or equal to (-?[\d.]+)")
"""How the parser of options speaks of a number that is too small or too large."""
_SAID = {"greater": "of at least", "less": "of at most"}

_EPILOG = """Exit status: 0 done; 1 a limit, a deadline or a comparison failed; 2 usage; 3 the input was refused, or a function named
with -f ('*' names all) has gaps that forbid the number asked for; 4 a needed tool, or space to write, is
missing; 5 internal self-check failed."""

app = typer.Typer(
    name="sassan",
    cls=LazyGroup,
    help="""Static timing analysis of NVIDIA GPU machine code (SASS).

    From a cubin, a SASS listing, PTX or CUDA source to warp-level control-flow graphs, kernel strings, bounds of the worst-case
    execution time (WCET) of a warp, an SM and a launch, and estimates of a launch. What cannot be bounded is listed as a gap, with its
    address.

    \b
    Examples:
      sassan analyze kernels.sass
      sassan analyze kernels.cubin
      cuobjdump -sass a.out | sassan analyze - --loop-bound 10 -W 16
      sassan cfg kernels.sass -f saxpy -o saxpy.svg
      sassan estimate kernels.cubin --gpu T4 --block-dim 256 --grid 4096
      sassan doctor
    """,
    epilog=_EPILOG,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        terminal.out(f"sassan {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,  # noqa: ARG001 - its callback acts
) -> None:
    if context.invoked_subcommand is None:
        terminal.out(context.get_help() + "\n")


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit status; every error has been printed."""
    terminal.prepare()
    command = typer.main.get_command(app)
    warnings.showwarning = failure.warn
    try:
        status = command.main(args=arguments, prog_name="sassan", standalone_mode=False)
    except SassanError as error:
        failure.show(error)
        return error.status
    except typer.TyperException as error:
        failure.show(_usage(error))
        return _USAGE
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last stop: what a defect raises becomes one line and a status, never a traceback
        return _last(error)
    return status if isinstance(status, int) else 0


def main() -> None:
    """Run the command line of this process."""
    collect_rarely()
    with terminations() as received:
        status = run(sys.argv[1:])
    sys.exit(received.status or status)


def _last(error: Exception) -> int:
    """Show what nothing else has made an error of: a disk that is full, or a defect. Return the status."""
    if is_full(error):
        name = getattr(error, "filename", None)
        failure.show(no_space(f"'{name}'" if name else "a file", error))
        return StorageError.status
    if os.environ.get(_TRACEBACK):
        raise error
    failure.show(_internal(error))
    return _INTERNAL


def _usage(error: typer.TyperException) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "sassan"
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    message = _LIMITS.sub(lambda limit: f"a number {_SAID[limit[1]]} {limit[2]} is needed", message)
    hint = f"{_similar(message)}'{path} --help' lists the options, with examples"
    return UsageError("usage", message[:1].lower() + message[1:], hint=hint)


def _similar(message: str) -> str:
    """Return a question for what was meant, where the message names a value and those that there are."""
    choice = re.search(r"'([^']*)' is not one of ((?:'[^']*'(?:, )?)+)", message)
    near = difflib.get_close_matches(choice[1], re.findall(r"'([^']*)'", choice[2]), n=1) if choice is not None else []
    return f"did you mean '{near[0]}'? " if near else ""


def _internal(error: Exception) -> SelfCheckError:
    message = f"{type(error).__name__}: {error}"
    hint = f"this is a defect of sassan {__version__}: report it with the input; {_TRACEBACK}=1 shows where it happened"
    return SelfCheckError("internal", message, hint=hint)
