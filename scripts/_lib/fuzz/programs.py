"""PTX, cubins, and files with cubins inside."""

from functools import cache
from random import Random

from _lib.fuzz import mutate
from _lib.fuzz.format import Format, reading, small

from cubins import fatbin, host

_COMMANDS = (
    ("analyze", "{}", "--json", "--loop-bound", "3"),
    ("cfg", "{}", "--json"),
    ("memory", "{}", "--block-dim", "64"),
    ("strings", "{}"),
    ("listing", "{}"),
)
_SMS = ("sm_75", "sm_80", "sm_90")
"""Of the samples, those that every disassembler of today reads."""


@cache
def _ptx() -> list[str]:
    return [path.read_text("utf-8") for path in small("sm_*/*.ptx", "ptx/*/*.ptx")]


@cache
def _cubins() -> list[bytes]:
    return [path.read_bytes() for sm in _SMS for path in small(f"{sm}/*.cubin", most=9000)]


@cache
def _containers() -> list[bytes]:
    several = [fatbin(*((int(sm[3:]), path.read_bytes()) for path in small(f"{sm}/s*.cubin", most=6000)[:2])) for sm in _SMS]
    return [*several, *(host(".nv_fatbin", each) for each in several)]


def _cubin(draw: Random) -> bytes:
    return mutate.binary(draw, _cubins())


def _container(draw: Random) -> bytes:
    return mutate.binary(draw, _containers())


FORMATS = (
    Format(
        "ptx",
        ".ptx",
        ("sassan.frontend.ptx", "sassan.isa.ptx"),
        lambda draw: mutate.text(draw, _ptx()).encode("utf-8", "replace"),
        reading(".ptx", *_COMMANDS[:4]),
    ),
    Format("cubin", ".cubin", ("sassan.frontend.cubin",), _cubin, reading(".cubin", *_COMMANDS)),
    Format("fatbin", ".fatbin", ("sassan.frontend.cubin.extract", "sassan.frontend.load"), _container, reading(".fatbin", *_COMMANDS[:1])),
)
