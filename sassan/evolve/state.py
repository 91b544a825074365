"""Where a search stands: all that it needs to go on as if it had never stopped, as JSON, written whole or not at all."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import cast

from sassan import __version__
from sassan.app.documents import Value
from sassan.errors import UsageError
from sassan.evolve.config import Config
from sassan.evolve.genes import Genome
from sassan.evolve.outcome import Outcome, from_json, to_json
from sassan.files import write

FILE = "state.json"
_FORMAT = 2


@dataclass(slots=True)
class State:
    """A search between two generations.

    `evolved` and `sampled` are the genomes that evolution and random search have evaluated, each once, in order; `known` are the outcomes
    of both. `population` are the parents of the next generation. `chance` drives evolution, `luck` random search.
    """

    chance: Random
    luck: Random
    generation: int = 0
    population: list[Genome] = field(default_factory=list[Genome])
    evolved: list[Genome] = field(default_factory=list[Genome])
    sampled: list[Genome] = field(default_factory=list[Genome])
    known: dict[Genome, Outcome] = field(default_factory=dict[Genome, Outcome])
    done: bool = False


def begin(seed: int) -> State:
    """Return the state before the first generation."""
    return State(Random(f"evolution {seed}"), Random(f"random search {seed}"))  # noqa: S311 - a search is no secret


def save(state: State, config: Config, folder: Path, makers: str = "") -> None:
    """Write a state, and by what its costs were made (`run.makers`); raises UsageError `cannot-write`."""
    document: dict[str, Value] = {
        "format": _FORMAT,
        "sassan": __version__,
        "config": config.fingerprint,
        "makers": makers,
        "generation": state.generation,
        "population": [list(one) for one in state.population],
        "evolved": [list(one) for one in state.evolved],
        "sampled": [list(one) for one in state.sampled],
        "known": [{"genome": list(genome), "outcome": to_json(outcome)} for genome, outcome in sorted(state.known.items())],
        "chance": _drawn(state.chance),
        "luck": _drawn(state.luck),
        "done": state.done,
    }
    put(folder / FILE, (json.dumps(document) + "\n").encode())


def put(path: Path, data: bytes) -> None:
    """Write a file of the output folder, whole or not at all; raises UsageError `cannot-write`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, data, lasting=True)
    except OSError as error:
        raise UsageError("cannot-write", f"cannot write '{path}': {error.strerror or error}") from None


def load(config: Config, folder: Path, makers: str = "") -> State | None:
    """Return the state in a folder, None where there is none.

    Raises UsageError `bad-state` for one that is damaged, of another configuration, or whose costs others made.
    """
    path = folder / FILE
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(path, f"cannot be read: {error}") from None
    try:
        found = cast("Mapping[str, object]", json.loads(text))
        if found["format"] != _FORMAT or found["config"] != config.fingerprint:
            raise _bad(path, "is the state of another configuration, kernel, seed or budget")
        if found["makers"] != makers:
            raise _bad(path, "holds costs that another sassan, other compilers or another GPU made")
        return _held(_state(found), config)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise _bad(path, "is damaged") from None


def _bad(path: Path, what: str) -> UsageError:
    return UsageError("bad-state", f"'{path}' {what}", hint="search anew with another folder (-o DIR), or remove this one")


def _state(found: Mapping[str, object]) -> State:
    known = {
        _genome(one["genome"]): from_json(cast("Mapping[str, object]", one["outcome"]))
        for one in cast("Sequence[Mapping[str, object]]", found["known"])
    }
    population, evolved, sampled = (
        list(map(_genome, cast("Sequence[object]", found[name]))) for name in ("population", "evolved", "sampled")
    )
    generation = int(cast("int", found["generation"]))
    return State(_undrawn(found["chance"]), _undrawn(found["luck"]), generation, population, evolved, sampled, known, bool(found["done"]))


def _held(state: State, config: Config) -> State:
    """Return the state, whose genomes are of the space and evaluated; raises ValueError."""
    genomes = {*state.population, *state.evolved, *state.sampled}
    if not genomes <= state.known.keys() or not all(map(config.space.holds, state.known)):
        raise ValueError("a genome that is not of the space, or was not evaluated")
    return state


def _genome(value: object) -> Genome:
    return tuple(int(one) for one in cast("Sequence[int]", value))


def _drawn(chance: Random) -> Value:
    version, numbers, gauss = chance.getstate()
    return [version, list(numbers), gauss]


def _undrawn(value: object) -> Random:
    version, numbers, gauss = cast("tuple[int, list[int], float | None]", value)
    chance = Random()  # noqa: S311 - as above
    chance.setstate((version, tuple(numbers), gauss))
    return chance
