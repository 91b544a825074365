"""How long a warp sleeps at most that asks for it: `nanosleep`, in nanoseconds.

PTX ISA 8.8, `nanosleep`: the duration is in the range of 0 to twice the operand, which is a millisecond at most.
"""

from sassan.ir import Immediate, Instruction

_SLEEP = "NANOSLEEP"
_MOST = 1_000_000
"""The longest operand, in ns."""
_TWICE = 2
CYCLES_PER_NS = 3
"""At most, of any GPU: the fastest that is listed (`products/data`) has a clock of 2,662 MHz."""
ASSUMED = f"a warp sleeps at most twice as long as NANOSLEEP says (PTX ISA 8.8), at a clock of {CYCLES_PER_NS} GHz at most"


def is_sleep(instruction: Instruction) -> bool:
    """Say whether a warp sleeps at an instruction for a time."""
    return instruction.opcode.partition(".")[0] == _SLEEP


def sleeping(instruction: Instruction) -> int:
    """Return the cycles that a warp sleeps at an instruction, at most; 0 at any other."""
    if not is_sleep(instruction):
        return 0
    numbers = [each.value for each in instruction.operands if isinstance(each, Immediate) and isinstance(each.value, int)]
    duration = numbers[0] if len(numbers) == 1 == len(instruction.operands) and numbers[0] >= 0 else _MOST
    return _TWICE * min(duration, _MOST) * CYCLES_PER_NS
