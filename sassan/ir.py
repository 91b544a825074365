"""The program as read: frozen records with no knowledge of what an opcode does.

Everything that reads a file format (`frontend/`) produces these; everything above consumes them.
Addresses and offsets are in bytes from the start of the function's text section; PTX has no addresses, each instruction counts as 8 bytes.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import NamedTuple

from sassan.source import Span

INTERNAL = "$__internal_"
"""In the name of a subroutine of the compiler: a slow path of a division, a shuffle by some lanes."""
_OF_FILE = re.compile(r"\.L_\w+|(?<=\$__internal_)[0-9]+(?=_)")
"""What disassemblers and compilers number over a whole file: labels, subroutines of the compiler."""


@dataclass(frozen=True, slots=True)
class Register:
    """`-|R3.reuse|`, `!P0`, `RZ`, `UR4`, `B2`, `SB0`, `CC`: `index` None is the constant register (RZ, PT, URZ, UPT).

    `file` is one of R, P, UR, UP, B, SB, CC. A register pair or wider is named by its first register;
    how many it spans depends on the opcode (`isa/`). `modifiers` keeps every dotted suffix in order (`H1`, `reuse`, `64`, `CC`, `X`).
    """

    file: str
    index: int | None
    negated: bool = False
    """`-R3` or `!P0`."""
    absolute: bool = False
    inverted: bool = False
    """`~R2`."""
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number: integers as `int`, `1.5e-07`, `+INF`, `-QNAN` as `float`; `negated` is an operator before a number (`-0x8` is one)."""

    value: int | float
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """`c[0x0][0x140]`, `c[0x3][R8+0xc].H1`, `cx[UR4][0x8]`: a word of a constant bank; `base` indexes it."""

    bank: int | Register
    base: tuple[Register, ...]
    offset: int
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """`[R2.64+UR4+0x8]`, `desc[UR4][R2.64]`, `a[0x80]`: the registers of the address and its byte offset, in order of appearance."""

    base: tuple[Register, ...]
    offset: int
    descriptor: tuple[Register, ...] = ()
    prefix: str = ""
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Special:
    """`SR_TID.X`: a special register, upper case."""

    name: str


@dataclass(frozen=True, slots=True)
class Target:
    """A code address, already normalised to the address of an instruction; `label` as printed, or ''."""

    address: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class CodeAddress:
    """Half of a code address as data (`32@lo((f + .L_x_0@srel))`): the address in this function, and whether it is the high word."""

    address: int
    high: bool


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol outside the section (`` `(vprintf) ``), or a data symbol: never a known code address."""

    name: str


@dataclass(frozen=True, slots=True)
class Word:
    """Any other operand, as printed: `gsb0`, `2D`, `{0,1}`, `INVALID3`."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A register or a call parameter of PTX: `%r12`, `!%p1`, `%v.x`, `param0`.

    `number` counts all that the functions of one `Function` declare, each declaration by itself; a register of 64 bits has the next number
    too, for its high word. `size` is in bytes for a parameter, 0 for a register.
    """

    name: str
    number: int
    negated: bool = False
    part: str = ""
    """`x` of `%v.x`, `b0` of `%r1.b0`."""
    size: int = 0
    bits: int = 0
    """The width of a register: 1 for a predicate; 0 for a vector, a parameter, and what is not declared."""


@dataclass(frozen=True, slots=True)
class OperandGroup:
    """Operands of PTX in one place: `opening` is `{` (a vector), `(` (parameters of a call) or `|` (two destinations)."""

    opening: str
    items: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class PtxAddress:
    """An address of PTX: `[%rd1+-8]`, `[param0]`, `[image, {%f1, %f2}]`; `offset` in bytes, `items` are coordinates.

    `bare`: without brackets, the name alone denotes the memory.
    """

    base: Variable | Symbol | Immediate
    offset: int
    items: tuple["Operand", ...] = ()
    bare: bool = False


Operand = Register | Immediate | Constant | Memory | Special | Target | CodeAddress | Symbol | Word | Variable | OperandGroup | PtxAddress


@dataclass(frozen=True, slots=True)
class Guard:
    """`@!P0`, `@UP2`: the instruction runs in the threads where it holds. `@PT` is not a guard, `@!PT` has `index` None.

    In PTX, `file` is the name of a `variable` and `index` its number.
    """

    file: str
    index: int | None
    negated: bool
    variable: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction.

    `opcode` is the mnemonic with every modifier (`ISETP.GE.U32.AND`). `condition` is a CC test printed before the operands of a
    control instruction (`CC.NE`), else ''. `targets` is what a `BRANCH_TARGETS` note lists; `notes` the raw notes.
    `encoding` holds the instruction's word (64 bits up to sm_62, 128 after), None when the text has none; `control` the 21-bit control
    code, None when unknown. `following` is the address of the next instruction in memory: on sm_50-62 it skips control words.
    """

    address: int
    following: int
    opcode: str
    operands: tuple[Operand, ...]
    guard: Guard | None
    span: Span
    condition: str = ""
    targets: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    encoding: int | None = None
    control: int | None = None
    text: str = ""
    """The instruction as printed, blanks squeezed, without `;`, notes and braces."""
    virtual: bool = False
    """Whether it is implicit in the input: it takes no time and is not counted."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: `ordinal` counts from 0, `offset` and `size` are in bytes from `CompilerFacts.parameter_base`.

    `name` is that of the source, '' if it is unknown.
    """

    ordinal: int
    offset: int
    size: int
    name: str = ""


class FunctionPointer(NamedTuple):
    """The address of the function `name` at `offset` of a constant bank; `external`: the cubin does not hold it."""

    offset: int
    name: str
    external: bool


@dataclass(frozen=True, slots=True)
class BlockLimit:
    """What a kernel was compiled for: blocks of the given extents in threads (`exact`), or with no more threads than their product."""

    extents: tuple[int, int, int]
    exact: bool

    def allows(self, block: tuple[int, int, int]) -> bool:
        """Say whether the driver launches such a block."""
        return block == self.extents if self.exact else prod(block) <= prod(self.extents)

    def __str__(self) -> str:
        """As a message says it."""
        extents = " x ".join(map(str, self.extents))
        return f"blocks of {extents} threads" if self.exact else f"blocks of at most {prod(self.extents)} threads"


@dataclass(frozen=True, slots=True)
class CompilerFacts:
    """The facts of a cubin about one text section besides its code; sizes in bytes, None if they are not given.

    `indirect_targets` maps an instruction (SYNC, BRK, CONT up to sm_62, BRX everywhere) to its possible targets, in the order of the
    table, repeats included. `indirect_calls` are calls to any function. `exits` is every EXIT. All addresses are below `code_size`:
    code linked to the function from other sections has its own facts.
    """

    code_size: int
    indirect_targets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    indirect_calls: tuple[int, ...] = ()
    exits: tuple[int, ...] | None = None
    registers: int | None = None
    barriers: int | None = None
    frame_size: int | None = None
    max_stack: int | None = None
    shared: int = 0
    parameters: tuple[Parameter, ...] = ()
    parameter_base: int | None = None
    """Offset of the first parameter in constant bank 0."""
    parameter_size: int | None = None
    literals: bytes = field(default=b"", repr=False)
    """Constant bank 2: numbers that the compiler keeps beside the code, and that never change; empty where relocations change them."""
    cluster: int | None = None
    """The largest number of blocks of a cluster; 0: not given, None: no attribute about clusters."""
    block: BlockLimit | None = None
    """The blocks that may be launched, None where the source does not say."""
    cluster_extents: tuple[int, int, int] | None = None
    """The extents of a cluster that the code requires (`__cluster_dims__`), in blocks; None where it requires none."""
    pointers: tuple[FunctionPointer, ...] = ()
    """The addresses of functions in the constant bank of the compiler (4), in order of their offsets."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The facts of an nvdisasm listing besides the code: registers per thread and bytes of static shared memory, None if not given.

    `cluster` and `block` are those of PTX directives, as in `CompilerFacts`.
    """

    registers: int | None = None
    shared: int | None = None
    cluster: int | None = None
    block: BlockLimit | None = None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """From `address` on, the code was compiled from line `line` of `file`."""

    address: int
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One function of PTX inside a `Function`: its code is at `start` up to `end`, its own variables are `first` up to `last`.

    `parameters` and `returns` are the variables that a call binds, in order.
    """

    name: str
    kernel: bool
    start: int
    end: int
    first: int
    last: int
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()


class Language(Enum):
    """What the instructions of a function are written in: machine code, or the PTX that it is compiled from."""

    SASS = "SASS"
    PTX = "PTX"


@dataclass(frozen=True, slots=True)
class Function:
    """One text section: the kernel and the device functions that the compiler placed in it.

    `instructions` are in address order and hold no padding. `symbols` are (address, name) of every function in the
    section, in address order; `entry` is where the kernel starts. Addresses are bytes from the begin of the section. `name` is that of the
    input (mangled in cubins), `arch` is `sm_NN`, `language` SASS or PTX, `span` the place in a text, None in a cubin. `compiler` is None
    unless the input is a cubin, and `lines` empty unless it is a cubin or PTX that has them; `lines` are in address order.
    """

    name: str
    arch: str
    instructions: tuple[Instruction, ...]
    entry: int = 0
    symbols: tuple[tuple[int, str], ...] = ()
    span: Span | None = None
    compiler: CompilerFacts | None = None
    lines: tuple[SourceLine, ...] = ()
    kernel: bool = True
    """False for a section that contains only a device function."""
    callees: tuple[int, ...] | None = None
    """The possible targets of calls through pointers: every device function, in address order; None: unknown, or no such call."""
    language: Language = Language.SASS
    frames: tuple[Frame, ...] = ()
    """The functions of PTX in it, in address order."""
    declared: Declared = field(default_factory=Declared)
    """Facts of a listing or PTX; a cubin has more (`compiler`)."""
    image: str = ""
    """`sha256:…` of the cubin that the function was read from, '' where it was read from none: recorded launches name it."""
    contradiction: tuple[int, str] | None = None
    """The address of an instruction whose text contradicts its encoding, and a message: no analysis says anything of the function."""
    unchecked: int = 0
    """How many texts of a listing with encodings are not held against these: no data say what their encodings are."""
    relocated: int = 0
    """How many moves of a listing that shows no relocations may write a part of an address, and are unknown."""

    @property
    def registers(self) -> int | None:
        """Return the registers per thread, None if they are unknown."""
        return self.compiler.registers if self.compiler is not None else self.declared.registers

    @property
    def block_limit(self) -> BlockLimit | None:
        """Return the blocks that may be launched, None where the input does not say."""
        return self.compiler.block if self.compiler is not None else self.declared.block

    @property
    def clustered(self) -> bool:
        """Say whether blocks may be launched in clusters of several: the code was compiled for that."""
        return (self.compiler.cluster if self.compiler is not None else self.declared.cluster) not in (None, 1)

    @property
    def text_hash(self) -> str:
        """Return `sha256:…` over address and text of every instruction: what a flow-fact file is tied to.

        The same whatever else the file holds: labels count by their address.
        """
        digest = hashlib.sha256()
        for instruction, text in zip(self.instructions, self._texts(), strict=True):
            digest.update(f"{instruction.address:x} {text}\n".encode())
        return f"sha256:{digest.hexdigest()}"

    def _texts(self) -> Iterator[str]:
        """Yield the text of every instruction: code addresses in the place of labels, what else a file numbers in order of appearance."""
        numbers: dict[str, int] = {}
        for instruction in self.instructions:
            text = instruction.text
            for operand in instruction.operands:
                if isinstance(operand, Target) and operand.label:
                    text = text.replace(f"`({operand.label})", f"0x{operand.address:x}")
            yield _OF_FILE.sub(lambda match: f"#{numbers.setdefault(match[0], len(numbers))}", text)


@dataclass(frozen=True, slots=True)
class Program:
    """Every function of one input: `functions`, in the order of the input; `name` is what results call the input.

    A cubin has a function for each text section, a file with several cubins those of all that are read. `sassan.read` makes a program, and
    `sassan.analyze` and the others take it, so that an input is read once.
    """

    name: str
    functions: tuple[Function, ...] = field(default=())
