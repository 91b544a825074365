"""What a package carries beside the modules: the completion of a shell, and the manual pages."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from budget import PATIENCE, some
from cli.shell import ROOT
from sassan.cli.group import SUMMARIES, command

pytestmark = pytest.mark.slow

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
needs_command = pytest.mark.skipif(shutil.which("sassan", path=PATH) is None, reason="sassan is not installed as a command")


@pytest.fixture(scope="module")
def manpage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manpage", ROOT / "scripts" / "_lib" / "manpage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_command
@pytest.mark.parametrize(
    ("words", "completed"),
    some([("sassan analyze --model t", ["table"]), ("sassan mak", ["makespan"])]),
)
def test_bash_completes_a_command_line(words: str, completed: list[str]):
    script = f"""
        source <(_SASSAN_COMPLETE=source_bash sassan)
        COMP_WORDS=({words}); COMP_CWORD=$(({len(words.split())} - 1))
        _sassan_completion sassan; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(command, env={**os.environ, "PATH": PATH}, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", completed)


def test_the_group_needs_nothing_but_typer_to_name_its_commands():
    # Help and completion answer at once.
    script = "import sys, {}; print(*{{one.partition('.')[0] for one in sys.modules}} - set(sys.stdlib_module_names))"
    loaded = [
        subprocess.run([sys.executable, "-c", script.format(one)], capture_output=True, text=True, check=True)
        for one in ("typer", "sassan.cli.main")
    ]
    typers, ours = (set(one.stdout.split()) for one in loaded)
    assert ours - typers == {"sassan"}


def test_every_command_has_a_page_with_every_option(manpage: ModuleType):
    pages = manpage.pages()
    commands = {name: command(name) for name in SUMMARIES}
    assert {f"sassan-{name}.1" for name in commands} < set(pages)
    for name, one in commands.items():
        text = pages[f"sassan-{name}.1"].replace("\\-", "-")
        assert [
            option
            for parameter in one.params
            if not getattr(parameter, "hidden", False)
            for option in parameter.opts
            if option.startswith("--") and option not in text
        ] == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_of_a_command_is_the_first_sentence_of_its_help(name: str):
    assert (command(name).help or "").partition("\n\n")[0].replace("\n", " ") == SUMMARIES[name]


def test_pages_are_what_groff_reads(manpage: ModuleType, tmp_path: Path):
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    for name, text in manpage.pages().items():
        (tmp_path / name).write_text(text, "utf-8")
    done = subprocess.run([groff, "-man", "-Tutf8", "-ww", "-z", *sorted(tmp_path.iterdir())], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_text_of_a_page_is_no_request_to_troff(manpage: ModuleType):
    assert manpage._escaped(".so /etc/passwd \\*x -a") == "\\&.so /etc/passwd \\e*x \\-a"
