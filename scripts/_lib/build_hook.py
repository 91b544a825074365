"""Additional files of the wheel: manual pages and shell completions, generated from the command when the wheel is built."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_COMPLETIONS = {
    "bash": "share/bash-completion/completions/sassan",
    "zsh": "share/zsh/site-functions/_sassan",
    "fish": "share/fish/vendor_completions.d/sassan.fish",
}


class SharedFiles(BuildHookInterface[Any]):
    """Adds files under `share/`; an editable install has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files and register them with the builder."""
        if version == "editable":
            return
        sys.path[:0] = [self.root, str(Path(self.root) / "scripts" / "_lib")]
        from manpage import pages  # noqa: PLC0415 - the path above leads there

        # The builder reads the files after this returns, and the folder goes with the process that builds.
        self.folder = tempfile.TemporaryDirectory()
        shared = {f"share/man/man1/{name}": text for name, text in pages().items()}
        for shell, place in _COMPLETIONS.items():
            shared[place] = self._completion(shell)
        for number, (place, text) in enumerate(sorted(shared.items())):
            path = Path(self.folder.name) / str(number)
            path.write_text(text, "utf-8")
            build_data["shared_data"][str(path)] = place

    def _completion(self, shell: str) -> str:
        """Return the script that a shell sources: the completion output of the command."""
        # pip isolates a build by the path of this process, and a child must find typer there.
        modules = os.pathsep.join([self.root, *sys.path])
        ask = {**os.environ, "PYTHONPATH": modules, "_SASSAN_COMPLETE": f"source_{shell}"}
        command = [sys.executable, "-c", "from sassan.cli.main import main; main()"]
        return subprocess.run(command, env=ask, check=True, capture_output=True, text=True).stdout.strip() + "\n"  # noqa: S603 - the command of this package
