"""Source lines, from what nvdisasm prints with -g."""

from pathlib import Path

import pytest

import cubins
from samples import SAMPLES
from sassan.arch import architecture
from sassan.frontend import load, read
from sassan.frontend.cubin.lines import source_lines
from sassan.frontend.link import ALIGN
from sassan.ir import SourceLine

LISTING = """\
\t.section\t.nv.info,"",@"SHT_CUDA_INFO"
\t//## File "/nothing.cu", line 9
\t.section\t.text.k,"ax",@progbits
k:
\t//## File "/a \\"b\\".cu", line 2
        /*0000*/                   MOV R1, R2 ;
        /*0010*/                   MOV R1, R2 ;
\t//## File "/f.cu", line 1
.L_x_1:
        /*0020*/                   MOV R1, R2 ;
\t//## File "/g.cu", line 3
\t.section\t.text.f<int>,"ax",@progbits
        /*0000*/                   EXIT ;
\t//## File "/g.cu", line 4
        /*0010*/                   EXIT ;
"""


def test_a_line_holds_from_the_next_instruction_on():
    arch = architecture("sm_75")
    assert arch is not None
    assert source_lines(LISTING, arch) == {
        "k": (SourceLine(0, '/a \\"b\\".cu', 2), SourceLine(0x20, "/f.cu", 1)),
        "f<int>": (SourceLine(0x10, "/g.cu", 4),),
    }


def test_a_listing_without_lines_has_none():
    arch = architecture("sm_61")
    assert arch is not None
    assert source_lines((SAMPLES / "sm_61" / "saxpy.nvdisasm.sass").read_text(), arch) == {}


def test_linked_code_keeps_its_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folder = cubins.recorder(tmp_path, "sm_61/debug_build")
    for listing in cubins.recorded(folder):
        text = listing.read_text().replace("        /*0008*/ ", '\t//## File "/d.cu", line 7\n        /*0008*/ ')
        listing.write_text(text)
    monkeypatch.setenv("PATH", str(folder))
    functions = read(load(str(SAMPLES / "sm_61" / "debug_build.cubin")), cached=False).functions
    assert {one.name: one.lines for one in functions} == {
        "_Z7collatzi": (SourceLine(8, "/d.cu", 7),),
        "debug_build": (SourceLine(8, "/d.cu", 7), SourceLine(ALIGN + 8, "/d.cu", 7)),
    }
