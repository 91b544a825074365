"""How close compilers put a consumer behind a producer of fixed latency, and the section of an architecture file that says so."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sassan.ir import Function
from sassan.isa import tables
from sassan.timing.findings import SHORT, MissingWait
from sassan.timing.hazards import ENOUGH, FILES, GUARD, RAW, Distance, Hazards, load
from sassan.timing.scheduled import scheduled
from sassan.timing.scoreboards import unwaited
from sassan.timing.steps import steps

SPREAD = 4
"""Consumers of one class of producers differ by no more: a pair that is never closer than that is kept apart by what surrounds it."""
FAR = 30
"""Cycles after which every result of fixed latency is taken to be there."""
GENERATIONS = {
    "sm_5": "maxwell",
    "sm_6": "maxwell",
    "sm_70": "volta",
    "sm_72": "volta",
    "sm_75": "turing",
    "sm_8": "ampere",
    "sm_90": "hopper",
    "sm_10": "sm_100",
    "sm_11": "sm_100",
    "sm_12": "sm_120",
}
"""The file that holds what the code of an SM says, by how its name begins: that of the generation where its SMs share it."""
Key = tuple[str, str, str]
"""Register file, class of the producer, class of the consumer."""


@dataclass(slots=True)
class Pair:
    """What was seen of two classes: uses by their distance, and by the opcodes of both."""

    distances: Counter[int] = field(default_factory=Counter[int])
    producers: Counter[str] = field(default_factory=Counter[str])
    consumers: Counter[str] = field(default_factory=Counter[str])


Observed = defaultdict[Key, Pair]


def observed() -> Observed:
    """Return a table with nothing observed."""
    return defaultdict(Pair)


class _Everything(Hazards):
    """Asks for so many cycles that every use is a finding."""

    def __init__(self, hazards: Hazards) -> None:
        super().__init__(hazards.arch, hazards.rules, hazards.visible, hazards.outlasts, {})

    def distance(self, dependence: str, file: str, producer: str, consumer: str) -> Distance:  # noqa: ARG002 - of any two classes
        """Return the largest distance for what is read."""
        return Distance(FAR if dependence == RAW else 0)

    def longest(self, producer: str) -> int:  # noqa: ARG002 - of any class
        """Return the largest distance."""
        return FAR


def observe(function: Function, seen: Observed) -> None:
    """Add every read of a result of fixed latency, at its distance on the shortest way, to what was seen."""
    hazards, facts_of = _Everything(load(function.arch)), tables.load(function.arch).facts
    if any(one.control is None for one in function.instructions):
        return
    facts = [facts_of(one) for one in function.instructions]
    code = tuple(scheduled(one, fact, hazards) for one, fact in zip(function.instructions, facts, strict=True))
    place = {op.address: op for op in code}
    for finding in unwaited(code, steps(function, facts), hazards):
        if finding.code != SHORT:
            continue
        producer, consumer = place[finding.producer], place[finding.address]
        for kind, registers in producer.results:
            if registers & finding.registers:
                pair = seen[_file(finding, consumer.guard, consumer.reads), kind, consumer.profile.producer]
                pair.distances[finding.have] += 1
                pair.producers[producer.opcode] += 1
                pair.consumers[consumer.opcode] += 1


def _file(finding: MissingWait, guard: int, reads: int) -> str:
    """Return the file through which two instructions depend; what is a guard and an operand counts as the guard, which is read first."""
    if finding.registers & guard:
        return GUARD
    return next(name for name, members in FILES.items() if finding.registers & members & reads)


def generation(arch: str) -> str:
    """Return the name of the file for the SM of some code; raises ValueError for one without."""
    for prefix, name in GENERATIONS.items():
        if arch.startswith(prefix):
            return name
    raise ValueError(f"no file for the distances of {arch}")


def section(seen: Mapping[Key, Pair], source: Iterable[str]) -> str:
    """Return the section of an architecture file: of each pair the smallest distance, how often just that was seen, and its opcodes."""
    by_producer: defaultdict[tuple[str, str], dict[str, Pair]] = defaultdict(dict)
    for (file, producer, consumer), pair in sorted(seen.items()):
        by_producer[file, producer][consumer] = pair
    named = ", ".join(f'"{each}"' for each in source)
    out = f"[distances.measured] # written by scripts/measure_distances\nsource = [{named}]\n"
    for (file, producer), consumers in by_producer.items():
        least = min(min(pair.distances) for pair in consumers.values())
        out += f"[distances.measured.raw.{file}.{producer}]\nany = {{ cycles = {least}, seen = 1 }}\n"
        out += "".join(f"{consumer} = {_row(pair, least + SPREAD)}\n" for consumer, pair in consumers.items())
    return out + "\n"


def _row(pair: Pair, most: int) -> str:
    least = min(pair.distances)
    row = f"cycles = {min(least, most)}, seen = {pair.distances[least]}"
    if pair.distances[least] < ENOUGH:
        return f"{{ {row} }}"
    return f"{{ {row}, producers = {_often(pair.producers)}, consumers = {_often(pair.consumers)} }}"


def _often(opcodes: Counter[str]) -> str:
    return "[" + ", ".join(f'"{opcode}"' for opcode, number in sorted(opcodes.items()) if number >= ENOUGH) + "]"
