"""Edited copies of files."""

from pathlib import Path


def edited(path: Path, target: Path, *edits: tuple[str, str]) -> Path:
    """Write a text with these replacements, each of an existing string, to `target`, which may be `path`; return `target`."""
    text = path.read_text("utf-8")
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    target.write_text(text, "utf-8")
    return target
