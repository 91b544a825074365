"""Running individuals on a GPU: comparing their results with those of the default, and timing them.

Static costs do not need this; without a GPU, that individuals compute the same results is an assumption, printed as such.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sassan.arch import architecture, described
from sassan.errors import InputError, MissingToolError
from sassan.evolve.compilation.compile import CompileStatus
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.evaluate import EvaluationTask, compiled
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus
from sassan.evolve.space.config import Config, Objective
from sassan.evolve.space.genes import Genome
from sassan.measure import MeasureTask
from sassan.measure.sampling.device import Device
from sassan.measure.sampling.gpu import Gpu

_TOLERANCE = 1e-3
"""Relative tolerance of floats where flags that change rounding are allowed."""


@dataclass(slots=True)
class Bench:
    """Runs the individuals of a configuration; each must leave the same bytes in memory as the default."""

    config: Config
    tools: Tools
    device: Device
    cached: bool = True
    _expected: tuple[bytes, ...] | None = field(default=None)

    def __call__(self, genome: Genome, outcome: GenomeOutcome) -> GenomeOutcome:
        """Return the outcome of a bounded genome, with its measured time where that is a cost; UNEQUAL where its results differ."""
        if outcome.status is not OutcomeStatus.BOUNDED:
            return outcome
        if self._expected is None:
            self._expected = self._results(self.config.space.default)
        try:
            results = self._results(genome)
            if not self._same(results, self._expected):
                return GenomeOutcome(
                    OutcomeStatus.UNEQUAL, (), outcome.numbers, outcome.loops, "its results differ from those of the default", outcome.cubin
                )
            return self._timed(genome, outcome) if Objective.MEASURED in self.config.objectives else outcome
        except InputError as error:
            return replace(outcome, status=OutcomeStatus.REFUSED, costs=(), why=error.message)

    def _launch(self, genome: Genome) -> MeasureTask:
        built = compiled(EvaluationTask(self.config, self.tools, genome, self.cached))
        if built.status is not CompileStatus.DONE:
            raise InputError("not-again", f"it was compiled before, but recompiling failed: {built.why}")
        shape = self.config.shape
        launch = shape.launch(self.config.space.choice(genome))
        unit = (1, 1, 1)
        return MeasureTask(
            built.cubin, self.config.kernel.function, launch.grid or unit, launch.block or unit, self.config.arguments, shape.shared
        )

    def _results(self, genome: Genome) -> tuple[bytes, ...]:
        loaded = self.device.load(self._launch(genome))
        try:
            return loaded.results()
        finally:
            loaded.close()

    def _timed(self, genome: Genome, outcome: GenomeOutcome) -> GenomeOutcome:
        """Return the outcome with the minimum of the runs after the warm-up: the paper's best estimator (Eq. 3)."""
        loaded = self.device.load(self._launch(genome))
        try:
            seconds = min([loaded.run().seconds for _ in range(self.config.runs)][1:])
        finally:
            loaded.close()
        at = self.config.objectives.index(Objective.MEASURED)
        costs = (*outcome.costs[:at], seconds, *outcome.costs[at:])
        return replace(outcome, costs=costs, numbers={**outcome.numbers, Objective.MEASURED.value: seconds})

    def _same(self, results: tuple[bytes, ...], expected: tuple[bytes, ...]) -> bool:
        if results == expected or not self.config.allow_inexact:
            return results == expected
        kinds = [argument.kind for argument in self.config.arguments if argument.kind in {"pointer", "floats"}]
        return all(_close(kind, actual, wanted) for kind, actual, wanted in zip(kinds, results, expected, strict=True))


def _close(kind: str, actual: bytes, expected: bytes) -> bool:
    if kind != "floats" or len(actual) % 4 or len(actual) != len(expected):
        return actual == expected
    return bool(np.allclose(np.frombuffer(actual, "<f4"), np.frombuffer(expected, "<f4"), rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))


def bench(config: Config, tools: Tools, *, cached: bool = True) -> Bench | None:
    """Return the bench of a configuration; None if it gives no arguments, or if no GPU can run the kernel.

    Raises MissingToolError `no-gpu`, `missing-extra` if a measured time is a cost.
    """
    if not config.arguments:
        return None
    measured = Objective.MEASURED in config.objectives
    try:
        device = Gpu()
    except MissingToolError:
        if measured:
            raise
        return None
    gpu = architecture(device.arch)
    if gpu is not None and described(config.kernel.arch).runs_on(gpu):
        return Bench(config, tools, device, cached)
    if measured:
        raise MissingToolError("no-gpu", f"the kernel is for {config.kernel.arch}, but the GPU of this machine is {device.arch}")
    return None
