"""`estimate --what-if`: the estimate of a launch with one thing changed."""

import re
from dataclasses import dataclass, replace

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.options import AnalysisOptions
from sassan.app.reading import read_gpu
from sassan.app.result import AnalysisResult
from sassan.errors import InputError, UsageError
from sassan.estimate.policy import Policy
from sassan.machine.launch import shape

_BLOCK = "--what-if block"
SAME_CODE = "the changes of --what-if keep the code: fewer registers spill nothing, another block does the same work with other indices"


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """One change: registers of a thread, the block (the grid then has as many threads as before, or a few more), or the GPU."""

    kind: str
    value: str

    def __str__(self) -> str:
        """Return the change as the user writes it."""
        return f"{self.kind}={self.value}"

    def options(self, options: AnalysisOptions, result: AnalysisResult) -> AnalysisOptions:
        """Return the options of a result with this change."""
        if self.kind == "gpu":
            return replace(options, gpu=self.value)
        if self.kind == "registers":
            return replace(options, registers=int(self.value))
        launch, block = result.settings.launch, shape(self.value, _BLOCK)
        assert launch.block is not None
        assert launch.grid is not None
        grid = (-(-blocks * threads // new) for blocks, threads, new in zip(launch.grid, launch.block, block, strict=True))
        return replace(options, block=",".join(map(str, block)), grid=",".join(map(str, grid)))


@dataclass(frozen=True, slots=True)
class Alternative:
    """The estimate of a changed launch; None where it cannot be launched: `why`."""

    change: LaunchChange
    result: EstimateResult | None
    why: str = ""


def change(text: str) -> LaunchChange:
    """Return the change of `registers=32`, `block=128` or `gpu=T4`.

    Raises UsageError for another kind and for a value that is none.
    """
    kind, _, value = text.partition("=")
    if kind == "block":
        shape(value, _BLOCK)
    elif kind == "gpu":
        read_gpu(value)
    elif kind != "registers" or re.fullmatch("[1-9][0-9]{0,3}", value, re.ASCII) is None:
        raise UsageError("usage", f"--what-if cannot change '{text}'", hint="write registers=32, block=128,2 or gpu='RTX 3080'")
    return LaunchChange(kind, value)


def alternatives(
    options: AnalysisOptions, result: AnalysisResult, changes: tuple[LaunchChange, ...], *, policy: Policy
) -> tuple[Alternative, ...]:
    """Return the estimates of a kernel, analyzed with these options, with each of the changes.

    Raises SelfCheckError.
    """
    return tuple(_alternative(options, result, each, policy=policy) for each in changes)


def _alternative(options: AnalysisOptions, result: AnalysisResult, each: LaunchChange, *, policy: Policy) -> Alternative:
    try:
        settings = replace(each.options(options, result).settings(), contention=False)
        changed = estimated(analyze(result.function, settings, result.file), policy=policy)
    except (InputError, UsageError) as error:
        return Alternative(each, None, error.message)
    return Alternative(each, changed, "" if changed.estimate is not None else "; ".join(sorted({gap.code for gap in changed.gaps})))
