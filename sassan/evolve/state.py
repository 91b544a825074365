"""The state of a search: all that is needed to resume it with the same result, as JSON, written atomically."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import cast

from sassan import __version__
from sassan.errors import UsageError, is_full, no_space
from sassan.evolve.outcome import GenomeOutcome, from_json, to_json
from sassan.evolve.space.config import Config
from sassan.evolve.space.genes import Genome
from sassan.fields.field import Value
from sassan.files import write
from sassan.system import reading

LARGEST = 1 << 30
"""Bytes of a state."""
FILE = "state.json"
_FORMAT = 3


@dataclass(slots=True)
class SearchState:
    """The state of a search between two generations.

    `evolved` and `sampled` are the distinct genomes evaluated by evolution and random search, in order; `known` has the outcomes of both.
    `population` are the parents of the next generation.
    """

    evolution_random: Random
    sampling_random: Random
    generation: int = 0
    population: list[Genome] = field(default_factory=list[Genome])
    evolved: list[Genome] = field(default_factory=list[Genome])
    sampled: list[Genome] = field(default_factory=list[Genome])
    known: dict[Genome, GenomeOutcome] = field(default_factory=dict[Genome, GenomeOutcome])
    done: bool = False


def initial_state(seed: int) -> SearchState:
    """Return the state before the first generation."""
    return SearchState(Random(f"evolution {seed}"), Random(f"random search {seed}"))  # noqa: S311 - not used for cryptography


def save(state: SearchState, config: Config, folder: Path, toolchain: str = "") -> None:
    """Write a state with the hash of the tools that computed its costs (`run.toolchain_hash`); raises UsageError `cannot-write`."""
    document: dict[str, Value] = {
        "format": _FORMAT,
        "sassan": __version__,
        "config": config.fingerprint,
        "makers": toolchain,
        "generation": state.generation,
        "population": [list(genome) for genome in state.population],
        "evolved": [list(genome) for genome in state.evolved],
        "sampled": [list(genome) for genome in state.sampled],
        "known": [{"genome": list(genome), "outcome": to_json(outcome)} for genome, outcome in sorted(state.known.items())],
        "chance": _random_state(state.evolution_random),
        "luck": _random_state(state.sampling_random),
        "done": state.done,
    }
    put(folder / FILE, (json.dumps(document) + "\n").encode())


def put(path: Path, data: bytes) -> None:
    """Write a file of the output folder atomically; raises UsageError `cannot-write`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, data, lasting=True)
    except OSError as error:
        if is_full(error):
            raise no_space(f"'{path}'", error) from None
        raise UsageError("cannot-write", f"cannot write '{path}': {error.strerror or error}") from None


def load(config: Config, folder: Path, toolchain: str = "") -> SearchState | None:
    """Return the state in a folder, None if there is none.

    Raises UsageError `bad-state` for a state that is damaged, of another configuration, or computed by other tools.
    """
    path = folder / FILE
    try:
        text = reading.text(path, LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(path, f"cannot be read: {error}") from None
    try:
        document = cast("Mapping[str, object]", json.loads(text))
        if document["format"] != _FORMAT or document["config"] != config.fingerprint:
            raise _bad(path, "is the state of another configuration, kernel, seed or budget")
        if document["makers"] != toolchain:
            raise _bad(path, "contains costs computed by another sassan, other compilers or another GPU")
        return _checked(_state(document), config)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise _bad(path, "is damaged") from None


def _bad(path: Path, problem: str) -> UsageError:
    return UsageError("bad-state", f"'{path}' {problem}", hint="start a new search in another folder (-o DIR), or remove this one")


def _state(document: Mapping[str, object]) -> SearchState:
    known = {
        _genome(entry["genome"]): from_json(cast("Mapping[str, object]", entry["outcome"]))
        for entry in cast("Sequence[Mapping[str, object]]", document["known"])
    }
    population, evolved, sampled = (
        list(map(_genome, cast("Sequence[object]", document[name]))) for name in ("population", "evolved", "sampled")
    )
    generation = int(cast("int", document["generation"]))
    return SearchState(
        _random_from(document["chance"]),
        _random_from(document["luck"]),
        generation,
        population,
        evolved,
        sampled,
        known,
        bool(document["done"]),
    )


def _checked(state: SearchState, config: Config) -> SearchState:
    """Return the state after checking that its genomes belong to the space and are evaluated; raises ValueError."""
    genomes = {*state.population, *state.evolved, *state.sampled}
    if not genomes <= state.known.keys() or not all(map(config.space.contains, state.known)):
        raise ValueError("a genome that is not in the space, or was not evaluated")
    return state


def _genome(value: object) -> Genome:
    return tuple(int(number) for number in cast("Sequence[int]", value))


def _random_state(generator: Random) -> Value:
    version, numbers, gauss = generator.getstate()
    return [version, list(numbers), gauss]


def _random_from(value: object) -> Random:
    version, numbers, gauss = cast("tuple[int, list[int], float | None]", value)
    generator = Random()  # noqa: S311 - as above
    generator.setstate((version, tuple(numbers), gauss))
    return generator
