"""Configurations, compilers and evaluators for the tests of `sassan evolve`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from sassan.errors import MissingToolError
from sassan.evolve.compilation import compilers
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus
from sassan.evolve.space.config import Config, KernelSource, LaunchShape, Objective, SearchPlan
from sassan.evolve.space.genes import Gene, GeneKind, Genome, GenomeSpace

KERNEL = """\
extern "C" __global__ void tiny(float *x, int n) {
#ifdef FAIL
#error asked for
#endif
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
#ifdef UNROLL
#pragma unroll UNROLL
#endif
    for (int k = 0; k < 12; ++k) s = s * x[i] + k;
#ifdef GAP
    while (x[i + 1] < s) s *= x[i];
#endif
    x[i] = s;
}
"""
PTX = """\
.version 8.4
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 saxpy_0)
{
\t.reg .b64 %rd<3>;
\tld.param.u64 %rd1, [saxpy_0];
\tret;
}
"""
CONFIG = """\
[kernel]
source = "tiny.cu"
arch = "sm_80"
function = "tiny"

[launch]
block = [32]
grid = [4]

[[gene]]
macro = "UNROLL"
values = [1, 2, 4, 12]

[[gene]]
macro = "GAP"
values = [false, true]

[[gene]]
macro = "FAIL"
values = [false, true]

[search]
population = 4
budget = 8
seed = 1
"""
TOY = GenomeSpace(
    (Gene(GeneKind.MACRO, "A", (0, 1, 2, 3, 4, 5)), Gene(GeneKind.MACRO, "B", (0, 1, 2, 3)), Gene(GeneKind.ORDER, "order", (), 3, 3))
)


def toy(objectives: int = 1, population: int = 8, budget: int = 40, space: GenomeSpace = TOY, seed: int = 3) -> Config:
    """Return a configuration for individuals evaluated by `outcome_of`."""
    kernel = KernelSource("toy.cu", "", "sm_80", "toy")
    plan = SearchPlan(population=population, budget=budget, seed=seed)
    return Config("toy.toml", kernel, LaunchShape(("32",), ("1",)), space, (Objective.WCET, Objective.REGISTERS)[:objectives], plan=plan)


def outcome_of(genome: Genome, objectives: int = 1) -> GenomeOutcome:
    """Return an outcome without a compiler: every status, and two conflicting costs."""
    if genome[0] == 5:
        return GenomeOutcome(OutcomeStatus.FAILED, why="asked for")
    if genome[1] == 3 and genome[0] == 4:
        return GenomeOutcome(OutcomeStatus.HUNG, why="asked for")
    if genome[1] == 3 and genome[0] == 3:
        return GenomeOutcome(OutcomeStatus.GAP, why="asked for")
    costs = (float(100 - 10 * genome[0] - 3 * genome[1] + sum(genome[2:])), float(10 + 2 * genome[0] + genome[1]))
    return GenomeOutcome(OutcomeStatus.BOUNDED, costs[:objectives])


class CountingEvaluator:
    """An evaluator that counts, and may be interrupted at its n-th outcome."""

    def __init__(self, objectives: int = 1, interrupted: int = 0) -> None:
        self.objectives = objectives
        self.interrupted = interrupted
        self.asked: list[Genome] = []

    def __call__(self, genomes: Sequence[Genome]):
        for genome in genomes:
            self.asked.append(genome)
            if len(self.asked) == self.interrupted:
                raise KeyboardInterrupt
            yield outcome_of(genome, self.objectives)


def need_nvrtc() -> None:
    """Skip the test if NVRTC is not installed."""
    try:
        compilers.find(nvrtc=True, ptxas=False)
    except MissingToolError as error:
        pytest.skip(error.message)


def config_file(folder: Path, text: str = CONFIG, kernel: str = KERNEL, name: str = "tiny.cu") -> Path:
    """Write a kernel and its configuration."""
    (folder / name).write_text(kernel)
    path = folder / "tiny.toml"
    path.write_text(text)
    return path


def ptxas(folder: Path, body: str) -> Path:
    """Write a program called ptxas: `-O0` is rejected, `-O1` hangs, `-O2` crashes; else it runs `body`, where `output` is a path."""
    folder.mkdir(exist_ok=True)
    path = folder / "ptxas"
    text = f"""\
        #!{sys.executable} -IS
        import os, sys, time
        if "--version" in sys.argv or "--help" in sys.argv:
            print("Cuda compilation tools, release 12.9, V12.9.86")
            sys.exit(0)
        if "-O0" in sys.argv:
            sys.exit("ptxas fatal : asked for")
        if "-O1" in sys.argv:
            time.sleep(600)
        if "-O2" in sys.argv:
            os.kill(os.getpid(), 11)
        output = sys.argv[sys.argv.index("-o") + 1]
        """
    path.write_text(dedent(text) + body)
    path.chmod(0o755)
    return path


def copying(cubin: Path) -> str:
    """Return the body of a ptxas that always writes this cubin."""
    return f"open(output, 'wb').write(open({str(cubin)!r}, 'rb').read())\n"
