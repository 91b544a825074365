"""The program as read: frozen records with no knowledge of what an opcode does.

Everything that reads a file format (`frontend/`) produces these; everything above consumes them.
Addresses and offsets are in bytes from the start of the function's text section; PTX has no addresses, each instruction counts as 8 bytes.
"""

import hashlib
from dataclasses import dataclass, field

from sassan.source import Span


@dataclass(frozen=True, slots=True)
class Register:
    """`-|R3.reuse|`, `!P0`, `RZ`, `UR4`, `B2`, `SB0`, `CC`: `index` None is the constant one (RZ, PT, URZ, UPT).

    `file` is one of R, P, UR, UP, B, SB, CC. A register pair or wider is named by its first register;
    how many it spans is a fact of the opcode (`isa/`). `modifiers` keeps every dotted suffix in order (`H1`, `reuse`, `64`, `CC`, `X`).
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
    """Anything else that is printed in an operand's place: `gsb0`, `2D`, `{0,1}`, `INVALID3`."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A register or a call parameter of PTX: `%r12`, `!%p1`, `%v.x`, `param0`.

    `number` counts all that the functions of one `Function` declare, each declaration by itself. `size` is in bytes for a parameter, 0 for
    a register.
    """

    name: str
    number: int
    negated: bool = False
    part: str = ""
    """`x` of `%v.x`, `b0` of `%r1.b0`."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Several:
    """Operands of PTX in one place: `opening` is `{` (a vector), `(` (parameters of a call) or `|` (two destinations)."""

    opening: str
    items: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An address of PTX: `[%rd1+-8]`, `[param0]`, `[image, {%f1, %f2}]`; `offset` in bytes, `items` are coordinates.

    `bare` says that the brackets are left out: the name alone stands for the memory.
    """

    base: Variable | Symbol | Immediate
    offset: int
    items: tuple["Operand", ...] = ()
    bare: bool = False


Operand = Register | Immediate | Constant | Memory | Special | Target | CodeAddress | Symbol | Word | Variable | Several | Place


@dataclass(frozen=True, slots=True)
class Guard:
    """`@!P0`, `@UP2`: the instruction runs in the threads where it holds. `@PT` is no guard, `@!PT` has `index` None.

    In PTX, `file` is the name of the register and `index` its number.
    """

    file: str
    index: int | None
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction.

    `opcode` is the mnemonic with every modifier (`ISETP.GE.U32.AND`). `condition` is a CC test printed before the operands of a
    control instruction (`CC.NE`), else ''. `targets` is what a `BRANCH_TARGETS` note lists; `notes` the raw notes.
    `encoding` holds the instruction's word (64 bits up to sm_62, 128 after), None when the text has none; `control` the 21-bit control
    code (sass.md), None when unknown. `following` is the address of the next instruction in memory: on sm_50-62 it skips control words.
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
    """Whether it stands for something that the input does not spell out: it takes no time and is not counted."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: `ordinal` counts from 0, `offset` and `size` are in bytes from `CompilerFacts.parameter_base`.

    `name` is that of the source, '' where the input does not tell it.
    """

    ordinal: int
    offset: int
    size: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class CompilerFacts:
    """What a cubin says of one text section beside its code (sass.md); sizes in bytes, None where it says nothing.

    `indirect_targets` maps an instruction (SYNC, BRK, CONT up to sm_62, BRX everywhere) to the instructions where it may go, in order
    of the table, repeats included. `indirect_calls` are those that go anywhere. `exits` is every EXIT. All addresses are below `code_size`:
    what was linked to the function from other sections has facts of its own.
    """

    code_size: int
    indirect_targets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    indirect_calls: tuple[int, ...] = ()
    exits: tuple[int, ...] | None = None
    registers: int | None = None
    barriers: int | None = None
    frame_size: int | None = None
    min_stack: int | None = None
    max_stack: int | None = None
    crs_stack: int | None = None
    """Of the stack of tokens."""
    shared: int = 0
    parameters: tuple[Parameter, ...] = ()
    parameter_base: int | None = None
    """Offset of the first parameter in constant bank 0."""
    parameter_size: int | None = None
    constants: tuple[tuple[int, int], ...] = ()
    """(bank, size) of the function's own constant banks."""
    cluster: int | None = None
    """Blocks of a cluster at most; 0: it does not say how many, None: it does not speak of clusters."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a listing of nvdisasm says beside the code: registers per thread and bytes of static shared memory, None where nothing.

    `cluster` is what PTX says of clusters, as `CompilerFacts.cluster`.
    """

    registers: int | None = None
    shared: int | None = None
    cluster: int | None = None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """From `address` on, the code was made from line `line` of `file`."""

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


@dataclass(frozen=True, slots=True)
class Function:
    """One text section: the kernel and the device functions that the compiler put beside it.

    `instructions` are in address order and hold no padding. `symbols` are (address, name) of every function in the
    section, in address order; `entry` is where the kernel starts. `arch` is `sm_NN`. `compiler` is None, and `lines` empty, unless the
    input is a cubin that has them; `lines` are in address order.
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
    """False where the listing says that the section holds a device function."""
    callees: tuple[int, ...] | None = None
    """Where a call through a pointer may lead: every device function of the input, in address order; None: not known, or no such call."""
    frames: tuple[Frame, ...] = ()
    """Of PTX, the functions in it, in address order; empty for machine code."""
    declared: Declared = field(default_factory=Declared)
    """Of a listing or PTX; a cubin says more (`compiler`)."""
    image: str = ""
    """`sha256:…` of the cubin that the function was read from, '' where it was read from none: recorded launches name it."""

    @property
    def registers(self) -> int | None:
        """Return the registers per thread, None where the input does not tell them."""
        return self.compiler.registers if self.compiler is not None else self.declared.registers

    @property
    def clustered(self) -> bool:
        """Say whether blocks may be launched in clusters of several: the code was compiled for that."""
        return (self.compiler.cluster if self.compiler is not None else self.declared.cluster) not in (None, 1)

    @property
    def text_hash(self) -> str:
        """Return `sha256:…` over address and text of every instruction: what a flow-fact file is tied to."""
        digest = hashlib.sha256()
        for one in self.instructions:
            digest.update(f"{one.address:x} {one.text}\n".encode())
        return f"sha256:{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Program:
    """Every function of one input, in the order of the input."""

    name: str
    functions: tuple[Function, ...] = field(default=())
