"""Remedies of data that come again and again, or by a detour: kept in shared memory, copied there without registers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sassan.access.access import Access
from sassan.access.opcodes import references
from sassan.app.advise.changes import KernelAccess, accesses_of
from sassan.app.advise.code import Code, FactsOf, control_of, editable, reads_of, with_code, with_control, writes_of
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.arch import described
from sassan.errors import InputError
from sassan.ir import Instruction, Memory
from sassan.isa.facts import Flow
from sassan.isa.registers import bit
from sassan.plurals import count_of
from sassan.registers.liveness import liveness

_SINCE = 8
"""The compute capability from which on SMs copy from global to shared memory without registers."""
_COPY = "LDGSTS.E"


def copied_directly(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of data that are loaded to registers only to be stored to shared memory."""
    if not editable(launched.prepared) or int(described(launched.result.function.arch).capability.partition(".")[0]) < _SINCE:
        return
    facts_of, cfg = launched.result.isa.facts, launched.prepared.kernel.cfg
    code, pairs = dict[int, Code](), dict[int, int]()
    live = _live_after(launched)
    for number, node in enumerate(cfg.nodes):
        several = _pairs(node.code, facts_of, live)
        if several:
            code[number] = _direct(node.code, several, facts_of)
            pairs |= several
    if pairs:
        why = f"{count_of(len(pairs), 'load')} of global memory only to be stored to shared memory: warps wait, and registers hold the data"
        sure = "likely: the same bytes by asynchronous copies, for which warps wait at the barrier behind them"
        changed = _with_copies(with_code(launched.prepared, code), pairs)
        places = tuple(sorted({*pairs, *pairs.values()}))
        yield Remedy(AdviceCode.ASYNC_COPY, places, why, changed, sure, EXAMPLES[AdviceCode.ASYNC_COPY])


def _live_after(launched: LaunchedKernel) -> Mapping[int, int]:
    """Return the registers that are read behind each instruction, by address; none where that is not known."""
    function = launched.result.function
    try:
        known = liveness(function, launched.result.isa.facts)
    except InputError:
        return {}
    return {each.address: registers for each, registers in zip(function.instructions, known.after, strict=True)}


def _pairs(code: Code, facts_of: FactsOf, live: Mapping[int, int]) -> Mapping[int, int]:
    """Return the stores to shared memory of what a load of global memory before them in a node brought, each with that load.

    Nothing else reads what was loaded; `live` are the registers that are read behind an instruction.
    """
    loaded, out, used = dict[int, Instruction](), dict[int, int](), set[int]()
    for each in code:
        if each.opcode.startswith("STS"):
            data = _data(each, facts_of)
            load = loaded.get(data)
            read_later = live.get(each.address, data) & data
            if load is not None and _width(load) == _width(each) and load.guard == each.guard and not read_later:
                out[each.address] = load.address
                continue
        reads, writes = reads_of(facts_of, each), writes_of(facts_of, each)
        used |= {load.address for registers, load in loaded.items() if registers & reads}
        loaded = {registers: load for registers, load in loaded.items() if not registers & writes}
        if each.opcode.startswith("LDG."):
            loaded[writes_of(facts_of, each)] = each
    return {store: load for store, load in out.items() if load not in used}


def _data(store: Instruction, facts_of: FactsOf) -> int:
    """Return the registers of the data of a store."""
    memories = (operand for operand in store.operands if isinstance(operand, Memory))
    address = sum({bit(register.file, register.index) for memory in memories for register in memory.base})
    guard = facts.guard if (facts := facts_of(store)) is not None else 0
    return reads_of(facts_of, store) & ~address & ~guard


def _width(each: Instruction) -> int:
    return next((reference.bytes for reference in references(each)), 0)


def _direct(code: Code, pairs: Mapping[int, int], facts_of: FactsOf) -> Code:
    """Return the code of a node in which each of these loads copies, and the barrier behind them waits for it."""
    loads, out, waits = frozenset(pairs.values()), list[Instruction](), 0
    for each in code:
        control = control_of(each)
        if each.address in pairs:
            waits |= control.wait_mask
            continue
        facts = facts_of(each)
        if waits and ((facts is not None and facts.flow is Flow.BLOCK_BARRIER) or each is code[-1]):
            out.append(with_control(each, replace(control, wait_mask=control.wait_mask | waits)))
            waits = 0
            continue
        out.append(replace(each, opcode=_copy_of(each)) if each.address in loads else each)
    return out or code[:1]


def _copy_of(load: Instruction) -> str:
    wide = [part for part in load.opcode.split(".") if part in {"64", "128"}]
    return ".".join([_COPY, *wide])


def _with_copies(prepared: Prepared, pairs: Mapping[int, int]) -> Prepared:
    """Return a launch in which each of these loads also makes the access of its store."""
    every = accesses_of(prepared.kernel)
    stores = {pairs[each.access.address]: each for each in every if each.access.address in pairs}
    accesses = [
        other
        for each in every
        for other in ([_at(stores[each.access.address], each), each.access] if each.access.address in stores else [each.access])
    ]
    seen = prepared.kernel.sampled
    if seen is not None:
        accessed = dict(seen.accessed)
        for load, store in stores.items():
            if store.key is not None and store.key in accessed:
                accessed[load, -1] = accessed[store.key]  # ahead of that of the load, as in a copy
        seen = replace(seen, accessed=accessed)
    return replace(prepared, kernel=replace(prepared.kernel, accesses=tuple(accesses), sampled=seen))


def _at(store: KernelAccess, load: KernelAccess) -> Access:
    """Return the access of a store as one of the copy that a load became."""
    return replace(store.access, address=load.access.address, opcode=_COPY)
