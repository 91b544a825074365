"""Addresses of functions that the compiler keeps in its constant bank: printf, assert and malloc are called through them.

golden/sm_75.outside.cubin and golden/sm_120.outside.cubin are of nvcc 13.0 (-cubin), of

    extern "C" __global__ void printing(const float* x, int n) { int i = threadIdx.x; if (i < n) printf("%d\\n", i); }
    extern "C" __global__ void asserting(float* x, int n) { int i = threadIdx.x; assert(i < n); x[i] = 1; }
    extern "C" __global__ void allocating(char** x, int n) { char* p = (char*)malloc(n); if (p) *p = 1; x[threadIdx.x] = p; free(x[n]); }

The text beside each is what nvdisasm -c prints of it.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from sassan.errors import InputError
from sassan.frontend import read
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.image import Image
from sassan.ipet.facts.read import read as read_facts
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.wcet import problem, wcet
from sassan.ir import Function, FunctionPointer
from sassan.isa import tables
from sassan.timing import UnitCostModel
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg

GOLDEN = Path(__file__).parent / "golden"
POINTERS = ".nv.constant4"
CALLED = {"printing": ["vprintf"], "asserting": ["__assertfail"], "allocating": ["malloc", "free"]}


def cubin(arch: str) -> bytes:
    return (GOLDEN / f"{arch}.outside.cubin").read_bytes()


@pytest.fixture(params=["sm_75", "sm_120"])
def functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Function]:
    listing = (GOLDEN / f"{request.param}.outside.nvdisasm.sass.txt").read_text()

    def played_back(*_: object, **__: object) -> str:
        return listing

    monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", played_back)
    return {function.name: function for function in read(Image("k.cubin", cubin(request.param))).functions}


def graph(function: Function) -> WarpCfg:
    return explore(function, tables.load(function.arch).facts)


@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_a_cubin_says_where_its_pointers_lead(arch: str):
    found = Elf(Image("k", cubin(arch))).function_pointers(POINTERS)
    assert sorted(pointer.name for pointer in found) == ["__assertfail", "free", "malloc", "vprintf"]
    assert all(pointer.external and pointer.offset % 8 == 0 for pointer in found)


@pytest.mark.parametrize("name", CALLED)
def test_a_call_through_such_a_pointer_is_one_of_the_function(functions: dict[str, Function], name: str):
    cfg = graph(functions[name])
    assert not cfg.gaps
    assert [external.name for external in cfg.externals] == CALLED[name]


@pytest.mark.parametrize("name", CALLED)
def test_it_is_bounded_by_what_a_file_says_of_the_function(functions: dict[str, Function], name: str):
    cfg = graph(functions[name])
    facts = "".join(f"[external.{each}]\ncost = 5000\n" for each in CALLED[name])
    without = "".join(f"[external.{each}]\ncost = 0\n" for each in CALLED[name])
    ends = CALLED[name] == ["__assertfail"]  # no assertion fails, unless a fact says what that costs
    assert {gap.code for gap in bounds_of(cfg).gaps} == (set() if ends else {"external-function"})
    costly, free = (wcet(problem(cfg, UnitCostModel(), bounds_of(cfg, read_facts("f", text)))).value for text in (facts, without))
    assert costly is not None
    assert free is not None
    assert costly - free == 5000 * len(CALLED[name])


def test_without_the_pointers_it_calls_something_unknown(functions: dict[str, Function]):
    function = functions["printing"]
    assert function.compiler is not None
    cfg = graph(replace(function, compiler=replace(function.compiler, pointers=())))
    assert [gap.code for gap in cfg.gaps] == ["indirect-call"]
    assert not cfg.externals


def test_a_pointer_to_a_function_that_the_file_holds_is_not_one_to_another(functions: dict[str, Function]):
    function = functions["printing"]
    assert function.compiler is not None
    elsewhere = tuple(FunctionPointer(pointer.offset, pointer.name, external=False) for pointer in function.compiler.pointers)
    cfg = graph(replace(function, compiler=replace(function.compiler, pointers=elsewhere)))
    assert [gap.code for gap in cfg.gaps] == ["indirect-call"]


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        pytest.param("type", 8, 3, id="no address of 64 bits"),
        pytest.param("addend", 16, 8, id="an address inside of the function"),
    ],
)
def test_another_relocation_says_nothing(name: str, at: int, value: int):
    data = bytearray(cubin("sm_120"))
    elf = Elf(Image("k", bytes(data)))
    section, before = elf.by_name[f".rela{POINTERS}"], elf.function_pointers(POINTERS)
    places = [place for place in range(0, section.size, 24) if data[section.offset + place] == before[0].offset]
    data[section.offset + places[0] + at] = value
    assert Elf(Image("k", bytes(data))).function_pointers(POINTERS) == before[1:], name


def test_an_addend_in_place_counts():
    data = bytearray(cubin("sm_75"))
    elf = Elf(Image("k", bytes(data)))
    before = elf.function_pointers(POINTERS)
    data[elf.by_name[POINTERS].offset + before[0].offset] = 8
    assert Elf(Image("k", bytes(data))).function_pointers(POINTERS) == before[1:]


def test_an_incomplete_relocation_is_refused():
    elf = Elf(Image("k", cubin("sm_75")))
    name = f".rel{POINTERS}"
    elf.by_name[name] = replace(elf.by_name[name], size=elf.by_name[name].size - 1)
    with pytest.raises(InputError, match=r"the section '\.rel\.nv\.constant4' has an incomplete relocation"):
        elf.function_pointers(POINTERS)
