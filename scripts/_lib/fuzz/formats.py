"""All formats by name, and the kept inputs of each."""

import os
import tempfile
from pathlib import Path

from _lib.fuzz import command_lines, documents, listings, programs, surroundings
from _lib.fuzz.format import Format
from _lib.fuzz.run import Finding, checked, corpus

_KINDS = (listings, programs, documents, command_lines, surroundings)
FORMATS = {form.name: form for kind in _KINDS for form in kind.FORMATS}


def replay(form: Format, of: int = 1) -> list[Finding]:
    """The findings of every `of`-th of the kept inputs, in this process; each is read by the first command of its format."""
    out: list[Finding] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="sassan-fuzz-") as folder:
        os.chdir(folder)
        try:
            for path in corpus(form)[::of]:
                data = path.read_bytes()
                wrong, _, _ = checked(form, data, 0, None)
                out += [Finding(form.name, -1, f"{path.name}: {wrong}", data)] if wrong else []
        finally:
            os.chdir(before)
    return out
