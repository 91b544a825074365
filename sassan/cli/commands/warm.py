"""`sassan warm`: compile the searches ahead of their first use."""

from sassan.app.warm import SEARCHES
from sassan.app.warm import warm as compile_all
from sassan.cli.options.inputs import Quiet
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import out


def warm(*, quiet: Quiet = False) -> None:
    """Compile the searches, once after an installation.

    'makespan' and 'estimate' compile each search at its first use, which takes up to 20 seconds; after this command none does. The machine
    code is kept beside the package, or in the cache folder of the user where that cannot be written. No limit on time counts compilation.

    \b
    Examples:
      sassan warm
    """
    names = list(track(compile_all(), "compiling", quiet=quiet, total=len(SEARCHES)))
    if not quiet:
        out(f"compiled: {', '.join(names)}\n")
