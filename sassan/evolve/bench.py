"""Running individuals on a GPU: whether they compute what the default computes, and how long the fastest of some runs takes.

Static costs need none of this; where there is no GPU, that individuals compute the same is an assumption, and is printed as one.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sassan.arch import architecture, described
from sassan.errors import InputError, MissingToolError
from sassan.evolve.compile import Fate as Compiled
from sassan.evolve.compilers import Tools
from sassan.evolve.config import Config, Objective
from sassan.evolve.evaluate import Task, compiled
from sassan.evolve.genes import Genome
from sassan.evolve.outcome import Fate, Outcome
from sassan.measure import MeasureTask
from sassan.measure.device import Device
from sassan.measure.gpu import Gpu

_TOLERANCE = 1e-3
"""Relative, of floats, where flags that change rounding are allowed."""


@dataclass(slots=True)
class Bench:
    """Runs the individuals of a configuration; each must leave the bytes in memory that the default leaves."""

    config: Config
    tools: Tools
    device: Device
    cached: bool = True
    _expected: tuple[bytes, ...] | None = field(default=None)

    def __call__(self, genome: Genome, outcome: Outcome) -> Outcome:
        """Return the outcome of a bounded genome, with its measured time where that is a cost; UNEQUAL where its results differ."""
        if outcome.fate is not Fate.BOUNDED:
            return outcome
        if self._expected is None:
            self._expected = self._results(self.config.space.default)
        try:
            found = self._results(genome)
            if not self._same(found, self._expected):
                return Outcome(
                    Fate.UNEQUAL, (), outcome.numbers, outcome.loops, "its results differ from those of the default", outcome.cubin
                )
            return self._timed(genome, outcome) if Objective.MEASURED in self.config.objectives else outcome
        except InputError as error:
            return replace(outcome, fate=Fate.REFUSED, costs=(), why=error.message)

    def _launch(self, genome: Genome) -> MeasureTask:
        built = compiled(Task(self.config, self.tools, genome, self.cached))
        if built.fate is not Compiled.DONE:
            raise InputError("not-again", f"it was compiled before, and now {built.why}")
        shape = self.config.shape
        launch = shape.launch(self.config.space.choice(genome))
        one = (1, 1, 1)
        return MeasureTask(
            built.cubin, self.config.kernel.function, launch.grid or one, launch.block or one, self.config.arguments, shape.shared
        )

    def _results(self, genome: Genome) -> tuple[bytes, ...]:
        loaded = self.device.load(self._launch(genome))
        try:
            return loaded.results()
        finally:
            loaded.close()

    def _timed(self, genome: Genome, outcome: Outcome) -> Outcome:
        """Return the outcome with the minimum of the runs after the warm-up: the paper's best estimator (Eq. 3)."""
        loaded = self.device.load(self._launch(genome))
        try:
            seconds = min([loaded.run().seconds for _ in range(self.config.runs)][1:])
        finally:
            loaded.close()
        at = self.config.objectives.index(Objective.MEASURED)
        costs = (*outcome.costs[:at], seconds, *outcome.costs[at:])
        return replace(outcome, costs=costs, numbers={**outcome.numbers, Objective.MEASURED.value: seconds})

    def _same(self, found: tuple[bytes, ...], expected: tuple[bytes, ...]) -> bool:
        if found == expected or not self.config.allow_inexact:
            return found == expected
        kinds = [one.kind for one in self.config.arguments if one.kind in {"pointer", "floats"}]
        return all(_close(kind, one, other) for kind, one, other in zip(kinds, found, expected, strict=True))


def _close(kind: str, one: bytes, other: bytes) -> bool:
    if kind != "floats" or len(one) % 4 or len(one) != len(other):
        return one == other
    return bool(np.allclose(np.frombuffer(one, "<f4"), np.frombuffer(other, "<f4"), rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))


def bench(config: Config, tools: Tools, *, cached: bool = True) -> Bench | None:
    """Return what runs individuals: None where the configuration tells no arguments, or where there is no GPU that runs them.

    Raises MissingToolError `no-gpu`, `missing-extra` where a measured time is a cost.
    """
    if not config.arguments:
        return None
    needed = Objective.MEASURED in config.objectives
    try:
        device = Gpu()
    except MissingToolError:
        if needed:
            raise
        return None
    gpu = architecture(device.arch)
    if gpu is not None and described(config.kernel.arch).runs_on(gpu):
        return Bench(config, tools, device, cached)
    if needed:
        raise MissingToolError("no-gpu", f"the kernel is for {config.kernel.arch}, and the GPU of this machine is {device.arch}")
    return None
