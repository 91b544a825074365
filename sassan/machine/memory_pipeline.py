"""The memory pipeline of an SM: for how long one access keeps it, by its passes, lines and sectors."""

from dataclasses import dataclass

from sassan.arch import cached, rows
from sassan.errors import InputError
from sassan.machine.atomics import Atomics, atomics

SECTOR = 32
"""Bytes of a sector, the least that is moved between L1, L2 and DRAM."""


@dataclass(frozen=True, slots=True)
class MemoryPipeline:
    """Cycles per pass over the banks of shared memory, per pass that conflicts add, per constant address and line.

    `port` is how many bytes an SM receives from L2, or sends there, per cycle, `bulk` how many its copy engine moves. `atomics` are the
    rates of atomic operations. `source` is that of all other figures.
    """

    shared: int
    conflict: int
    constant: int
    line: int
    port: int
    bulk: int
    source: str
    atomics: Atomics

    def of_lines(self, lines: int, sectors: int) -> int:
        """Return for how long an access to global or local memory keeps the pipeline: to look up its lines, or to move its sectors."""
        return max(lines * self.line, -(-sectors * SECTOR // self.port))

    @property
    def assumption(self) -> str:
        """Return what the cycles of accesses rest on."""
        return (
            f"memory pipeline of an SM: {self.shared} cycle{'s' * (self.shared > 1)} per pass over the banks of shared memory "
            f"({self.conflict} that conflicts add), {self.constant} per constant address, {self.line} per line, {self.port} bytes "
            "a cycle between L1 and L2; accesses pass its stages in order"
        )


@cached
def memory_pipeline(arch: str) -> MemoryPipeline:
    """Return the memory pipeline of an SM (`sm_61`).

    Raises InputError `bad-table` with the file and the key, `unknown-sm` where no file describes it.
    """
    row = rows(arch, "memory").get("")
    if row is None:
        raise InputError("unknown-sm", f"no architecture file describes the memory pipeline of {arch}")
    fields = row.fields
    fields.only("shared", "conflict", "constant", "line", "port", "bulk", "source")
    figures = {name: fields.whole(name) for name in ("shared", "conflict", "constant", "line", "port")}
    bulk = fields.whole("bulk") if "bulk" in fields else figures["port"]
    return MemoryPipeline(**figures, bulk=bulk, source=row.source, atomics=atomics(arch))
