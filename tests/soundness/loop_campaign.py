"""Random loops through every opcode, each held to runs that find words at the corners of its guards: none turns too often."""

from collections import Counter
from dataclasses import dataclass, field

from listing import assemble
from sassan.ipet.loop_bounds import infer, inference
from sassan.ipet.loop_bounds.recheck import Effort, seen
from sassan.isa.tables import load
from sassan.machine.launch import LaunchConfiguration
from soundness.loop_programs import Program, campaign

ARCHS = ("sm_50", "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LAUNCH = LaunchConfiguration((64, 1, 1), (2, 1, 1))
SHARE = 200
"""Programs of one task."""
EFFORT = Effort(warps=12, operations=6_000, worth=16_000, unbounded=False)


@dataclass(slots=True)
class LoopTally:
    """What a share of the campaign looked at: loops, those with a bound, those that were run, and what turned too often."""

    arch: str
    loops: int = 0
    bounded: int = 0
    run: int = 0
    turned: int = 0
    """Loops that a run turned as often as the bound says."""
    excluded: int = 0
    """Blocks that no thread should reach."""
    through: Counter[str] = field(default_factory=Counter)
    """Loops with a bound, by the opcode under test."""
    findings: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return the figures as text."""
        bounded = f"{self.loops} loops, {self.bounded} bounded (through {len(self.through)} opcodes)"
        turned = f"{self.turned} reached their bound in a run, {len(self.findings)} went beyond it"
        return f"{self.arch}: {bounded}, {turned}; {self.excluded} blocks excluded"

    def merge(self, other: "LoopTally") -> None:
        """Add what another share looked at."""
        for name in ("loops", "bounded", "run", "turned", "excluded"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.through += other.through
        self.findings += other.findings


def hold_loops(arch: str, first: int, last: int) -> LoopTally:
    """Hold the loops of the programs with these numbers."""
    tally = LoopTally(arch)
    for number, made in enumerate(campaign(arch, first, last), first):
        _hold(made, number, tally)
    return tally


def _hold(made: Program, number: int, tally: LoopTally) -> None:
    facts = load(made.arch).facts
    cfg = assemble(made.text, made.arch).graph()
    assert not cfg.gaps, f"{cfg.gaps}\n{made.text}"
    tally.loops += len(cfg.loops)
    found = infer(cfg, facts, LAUNCH)
    bounds = [one.bound for one in found]
    if all(bound is None for bound in bounds):
        return
    tally.bounded += sum(bound is not None for bound in bounds)
    tally.through.update(str(one) for one in made.uses[:1])
    done = seen(cfg, facts, (LAUNCH,), EFFORT, bounds)
    assert done is not None, made.text
    tally.run += 1
    excluded = {*inference(cfg, facts, LAUNCH).unreached}
    tally.excluded += len(excluded)
    if excluded & done.blocks:
        tally.findings.append(f"{made.arch} program {number}: blocks {sorted(excluded & done.blocks)} are executed\n{made.text}")
    turns = done.back_edges[0]
    for one in found:
        if one.bound is not None:
            tally.turned += turns[one.loop] == one.bound
            if turns[one.loop] > one.bound:
                what = f"{made.arch} program {number}: {turns[one.loop]} turns, {one.bound} inferred ({one.reason})"
                tally.findings.append(f"{what}, through {', '.join(map(str, made.uses))}\n{made.text}")
