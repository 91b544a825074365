"""`estimate`: how long launches of the kernels of an input take, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack, get_args, overload

from sassan.api import checking, tables
from sassan.api.choices import Choices, checked, settings_of
from sassan.api.inputs import Origin
from sassan.api.results import NamedResults
from sassan.api.subjects import functions_of
from sassan.app import analysis
from sassan.app.estimate_fields import Estimated, EstimatedFields
from sassan.app.estimating import EstimateResult, estimated
from sassan.errors import Gap, UsageError
from sassan.estimate.answer import StallShare
from sassan.estimate.policy import Policy
from sassan.fields.field import NONE, Value, document
from sassan.fields.kinds import microseconds
from sassan.ir import Function, Program

PolicyName = Literal["oldest", "greedy", "round-robin"]
"""Which warp a scheduler takes, of those that may issue; estimates by `oldest` are closest to recorded runs."""


@dataclass(frozen=True, slots=True, repr=False)
class KernelEstimate:
    """The expected time of a launch of one kernel; None where there is none, and `gaps` say why. It is what to expect, and not a bound.

    One SM is simulated with its blocks, and the rest of the grid follows (docs/developer/design/estimate.md); docs/reference/silicon.md
    says how far estimates were from recorded runs. `result` is what the pipeline found, whose shape may change between versions.
    """

    result: EstimateResult

    def __repr__(self) -> str:
        """Return name, time and what binds it in a line."""
        known = f"{self.us:.2f} us, bound by {self.bound_by}" if self.us is not None else tables.gaps(len(self.gaps))
        return f"<KernelEstimate {self.name!r}: {known}>"

    @property
    def name(self) -> str:
        """The name of the kernel, as the input has it (mangled in cubins): what `KernelEstimates` is indexed by."""
        return self.result.analysis.function.name

    @property
    def us(self) -> float | None:
        """The expected time of the launch in microseconds, its overhead (`launch`) included; None where `gaps` say why."""
        return self.result.estimate.us if self.result.estimate is not None else None

    @property
    def cycles(self) -> float | None:
        """The same in cycles of the SM, at the clock that the assumptions name; None where `gaps` say why."""
        return self.result.estimate.cycles if self.result.estimate is not None else None

    @property
    def bound_by(self) -> str | None:
        """What explains most of the time: `issue`, a unit, `shared`, `l1`, `l2`, `dram`, `latency`, `barrier`, `tail`, `launch`."""
        return self.result.estimate.bound_by if self.result.estimate is not None else None

    @property
    def gpu(self) -> str | None:
        """The name of the GPU that was asked for, as `sassan gpus` lists it; None where there is no estimate."""
        return self.result.estimate.gpu if self.result.estimate is not None else None

    @property
    def occupancy(self) -> float | None:
        """The mean share of the warps that an SM can hold which are resident, from 0 to 1: achieved occupancy; None without an estimate."""
        return self.result.estimate.occupancy if self.result.estimate is not None else None

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of the time in which each resource is busy, from 0 to 1, by the names of `bound_by`; empty without an estimate."""
        return self.result.estimate.shares if self.result.estimate is not None else {}

    @property
    def stalls(self) -> tuple[StallShare, ...]:
        """Where warps wait, and for what: each with its `address`, its `reason` by the name that Nsight Compute has for it.

        Its `share` is that of the cycles of all warps, from 0 to 1.
        """
        return self.result.estimate.stalls if self.result.estimate is not None else ()

    @property
    def assumed(self) -> float | None:
        """The share of the time that rests on figures without a source, from 0 to 1; None where there is no estimate."""
        return self.result.estimate.assumed if self.result.estimate is not None else None

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Why there is no estimate: a `Gap` each, with its code and address; empty where there is one."""
        return self.result.gaps

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the estimate rests on, a sentence each (docs/reference/assumptions.md); empty where there is no estimate."""
        return self.result.assumptions

    @property
    def function(self) -> Function:
        """The function that was estimated, with its instructions in address order."""
        return self.result.analysis.function

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan estimate --json` says of the kernel, ready for `json.dumps`; keys are those of docs/reference/json.md."""
        return document(EstimatedFields, Estimated(self.result))

    def _repr_html_(self) -> str:
        return _table((self.result,))


@dataclass(frozen=True, slots=True)
class KernelEstimates(NamedResults[KernelEstimate]):
    """The estimates of the kernels of one input, in its order: `estimates[0]`, `estimates["saxpy"]` (the first of that name).

    Device functions are not launched, and have none. `file` is the name of the input.
    """

    def _repr_html_(self) -> str:
        return _table([each.result for each in self.found])


@overload
def estimate(subject: Function, *, file: str = ..., policy: PolicyName = ..., **choices: Unpack[Choices]) -> KernelEstimate: ...
@overload
def estimate(
    subject: Program | Origin, *, function: str | None = ..., policy: PolicyName = ..., **choices: Unpack[Choices]
) -> KernelEstimates: ...
def estimate(
    subject: Function | Program | Origin,
    *,
    function: str | None = None,
    file: str = "",
    policy: PolicyName = "oldest",
    **choices: Unpack[Choices],
) -> KernelEstimate | KernelEstimates:
    """Return how long a launch of one function takes, or of every kernel of a program or an input (of those that match `function`).

    `subject` and `file` are those of `analyze`, and so are `choices`: their `launch` says the GPU, the block and the grid, which are
    needed, and arguments; CUDA source is compiled for that GPU. `policy` is the warp that a scheduler takes of those that may issue;
    estimates by `oldest` are closest to recorded runs. Times are microseconds and cycles, and expected: a launch may take longer, which is
    what the bounds of `analyze` are for. Numbers are those of `sassan estimate`. A kernel without an estimate says why in `gaps`.
    Raises what `analyze` raises, and UsageError without a GPU, a block and a grid, or for a single function that is not a kernel.
    """
    known, order = checked(choices), Policy(checking.one_of(*get_args(PolicyName))("policy", policy))
    settings = settings_of(known)
    if settings.gpu is None or settings.launch.block is None or settings.launch.grid is None:
        hint = "pass launch=sassan.Launch(gpu='T4', block=256, grid=4096)"
        raise UsageError("usage", "an estimate needs the GPU, the block and the grid of a launch", hint=hint)
    name, functions = functions_of(subject, settings, function, file)
    settings = replace(settings, contention=False, check=False)
    estimates = tuple(KernelEstimate(estimated(analysis.analyze(each, settings, name), policy=order)) for each in functions if each.kernel)
    if not isinstance(subject, Function):
        return KernelEstimates(name, estimates)
    if not estimates:
        raise UsageError("usage", f"'{subject.name}' is not a kernel, and only kernels are launched", hint="pass a kernel")
    return estimates[0]


def _table(results: Sequence[EstimateResult]) -> str:
    """Return the expected time of each kernel and what binds it; the gaps and the assumptions stand below."""
    rows = ((result.analysis.function.name, *_expected(result), str(len(result.gaps) or "")) for result in results)
    table = tables.of_rows(("kernel", "us", "cycles", "bound by", "occupancy", "assumed", "gaps"), rows)
    missing = [tables.gap_line(result.analysis.function.name, gap) for result in results for gap in result.gaps]
    return table + tables.listed("gaps", missing) + tables.assumptions(text for result in results for text in result.assumptions)


def _expected(result: EstimateResult) -> tuple[str, ...]:
    known = result.estimate
    if known is None:
        return (NONE,) * 5
    return (microseconds(known.us), f"{known.cycles:.0f}", known.bound_by, f"{known.occupancy:.0%}", f"{known.assumed:.0%}")
