"""The census of the PTX ISA: its templates, and what it said when it was last taken."""

import csv
from collections import Counter

from cli.shell import ROOT
from scripted import scripted

CENSUS = ROOT / "samples" / "experiments" / "census.csv"
REFUSED, UNDERSTOOD = "-", "yes"
NOT_DISASSEMBLED = "unprintable"
"""What no disassembler prints: sassan never sees it."""


def test_the_shipped_table_is_of_the_templates():
    with CENSUS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    statements = scripted("census.statements").statements()
    assert [(row["section"], row["instruction"]) for row in rows] == [(each.section, each.text) for each in statements]


def test_what_ptxas_accepts_is_understood():
    with CENSUS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sms = [name for name in rows[0] if name.startswith("sm_")]
    said = {sm: Counter(row[sm] for row in rows) for sm in sms}
    known = {REFUSED, UNDERSTOOD, NOT_DISASSEMBLED}
    assert [(row["instruction"], sm, row[sm]) for row in rows for sm in sms if row[sm] not in known] == []
    assert all(counts[NOT_DISASSEMBLED] <= 8 for counts in said.values())
    assert {row["instruction"].partition(" ")[0] for row in rows if NOT_DISASSEMBLED in row.values()} == {
        *(f"fence.{order}.{scope};" for order in ("acquire", "release") for scope in ("cta", "gpu", "sys")),
        "cvt.rn.satfinite.f16.f32",
        "cvt.rz.satfinite.f16.f32",
    }
    assert all(counts[UNDERSTOOD] > 1800 for counts in said.values())
    accepted = [sum(counts.values()) - counts[REFUSED] for counts in said.values()]
    text = (ROOT / "samples" / "README.md").read_text("utf-8")
    assert f"Of {min(accepted):,} to {max(accepted):,} accepted instructions per SM all are understood" in text


def test_a_kernel_loads_what_its_statement_reads_and_stores_what_it_writes():
    statements = scripted("census.statements")
    text, owners = statements.module([(7, statements.Statement("logic", "lop3.or.b32 $R|$P, $r, $r, $r, 0x96, $p;"))], "sm_80", "8.8")
    lines = text.splitlines()
    assert "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;" in lines
    assert sum("ld.global" in line for line in lines) == 4
    assert sum("[operands+" in line for line in lines) == 4
    assert sum("st.global" in line for line in lines) == 4
    assert len(owners) == len(lines)
    assert {owner for line, owner in zip(lines, owners, strict=True) if "lop3" in line} == {7}
