"""The loops of the samples with verdicts from reading their sources (unit/loop_bounds/samples.toml)."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from samples import explored, program
from sassan.ipet.loop_bounds import Inferred, infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.warpcfg.graph import WarpCfg

_FILE = Path(__file__).parent / "unit" / "loop_bounds" / "samples.toml"


@lru_cache(maxsize=1)
def entries() -> dict[str, Any]:
    """Return the file: sample name to `verdicts` and `told` (parameters)."""
    return tomllib.loads(_FILE.read_text())


@dataclass(frozen=True)
class Sample:
    """One function with loops, and the verdict on each head, in order."""

    name: str
    cfg: WarpCfg
    verdicts: dict[int, str]
    parameters: dict[int, int]

    def launch(
        self, block: tuple[int, int, int] = (128, 1, 1), grid: tuple[int, int, int] = (30, 1, 1), **changed: int
    ) -> LaunchConfiguration:
        """Return a launch with the parameters of the file, some of them changed (`p16=7`)."""
        where = layout(self.cfg.function.arch)
        assert where is not None
        values = {offset: changed.get(f"p{offset}", value) for offset, value in self.parameters.items()}
        return LaunchConfiguration(block, grid, tuple(Setting("", where.parameters + offset, value, 4) for offset, value in values.items()))

    def infer(self, launch: LaunchConfiguration) -> tuple[Inferred, ...]:
        """Return the inferred bound of each loop."""
        return infer(self.cfg, tables.load(self.cfg.function.arch).facts, launch)

    def launches(self, count: int, seed: int) -> list[LaunchConfiguration]:
        """Return launches that differ in shape and parameters: small ones, negative ones, and those of the file."""
        draw = random.Random(seed)
        return [
            self.launch(
                draw.choice([(128, 1, 1), (32, 1, 1), (draw.randrange(1, 1025), 1, 1), (draw.randrange(1, 33), draw.randrange(1, 33), 1)]),
                (draw.randrange(1, 60), draw.randrange(1, 4), 1),
                **{
                    f"p{offset}": draw.choice([value, draw.randrange(2 * value + 2), draw.randrange(-3, 40)])
                    for offset, value in self.parameters.items()
                },
            )
            for _ in range(count)
        ]


def sample(arch: str, name: str) -> Sample | None:
    """Return the function with loops of a sample, None if its graph has gaps."""
    entry = entries()[name]
    graphs = [explored(function) for function in program(arch, name, "cuobjdump").functions]
    cfg = next(graph for graph in graphs if graph.loops)
    if cfg.gaps:
        return None
    heads = sorted({cfg.nodes[loop.head].start for loop in cfg.loops} - set(cfg.spins))
    verdicts = dict(zip(heads, entry.get(arch, entry["verdicts"]), strict=True))
    return Sample(name, cfg, verdicts, {int(offset): value for offset, value in entry.get("told", {}).items()})


def samples(arch: str) -> Iterator[Sample]:
    """Yield every sample with loops whose graph has no gaps."""
    for name in entries():
        result = sample(arch, name)
        if result is not None:
            yield result
