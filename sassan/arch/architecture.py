"""An SM architecture as a value: how its machine code lies in memory, and which of its facts are those of another SM."""

from dataclasses import dataclass

_GROUP = 32
_CONTROL_WORD = 8


@dataclass(frozen=True, slots=True)
class Architecture:
    """One SM architecture (`sm_90`).

    `variant` is the letter of `sm_90a`, '' without one. `isa` names the opcode table, '' where the machine code is not described;
    `instruction_bytes` is the size of an instruction. With `control_words`, every fourth word of 8 bytes holds the control codes of the
    three behind it; otherwise an instruction holds its own. `convergence_barriers`: threads reconverge at barrier registers, and the
    order of divergent sides is not architected; otherwise by a stack of tokens. `short_immediates`: immediates of IADD3 have 20 bits and
    are printed without their sign. `half_unit` executes arithmetic in half precision, '' where the opcode
    table names the unit. `inherited` pairs each section without a source of its own with the SM that it is taken from.
    """

    name: str
    number: int
    variant: str = ""
    generation: str = ""
    isa: str = ""
    instruction_bytes: int = 16
    control_words: bool = False
    convergence_barriers: bool = True
    short_immediates: bool = False
    half_unit: str = ""
    inherited: tuple[tuple[str, str], ...] = ()

    @property
    def capability(self) -> str:
        """The compute capability: `9.0`."""
        return f"{self.number // 10}.{self.number % 10}"

    def runs_on(self, gpu: "Architecture") -> bool:
        """Say whether a GPU runs cubins for this architecture: those of its own major version, up to its minor one."""
        return self.number // 10 == gpu.number // 10 and self.number <= gpu.number

    @property
    def first(self) -> int:
        """The address of the first instruction of a section."""
        return _CONTROL_WORD if self.control_words else 0

    def normalise(self, address: int) -> int:
        """Return the address of the instruction that runs when the PC is set to `address`: a control word is skipped."""
        return address + _CONTROL_WORD if self.control_words and address % _GROUP == 0 else address

    def following(self, address: int) -> int:
        """Return the address of the next instruction in memory."""
        after = address + self.instruction_bytes
        return after + _CONTROL_WORD if self.control_words and after % _GROUP == 0 else after

    def assumptions(self, *sections: str) -> tuple[str, ...]:
        """Return what a result takes for granted that uses these sections: `sm_121: latencies taken from sm_120`."""
        donors: dict[str, list[str]] = {}
        for section, donor in self.inherited:
            if section in sections:
                donors.setdefault(donor, []).append(section)
        return tuple(f"{self.name}: {', '.join(taken)} taken from {donor}" for donor, taken in donors.items())
