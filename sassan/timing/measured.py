"""The cost model `measured`: cycles of each block from a file (hybrid analysis, docs/concepts/time.md).

    [function."_Z5saxpyPfS_f"]
    text = "sha256:..."                 # of the function's instructions; another text is an error
    [[function."_Z5saxpyPfS_f".block]]
    start = "0x0068"                    # of a block of the warp-level graph
    cycles = 412                        # the largest that was seen; of several entries the largest counts

or as CSV, with a line per measurement: function,text,start,cycles
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sassan.errors import Gap, InputError
from sassan.isa.loading import TABLES
from sassan.timing.model import NO_ACCESSES, BlockCosts, Quantity
from sassan.warpcfg.graph import WarpCfg

MAXIMA = "measured maxima are no bounds, unless every input and every state of the hardware was measured"
RESTS = "the measured time of a block where the warp ends lasts until all that it issued has ended and its units are free"
COLUMNS = ("function", "text", "start", "cycles")
_HINT = "sassan cfg --json lists blocks; sassan ipet --facts-template prints the hash of the text"


@dataclass(frozen=True, slots=True)
class Measurements:
    """Of one function: the hash of its text, and the largest cycles of each block by its address."""

    text: str
    cycles: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class MeasuredCostModel:
    """Takes the cycles of each block from measurements by function; `file` is what errors call them."""

    file: str
    functions: Mapping[str, Measurements]

    @property
    def name(self) -> str:
        """Return `measured`."""
        return "measured"

    @property
    def quantity(self) -> Quantity:
        """Return cycles."""
        return Quantity.CYCLES

    @property
    def tables(self) -> None:
        """Return None: the cycles were measured with all that they wait for."""

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the largest measured time of each block; a block without one is a gap.

        Raises InputError for measurements of another text, or of places where no block starts.
        """
        del busy  # measured with the blocks
        measurements = self.functions.get(cfg.function.name)
        known = measurements.cycles if measurements is not None else {}
        if measurements is not None:
            self._check(measurements, cfg)
        gaps = {
            Gap(node.start, "not-measured", f"no measurement of block 0x{node.start:04x} in {self.file}")
            for node in cfg.nodes
            if node.start not in known
        }
        costs = tuple(known.get(node.start, 0) for node in cfg.nodes)
        return BlockCosts(costs, (MAXIMA, f"the block times of {self.file} were measured on this code", RESTS), tuple(sorted(gaps)))

    def _check(self, measurements: Measurements, cfg: WarpCfg) -> None:
        name, text = cfg.function.name, cfg.function.text_hash
        if measurements.text != text:
            message = f"{self.file}: {name}: measured on another text ({measurements.text}, this is {text})"
            raise InputError("other-text", message, hint="measure this code")
        starts = {node.start for node in cfg.nodes}
        for address in measurements.cycles:
            if address not in starts:
                raise InputError("bad-measurements", f"{self.file}: {name}: no block starts at 0x{address:04x}", hint=_HINT)


def read(name: str, text: str) -> MeasuredCostModel:
    """Return the measurements of a file that the user called `name`: CSV where it ends in .csv, else TOML.

    Raises InputError `bad-measurements` (CSV) or `bad-table` (TOML) that names the place.
    """
    try:
        rows = tuple(_csv(name, text) if name.endswith(".csv") else _toml(name, text))
    except csv.Error as error:
        raise InputError("bad-measurements", f"{name}: {error}", hint=_HINT) from error
    texts: dict[str, str] = {}
    cycles: dict[str, dict[int, int]] = {}
    for function, its_text, start, took in rows:
        if texts.setdefault(function, its_text) != its_text:
            raise InputError("bad-measurements", f"{name}: {function}: two different texts", hint="one file, one version of the code")
        blocks = cycles.setdefault(function, {})
        blocks[start] = max(blocks.get(start, 0), took)
    return MeasuredCostModel(name, {function: Measurements(texts[function], cycles[function]) for function in texts})


MeasuredRow = tuple[str, str, int, int]
"""Function, text, start, cycles."""


def _toml(name: str, text: str) -> Iterator[MeasuredRow]:
    file = TABLES.toml(name, text)
    file.only("function")
    functions = file.table("function")
    for function in functions.values:
        fields = functions.table(function)
        fields.only("text", "block")
        for block in fields.tables("block"):
            block.only("start", "cycles")
            yield function, fields.text("text"), block.address("start"), block.whole("cycles", least=0)


def _csv(name: str, text: str) -> Iterator[MeasuredRow]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    if tuple(next(rows, ())) != COLUMNS:
        raise InputError("bad-measurements", f"{name}:1: expected the columns {','.join(COLUMNS)}", hint=_HINT)
    for row in rows:
        match row:
            case [function, its_text, start, cycles] if (address := _address(start)) is not None and re.fullmatch(r"[0-9]{1,15}", cycles):
                yield function, its_text, address, int(cycles)
            case []:
                pass
            case _:
                raise InputError("bad-measurements", f"{name}:{rows.line_num}: expected a name, a hash, an address and cycles", hint=_HINT)


def _address(text: str) -> int | None:
    return int(text, 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,12}", text) else None
