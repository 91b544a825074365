"""Remedies of operations that have cheaper ones in their place: double precision, conversions, special functions, divisions of integers."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from sassan.app.advise.code import control_of, editable, edited, instructions_of, with_control
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.ir import Instruction
from sassan.plurals import count_of

_SINGLE = {"DADD": "FADD", "DMUL": "FMUL", "DFMA": "FFMA", "DSETP": "FSETP", "DMNMX": "FMNMX"}
_STALL = 4
"""Cycles from a product or sum of single precision to its use (latency class of the tables of every architecture since Volta)."""
_APPROXIMATE = {"MUFU.RCP64H": "MUFU.RCP", "MUFU.RSQ64H": "MUFU.RSQ"}
_CONVERSIONS = ("F2F", "F2I", "I2F", "I2I", "F2FP")
_DIVISION = (
    "I2F.RP",
    "I2F.U32.RP",
    "I2F.S32.RP",
    "I2F.U64.RP",
    "I2F.S64.RP",
    "F2I.FTZ.U32.TRUNC.NTZ",
    "F2I.U64.TRUNC",
    "F2I.FTZ.U32.F32.NTZ",
)
Edit = Callable[[Instruction], Instruction | None]


def cheaper(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield a remedy for each group of expensive operations that the code has."""
    if not editable(launched.prepared):
        return
    every = instructions_of(launched.prepared.kernel)
    divisions = any(each.opcode.startswith(_DIVISION[:5]) for each in every.values())
    groups: tuple[tuple[str, Callable[[Instruction], bool], Edit, str, str], ...] = (
        (
            "{} of double precision",
            _is_double,
            _single,
            "likely: the same operations in single precision; bytes of memory are kept as they are, results are less precise",
            EXAMPLES[AdviceCode.CHEAPER_OPERATION],
        ),
        (
            "{} by division of integers",
            lambda each: divisions and _divides(each),
            lambda _: None,
            "likely: reciprocals are no longer computed; the multiplications of the division are still counted",
            "int row = i >> 5, column = i & 31; // a divisor that the compiler knows, or a power of two; else divide once per thread",
        ),
        (
            "{} from one type to another",
            lambda each: each.opcode.startswith(_CONVERSIONS) and not _is_double(each) and not (divisions and _divides(each)),
            lambda _: None,
            "likely: values stay in one type, so that nothing is converted",
            "float sum = 0;                     // keep sums and operands in one type; convert once, outside of the loop",
        ),
        (
            "{} by special functions",
            lambda each: each.opcode.startswith("MUFU") and each.opcode not in _APPROXIMATE and not divisions,
            _product,
            "upper limit: a multiplication takes the place of each (a reciprocal that is reused, a table, a polynomial)",
            "float r = 1.0f / d; ... x * r ...  // one reciprocal for many divisions; __fdividef, __expf, rsqrtf where they suffice",
        ),
    )
    for text, belongs, edit, sure, example in groups:
        places = tuple(sorted(at for at, each in every.items() if belongs(each)))
        if places:
            changed = edited(launched.prepared, _at(frozenset(places), edit))
            why = text.format(count_of(len(places), "instruction")) + ": their unit takes fewer lanes a cycle than that of plain arithmetic"
            yield Remedy(AdviceCode.CHEAPER_OPERATION, places, why, changed, sure, example)


def _at(places: frozenset[int], edit: Edit) -> Edit:
    """Return an edit of these instructions only."""
    return lambda each: edit(each) if each.address in places else each


def _is_double(each: Instruction) -> bool:
    name = each.opcode.partition(".")[0]
    return name in _SINGLE or each.opcode in _APPROXIMATE or (name in {"F2F", "I2F", "F2I"} and "F64" in each.opcode.split("."))


def _divides(each: Instruction) -> bool:
    return each.opcode.startswith(_DIVISION) or each.opcode == "MUFU.RCP"


def _single(each: Instruction) -> Instruction | None:
    """Return the operation in single precision, None for a conversion between both."""
    name, _, rest = each.opcode.partition(".")
    if each.opcode in _APPROXIMATE:
        return replace(each, opcode=_APPROXIMATE[each.opcode])
    if name == "F2F":
        return None
    if name in {"I2F", "F2I"}:
        return replace(each, opcode=".".join(part for part in each.opcode.split(".") if part != "F64"))
    return _plain(each, ".".join(part for part in (_SINGLE[name], rest) if part))


def _product(each: Instruction) -> Instruction:
    return _plain(each, "FMUL")


def _plain(each: Instruction, opcode: str) -> Instruction:
    """Return an operation of plain arithmetic in the place of another: its result is there after a few cycles."""
    control = control_of(each)
    return with_control(replace(each, opcode=opcode), replace(control, stall=min(control.stall, _STALL)))
