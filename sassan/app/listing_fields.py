"""What is said of the listing of a function: a row per instruction."""

from typing import NamedTuple

from sassan.access import Access
from sassan.app.documents import HeadFields
from sassan.app.inputs import SelectedFunction
from sassan.app.settings import Settings
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, COUNT, FLAG, LINE, STRING, TEXT, array, merged, nullable, one
from sassan.fields.shared import GAPS
from sassan.ir import Function
from sassan.isa.control import ControlCode
from sassan.render.listing import Listing, ListingRow


class ListedFunction(NamedTuple):
    """The listing of a function, or of one launch of it, with the settings of that."""

    selected: SelectedFunction
    settings: Settings
    shown: Listing

    @property
    def function(self) -> Function:
        """The function."""
        return self.selected.function

    @property
    def file(self) -> str:
        """The file that holds it."""
        return self.selected.file


_of_access, _of_control, _of_row, _of = Declare[Access](), Declare[ControlCode](), Declare[ListingRow](), Declare[ListedFunction]()


class ListedAccessFields(Record[Access]):
    """An access of memory by an instruction."""

    space = _of_access(STRING, "the memory", lambda access: access.space.value)
    transactions = _of_access(
        BOUND, "of one execution by a full warp", lambda access: access.transactions.most if access.transactions is not None else None
    )
    ideal = _of_access(BOUND, "the fewest that its bytes need")
    exact = _of_access(FLAG, "whether the transactions are exactly so many")


class ControlCodeFields(Record[ControlCode]):
    """The control code of an instruction."""

    stall = _of_control(COUNT, "before the next instruction", unit="cycles", csv=True)
    yield_hint = _of_control(FLAG, "the hint to let another warp run", key="yield", csv=True)
    write_barrier = _of_control(BOUND, "set until the result is written", csv=True)
    read_barrier = _of_control(BOUND, "set until the sources are read", csv=True)
    waits = _of_control(array(COUNT), "barriers waited for", csv=True)
    reuse = _of_control(COUNT, "source slots kept in the operand cache", csv=True)


class InstructionFields(Record[ListingRow]):
    """An instruction."""

    address = _of_row(ADDRESS, "of the instruction", lambda row: row.instruction.address, csv=True)
    control = _of_row(nullable(one(ControlCodeFields)), "its control code, null where the input has no encodings", flat=True)
    unit = _of_row(TEXT, "the functional unit that executes it", csv=True)
    letter = _of_row(TEXT, "of kernel strings", lambda row: row.letter.value if row.letter else None, csv=True)
    opcode = _of_row(STRING, "with its modifiers", lambda row: row.instruction.opcode, csv=True)
    text = _of_row(STRING, "as the input has it", lambda row: row.instruction.text, csv=True)
    branch = _of_row(TEXT, "its effect on the warp", lambda row: row.branch.value if row.branch else None, csv=True)
    source = _of_row(LINE, "the line that it was made from", csv=True)
    live = _of_row(BOUND, "general registers in use", csv=True)
    agreement = _of_row(nullable(array(STRING)), "warp-uniform registers", csv=True)
    accesses = _of_row(array(one(ListedAccessFields)), "of memory, of a launch")
    _transactions = _of_row(
        array(COUNT),
        "of its accesses, in their order",
        lambda row: [access.transactions.most for access in row.accesses if access.transactions is not None],
        key=None,
        csv="transactions",
    )
    _ideal = _of_row(
        array(COUNT),
        "the fewest that their bytes need",
        lambda row: [access.ideal for access in row.accesses if access.ideal is not None],
        key=None,
        csv="ideal",
    )


class ListingFields(Record[ListedFunction]):
    """What `sassan listing` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda listed: listed)
    rows = _of(array(one(InstructionFields)), "a row per instruction", lambda listed: listed.shown.rows)
    gaps = _of(GAPS, "what leaves branches unclassified", lambda listed: listed.shown.gaps)
