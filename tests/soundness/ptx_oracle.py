"""What the oracle knows of PTX: written from the PTX ISA, sharing no line with `isa/`. The default is never, as in `maxwell.py`.

Parameters of calls: a store to what a call passes also writes the parameter of the callee, and a store to what a function returns also
writes what its callers receive. So the oracle needs no step between two instructions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sassan.errors import SassanError
from sassan.ir import Function, Immediate, Instruction, Operand, OperandGroup, PtxAddress, Special, Symbol, Target, Variable, Word
from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, Condition, ControlTransfer, Decoded, Operation, Push, Test, Unity
from sassan.simt.values import key
from sassan.timing.model import NO_ACCESSES, BlockCosts, Quantity
from sassan.warpcfg.graph import Node, WarpCfg

LANEWISE = frozenset(
    """
    add sub mul mad fma div rem abs neg min max popc clz bfind brev bfe bfi and or xor not shf shl shr prmt cvt set setp selp cvta mov rcp
    sqrt rsqrt sin cos lg2 ex2 addc madc lop3 dp4a
    """.split()  # noqa: SIM905 - a list of words
)
SHARED = frozenset({"global", "shared", "const"})
EFFECTLESS = frozenset({"st", "red", "bar", "membar", "nanosleep", "brkpt", "fence"})
PREDICATES = range(4000, 8000)
"""Where the machine finds predicates, once `simt.uninterpreted.PREDICATES` says so: PTX numbers registers of all types together."""
_OTHERS = 1000
"""Other registers stand from here on, behind what machine code has one copy of per warp."""
STEADY = frozenset({"%ctaid", "%ntid", "%nctaid"})
WHOLE_WARP = 31


@dataclass(frozen=True)
class EveryInstruction:
    """Counts virtual instructions too: the machine executes them."""

    name: str = "every"
    quantity: Quantity = Quantity.INSTRUCTIONS
    tables: None = None

    def block_costs(self, cfg: WarpCfg, _busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        return BlockCosts(tuple(len(node.instructions) for node in cfg.nodes), ())


@dataclass
class Ptx:
    """The decoder of the oracle for one function, virtual instructions included."""

    function: Function
    also: dict[int, set[int]] = field(default_factory=dict)
    """What else a store to a parameter writes, by variable."""

    def __post_init__(self) -> None:
        named = {one.name: one for one in self.function.frames}
        for one in self.function.instructions:
            if one.opcode.startswith("call"):
                before, callees, after = call(one, self.function)
                for frame in [named[name] for name in callees]:
                    for given, parameter in zip(after, frame.parameters, strict=False):
                        self._link(given, parameter)
                    for returned, received in zip(frame.returns, before, strict=False):
                        self._link(returned, received)

    def _link(self, source: Operand, target: Operand) -> None:
        if isinstance(source, Variable) and isinstance(target, Variable):
            self.also.setdefault(place(source), set()).add(place(target))

    def decode(self, instruction: Instruction) -> Decoded:
        """Return what the instruction does; an unknown one raises `oracle-unknown-opcode`."""
        root, *modifiers = instruction.opcode.split(".")
        guard = instruction.guard
        condition = ALWAYS if guard is None else Condition((Test(PREDICATES[guard.index or 0], guard.negated),))
        control = self._control(instruction, root, modifiers, condition)
        if control is not None:
            return control
        if root == "st" and "param" in modifiers:
            return self._stored(instruction, condition)
        if root in EFFECTLESS and not (root == "bar" and "red" in modifiers):
            return None
        return self._operation(instruction, root, modifiers, condition)

    def _control(  # noqa: PLR0911 - one answer per instruction
        self, one: Instruction, root: str, modifiers: list[str], condition: Condition
    ) -> Decoded:
        match root:
            case "bra" | "_goto":
                return ControlTransfer(Flow.BRANCH, condition, target=target(one), unity=Unity.FIRST if "uni" in modifiers else Unity.EACH)
            case "brx":
                return ControlTransfer(Flow.INDIRECT_BRANCH, condition, targets=one.targets, selector=numbers(one.operands), key=key("brx"))
            case "_push":
                return Push(tag(one), target(one))
            case "_join":
                return ControlTransfer(Flow.POP, tag=tag(one))
            case "call":
                return self._call(one)
            case "ret":
                inside = next(frame for frame in self.function.frames if frame.start <= one.address < frame.end)
                return ControlTransfer(Flow.EXIT, condition) if inside.kernel else ControlTransfer(Flow.POP, condition, tag="RET")
            case "exit":
                return ControlTransfer(Flow.EXIT, condition)
            case "trap":
                return ControlTransfer(Flow.TRAP, condition)
            case _:
                return None

    def _call(self, one: Instruction) -> ControlTransfer:
        if not any(isinstance(operand, Target) for operand in one.operands):
            raise SassanError("oracle-unknown-opcode", f"{one.text}: a call of unknown code")
        return ControlTransfer(Flow.CALL, tag="RET", target=target(one))

    def _stored(self, one: Instruction, condition: Condition) -> Decoded:
        to, value = one.operands
        if not isinstance(to, PtxAddress) or not isinstance(to.base, Variable):
            return None
        number = place(to.base)
        reads = (*numbers((value,)), *(() if to.offset == 0 else (number,)))
        written = {number, *self.also.get(number, ())}
        return Operation(one, key(f"param {to.offset}"), reads, tuple(sorted(written)), condition, lane=False)

    def _operation(self, one: Instruction, root: str, modifiers: list[str], condition: Condition) -> Operation:
        written, sources = one.operands[0], one.operands[1:]
        reads, gathered = list(numbers(sources)), list[int]()
        if any(isinstance(item, Variable) and item.part for item in one.operands):
            reads += numbers((written,))
        lane, time = self._tells_apart(one, root, modifiers)
        if root == "vote" or (root == "shfl" and not lane):
            gathered, reads = list(numbers(sources[:1])), list(numbers(sources[1:]))
        elif root == "bar":
            gathered, reads = list(numbers(sources[-1:])), list(numbers(sources[:-1]))
        text = f"{one.opcode} {' '.join(shape(item) for item in one.operands)}"
        return Operation(one, key(text), tuple(reads), numbers((written,)), condition, lane, time, tuple(gathered))

    def _tells_apart(self, one: Instruction, root: str, modifiers: list[str]) -> tuple[bool, bool]:  # noqa: PLR0911 - one answer per kind
        """Return whether the result depends on the lane, and on the moment."""
        special = next((operand.name.partition(".")[0] for operand in one.operands if isinstance(operand, Special)), None)
        if special is not None:
            return special not in STEADY, special not in STEADY
        if root == "ld" and "param" in modifiers:
            base = one.operands[1].base if isinstance(one.operands[1], PtxAddress) else None
            kernel = isinstance(base, Symbol) and self.function.frames[0].kernel
            slot = isinstance(base, Variable) and base.size > 0
            return not (kernel or slot), not (kernel or slot)
        if root == "ld":
            return not SHARED.intersection(modifiers), True
        if root in {"vote", "activemask"} or (root == "bar" and "red" in modifiers):
            return False, True
        if root == "shfl":
            clamp = one.operands[3]
            return not ("idx" in modifiers and isinstance(clamp, Immediate) and clamp.value == WHOLE_WARP), True
        if root in LANEWISE:
            return any(isinstance(operand, PtxAddress) for operand in one.operands), False
        if root in {"atom", "match"}:
            return True, True
        raise SassanError("oracle-unknown-opcode", f"{one.text}: on no list")


def call(one: Instruction, function: Function) -> tuple[tuple[Operand, ...], list[str], tuple[Operand, ...]]:
    """Return what a call receives, the names of what it may enter, and what it passes."""
    at = next(index for index, operand in enumerate(one.operands) if not isinstance(operand, OperandGroup))
    callee = one.operands[at]
    before = next((operand.items for operand in one.operands[:at] if isinstance(operand, OperandGroup)), ())
    after = next((operand.items for operand in one.operands[at + 1 :] if isinstance(operand, OperandGroup)), ())
    if isinstance(callee, Target):
        return before, [callee.label], after
    return before, [frame.name for frame in function.frames if not frame.kernel], after


def place(one: Variable) -> int:
    """Return where the machine keeps a variable."""
    return PREDICATES[one.number] if re.fullmatch(r"%p[0-9]*", one.name) else one.number + _OTHERS


def claims(cfg: WarpCfg) -> WarpCfg:
    """Return the graph with its agreements where the machine keeps the variables.

    What it says of the results of a call that is not over is left out: nobody has written them yet.
    """
    code = {one.address: one for one in cfg.function.instructions}
    known = {one.number: one for instruction in code.values() for one in variables(instruction.operands)}
    nodes: list[Node] = []
    for node in cfg.nodes:
        awaited = {one.number for site in node.context for one in variables(call(code[site], cfg.function)[0])}
        agreed = sum(1 << place(one) for number, one in known.items() if node.agreement >> number & 1 and number not in awaited)
        nodes.append(replace(node, agreement=agreed))
    return replace(cfg, nodes=tuple(nodes))


def variables(operands: tuple[Operand, ...]) -> Iterator[Variable]:
    """Yield all variables in operands."""
    for one in operands:
        match one:
            case Variable():
                yield one
            case OperandGroup(items=items):
                yield from variables(items)
            case PtxAddress(base=base, items=items):
                yield from variables((base, *items))
            case _:
                pass


def target(one: Instruction) -> int:
    return next(operand.address for operand in one.operands if isinstance(operand, Target))


def tag(one: Instruction) -> str:
    return next(operand.text for operand in one.operands if isinstance(operand, Word))


def numbers(operands: tuple[Operand, ...]) -> tuple[int, ...]:
    """Return where the machine keeps all variables in operands."""
    return tuple(place(one) for one in variables(operands))


def shape(operand: Operand) -> str:
    """Return what an operand says beside its variables."""
    match operand:
        case Variable(part=part, negated=negated):
            return f"v{part}{negated}"
        case OperandGroup(items=items):
            return f"({' '.join(map(shape, items))})"
        case PtxAddress(base=base, offset=offset):
            return f"[{shape(base)}+{offset}]"
        case _:
            return repr(operand)
