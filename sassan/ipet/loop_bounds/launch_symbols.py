"""The words of a launch (`values/environment.py`) as values: those that are not known are symbols, the same one wherever it is read."""

from dataclasses import dataclass, field

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.values import Origins, Value, constant, unknown
from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration
from sassan.values.environment import WORD_BYTES, LaunchEnvironment, LaunchWord
from sassan.values.threads import WarpContext


@dataclass(slots=True)
class LaunchSymbols:
    """What one thread reads of a launch, whichever thread it is: of all warps, or of one."""

    function: Function
    launch: LaunchConfiguration
    warp: WarpContext | None = None
    _environment: LaunchEnvironment = field(init=False)
    _words: dict[str, Value] = field(default_factory=dict[str, Value])
    _bank: dict[int, Value] = field(default_factory=dict[int, Value])

    def __post_init__(self) -> None:
        """Lay out what is given."""
        self._environment = LaunchEnvironment(self.function, self.launch, self.warp)

    def special(self, name: str) -> Value:
        """Return a special register; one that nothing is known of may differ at each read."""
        word = self._environment.special(name)
        if word is None:
            return unknown(ranges.EVERY, frozenset({f"special register {name}"}))
        return self._value(word, frozenset({word.origin}) if word.origin else frozenset())

    def constant(self, offset: int, size: int = WORD_BYTES, *, is_signed: bool = False) -> Value:
        """Return the word of constant bank 0 that is read with this width in bytes at an offset."""
        known = self._bank.get(offset) if size == WORD_BYTES else None
        if known is not None:
            return known
        word = self._environment.constant(offset, size, signed=is_signed)
        if word.value.constant is not None:
            return constant(word.value.constant)
        origins = frozenset({word.origin or self._environment.origin(offset)})
        if size < WORD_BYTES:
            return unknown(_narrow(size, is_signed=is_signed), origins)
        known = self._bank[offset] = self._value(word, origins)
        return known

    def parameter(self, name: str, offset: int, size: int, *, is_signed: bool = False) -> Value | None:
        """Return the word, or the narrower number, at an offset of a parameter of PTX; None where the kernel has no such parameter."""
        start = self._environment.parameter(name, offset)
        return None if start is None else self.constant(start, size, is_signed=is_signed)

    def _value(self, word: LaunchWord, origins: Origins) -> Value:
        if word.name not in self._words:
            self._words[word.name] = unknown(ranges.span(word.value.low, word.value.high), origins, shared=True)
        return self._words[word.name]


def _narrow(size: int, *, is_signed: bool) -> Range:
    """Return the numbers of so many bytes."""
    half = 1 << 8 * size - 1
    return ranges.span(-half, half - 1) if is_signed else ranges.span(0, 2 * half - 1)
