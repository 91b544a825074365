"""The program that measures on the target what a bound takes for granted: `program.cu`, for one product."""

from pathlib import Path

from sassan.products import Product
from sassan.system import reading

_TEMPLATE = Path(__file__).with_name("program.cu")
_FOR, _COMPILE = "@GPU@", "@COMPILE@"


def program(gpu: Product) -> str:
    """Return the CUDA source of the program; it needs nothing but nvcc of the toolkit of the target."""
    return reading.text(_TEMPLATE).replace(_FOR, gpu.name).replace(_COMPILE, compile_line(gpu))


def compile_line(gpu: Product, source: str = "measure.cu") -> str:
    """Return the command that compiles the program on the target, or for it."""
    return f"nvcc -O2 -Xcompiler -pthread -arch={gpu.architecture} -o measure {source}"
