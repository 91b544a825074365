"""Inputs of any size that grow in one thing: nesting, branches, calls, operands, names."""

import random
from collections.abc import Sequence

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n"


def listing(code: Sequence[str], name: str = "k") -> str:
    """A listing of one function."""
    rows = "".join(f"        /*{16 * index:04x}*/                   {text} ;\n" for index, text in enumerate(code))
    return f"\tcode for sm_80\n\t\tFunction : {name}\n{rows}\t\t..........\n"


def straight(count: int) -> str:
    """Instructions without a branch."""
    return listing([*(f"IADD3 R{each % 200}, R{each % 199}, 0x1, RZ" for each in range(count)), "EXIT"])


def loops(count: int) -> str:
    """Loops one after the other."""
    return listing(
        [
            line
            for each in range(count)
            for line in ("MOV R0, RZ", "IADD3 R0, R0, 0x1, RZ", "ISETP.GE.AND P0, PT, R0, 0x3, PT", f"@!P0 BRA 0x{16 * (4 * each + 1):x}")
        ]
        + ["EXIT"]
    )


def nested_loops(depth: int) -> str:
    """Loops in each other, each with a counter of its own (of 200)."""
    ends = [
        line
        for level in reversed(range(depth))
        for line in (
            f"IADD3 R{level % 200}, R{level % 200}, 0x1, RZ",
            f"ISETP.GE.AND P0, PT, R{level % 200}, 0x3, PT",
            f"@!P0 BRA 0x{16 * (level + 1):x}",
        )
    ]
    return listing([f"MOV R{level % 200}, RZ" for level in range(depth)] + ends + ["EXIT"])


def random_branches(count: int) -> str:
    """Branches to anywhere."""
    draw = random.Random(1)
    code = [
        line
        for _ in range(count)
        for line in (f"ISETP.GE.AND P0, PT, R{draw.randrange(20)}, 0x7, PT", f"@P0 BRA 0x{16 * draw.randrange(2 * count):x}")
    ]
    return listing([*code, "EXIT"])


def nested_ifs(depth: int, name: str = "k") -> str:
    """Conditions in each other."""
    code = [
        line for level in range(depth) for line in (f"ISETP.GE.AND P0, PT, R0, 0x{level:x}, PT", f"@P0 BRA 0x{16 * (3 * depth - level):x}")
    ]
    return listing([*code, *["MOV R2, R3"] * (depth + 1), "EXIT"], name)


def calls(depth: int, each: int = 1) -> str:
    """Functions of PTX that call the next one so many times."""
    callee = "".join(f".func f{level}()\n{{\n{f'call f{level + 1};' * each}\nret;\n}}\n" for level in reversed(range(depth)))
    return f"{PTX}.func f{depth}()\n{{\nret;\n}}\n{callee}.visible .entry k()\n{{\ncall f0;\nret;\n}}\n"


def vector(count: int) -> str:
    """A vector of PTX with so many operands."""
    return f"{PTX}.visible .entry k()\n{{\n.reg .b32 %r<8>;\nmov.b32 {{{', '.join(['%r1'] * count)}}}, %r2;\nret;\n}}\n"


def arguments(count: int) -> str:
    """A call of PTX with so many arguments."""
    return f"{PTX}.visible .entry k()\n{{\n.reg .b32 %r<8>;\ncall f, ({', '.join(['%r1'] * count)});\nret;\n}}\n"


def coordinates(count: int) -> str:
    """An address of PTX with so many coordinates."""
    address = f"[t, {{{', '.join(['%r1'] * count)}}}]"
    return f"{PTX}.visible .entry k()\n{{\n.reg .b32 %r<8>;\ntex.1d.v4.s32.s32 {{%r1,%r2,%r3,%r4}}, {address};\nret;\n}}\n"


def operands(count: int) -> str:
    """An instruction of a listing with so many operands."""
    return listing([f"IADD3 {', '.join(['R1'] * count)}", "EXIT"])


def name(characters: int) -> str:
    """A function with a name of so many characters."""
    return nested_ifs(2, "k" * characters)
