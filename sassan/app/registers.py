"""The registers of a function: in use, spilled, and how many fewer would let one more block be resident."""

from sassan.app.result import AnalysisResult
from sassan.errors import InputError
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, COUNT, address, array, nullable, one
from sassan.ir import Function, Language
from sassan.machine import machine_of
from sassan.plurals import count_of
from sassan.registers.liveness import liveness
from sassan.registers.pressure import Gain, Pressure, pressure
from sassan.warpcfg.blocks import FactsOf


def registers_of(function: Function, facts_of: FactsOf) -> Pressure | None:
    """Return the registers in use in machine code; None for PTX, and for an architecture without tables of hazards."""
    if function.language is Language.PTX or not function.instructions:
        return None
    try:
        return pressure(function, liveness(function, facts_of))
    except InputError:
        return None


def registers_of_result(result: AnalysisResult) -> Pressure | None:
    """Return the registers in use, with what fewer would allow where the launch of the result says how many blocks are resident."""
    function, known = result.function, result.residency
    if known is None or known.occupancy is None or function.language is Language.PTX:
        return registers_of(function, result.isa.facts)
    try:
        live = liveness(function, result.isa.facts)
    except InputError:
        return None
    return pressure(function, live, known.occupancy, machine_of(function.arch, result.settings.machine))


_of_gain, _of = Declare[Gain](), Declare[Pressure]()


class GainFields(Record[Gain]):
    """What lets one more block be resident."""

    registers = _of_gain(COUNT, "to save for it, per thread")
    blocks = _of_gain(COUNT, "then resident")
    over = _of_gain(array(ADDRESS), "instructions at which more are in use", lambda gain: gain.addresses)


class PressureFields(Record[Pressure]):
    """The general registers of a function."""

    in_use = _of(COUNT, "the most that are in use at once", lambda known: known.most)
    address = _of(ADDRESS, "where that is")
    allocated = _of(BOUND, "per thread, null where the input does not say")
    loads = _of(COUNT, "loads from places of the stack", lambda known: known.spills.loads, key="spills.loads")
    stores = _of(COUNT, "stores to places of the stack", lambda known: known.spills.stores, key="spills.stores")
    gain = _of(nullable(one(GainFields)), "what lets one more block be resident", key="one_more_block")


def sentences(known: Pressure) -> tuple[str, ...]:
    """Return what there is to say of the registers of a function, for people."""
    given = f" of {known.allocated} per thread" if known.allocated is not None else ""
    out = [f"registers: at most {known.most}{given} in use, at {address(known.address)}"]
    resident, gain = known.occupancy, known.gain
    if resident is not None:
        blocks = f"{count_of(resident.blocks, 'block')} of {resident.block_warps} warps per SM"
        out.append(f"{blocks}, limited by {', '.join(resident.limited_by)}")
        if gain is not None:
            places = len(gain.addresses)
            where = f"; more are in use at {count_of(places, 'instruction')}" if places else "; no instruction uses more"
            fewer = resident.demand.registers - gain.registers
            out.append(f"free {fewer} registers per thread (down to {gain.registers}) for {gain.blocks} blocks{where}")
        else:
            out.append("fewer registers would not let another block be resident")
    if known.spills.loads or known.spills.stores:
        out.append(f"{known.spills.stores} stores to and {known.spills.loads} loads from places of the stack: spills, or local variables")
    return tuple(out)
