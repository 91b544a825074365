"""What Python calls the arguments of recorded launches: by Triton's cache, and by the types in the symbols of Numba."""

from pathlib import Path

from sassan.launches import Argument, ProgramLaunch, parse, text
from sassan.launches.model import Launches
from sassan.record.names import with_names

CUBIN = b"\x7fELF of add"
CODE = "sha256:" + 64 * "0"
PLAIN = 'tt.func public @add(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("FILE":4:0), %arg1: i32 loc("FILE":4:0)) {'
NAMED = 'tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 loc("n"(#loc))) {'
SOURCE = "import triton.language as tl\n\n@triton.jit\ndef add(x, n, BLOCK: tl.constexpr):\n    pass\n\ndef add(other):\n    pass\n"
ARRAY = "5ArrayIfLi1E1C7mutable7alignedE"


def names(kernel: str, sizes: tuple[int, ...], folder: Path) -> list[str]:
    arguments = tuple(Argument(8 * place, size, 1) for place, size in enumerate(sizes))
    launch = ProgramLaunch(kernel, (1, 1, 1), (32, 1, 1), arguments=arguments, code=CODE)
    variables = {"TRITON_CACHE_DIR": str(folder / "cache")}
    (found,) = with_names([launch], [(CODE, CUBIN)], ["python3", "-u", str(folder / "program.py")], variables)
    # What is written is what is read.
    assert parse("launches.toml", text(Launches((found,)))).launches == (found,)
    return [argument.name for argument in found.arguments or ()]


def cached(folder: Path, ttir: str, source: str = SOURCE) -> None:
    (folder / "program.py").write_text(source)
    (folder / "cache" / "key").mkdir(parents=True, exist_ok=True)
    (folder / "cache" / "key" / "add.cubin").write_bytes(CUBIN)
    (folder / "cache" / "key" / "add.ttir").write_text(ttir.replace("FILE", str(folder / "program.py")))


def test_triton_names_are_those_of_its_intermediate_code_or_of_the_source_at_its_line(tmp_path: Path):
    for ttir in (PLAIN, NAMED):
        cached(tmp_path, ttir)
        assert names("add", (8, 4, 8), tmp_path) == ["x", "n", ""]


def test_a_name_that_is_longer_than_that_of_any_file_is_in_no_cache(tmp_path: Path):
    cached(tmp_path, PLAIN)
    assert names("_ZN" + "7cutlass" * 100, (8, 4, 8), tmp_path) == ["", "", ""]


def test_triton_names_that_may_be_others_are_not_used(tmp_path: Path):
    dropped = 'tt.func public @add(%arg0: !tt.ptr<f32> loc("FILE":4:0)) {'
    descriptor = NAMED.replace("i32 loc", "!tt.tensordesc<tensor<8xf32>> loc")
    for ttir in (dropped, descriptor, PLAIN.replace(":4:", ":40:"), "module {"):
        cached(tmp_path, ttir)
        assert names("add", (8, 4, 8), tmp_path) == ["", "", ""]
    cached(tmp_path, NAMED)
    assert names("add", (8, 8), tmp_path) == ["", ""], "another size"
    (tmp_path / "cache" / "key" / "add.cubin").write_bytes(b"\x7fELF of another")
    assert names("add", (8, 4), tmp_path) == ["", ""]


def test_numba_names_are_those_of_the_module_in_the_symbol(tmp_path: Path):
    array = [f"x_{word}" for word in ("meminfo", "parent", "nitems", "itemsize", "data", "shape0", "stride0")]
    (tmp_path / "program.py").write_text("if True:\n    def make():\n        def scale(n, x):\n            pass\n")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "some.py").write_text("def scale(x, flag):\n    pass\n")
    local = f"_ZN8__main__4make12_3clocals_3e5scaleB2v1B3cw5Ex{ARRAY}"
    assert names(local, (8,) * 8, tmp_path) == ["n", *array]
    assert names(f"_ZN7kernels4some5scaleB2v1E{ARRAY}b", (*(8,) * 7, 1), tmp_path) == [*array, "flag"]


def test_numba_names_that_may_be_others_are_not_used(tmp_path: Path):
    (tmp_path / "program.py").write_text(
        "def scale(n):\n    pass\n\ndef two(a):\n    pass\n\ndef two(b):\n    pass\n\ndef some(*a):\n    pass\n"
    )
    for symbol in (
        "_ZN8__main__5scaleB2v1Exx",
        "_ZN8__main__5scaleB2v1E8UniTupleIiLi2EE",
        "_ZN8__main__5scaleEx",
        "_ZN8__main__3twoB2v1Ex",
        "_ZN8__main__4someB2v1Ex",
        "_ZN6absent5scaleB2v1Ex",
        "_ZN8__main__B2v1Ex",
        "_ZN99scale",
        "scale",
    ):
        assert not any(names(symbol, (8, 8), tmp_path)), symbol
    (tmp_path / "program.py").write_text("def scale(n:\n")
    assert names("_ZN8__main__5scaleB2v1Ex", (8,), tmp_path) == [""]
