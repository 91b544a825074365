"""Seeded damage to the bytes of a file: flipped bits, truncation, removed, doubled or swapped pieces, and hostile values."""

from collections.abc import Iterator, Sequence
from random import Random

HOSTILE = (b"\xff" * 10, b"\x00" * 8, b"\xff\xff\xff\xff", b"9" * 5000, b"NaN", b"-1", b"[" * 3000, b'"', b"1e999", b"{}", b"\x7f\xf0\0\0")


def flipped(data: bytes, at: int, bit: int) -> bytes:
    """The bytes with one bit changed."""
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def damaged(data: bytes, random: Random, count: int) -> Iterator[bytes]:
    """Yield `count` damaged versions."""
    for number in range(count):
        start = random.randrange(len(data))
        end = min(len(data), start + random.choice((1, 2, 7, 40, 400)))
        piece = data[start:end]
        match number % 6:
            case 0:
                yield flipped(data, start, random.randrange(8))
            case 1:
                yield data[:start]
            case 2:
                yield data[:start] + data[end:]
            case 3:
                yield data[:end] + piece + data[end:]
            case 4:
                other = random.randrange(len(data))
                first, second = sorted((start, other))
                yield data[:first] + data[second : second + 40] + data[first + 40 : second] + data[first : first + 40] + data[second + 40 :]
            case _:
                hostile = random.choice(HOSTILE)
                yield data[:start] + hostile + data[start + random.choice((0, len(hostile))) :]


def rearranged(parts: Sequence[bytes], random: Random, count: int) -> Iterator[bytes]:
    """Yield `count` versions with whole parts removed, doubled or swapped."""
    for _ in range(count):
        some = list(parts)
        for _ in range(random.choice((1, 1, 2))):
            first, second = random.randrange(len(some)), random.randrange(len(some))
            match random.randrange(3):
                case 0 if len(some) > 1:
                    del some[first]
                case 1:
                    some.insert(second, some[first])
                case _:
                    some[first], some[second] = some[second], some[first]
        yield b"".join(some)
