"""What a listing of nvdisasm says beside the code: registers, and, without -c, static shared memory."""

import pytest

from samples import SAMPLES
from sassan.frontend import read
from sassan.ir import Declared
from sassan.source import Source

INFO = '\t.section\t.nv.info.reduce_shared,"",@"SHT_CUDA_INFO"\n\t.align\t4\n\n'
SHARED = (
    '\t.section\t.nv.shared.reduce_shared,"aw",@nobits\n\t.sectionflags\t@""\n\t.align\t4\n.nv.shared.reduce_shared:\n\t.zero\t\t2048\n'
)
OTHER = SHARED.replace("nv.shared.reduce_shared", "nv.shared.other")


def declared(name: str, before: str = "", behind: str = "") -> Declared:
    text = (SAMPLES / name).read_text("utf-8")
    head, dashes, rest = text.partition("//----")
    (one,) = read(Source("k.sass", head + before + dashes + rest + behind)).functions
    return one.declared


@pytest.mark.parametrize(("arch", "registers"), [("sm_52", 8), ("sm_61", 8), ("sm_75", 10), ("sm_90", None)])
def test_section_headers_may_give_registers(arch, registers):
    assert declared(f"{arch}/reduce_shared.nvdisasm.sass") == Declared(registers, None)


def test_a_dump_of_cuobjdump_declares_nothing():
    assert declared("sm_61/reduce_shared.cuobjdump.sass") == Declared(None, None)


@pytest.mark.parametrize(
    ("before", "behind", "shared"),
    [(INFO, SHARED, 2048), (INFO, "", 0), (INFO, OTHER, 0), ("", SHARED, 2048), ("", OTHER, None)],
    ids=["used", "none", "of another", "without attributes", "not told"],
)
def test_a_complete_listing_gives_shared_memory(before, behind, shared):
    assert declared("sm_61/reduce_shared.nvdisasm.sass", before, behind) == Declared(8, shared)
