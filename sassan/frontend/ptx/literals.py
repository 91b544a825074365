"""Numbers of PTX: `0x1F`, `017`, `0b101`, `42U`, `1.5e-3`, and floats by their bits, `0f3F800000`."""

from sassan.ir import Immediate

_BITS = {"0f": "f32", "0d": "f64"}


def immediate(text: str) -> Immediate:
    """Return the value of a literal; a float given by its bits stays an int of bits, marked `f32` or `f64`.

    Raises ValueError for an octal number with a digit 8 or 9.
    """
    minus, digits = text.startswith("-"), text.lstrip("-")
    sign = -1 if minus else 1
    kind = _BITS.get(digits[:2].lower())
    if kind:
        return Immediate(sign * int(f"0x{digits[2:]}", 16), (kind,))
    if digits[:2].lower() != "0x" and any(mark in digits for mark in ".eE"):
        return Immediate(sign * float(digits))
    return Immediate(sign * integer(digits))


def integer(text: str) -> int:
    """Return an integer; raises ValueError."""
    digits = text.rstrip("U").lower()
    base = {"0x": 16, "0b": 2}.get(digits[:2], 8 if digits.startswith("0") and len(digits) > 1 else 10)
    return int(digits, base)
