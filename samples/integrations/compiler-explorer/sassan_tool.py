"""A tool of Compiler Explorer: control codes beside the machine code of a kernel.

Compiler Explorer calls it as `python sassan_tool.py [ARGUMENTS] SOURCE` in the folder of a compilation, with the text of the tool's input
on standard input. A text there (nvdisasm -c -hex, cuobjdump -sass) is listed; without one, the cubins that nvcc has kept beside the source
are. ARGUMENTS are further options of `sassan listing`, such as --check or -f saxpy. It writes no file; its status is that of sassan.
"""

import subprocess
import sys
from pathlib import Path

LISTING = (sys.executable, "-P", "-m", "sassan", "listing", "--quiet", "--no-cache")
MOST = 1 << 22
"""Bytes of a text that is listed: what a person pastes."""


def listed(arguments: list[str], file: str, text: bytes = b"") -> int:
    """Print the listing of a file, `-` for the text, and return the status of sassan."""
    sys.stdout.flush()
    return subprocess.run([*LISTING, *arguments, "--", file], input=text, check=False).returncode


def main() -> int:
    """List what is given, and return the status: 3 where there is nothing."""
    *arguments, source = sys.argv[1:] or ["-"]
    text = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MOST)
    if text.strip():
        return listed(arguments, "-", text)
    cubins = sorted(Path(source).parent.glob("*.cubin"))
    if not cubins:
        print("no listing on standard input, and no cubin beside the source (does it compile?): paste the output of nvdisasm -c -hex", file=sys.stderr)
        return 3
    return max(listed(arguments, str(cubin)) for cubin in cubins)


if __name__ == "__main__":
    sys.exit(main())
