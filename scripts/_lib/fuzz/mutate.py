"""Mutations of bytes, of texts by their tokens and lines, and of documents by their values."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (0, 1, -1, 7, 31, 32, 127, 128, 255, 256, 1023, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64, 10**20)
WORDS = (
    *("", "x", "0x", "0x10", "-", "nan", "1e400", "\x1b[31m", "\u202e", "ü", "\ufeff", "../x", "'", '"', "["),
    *("{" * 40, "a" * 3000, "9" * 5000),
)
_TOKEN = re.compile(r"0x[0-9a-fA-F]+|[0-9]+|[A-Za-z_$.%][\w$.]*|[ \t]+|\n|.", re.DOTALL)
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")
_LONGEST = 100_000
"""Bytes of an input: what is larger takes time without being another input."""
_MUTATIONS = 4
_REPEATS = (2, 3, 10, 100, 1000)


def text(draw: Random, samples: Sequence[str]) -> str:
    """A sample after some edits of its tokens, lines and characters; other samples give parts."""
    out = draw.choice(samples)
    for _ in range(draw.randint(1, _MUTATIONS)):
        out = draw.choice(_EDITS)(draw, out, samples)[:_LONGEST]
    return out


def binary(draw: Random, samples: Sequence[bytes]) -> bytes:
    """A sample after some edits of bytes and of the numbers that they hold."""
    out = bytearray(draw.choice(samples))
    for _ in range(draw.randint(1, _MUTATIONS)):
        at = draw.randrange(len(out) + 1)
        size = min(len(out) - at, draw.choice((1, 1, 2, 4, 8, 16, 64, 512)))
        match draw.randrange(7):
            case 0:
                out[at : at + size] = draw.randbytes(size)
            case 1 if size:
                out[at] ^= 1 << draw.randrange(8)
            case 2:
                width = draw.choice((1, 2, 4, 8))
                out[at : at + width] = (draw.choice(NUMBERS) & (1 << 8 * width) - 1).to_bytes(width, "little")
            case 3:
                del out[at : at + size]
            case 4:
                out[at:at] = out[at : at + size] * draw.choice(_REPEATS[:3])
            case 5:
                other = draw.choice(samples)
                start = draw.randrange(len(other))
                out[at : at + size] = other[start : start + size]
            case _:
                # A header copied over another: tables of equal entries at a distance of their size.
                step = draw.choice((16, 24, 40, 56, 64))
                out[at : at + step] = out[max(0, at - step * draw.randint(1, 4)) :][:step]
    return bytes(out[:_LONGEST] if draw.randrange(8) else out[: draw.randrange(len(out) + 1)])


def document(draw: Random, samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A document after some edits of its values, keys and lists."""
    sample = draw.choice(samples)
    out = {key: _copied(value) for key, value in sample.items()}
    for _ in range(draw.randint(1, _MUTATIONS)):
        parent, key = _place(draw, out)
        if key is None:
            continue
        match draw.randrange(8):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, dict):
                parent[draw.choice((*_keys(sample), *WORDS))] = parent.pop(key)
            case 2 if isinstance(parent, list):
                parent[key:key] = [_copied(parent[key]) for _ in range(draw.choice(_REPEATS))]
            case 3:
                parent[key] = [parent[key]]
            case 4 if isinstance(parent[key], int) and not isinstance(parent[key], bool):
                parent[key] += draw.choice((-1, 1, 2**31))
            case 5:
                other, place = _place(draw, _copied(draw.choice(samples)))
                parent[key] = None if place is None else other[place]
            case _:
                parent[key] = value(draw)
    return out


def value(draw: Random) -> Any:  # noqa: ANN401 - any value of a document
    """A value that a reader may not expect."""
    plain = (*NUMBERS, *WORDS, True, False, 0.5, -0.0, 1e308, float("inf"), float("nan"), [], {}, [[]], [1, 2, 3], {"x": 1}, ["x"] * 100)
    chosen = draw.choice(plain)
    for _ in range(draw.choice((0, 0, 0, 1, 3, 90))):
        chosen = [chosen] if draw.randrange(2) else {"a": chosen}
    return chosen


def toml(held: object) -> str:
    """A value of a document as TOML writes it, a table inline; tables at the top have heads."""
    match held:
        case bool():
            return "true" if held else "false"
        case float() | int():
            return repr(held)
        case str():
            return '"' + "".join(char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in held) + '"'
        case list():
            return f"[{', '.join(map(toml, held))}]"
        case dict():
            return f"{{{', '.join(f'{toml(key)} = {toml(inner)}' for key, inner in held.items())}}}"
        case _:
            return '""'


def toml_text(held: dict[str, Any]) -> str:
    """The TOML of a document: values first, then a head for each table."""
    plain = [f"{toml(key)} = {toml(inner)}\n" for key, inner in held.items() if not isinstance(inner, dict)]
    tables = [
        f"[{toml(key)}]\n" + "".join(f"{toml(name)} = {toml(deep)}\n" for name, deep in inner.items())
        for key, inner in held.items()
        if isinstance(inner, dict)
    ]
    return "".join([*plain, *tables])


def _copied(held: Any) -> Any:  # noqa: ANN401 - any value of a document
    match held:
        case dict():
            return {key: _copied(inner) for key, inner in held.items()}
        case list() | tuple():
            return [_copied(inner) for inner in held]
        case _:
            return held


def _place(draw: Random, held: Any) -> tuple[Any, Any]:  # noqa: ANN401 - any value of a document
    """A container inside a document and one of its keys, at any depth; (container, None) where it is empty."""
    while True:
        keys = list(held) if isinstance(held, dict) else list(range(len(held)))
        if not keys:
            return held, None
        key = draw.choice(keys)
        if not isinstance(held[key], dict | list) or not draw.randrange(3):
            return held, key
        held = held[key]


def _keys(held: object) -> list[str]:
    inner = list(held.values()) if isinstance(held, dict) else held if isinstance(held, list) else []
    return [*(held if isinstance(held, dict) else ()), *(key for each in inner for key in _keys(each))]


def _lines(draw: Random, before: str, samples: Sequence[str]) -> str:
    """Lines deleted, repeated, exchanged, or taken from a sample."""
    lines = before.split("\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(5):
        case 0:
            del lines[at : at + draw.choice((1, 1, 2, 10))]
        case 1:
            lines[at:at] = lines[at : at + draw.choice((1, 1, 2, 10))] * draw.choice(_REPEATS[:4])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at:at] = lines[other : other + draw.choice((1, 2, 10))]
        case _:
            given = draw.choice(samples).split("\n")
            lines[at:at] = [given[draw.randrange(len(given))]]
    return "\n".join(lines)


def _tokens(draw: Random, before: str, samples: Sequence[str]) -> str:
    """Tokens deleted, repeated, exchanged, or taken from a sample."""
    tokens = _TOKEN.findall(before) or [""]
    at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    size = draw.choice((1, 1, 1, 2, 5))
    match draw.randrange(5):
        case 0:
            del tokens[at : at + size]
        case 1:
            tokens[at:at] = tokens[at : at + size] * draw.choice(_REPEATS)
        case 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            tokens[at] = draw.choice(WORDS)
        case _:
            given = draw.choice(samples)
            start = draw.randrange(len(given) + 1)
            tokens[at] = next(iter(_TOKEN.findall(given[start : start + 60])), "")
    return "".join(tokens)


_DECIMAL = 10_000
"""Bits of a number up to which Python spells it in decimal."""


def _numbers(draw: Random, before: str, samples: Sequence[str]) -> str:
    """A number replaced: by a neighbour, by one at the edge of a type, by one of the text."""
    del samples
    places = list(_NUMBER.finditer(before))
    if not places:
        return before
    place = draw.choice(places)
    held = int(place[0], 0) if place[0].startswith("0x") else int(place[0][:20])
    new = draw.choice((held + draw.choice((-16, -8, -1, 1, 8, 16)), draw.choice(NUMBERS), held * 2))
    spelled = draw.choice((hex(new), str(new) if new.bit_length() < _DECIMAL else hex(new), draw.choice(places)[0]))
    return before[: place.start()] + spelled + before[place.end() :]


def _characters(draw: Random, before: str, samples: Sequence[str]) -> str:
    """Characters replaced or inserted, or the end cut off."""
    del samples
    at = draw.randrange(len(before) + 1)
    match draw.randrange(4):
        case 0:
            return before[:at]
        case 1:
            return before[:at] + chr(draw.choice((0, 9, 10, 13, 32, 34, 40, 91, 123, 127, 0x2028, 0xFEFF, 0x1F600))) + before[at:]
        case 2:
            return before[:at] + draw.choice("([{<\"'/*;,.@!~|-") * draw.choice(_REPEATS) + before[at:]
        case _:
            return before[:at] + before[at + 1 :]


_EDITS: tuple[Callable[[Random, str, Sequence[str]], str], ...] = (_lines, _tokens, _tokens, _numbers, _numbers, _characters)
