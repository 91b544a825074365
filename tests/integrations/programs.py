"""Examples of samples/integrations as a shell runs them."""

import os
import subprocess
import sys
from pathlib import Path

from budget import PATIENCE

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "integrations"


def run(sample: str, cache: Path, *arguments: str) -> list[str]:
    """Return the lines that an example prints; any warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", SAMPLES / sample, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "TRITON_CACHE_DIR": str(cache / "triton"), "XDG_CACHE_HOME": str(cache)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
