"""The SM architectures whose listings are read, and how their instructions lie in memory."""

import re
from dataclasses import dataclass

# cuobjdump and nvdisasm of CUDA 11.8 to 13.x, `nvdisasm --help` (option --binary) and the CUDA 13 release notes.
_KNOWN = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121)
_VOLTA = 70
_NAME = re.compile(r"(?:sm_?)?([0-9]{2,3})[af]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Architecture:
    """`size` is the bytes of an instruction; with `control_words`, every fourth word of 8 bytes holds control codes."""

    name: str
    size: int
    control_words: bool

    @property
    def first(self) -> int:
        """Return the address of the first instruction of a section."""
        return 8 if self.control_words else 0

    def normalise(self, address: int) -> int:
        """Return the address of the instruction that runs when the PC is set to `address`: a control word is skipped."""
        return address + 8 if self.control_words and address % 32 == 0 else address

    def following(self, address: int) -> int:
        """Return the address of the next instruction in memory."""
        after = address + self.size
        return after + 8 if self.control_words and after % 32 == 0 else after


def architecture(text: str) -> Architecture | None:
    """Return the architecture that `sm_61`, `sm_90a` or `SM120` names, None when it is not known; the suffix is dropped."""
    found = _NAME.fullmatch(text)
    number = int(found[1]) if found else 0
    if number not in _KNOWN:
        return None
    old = number < _VOLTA
    return Architecture(f"sm_{number}", 8 if old else 16, old)


def supported() -> str:
    """Return the known architectures, for a hint."""
    return ", ".join(f"sm_{number}" for number in _KNOWN)
