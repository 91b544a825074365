"""`sassan warm` compiles all that the searches need, and no limit counts compilation."""

import subprocess
import sys
import time

import pytest

from budget import whole
from sassan.cli.output.exhaustion import limited
from sassan.errors import OutOfTimeError
from sassan.jit import clock

PROGRAM = """
from importlib import import_module
from sassan.cli import main
from sassan.estimate import kernel
from sassan.simt import kernel as runs
from sassan.makespan.compiling import _ENTRIES

def signatures():
    entries = [getattr(import_module(f"sassan.makespan.{module}"), name) for module, name in _ENTRIES.items()]
    return [sorted(map(str, entry.signatures)) for entry in (*entries, kernel.run, runs.execute)]

assert main.run(["warm"]) == 0
before = signatures()
assert all(before), before
for line in (
    "makespan L5C9L2C9 -W 8 --cap L=1,C=4 --issue 4",
    "makespan LLCLL -W 30 --quiet",
    "makespan L200C60 -W 2 --engine exact",
    "makespan LCS LLC CSD -W 6 --cap L=1,C=2,S=1,D=1 --time-limit 1",
    "estimate samples/sm_75/saxpy.cuobjdump.sass --gpu T4 --block-dim 64 --grid 4 --registers 16 --shared 0",
    "analyze samples/sm_75/nbody.cuobjdump.sass --gpu T4 --block-dim 64 --grid 4 --registers 16 --shared 0 --param 0x170=100",
):
    assert main.run(line.split()) == 0
assert signatures() == before
"""


@whole("everything is compiled anew")
@pytest.mark.slow
def test_it_says_what_is_compiled_and_after_it_no_search_is_compiled_for_other_types():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("compiled: beam, anneal, bounds, exact, estimate, cycles, runs\n")


@pytest.mark.slow
class Slow:
    """What takes long to be thrown away."""

    def __del__(self) -> None:
        time.sleep(1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_ends_where_python_ignores_errors_is_raised_behind_it():
    def work() -> None:
        Slow()
        time.sleep(5)

    with pytest.raises(OutOfTimeError), limited(0.2, None):
        work()


def test_a_limit_counts_no_compilation():
    with limited(1.0, None):
        clock.stop()
        time.sleep(1.2)
        clock.go_on()
    with pytest.raises(OutOfTimeError), limited(0.2, None):
        time.sleep(60)
