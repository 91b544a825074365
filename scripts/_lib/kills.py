"""Kills commands at random moments, resumes them, and compares what they wrote with what they write undisturbed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
_SECONDS = 600.0
"""Of a start that is not killed."""
_END_SECONDS = 20.0
"""For the workers of a command that was killed."""
_STARTS = 6
"""Of so many starts, the last is not killed."""
_REFUSED = 2
_MARK = "SASSAN_KILLS"
_KERNEL = 'extern "C" __global__ void tiny(float* x) {\n#pragma unroll UNROLL\n  for (int k = 0; k < 12; ++k) x[k * STEP] *= 2;\n}\n'
_CONFIG = """[kernel]
source = "tiny.cu"
arch = "sm_90"
function = "tiny"
[launch]
block = [32]
grid = [4]
[[gene]]
macro = "UNROLL"
values = [1, 2, 3, 4, 6, 12]
[[gene]]
macro = "STEP"
values = [1, 2, 3]
[search]
population = 4
budget = 12
seed = 1
"""
_PROGRAM = """
__global__ void one(int* x) { *x = 1; }
__global__ void two(int* x, int n) { x[threadIdx.x] = n; }
int main() {
  int* x;
  cudaMalloc(&x, 1024);
  for (int i = 0; i < 20; ++i) { one<<<1, 1>>>(x); two<<<i + 1, 32>>>(x, i); cudaDeviceSynchronize(); }
}
"""


class Missing(Exception):  # noqa: N818 - the message says what is missing
    """A compiler is not there."""


class Tally(NamedTuple):
    """What became of the kills of a command."""

    command: str
    kills: int
    early: int
    ends: int
    equal: int
    refused: int
    codes: str
    different: int
    left: int
    seconds: float


@dataclass(frozen=True)
class Command:
    """A command that writes: its words, those with which it goes on, and whether a start left something to go on with."""

    words: Sequence[str]
    resumed: Sequence[str] = ()
    begun: Callable[[Path], bool] = lambda _: False
    outputs: tuple[str, ...] = ("out",)
    """Files and folders that are compared."""
    prepare: Callable[[Path], None] = lambda _: None


def _batch(folder: Path) -> None:
    for name in ("nested_if", "saxpy", "spin_lock", "trap_guard"):  # small ones: what is killed is not the analysis
        path = SAMPLES / "sm_61" / f"{name}.cuobjdump.sass"
        shutil.copy(path, folder / path.name)


def _evolve(folder: Path) -> None:
    (folder / "tiny.cu").write_text(_KERNEL, "utf-8")
    (folder / "tiny.toml").write_text(_CONFIG, "utf-8")


def _record(folder: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise Missing("nvcc was not found")
    (folder / "program.cu").write_text(_PROGRAM, "utf-8")
    words = [nvcc, "--cudart", "shared", "-o", "program", "program.cu"]
    subprocess.run(words, cwd=folder, check=True, timeout=_SECONDS)  # noqa: S603 - a source of ours


def _serve(folder: Path) -> None:
    (folder / "code").mkdir()
    for path in sorted((SAMPLES / "sm_80").glob("s*.cubin"))[:4]:
        shutil.copy(path, folder / "code" / path.name)


def _experiments(folder: Path) -> None:
    (folder / "dumps").mkdir()
    for path in sorted((SAMPLES / "sm_61").glob("s*.cuobjdump.sass"))[:4]:
        shutil.copy(path, folder / "dumps" / path.name)


_SASSAN = (sys.executable, "-m", "sassan")
COMMANDS = {
    "batch": Command(
        (*_SASSAN, "batch", ".", "-o", "out.jsonl", "-j", "1", "-q"),
        ("--resume",),
        lambda folder: (folder / "out.jsonl").exists(),
        ("out.jsonl",),
        _batch,
    ),
    "evolve": Command(
        (*_SASSAN, "evolve", "tiny.toml", "-o", "out", "--executor", "serial", "-q"),
        ("--resume",),
        lambda folder: (folder / "out" / "state.json").exists(),
        ("out",),
        _evolve,
    ),
    "record": Command(
        (*_SASSAN, "record", "-o", "out.toml", "--images", "images", "-q", "--", "./program"),
        outputs=("out.toml", "images"),
        prepare=_record,
    ),
    "serve": Command((*_SASSAN, "serve", "code", "--export", "out.html", "-q"), outputs=("out.html",), prepare=_serve),
    "experiments": Command(
        (sys.executable, str(ROOT / "scripts" / "experiments"), "cfg", "dumps", "-o", "out.csv"), outputs=("out.csv",), prepare=_experiments
    ),
}


def campaign(name: str, kills: int, seed: int, seconds: float = 1e9, *, written: bool = False) -> Tally:
    """Kill a command so many times, or for so many seconds; if `written`, as soon as a file of results has some; raises Missing."""
    with tempfile.TemporaryDirectory(prefix="sassan-kills-") as place:
        draw = Random(f"{name} {seed}")  # noqa: S311 - reproducible, no secret
        return _Campaign(COMMANDS[name], draw, Path(place), wait=written).of(name, kills, seconds)


@dataclass
class _Campaign:
    command: Command
    draw: Random
    place: Path
    wait: bool = False
    """For something in a file of results before a kill."""
    early: int = 0
    ends: int = 0
    equal: int = 0
    left: int = 0
    codes: dict[str, int] = field(default_factory=dict[str, int])

    def of(self, name: str, kills: int, seconds: float) -> Tally:
        began, work = time.monotonic(), self._work()
        took = self._whole(work)
        wanted, done, starts = self._written(work), 0, 0
        while (done < kills or starts) and (starts or time.monotonic() - began < seconds):
            if not starts:
                work = self._work()
            starts += 1
            if starts % _STARTS == 0 or not self._killed(work, self.draw.uniform(0, 1.05 * took)):
                took = (took + self._whole(work)) / 2  # a busy machine takes its time
                self.ends, starts = self.ends + 1, 0
                self.equal += self._written(work) == wanted
                self.left += len(list((self.place / "tmp").glob("sassan-*/*"))) + len(list(work.rglob(".sassan-*.tmp")))
            else:
                done += 1
        refused = sum(self.codes.values())
        codes = " ".join(f"{code}:{count}" for code, count in sorted(self.codes.items())) or "-"
        took = round(time.monotonic() - began, 1)
        return Tally(name, done, self.early, self.ends, self.equal, refused, codes, self.ends - self.equal, self.left, took)

    def _work(self) -> Path:
        """Return a new folder with the inputs, always at the same path, since results name it; with an empty cache every other time."""
        inputs, work = self.place / "inputs", self.place / "work"
        if not inputs.exists():
            inputs.mkdir()
            self.command.prepare(inputs)
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(inputs, work)
        if self.draw.randrange(2):
            shutil.rmtree(self.place / "cache", ignore_errors=True)
        (self.place / "tmp").mkdir(exist_ok=True)
        return work

    def _start(self, work: Path) -> "subprocess.Popen[bytes]":
        variables = {"TMPDIR": str(self.place / "tmp"), "SASSAN_CACHE": str(self.place / "cache"), _MARK: str(self.place)}
        words = (*self.command.words, *(self.command.resumed if self.command.begun(work) else ()))
        environment = {**os.environ, **variables}
        return subprocess.Popen(  # noqa: S603 - this interpreter
            words, cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )

    def _whole(self, work: Path) -> float:
        """Let it end by itself, starting anew where it is refused with a reason; return the seconds."""
        began = time.monotonic()
        for _ in range(2):
            process = self._start(work)
            _, err = process.communicate(timeout=_SECONDS)
            if process.returncode == 0:
                return time.monotonic() - began
            codes = [line.partition(b"[")[2].partition(b"]")[0].decode() for line in err.splitlines() if line.startswith(b"error[")]
            if process.returncode != _REFUSED or not codes:
                raise RuntimeError(f"status {process.returncode}: {err.decode()[-500:]}")
            self.codes[codes[0]] = self.codes.get(codes[0], 0) + 1
            for name in self.command.outputs:
                shutil.rmtree(work / name, ignore_errors=True)
                (work / name).unlink(missing_ok=True)
        raise RuntimeError("it is refused again after a new beginning")

    def _killed(self, work: Path, seconds: float) -> bool:
        """Start it and kill it; say whether it was still running. Half of the times its workers live on, and have to end by themselves."""
        process = self._start(work)
        assert process.stderr is not None
        if self.wait:
            while process.poll() is None and not any(self._written(work).values()):
                time.sleep(0.002)
            seconds = 0
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            if self.draw.randrange(2):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            self.early += not self.command.begun(work) and not any((work / name).exists() for name in self.command.outputs)
            self._wait_for_workers()
            return True
        finally:
            process.stderr.close()
        return False

    def _wait_for_workers(self) -> None:
        end = time.monotonic() + _END_SECONDS
        while living := self._living():
            if time.monotonic() > end:
                self.left += len(living)
                for number in living:
                    with suppress(OSError):
                        os.kill(number, signal.SIGKILL)
                return
            time.sleep(0.05)

    def _living(self) -> list[int]:
        """Return the Python processes of the command; a compiler or the recorded program ends by itself."""
        found: list[int] = []
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and f"{_MARK}={self.place}\0".encode() in (folder / "environ").read_bytes():
                    found += [int(folder.name)] if b"python" in (folder / "cmdline").read_bytes() else []
        return found

    def _written(self, work: Path) -> dict[str, bytes]:
        paths = [path for name in self.command.outputs for path in ((work / name), *(work / name).rglob("*"))]
        return {str(path.relative_to(work)): path.read_bytes() for path in paths if path.is_file()}
