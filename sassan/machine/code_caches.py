"""The caches of instructions of an SM: how much code they keep, and what a line costs that they do not."""

from dataclasses import dataclass

from sassan.arch import cached, rows
from sassan.assumptions import published
from sassan.errors import InputError

_KIB = 1024
_LEAST = 68
"""Cycles between two prefetched lines, at least: what fits 64 recorded launches (`scripts/calibrate`, figure `fetch`)."""


@dataclass(frozen=True, slots=True)
class CodeCaches:
    """`inner` and `outer` are the bytes of code that a partition and an SM keep.

    `miss`: cycles until the outer cache gives a line to an inner one; `port`: for how many it gives no other meanwhile. `ahead`: lines
    of straight code that are fetched at the same time. `unsure`: no publication gives the sizes.
    """

    inner: int
    outer: int
    miss: int
    port: int
    ahead: int
    unsure: bool
    source: str

    def following(self, latency: int) -> int:
        """The cycles between two lines of straight code that come from where a line takes `latency`, and are prefetched."""
        return max(-(-latency // self.ahead), _LEAST)

    @property
    def assumption(self) -> str:
        """What the sizes rest on."""
        text = (
            f"a partition keeps {self.inner // _KIB} KiB of code, an SM {self.outer // _KIB}, and L2 all of a kernel: a line that the "
            f"first does not keep takes {self.miss} cycles, one that the second does not the latency of L2, each time that it is executed; "
            f"straight code of a warp that is alone is prefetched, {self.ahead} lines at a time"
        )
        return text if self.unsure else published(text)


@cached
def code_caches(arch: str) -> CodeCaches:
    """The caches of instructions of an SM (`sm_61`).

    Raises InputError `bad-table` with the file and the key, `unknown-sm` where no file describes it.
    """
    row = rows(arch, "fetch").get("")
    if row is None:
        raise InputError("unknown-sm", f"no architecture file describes the instruction caches of {arch}")
    fields = row.fields
    fields.only("inner", "outer", "miss", "port", "ahead", "unsure", "source")
    return CodeCaches(
        fields.whole("inner") * _KIB,
        fields.whole("outer") * _KIB,
        fields.whole("miss"),
        fields.whole("port"),
        fields.whole("ahead"),
        fields.flag("unsure"),
        row.source,
    )
