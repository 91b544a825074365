"""PTX for the tests: the shipped texts, small kernels, and the common parts of two readings."""

from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from sassan.frontend.ptx.build import Text, build
from sassan.frontend.ptx.lines import FastLines, LineParser
from sassan.frontend.ptx.read import modules, read_ptx
from sassan.frontend.ptx.syntax import (
    Address,
    Declarator,
    Directive,
    FunctionDeclaration,
    Header,
    Identifier,
    InstructionStatement,
    Label,
    Module,
    Not,
    NumericLiteral,
    OperandTuple,
    ParameterDeclaration,
    Scope,
    Statement,
    Sum,
    TargetTable,
    VariableDeclaration,
)
from sassan.frontend.ptx.text import module_text
from sassan.ir import Function
from sassan.isa.ptx import PtxIsa, load
from sassan.source import Source, Span
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
FILES = sorted([*SAMPLES.glob("sm_*/*.ptx"), *SAMPLES.glob("ptx/**/*.ptx")])
NAMES = [str(path.relative_to(SAMPLES)) for path in FILES]
HEAD = ".version 8.8\n.target sm_61\n.address_size 64\n"
REGISTERS = "\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .f32 %f<9>;\n\t.reg .b64 %rd<9>;\n"


def kernel(*lines: str, head: str = HEAD, registers: str = REGISTERS) -> str:
    """Return a text with one kernel, `k`, of these lines."""
    body = "".join(f"\t{line}\n" for line in lines)
    return f"{head}.visible .entry k(.param .u64 k_0, .param .u32 k_1)\n{{\n{registers}{body}}}\n"


def source(name: str) -> Source:
    """Return a shipped text by its path below samples/."""
    return Source(name, (SAMPLES / name).read_text("utf-8"))


def functions(text: str) -> tuple[Function, ...]:
    """Return the functions of a text."""
    return read_ptx(Source("t.ptx", text))


def only(*lines: str, **more: str) -> tuple[Function, PtxIsa]:
    """Return a kernel of these lines, and its facts."""
    (function,) = functions(kernel(*lines, **more))
    return function, load(function)


def graph(*lines: str, **more: str) -> WarpCfg:
    """Return the graph of a kernel of these lines."""
    function, isa = only(*lines, **more)
    return explore(function, isa.facts)


def syntax(text: Source, lines: LineParser | None = None) -> tuple[Module, ...]:
    """Return the records of every module of a text."""
    return tuple(module for _, module in modules(text, lines or FastLines()))


def again(module: Module) -> Module:
    """Return the result of reading a printed module."""
    text = module_text(module)
    start = "fragment" if any(isinstance(item, FunctionDeclaration) and not item.name for item in module.items) else "module"
    return build(Text(Source("again.ptx", text), text, 0), FastLines(), start=start)


def placeless(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return functions without source positions."""
    nowhere = Span(1, 1, 1)
    return tuple(
        replace(function, span=None, instructions=tuple(replace(each, span=nowhere) for each in function.instructions))
        for function in functions
    )


_REGISTER = st.one_of(
    *(st.integers(0, 8).map(lambda number, prefix=prefix: Identifier(f"%{prefix}{number}")) for prefix in ("r", "f", "rd")),
    st.sampled_from([Identifier("single"), Identifier("pair.x"), Identifier("pair.y")]),
)
_PREDICATE = st.integers(0, 8).map(lambda number: Identifier(f"%p{number}"))
_NUMBER = st.one_of(
    st.integers(-(2**31), 2**31).map(str),
    st.integers(0, 2**32 - 1).map(lambda value: f"0x{value:x}"),
    st.integers(0, 2**32 - 1).map(lambda value: f"0f{value:08X}"),
    st.integers(0, 2**64 - 1).map(lambda value: f"0d{value:016x}"),
    st.sampled_from(["1.5", "-2.", "1e10", "2.5E-3", "0b101", "017", "42U"]),
).map(NumericLiteral)
_PLAIN = st.one_of(
    _REGISTER,
    _NUMBER,
    st.sampled_from([Identifier("%tid.x"), Identifier("WARP_SZ"), Identifier("table"), Sum("table", "8"), Sum("table", "-4")]),
)
_VECTOR = st.lists(st.one_of(_REGISTER, st.just(Identifier("_"))), min_size=1, max_size=4).map(
    lambda items: OperandTuple("{", tuple(items))
)
_PLACE = st.builds(
    Address,
    st.one_of(
        st.integers(0, 8).map(lambda number: Identifier(f"%rd{number}")), st.just(Identifier("table")), st.just(NumericLiteral("16"))
    ),
    st.sampled_from(["", "4", "-8", "0x10"]),
    st.one_of(st.just(()), _VECTOR.map(lambda vector: (vector,))),
)
_OPERAND = st.one_of(_PLAIN, _VECTOR, _PLACE, _PREDICATE, _PREDICATE.map(lambda predicate: Not(predicate.text)))
_DESTINATION = st.one_of(_REGISTER, st.tuples(_REGISTER, _PREDICATE).map(lambda both: OperandTuple("|", both)), _VECTOR)
_OPCODE = st.sampled_from(["add.s32", "mov.b32", "ld.global.v2.f32", "shfl.sync.idx.b32", "cp.async.bulk.shared::cluster.global", "st.f32"])
_GUARD = st.sampled_from(["", "", "%p1", "!%p2"])


@st.composite
def _instructions(draw: st.DrawFn) -> InstructionStatement:
    operands = (draw(_DESTINATION), *draw(st.lists(_OPERAND, max_size=4)))
    return InstructionStatement(draw(_GUARD), draw(_OPCODE), operands)


_SPECIALS: st.SearchStrategy[Statement] = st.sampled_from(
    [
        Directive(".loc 1 2 3"),
        Directive('.pragma "nounroll";'),
        VariableDeclaration((), ".shared", (".align 4", ".b8"), (Declarator("buffer", dimensions=("16",)),)),
        InstructionStatement("%p3", "bra", (Identifier("end"),)),
        InstructionStatement("", "bra.uni", (Identifier("end"),)),
        InstructionStatement("", "brx.idx", (Identifier("%r1"), Identifier("ways"))),
        InstructionStatement(
            "",
            "call.uni",
            (OperandTuple("(", (Identifier("%r1"),)), Identifier("device"), OperandTuple("(", (Identifier("%r2"), NumericLiteral("7")))),
        ),
        InstructionStatement("", "bar.sync", (NumericLiteral("0"),)),
        InstructionStatement("%p1", "ret", ()),
    ]
)


@st.composite
def _bodies(draw: st.DrawFn) -> Scope:
    registers = tuple(
        VariableDeclaration((), ".reg", (kind,), (Declarator(name, count="9"),))
        for kind, name in ((".pred", "%p"), (".b32", "%r"), (".f32", "%f"), (".b64", "%rd"))
    )
    more = (
        VariableDeclaration((), ".reg", (".b32",), (Declarator("single"),)),
        VariableDeclaration((), ".reg", (".v2", ".f32"), (Declarator("pair"),)),
        TargetTable("ways", ".branchtargets", ("end", "inner")),
    )
    statements: list[Statement] = [*registers, *more]
    for _ in range(draw(st.integers(0, 6))):
        statement = draw(st.one_of(_instructions(), _instructions(), _SPECIALS))
        # A name is declared once per scope.
        statements.append(Scope((statement,)) if isinstance(statement, VariableDeclaration) or draw(st.integers(0, 5)) == 0 else statement)
    statements += [Label("inner"), draw(_instructions()), Label("end"), InstructionStatement("", "ret", ())]
    return Scope(tuple(statements))


@st.composite
def generated(draw: st.DrawFn) -> Module:
    """Draw a module: a device function, a kernel, and surrounding directives."""
    parameters = (ParameterDeclaration(".reg", (".b32",), "first"), ParameterDeclaration(".reg", (".b32",), "second"))
    initial = draw(st.sampled_from(["{1, 2, -3}", "{0x1, 2}", '"text"', "{{1}, {2}}"]))
    tuning = draw(st.sampled_from([(), (".maxntid 256, 1, 1",), (".maxnreg 32", ".minnctapersm 2")]))
    return Module(
        (
            Header(".version", ("8.8",)),
            Header(".target", ("sm_90", "debug")),
            Header(".address_size", ("64",)),
            Directive('.file 1 "a;b.cu", 12, 34'),
            VariableDeclaration((".visible",), ".global", (".align 4", ".b8"), (Declarator("table", dimensions=("64",), initial=initial),)),
            FunctionDeclaration(
                (), False, (".noreturn",), (ParameterDeclaration(".reg", (".b32",), "out"),), "device", parameters, (), draw(_bodies())
            ),
            FunctionDeclaration(
                (".extern",), False, (), None, "outside", (ParameterDeclaration(".param", (".align 8", ".b8"), "x", ("16",)),), (), None
            ),
            FunctionDeclaration(
                (".visible",),
                True,
                (),
                None,
                "kernel",
                (ParameterDeclaration(".param", (".u64", ".ptr", ".global"), "in"),),
                tuning,
                draw(_bodies()),
            ),
        )
    )
