"""PTX is read fast enough: processor time, and a limit that leaves room for a slow machine."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[3] / "scripts" / "bench_ptx"


def test_five_thousand_lines_are_read_per_second():
    done = subprocess.run([sys.executable, str(BENCH), "--lines", "20000"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lines per second" in done.stdout
