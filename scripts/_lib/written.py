"""Tables that are written whole or not at all."""

import io
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from sassan.files import write


@contextmanager
def written(path: Path) -> Generator[TextIO]:
    """Take the text of a file, and write it at the end of the block: an interrupt or a full disk leaves the old file, or none."""
    text = io.StringIO(newline="")
    yield text
    write(path, text.getvalue().encode())
