"""Fermi and Kepler (sm_20 to sm_37): refused by one named error, in every style of listing and as cubins."""

import struct

import pytest

import cubins
from sassan.errors import InputError
from sassan.frontend import read
from sassan.frontend.image import Image
from sassan.source import Source

OLD = ["sm_20", "sm_21", "sm_30", "sm_32", "sm_35", "sm_37"]

FERMI = """\

Fatbin elf code:
================
arch = {arch}
code version = [1,7]
producer = <unknown>
host = linux
compile_size = 64bit

\tcode for {arch}
\t\tFunction : scale
\t.headerflags    @"EF_CUDA_{flag} EF_CUDA_PTX_SM(EF_CUDA_{flag})"
\t/*0000*/     /*0x00005de428004404*/ \tMOV R1, c [0x1] [0x100];
\t/*0008*/     /*0x84001c042c000000*/ \tS2R R0, SR_Tid_X;
\t/*0010*/     /*0x1c01dc23190e0000*/ \tISETP.GE.AND P0, pt, R0, c [0x0] [0x28], pt;
\t/*0018*/     /*0x000001e780000000*/ \t@P0 EXIT;
\t/*0020*/     /*0x00001de780000000*/ \tEXIT;
\t\t...........................
"""

KEPLER = """\
\tcode for {arch}
\t\tFunction : scale
\t.headerflags    @"EF_CUDA_{flag} EF_CUDA_PTX_SM(EF_CUDA_{flag})"
                                                                           /* 0x08b0a0b0a0b000a0 */
        /*0008*/                   MOV R1, c[0x0][0x44];                   /* 0x64c03c00089c0006 */
        /*0010*/                   S2R R0, SR_TID.X;                       /* 0x86400000109c0002 */
        /*0018*/                   SSY 0x38;                               /* 0x1480000008000000 */
        /*0020*/               @P0 NOP.S;                                  /* 0x858000000000003e */
        /*0028*/                   EXIT;                                   /* 0x18000000001c003c */
\t\t...........................
"""

HEADER = """\
\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_{flag} EF_CUDA_VIRTUAL_SM(EF_CUDA_{flag})"
\t.elftype\t@"ET_EXEC"
\t.section\t.text.scale,"ax",@progbits
        .size           scale,(.L_2 - scale)
scale:
        /*0008*/                   MOV R1, c[0x0][0x44] ;
        /*0010*/                   EXIT ;
.L_2:
"""


@pytest.mark.parametrize("listing", [FERMI, KEPLER, HEADER], ids=["Fermi", "Kepler", "nvdisasm"])
@pytest.mark.parametrize("arch", OLD)
def test_a_listing_is_refused_by_its_architecture(arch, listing):
    with pytest.raises(InputError) as caught:
        read(Source("k.sass", listing.format(arch=arch, flag=arch.upper().replace("_", ""))))
    assert (caught.value.code, caught.value.status) == ("unsupported-architecture", 3)
    assert caught.value.message == f"unknown architecture {arch}"
    assert (caught.value.hint or "").startswith("known: sm_50, sm_52,")
    assert caught.value.span is not None


@pytest.mark.parametrize("arch", OLD)
def test_a_cubin_is_refused_by_its_architecture(arch):
    data = bytearray(cubins.cubin("sm_61/saxpy"))
    number = int(arch.removeprefix("sm_"))
    struct.pack_into("<I", data, 48, number << 16 | 5 << 8 | number)
    with pytest.raises(InputError) as caught:
        read(Image("k.cubin", bytes(data)))
    assert caught.value.code == "unsupported-architecture"
    assert caught.value.message == f"unknown architecture {arch}"


def test_a_32_bit_cubin_is_refused_by_its_architecture():
    data = bytearray(64)
    data[:7], data[7], data[8] = b"\x7fELF\x01\x01\x01", 51, 2
    struct.pack_into("<H", data, 18, 190)
    struct.pack_into("<I", data, 36, 20)
    with pytest.raises(InputError) as caught:
        read(Image("k.cubin", bytes(data)))
    assert caught.value.message == "unknown architecture sm_20"
