"""`advise`: what to change in the kernels of an input for a launch, and what each change gains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Unpack, overload

from sassan.api.choices import Choices, checked, settings_of
from sassan.api.inputs import Origin
from sassan.api.subjects import functions_of
from sassan.app import analysis
from sassan.app.advise.fields import AdviceFields, AdvisedFields, LaunchAdvice, every
from sassan.app.advise.trying import AdvisedLaunch, advised, binding
from sassan.app.documents import tool
from sassan.app.estimating import estimated, expected_time
from sassan.errors import Gap, UsageError
from sassan.fields.field import Value, document
from sassan.fields.kinds import microseconds
from sassan.ir import Function, Program
from sassan.names import visible


@dataclass(frozen=True, slots=True, repr=False)
class KernelAdvice(AdviceFields):
    """A remedy that was tried for a launch of a kernel; its properties are the keys of `sassan advise --json`.

    `gain_us` and `us` are microseconds, `gain_of_total` a share of the time of the launch. `advice` is what was tried, whose shape may
    change between versions.
    """

    advice: LaunchAdvice

    def __repr__(self) -> str:
        """Return code, function and gain in a line."""
        return f"<KernelAdvice {self.code!r} for {self.function!r}: {self.gain_of_total:.0%}>"

    @property
    def subject(self) -> LaunchAdvice:
        """What was tried, `advice`: its shape may change between versions."""
        return self.advice

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan advise --json` says of the remedy: its properties by name, ready for `json.dumps`; times are microseconds."""
        return document(AdviceFields, self.advice)


@dataclass(frozen=True, slots=True)
class AdviceList(Sequence[KernelAdvice]):
    """What is advised for the kernels of an input, best first; empty where nothing gains 2 %: `binds` says what binds.

    `launches` are the kernels that were tried, each with its estimate, whose shape may change between versions.
    """

    launches: tuple[AdvisedLaunch, ...]

    @property
    def every(self) -> tuple[KernelAdvice, ...]:
        """All advice, the largest gain in microseconds first, over all kernels; gains do not add up: apply one, compile, ask again."""
        return tuple(map(KernelAdvice, every(self.launches)))

    @property
    def binds(self) -> str | None:
        """What binds the launch that takes most time, as a sentence; None where nothing has an estimate."""
        longest = max(self.launches, key=lambda each: expected_time(each.estimate).us or 0.0, default=None)
        return binding(longest) if longest is not None else None

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What forbids estimates, and so advice: a `Gap` each, with its code and address; empty where every kernel has an estimate."""
        return tuple(gap for each in self.launches for gap in each.gaps)

    def __len__(self) -> int:
        """Return how much there is."""
        return len(self.every)

    @overload
    def __getitem__(self, key: int) -> KernelAdvice: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[KernelAdvice, ...]: ...
    def __getitem__(self, key: int | slice) -> KernelAdvice | tuple[KernelAdvice, ...]:
        """Return advice by its place; raises IndexError."""
        return self.every[key]

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan advise --json`: `advice` in order, `binds`, and `functions` with the estimate of each kernel."""
        functions = [document(AdvisedFields, each) for each in self.launches]
        return {**tool(), "advice": [each.to_dict() for each in self.every], "binds": self.binds, "functions": functions}

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in ("advice", "function", "gain us", "of total", "why"))
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(visible(text))}</td>"
                for text in (each.code, each.function, microseconds(each.gain_us), f"{each.gain_of_total:.0%}", each.why)
            )
            + "</tr>"
            for each in self.every
        )
        binds = f"<p>{escape(self.binds)}</p>" if self.binds is not None else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{binds}"


def advise(subject: Function | Program | Origin, *, function: str | None = None, file: str = "", **choices: Unpack[Choices]) -> AdviceList:
    """Return what to change in the kernels of an input (in those that match `function`, a name or glob), each remedy with its gain.

    `subject` and `file` are those of `analyze`, and so are `choices`; its `launch` has to give the block, the grid and the GPU. Each remedy
    changes the accesses, the instructions or the launch of the kernel, and the estimate is made again: the difference, in microseconds, is
    the gain. It is an estimate, not a bound, and says how sure it is. A kernel without an estimate has no advice, and `gaps` say why.
    docs/guides/get-advice.md lists the remedies and what they were compared with.
    Raises what `analyze` raises, and UsageError without a GPU, a block or a grid.
    """
    settings = replace(settings_of(checked(choices)), contention=False, check=False)
    launch = settings.launch
    if settings.gpu is None or launch.block is None or launch.grid is None:
        raise UsageError("usage", "advice needs a launch on a GPU", hint="pass launch=sassan.Launch(gpu=..., block=..., grid=...)")
    name, functions = functions_of(subject, settings, function, file)
    kernels = [each for each in functions if each.kernel]
    return AdviceList(tuple(advised(estimated(analysis.analyze(each, settings, name))) for each in kernels))
