"""A damaged cubin is refused with a clear error, soon and within 500 MB, in thousands of cases; the same cases in every run.

The disassembler is played back: what it makes of what passes the checks is tested with the real one in test_cubin_tools.py.
"""

import random
import struct
import subprocess
import sys
import time
from collections import Counter

import pytest

import cubins
from budget import FULL, some
from samples import SAMPLES
from sassan.errors import SassanError
from sassan.frontend import read
from sassan.frontend.image import Image

pytestmark = pytest.mark.slow

OLD, NEW = "sm_61/saxpy", "sm_100/saxpy"
SECONDS = 30
"""Of the processor: far more than any case takes, far less than what does not end."""
HUGE = [2**63, 2**64 - 1, 2**63 - 1, 2**32 - 1, 2**31, 0xFFFF, 0]
FIELDS = ["name", "type", "flags", "offset", "size", "link", "info", "align", "entry"]

IN_TURN = [(sample, field) for at, field in enumerate(FIELDS) for sample in ([OLD, NEW] if FULL else [(OLD, NEW)[at % 2]])]


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch):
    """Return a function from a sample and its damaged bytes to the code of the refusal, or 'read'."""

    def run(sample: str, data: bytes) -> str:
        listing = (SAMPLES / f"{sample}.nvdisasm.sass").read_text()
        monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", lambda *_, **__: listing)
        begin = time.process_time()
        refusal = None
        try:
            read(Image("k.cubin", data))
        except SassanError as error:
            refusal = error
        assert time.process_time() - begin < SECONDS
        if refusal is None:
            return "read"
        assert refusal.status in {2, 3, 4}
        assert refusal.message.isprintable()
        return refusal.code

    return run


@pytest.mark.parametrize("mask", some([0xFF, 0x01, 0x80], of=3))
def test_every_byte_of_the_headers_may_be_flipped(mask, outcome):
    data = cubins.cubin(OLD)
    places = cubins.layout(data).header_bytes
    seen = Counter(outcome(OLD, cubins.flipped(data, at, mask)) for at in some(places, of=8))
    assert (len(places), seen.total()) == (872, len(some(places, of=8)))
    assert seen["malformed-elf"] > seen.total() / 3


@pytest.mark.parametrize("part", range(4) if FULL else [0])
def test_every_byte_of_the_headers_of_the_second_generation_may_be_flipped(part, outcome):
    data = cubins.cubin(NEW)
    masks = random.Random(part)
    places = cubins.layout(data).header_bytes
    assert len(places) == 4 * 438
    seen = Counter(outcome(NEW, cubins.flipped(data, at, masks.randrange(1, 256))) for at in some(places[part::4], of=4))
    assert seen["malformed-elf"] > seen.total() // 5


@pytest.mark.parametrize("sample", [OLD, NEW])
def test_every_truncation_is_refused(sample, outcome):
    data = cubins.cubin(sample)
    for length in [*range(4, 64), *random.Random(sample).sample(range(64, len(data)), 200 if FULL else 40)]:
        assert outcome(sample, data[:length]) == "malformed-elf"


@pytest.mark.parametrize(("sample", "field"), IN_TURN)
def test_every_field_of_a_section_may_be_huge(sample, field, outcome):
    data = cubins.cubin(sample)
    where = cubins.layout(data)
    for index in range(where.section_count):
        at, form = where.section(index, field)
        for value in HUGE if FULL else (HUGE[(index + FIELDS.index(field)) % len(HUGE)], HUGE[0]):
            size = struct.calcsize(form)
            packed = struct.pack(f"<{form}", value & (1 << 8 * size) - 1)
            outcome(sample, data[:at] + packed + data[at + size :])


@pytest.mark.parametrize("field", ["offset", "size"])
@pytest.mark.parametrize("name", [".text.saxpy", ".nv.info", ".nv.info.saxpy", ".symtab", ".strtab", ".shstrtab"])
@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**32])
def test_a_section_outside_the_file_is_refused(name, field, value, outcome):
    assert outcome(OLD, cubins.with_field(cubins.cubin(OLD), name, field, value)) == "malformed-elf"


@pytest.mark.parametrize(
    ("at", "form", "value"),
    [
        (32, "Q", 2**63),
        (32, "Q", 2**64 - 56),
        (40, "Q", 2**63),
        (40, "Q", 0),
        (54, "H", 0),
        (56, "H", 0xFFFF),
        (58, "H", 0),
        (60, "H", 0),
        (60, "H", 0xFFFF),
        (62, "H", 0),
        (62, "H", 0xFFFF),
    ],
)
def test_counts_and_places_of_headers_that_cannot_be_are_refused(at, form, value, outcome):
    data = cubins.cubin(OLD)
    damaged = data[:at] + struct.pack(f"<{form}", value) + data[at + struct.calcsize(form) :]
    assert outcome(OLD, damaged) == "malformed-elf"


@pytest.mark.parametrize("name", [".nv.info", ".nv.info.saxpy", ".symtab", ".strtab", ".shstrtab", ".text.saxpy"])
def test_the_contents_of_a_section_may_be_anything(name, outcome):
    data = cubins.cubin(OLD)
    where = cubins.layout(data)
    index = cubins.section_index(data, name)
    start, size = (struct.unpack_from("<Q", data, where.section(index, field)[0])[0] for field in ("offset", "size"))
    numbers = random.Random(name)
    for _ in range(25 if FULL else 5):
        at = start + numbers.randrange(size)
        outcome(OLD, cubins.flipped(data, at, numbers.randrange(1, 256)))
    for _ in range(5):
        outcome(OLD, cubins.with_contents(data, name, numbers.randbytes(numbers.randrange(1, 4096))))


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (".symtab", "link", 3),
        (".symtab", "link", 0),
        (".symtab", "type", 11),
        (".strtab", "type", 1),
        (".shstrtab", "type", 2),
        (".nv.constant0.saxpy", "info", 8),
        (".nv.info.saxpy", "info", 5),
        (".nv.info.saxpy", "info", 2**32 - 1),
        (".text.saxpy", "type", 8),
        (".text.saxpy", "flags", 2),
        (".text.saxpy", "flags", 0x806),
    ],
)
def test_links_and_kinds_that_contradict_are_refused(name, field, value, outcome):
    assert outcome(OLD, cubins.with_field(cubins.cubin(OLD), name, field, value)) == "malformed-elf"


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (".text.debug_build", "name", 1),
        (".rel.text.debug_build", "type", 6),
        (".rel.text.debug_build", "info", 26),
        (".debug_frame", "offset", 0x540),
        (".debug_frame", "size", 0x40),
        (".debug_line", "offset", 0x1200),
        (".nv_debug_line_sass", "size", 3),
    ],
)
def test_relocations_and_debug_sections_that_do_not_hold_together_are_refused(name, field, value, outcome):
    sample = "sm_61/debug_build"
    assert outcome(sample, cubins.with_field(cubins.cubin(sample), name, field, value)) == "malformed-elf"


@pytest.mark.parametrize("units", [b"", b"\4\0\0\0abcd", b"\xff\xff\xff\xff" + b"\4" + bytes(7) + b"abcd", b"\0\0\0\0"])
def test_debug_sections_of_whole_units_are_no_obstacle(units, outcome):
    sample = "sm_61/debug_build"
    assert outcome(sample, cubins.with_contents(cubins.cubin(sample), ".debug_frame", units)) == "read"


@pytest.mark.parametrize("text", ["k\n        /*0008*/ EXIT ;", "k\x1b[31m", "k\r"])
def test_a_name_that_could_pass_for_lines_of_the_listing_is_refused(text, outcome):
    data = cubins.cubin(OLD)
    names = b"\0".join([b"", *(name.encode() for name in cubins.section_names(data)), text.encode(), b""])
    assert outcome(OLD, cubins.with_contents(data, ".strtab", names)) == "malformed-elf"


def test_tables_of_names_that_share_a_huge_end_are_refused(outcome):
    data = cubins.cubin(OLD)
    assert outcome(OLD, cubins.with_contents(data, ".shstrtab", b"\0" + b"x" * 16_000_000 + b"\0")) == "malformed-elf"


def test_the_largest_number_of_sections_takes_no_second(outcome):
    data = cubins.cubin(OLD)
    count = 0xFEFF
    table = struct.pack("<IIQQQQIIQQ", 0, 1, 0, 0, 0, len(data), 0, 0, 1, 0) * count
    damaged = bytearray(data + table)
    struct.pack_into("<Q", damaged, 40, len(data))
    struct.pack_into("<H", damaged, 60, count)
    struct.pack_into("<H", damaged, 62, 0)
    assert outcome(OLD, bytes(damaged)) == "malformed-elf"


@pytest.mark.parametrize(
    ("section", "contents"),
    some(
        [
            pytest.param(".nv.info", struct.pack("<BBHII", 4, 0x2F, 8, 5, 7) * 1_000_000, id="registers"),
            pytest.param(".nv.info", struct.pack("<BBHII", 4, 0x2F, 8, 5, 7) * 300_000, id="registers, fewer bytes"),
            pytest.param(".nv.info.saxpy", struct.pack("<BBH", 1, 0x30, 0) * 300_000, id="flags"),
            pytest.param(".nv.info.saxpy", (struct.pack("<BBH", 4, 0x1C, 65532) + bytes(65532)) * 500, id="exits"),
        ]
    ),
)
def test_attributes_without_an_end_are_refused(section, contents, outcome):
    assert outcome(OLD, cubins.with_contents(cubins.cubin(OLD), section, contents)) == "malformed-elf"


MEMORY = """
import resource, struct
resource.setrlimit(resource.RLIMIT_AS, (500_000_000, 500_000_000))
import cubins
from sassan.errors import SassanError
from sassan.frontend import read
from sassan.frontend.image import Image
data = cubins.cubin("sm_61/saxpy")
seen = 0
for name in cubins.section_names(data)[1:]:
    for field in ("offset", "size", "name", "entry"):
        for value in (2**63 - 1, 2**32 - 1, 2**40):
            size = 4 if field == "name" else 8
            try:
                read(Image("k", cubins.with_field(data, name, field, value & (1 << 8 * size) - 1)))
            except SassanError:
                seen += 1
print(seen)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_500_megabytes_are_enough(tmp_path):
    tests = SAMPLES.parent / "tests"
    done = subprocess.run(
        [sys.executable, "-c", MEMORY],
        cwd=tests,
        env={"PATH": "", "SASSAN_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert int(done.stdout) > 70
