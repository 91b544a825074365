"""What was measured on a target, as documents, CSV and tables show it."""

from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import FIGURE, STRING
from sassan.measure.target.board import TargetRow

_of = Declare[TargetRow]()


def _basis(row: TargetRow) -> str:
    if row.before is None:
        return NONE
    return "assumed" if row.assumed else "published"


class TargetRowFields(Record[TargetRow]):
    """A figure of a GPU that was measured on the target."""

    figure = _of(STRING, "as a GPU file calls it; `latency_` and a class of instructions", csv=True, head="figure")
    unit = _of(STRING, "of all its values", csv=True, head="unit")
    before = _of(FIGURE, "what bounds took it for", csv=True, head="before")
    basis = _of(STRING, "what backed that: `assumed`, `published`, or `-` without one", _basis, csv=True, head="basis")
    measured = _of(FIGURE, "the worst that was measured", csv=True, head="measured")
    after = _of(FIGURE, "what the GPU file of the board has", csv=True, head="from now on")
    verdict = _of(STRING, "`refuted` where the measurement is worse than what was taken, `holds`, or `new`", csv=True, head="verdict")
