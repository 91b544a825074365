"""A GPU as it is sold."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

ON_TARGET = "measured on the target: "
"""The begin of the source of a figure that was measured on the board that is deployed."""


@dataclass(frozen=True, slots=True)
class Peak:
    """A peak rate as a data sheet prints it, without sparsity: of `kind` (`fp16`), in 10^12 operations a second, at `clock` in MHz.

    The digits of `printed` say how far it is rounded; the clock is that of the sheet, where it is not the boost clock of the product.
    """

    kind: str
    printed: str
    clock: int
    source: str


@dataclass(frozen=True, slots=True)
class Product:
    """A GPU as it is sold: `sms` SMs of an `architecture` (`sm_86`), with its clocks and its memory; None is a figure without a source.

    Units: `base_clock` and `boost_clock` in MHz; `dram_size` in GB and `dram_bandwidth` in GB/s (10^9 bytes), the peak; `l2_size` in KiB;
    `l2_bytes_per_cycle` is what the L2 of the whole GPU was measured to deliver in one cycle of the SMs. `dram_efficiency` is the part
    of the peak that the slowest stream over the whole memory reaches. `launch_us` is the time in which a launch executes no instruction,
    in microseconds: from its start to its first instruction, and from its last to its end. `between_us` is the time from the end of a
    launch to the start of the next one in its stream, which the host has submitted in time. `block_cycles` are those of an SM in which it
    surely gets a block, while blocks wait and it has a place. `kept_clock` in MHz is the lowest at which runs were recorded, where that
    is not the boost clock. `lanes` are those of its SM that differ from the table of the SM (`sassan/arch/`), by their key, and
    `latency` the latencies in cycles that it has otherwise, by the name of their class. `peaks` are the
    rates of its data sheet. `integrated`: its DRAM is that of a CPU, too. `dram_share` is what others leave it of the bandwidth of DRAM,
    whenever it waits: 1, or what a user or a measurement gives. `overclocked` is how many times
    faster than its boost clock a user says that its SMs run: so many times more cycles pass until memory answers. `sources` has the source
    of each figure.
    """

    name: str
    aliases: tuple[str, ...]
    architecture: str
    sms: int
    boost_clock: int
    dram: str
    dram_size: float
    dram_bandwidth: float
    dram_efficiency: float
    launch_us: float
    between_us: float
    block_cycles: float
    sources: tuple[tuple[str, str], ...]
    base_clock: int | None = None
    l2_size: int | None = None
    l2_bytes_per_cycle: int | None = None
    kept_clock: int | None = None
    lanes: tuple[tuple[str, int], ...] = ()
    peaks: tuple[Peak, ...] = ()
    integrated: bool = False
    dram_share: Fraction = Fraction(1)
    overclocked: Fraction = Fraction(1)
    latency: tuple[tuple[str, int], ...] = ()

    def source(self, figure: str) -> str:
        """Return where a figure (`boost_clock`) comes from."""
        return dict(self.sources)[figure]

    def measured(self) -> Mapping[str, tuple[str, ...]]:
        """Return the figures that were measured on the target itself (`sassan measure --assumptions`), by their source."""
        known = dict.fromkeys(source for _, source in self.sources if source.startswith(ON_TARGET))
        return {source: tuple(name for name, each in self.sources if each == source) for source in known}

    @property
    def dram_bytes_per_cycle(self) -> Fraction:
        """Return the peak bandwidth of the DRAM, in bytes per cycle of the SMs at boost clock."""
        return Fraction(str(self.dram_bandwidth)) * 1000 / self.boost_clock

    @property
    def dram_rate(self) -> Fraction:
        """Return the bandwidth of the DRAM that the GPU surely gets while it waits, in GB/s."""
        return Fraction(str(self.dram_bandwidth)) * Fraction(str(self.dram_efficiency)) * self.dram_share

    @property
    def waiting(self) -> Fraction:
        """Return how many times longer than is published memory lets an access wait, in cycles."""
        return self.overclocked / self.dram_share

    def at(self, clock: int) -> "Product":
        """Return the product whose SMs keep a clock, in MHz."""
        sources = tuple((name, "given" if name == "boost_clock" else source) for name, source in self.sources)
        faster = max(Fraction(1), Fraction(clock, self.boost_clock))
        return replace(self, boost_clock=clock, kept_clock=None, overclocked=faster, sources=sources)

    def sharing(self, share: Fraction) -> "Product":
        """Return the product of whose bandwidth of DRAM others leave a share, as a user says."""
        return replace(self, dram_share=share, sources=tuple(each for each in self.sources if each[0] != "dram_share"))

    @property
    def slowdown(self) -> Fraction:
        """Return the cycles at boost clock in which the SMs surely do the work of one."""
        return Fraction(self.boost_clock, self.kept_clock or self.boost_clock)

    def us(self, cycles: float) -> float:
        """Return the microseconds of a number of cycles at boost clock."""
        return cycles / self.boost_clock

    @property
    def launch_cycles(self) -> int:
        """Return the cycles of `launch_us` at boost clock, rounded up."""
        return ceil(Fraction(str(self.launch_us)) * self.boost_clock)
