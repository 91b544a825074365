"""The tutorial as a list of commands, each with what it is said to print."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "README.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"^```(console|python|sh)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(text for kind, text in BLOCKS if kind == "console"), re.MULTILINE)
PYTHON = "".join(text for kind, text in BLOCKS if kind == "python")
OWN = "".join(re.findall(r"^```cuda\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
"""The source that a reader saves as own.cu."""
INSTALL, COMPILE = (text for kind, text in BLOCKS if kind == "sh")


def matches(shown: str, printed: str) -> bool:
    """Say whether the text of the page is what was printed; `…` stands for anything, on a line of its own for any lines."""
    lines = shown.splitlines(keepends=True)
    pattern = "".join("(?:.*\n)*?" if line == "…\n" else re.escape(line).replace("…", ".*") for line in lines)
    return re.fullmatch(pattern, printed) is not None
