"""Launches of a recording that are run, so that memory is known which earlier kernels computed (`--run-before`)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sassan.app.inputs import RequestObserver
from sassan.app.launches import settings_of
from sassan.app.settings import Settings
from sassan.ir import Function, Language
from sassan.isa.languages import isa_of
from sassan.launches import ProgramLaunch
from sassan.launches.memory import DeviceMemory
from sassan.machine.contents import KnownBytes
from sassan.machine.multiprocessor import WARP_SIZE

if TYPE_CHECKING:
    from sassan.simt.kernel_run import RunBudget

MOST_INSTRUCTIONS = 1_000_000_000
"""Instructions of threads that are executed at most, of all launches together."""
_MOST_BYTES = 1 << 30
"""Of the buffers of a launch and of what is known, at most."""


@dataclass(slots=True)
class EarlierLaunches:
    """Runs launches one after the other; `observer` sees them go by, and which are not run, and why, once for each kernel and reason."""

    observer: RequestObserver
    _budget: "RunBudget | None" = None
    _said: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def run(self, function: Function, launch: ProgramLaunch, memory: DeviceMemory) -> tuple[KnownBytes, ...] | None:
        """Return what a launch stores, None where it cannot be run."""
        from sassan.simt.kernel_run import NotRunError, RunBudget  # noqa: PLC0415 - start-up: only where kernels are run

        if self._budget is None:
            self._budget = RunBudget(MOST_INSTRUCTIONS // WARP_SIZE)
        try:
            return self._run(function, launch, memory, self._budget)
        except NotRunError as error:
            if (launch.kernel, error.message) not in self._said:
                self._said.add((launch.kernel, error.message))
                self.observer.noted(f"{launch.kernel} was not run, so that what it stores is not known: {error.message}")
            return None

    def _run(self, function: Function, launch: ProgramLaunch, memory: DeviceMemory, budget: "RunBudget") -> tuple[KnownBytes, ...]:
        from sassan.simt.global_memory import GlobalMemory  # noqa: PLC0415 - the same
        from sassan.simt.kernel_run import NotRunError, run_kernel  # noqa: PLC0415 - the same

        if function.language is Language.PTX:
            raise NotRunError("PTX is not run, compile it")
        if launch.arguments is None:
            raise NotRunError("its arguments are not known")
        if launch.count > 1 and launch.writes:
            raise NotRunError("the host writes memory between equal launches of it")
        settings = settings_of(Settings(), function, launch)
        buffers, known = [*_buffers(launch)], memory.contents()
        if sum(end - first for first, end in buffers) + (known.size if known is not None else 0) > _MOST_BYTES:
            raise NotRunError(f"its memory is larger than {_MOST_BYTES >> 20} MiB")
        held = GlobalMemory(buffers, known)
        for _ in range(launch.count):
            run_kernel(function, isa_of(function, settings.letters).facts, settings.launch, held, budget)
        return tuple(held.changes())


def _buffers(launch: ProgramLaunch) -> Iterator[tuple[int, int]]:
    """Yield the addresses of the buffers that a launch gets, each once."""
    met: set[int] = set()
    for argument in launch.arguments or ():
        if argument.buffer is not None and argument.buffer.number not in met:
            met.add(argument.buffer.number)
            first = argument.value - argument.buffer.offset
            yield first, first + argument.buffer.size
