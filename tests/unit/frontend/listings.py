"""Listings made of a few lines, for the tests of the front end."""

from pathlib import Path

from sassan.frontend import read
from sassan.ir import Function, Instruction
from sassan.source import Source

SAMPLES = Path(__file__).parents[3] / "samples"


def cuobjdump(*bodies: str, arch: str = "sm_75", name: str = "k") -> str:
    """Return a cuobjdump listing without encodings, one 16-byte instruction per body."""
    lines = [f"        /*{16 * index:04x}*/                   {body}" for index, body in enumerate(bodies)]
    return "\n".join([f"\tcode for {arch}", f"\t\tFunction : {name}", *lines, "\t\t..........", "", ""])


def maxwell(*bodies: str, arch: str = "sm_61", name: str = "k") -> str:
    """Return a cuobjdump listing without encodings, at the addresses of sm_50 to sm_62."""
    places = [address for address in range(8, 32 * len(bodies) + 32, 8) if address % 32][: len(bodies)]
    lines = [f"        /*{place:04x}*/                   {body}" for place, body in zip(places, bodies, strict=True)]
    return "\n".join([f"\tcode for {arch}", f"\t\tFunction : {name}", *lines, "\t\t..........", "", ""])


def nvdisasm(*lines: str, name: str = "k", sm: int = 75, end: str = ".L_x_99") -> str:
    """Return an nvdisasm listing of one section; `lines` are its code and its labels."""
    head = [
        f'\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM{sm} EF_CUDA_VIRTUAL_SM(EF_CUDA_SM{sm})"',
        '\t.elftype\t@"ET_EXEC"',
        "",
        f"//--------------------- .text.{name} --------------------------",
        f'\t.section\t.text.{name},"ax",@progbits',
        "\t.align\t128",
        f"        .global         {name}",
        f"        .type           {name},@function",
        f"        .size           {name},({end} - {name})",
        f'        .other          {name},@"STO_CUDA_ENTRY STV_DEFAULT"',
        f"{name}:",
        f".text.{name}:",
    ]
    return "\n".join([*head, *lines, f"{end}:", "", ""])


def function(text: str, *, arch: str | None = None) -> Function:
    """Return the only function of a listing."""
    (only,) = read(Source("t.sass", text), arch=arch).functions
    return only


def instruction(body: str, arch: str = "sm_75") -> Instruction:
    """Return one instruction of a listing that holds it and an EXIT."""
    make = cuobjdump if arch >= "sm_70" or len(arch) > len("sm_70") else maxwell
    return function(make(body, "EXIT ;", arch=arch)).instructions[0]


def sample(arch: str, name: str) -> str:
    """Return the text of a sample, `name` with its suffix."""
    return (SAMPLES / arch / name).read_text(encoding="utf-8")
