"""Runs inputs in forked workers: what hangs, takes too much memory or crashes is a finding, and the next worker goes on behind it."""

import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from traceback import extract_tb

from _lib.fuzz.format import CORPUS, SAMPLES, Format, answer
from _lib.fuzz.reached import Line, Reached

SECONDS = 10.0
"""An input that takes longer is a finding: of processor time, of this process and of what it starts, since a machine may be busy."""
PATIENCE = 6
"""After so many times of that on the clock its worker is killed."""
MEMORY = 2 << 30
"""Bytes that an input may take."""
TRACED = 16
"""One in so many inputs is traced."""
BATCH = 400
"""Inputs of one worker: what a process keeps of them does not add up."""
_CODE = str(SAMPLES / "sm_61" / "saxpy.cuobjdump.sass")
_TRACE = 5
"""How many times as long a traced input takes, at least."""
_KEPT_BYTES = 6000
_MOST_KEPT = 12
"""Inputs that a format keeps because of the lines that they reach; those of findings come on top."""


@dataclass
class Finding:
    """An input and what is wrong with the answer to it."""

    format: str
    number: int
    message: str
    data: bytes


@dataclass
class Tally:
    """What a run of one format found: inputs, seconds, the lines that were reached, and the findings."""

    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    reached: set[Line] = field(default_factory=set[Line])
    findings: list[Finding] = field(default_factory=list[Finding])


def made(form: Format, seed: int, number: int) -> tuple[bytes, int]:
    """The input of a number, and the choice among the commands: the same in every run."""
    draw = Random(f"{seed}/{form.name}/{number}")  # noqa: S311 - reproducible, no secret
    choice = draw.randrange(1 << 16)
    return form.mutate(draw), choice


def corpus(form: Format) -> list[Path]:
    """The kept inputs of a format."""
    return sorted(path for path in (CORPUS / form.name).glob(f"*{form.suffix}") if path.is_file())


def keep(form: Format, data: bytes) -> Path | None:
    """Write an input to the corpus, under a name that its bytes give, unless it is large or there are enough."""
    if len(data) > _KEPT_BYTES or len(corpus(form)) >= _MOST_KEPT:
        return None
    path = CORPUS / form.name / f"{sha256(data).hexdigest()[:12]}{form.suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def run(form: Format, seed: int, numbers: range, seconds: float, *, learn: bool = False) -> Tally:
    """Run the inputs of some numbers, at most so many seconds; `learn` keeps those that reach lines that no other one did."""
    for command in ("analyze", "cfg", "memory", "listing"):
        answer(command, _CODE, "--json")  # imported once, before the workers
    with tempfile.TemporaryDirectory(prefix="sassan-fuzz-") as folder:
        return _Run(form, seed, Path(folder), time.monotonic() + seconds, learn).of(numbers)


@dataclass
class _Run:
    """A run of one format until a time of the clock."""

    form: Format
    seed: int
    folder: Path
    end: float
    learn: bool
    tally: Tally = field(default_factory=Tally)
    reached: Reached = field(default_factory=Reached)

    def of(self, numbers: range) -> Tally:
        """Run the inputs of some numbers, a worker for each batch."""
        began, first = time.monotonic(), numbers.start
        while first < numbers.stop and time.monotonic() < self.end:
            first = self._batch(range(first, min(first + BATCH, numbers.stop)))
        self.tally.seconds, self.tally.reached = time.monotonic() - began, self.reached.lines
        return self.tally

    def _batch(self, numbers: range) -> int:
        """Run inputs in one worker, and return the number behind the last one that was begun."""
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=self._work, args=(numbers, there))
        worker.start()
        there.close()
        number = numbers.start
        try:
            while True:
                if not here.poll(PATIENCE * SECONDS):
                    worker.kill()
                    self._find(number, f"no answer within {PATIENCE * SECONDS:g} s")
                    return number + 1
                answered: tuple[str, float, set[Line]] | None = here.recv()
                if answered is None:
                    return number
                self._count(number, *answered)
                number += 1
        except EOFError:
            worker.join()
            self._find(number, f"the process ended with {worker.exitcode}")
            return number + 1
        finally:
            worker.join()

    def _work(self, numbers: range, pipe: Connection) -> None:
        """The worker: sends what `checked` returns for each input, and None at its end."""
        confine(self.folder)
        for number in numbers:
            if time.monotonic() > self.end:
                break
            pipe.send(checked(self.form, *made(self.form, self.seed, number), self.reached if number % TRACED == 0 else None))
        pipe.send(None)

    def _count(self, number: int, wrong: str, took: float, new: set[Line]) -> None:
        self.tally.inputs, self.tally.slowest = self.tally.inputs + 1, max(self.tally.slowest, took)
        if took > SECONDS:
            wrong = wrong or f"it took {took:.1f} s"
        if wrong:
            self._find(number, wrong)
        elif self.learn and new - self.reached.lines:
            keep(self.form, made(self.form, self.seed, number)[0])
        self.reached.lines |= new

    def _find(self, number: int, message: str) -> None:
        self.tally.findings.append(Finding(self.form.name, number, message, made(self.form, self.seed, number)[0]))


def confine(folder: Path) -> None:
    """Make a folder the working folder of this process and the place of its cache, and limit its memory."""
    os.chdir(folder)
    os.environ["SASSAN_CACHE"] = str(folder / "cache")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def checked(form: Format, data: bytes, choice: int, reached: Reached | None) -> tuple[str, float, set[Line]]:
    """Return what is wrong with the answer to an input, '' for nothing, the seconds that it took, and the new lines that it reached."""
    began, new, slower = _busy(), set[Line](), 1
    try:
        if reached is None:
            wrong = form.check(data, choice)
        else:
            slower = _TRACE
            with reached.trace():
                wrong = form.check(data, choice)
            new = reached.new
    except MemoryError:
        wrong = f"more than {MEMORY >> 30} GiB"
    except Exception as error:  # noqa: BLE001 - whatever is raised is a finding
        raised = extract_tb(error.__traceback__)[-1]
        wrong = f"{type(error).__name__}: {error} ({Path(raised.filename).name}:{raised.lineno})"
    wrong = wrong or _left()
    return wrong, (_busy() - began) / slower, new


def _left() -> str:
    """Return which temporary files an input has left, and remove them."""
    found = [*Path(tempfile.gettempdir()).glob(f"sassan-{os.getpid()}-*"), *Path().glob(".sassan-*.tmp")]
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    return f"it left {', '.join(path.name for path in found)}" if found else ""


def _busy() -> float:
    """Return the seconds of processor time of this process and of those that it started and waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
