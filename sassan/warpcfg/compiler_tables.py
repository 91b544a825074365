"""The self-check against what the compiler wrote into the cubin, an oracle apart from the exploration (docs/concepts/machine-code.md).

`.nv.info` says where every EXIT stands, where each SYNC, BRK and CONT resumes (sm_50 to sm_62), and where each BRX goes. The compiler lists
tokens in code that nothing reaches too; those are known by a walk along its own table. Tables that do not fit the
instructions are damage of the input; tables that do not fit the graph alone are a defect of the analysis.
"""

from collections.abc import Iterable

from sassan.analysis.graph import reachable
from sassan.errors import InputError, SelfCheckError
from sassan.ir import CompilerFacts, Function, Instruction
from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import WarpCfg

_HINT = "this is a defect of sassan, or the cubin was changed after it was compiled: report it with the cubin"
_DAMAGED = "the cubin was changed or damaged after it was compiled: create it again"
_TOKENS = frozenset({"SYNC", "BRK", "CONT"})
_LISTED = frozenset({Flow.POP, Flow.INDIRECT_BRANCH})


def check(cfg: WarpCfg, facts_of: FactsOf, *, exact: bool = True) -> None:
    """Raise an error `compiler-table`, naming the first difference between a graph and the tables of its cubin, if any.

    It is an InputError where the tables do not fit the instructions, a SelfCheckError where they do not fit the graph. Without `exact` (an
    ablation, merged call strings) the graph may have more targets than the tables, never fewer. Where the graph has gaps only the
    instructions are compared.
    """
    compiler = cfg.function.compiler
    if compiler is None:
        return
    _check_exits(cfg.function, compiler)
    _check_instructions(cfg.function, compiler, facts_of)
    if not cfg.gaps:
        _check_targets(cfg, compiler, facts_of, exact=exact)


def _check_exits(function: Function, compiler: CompilerFacts) -> None:
    if compiler.exits is None:
        return
    exits = {instruction.address for instruction in _unlinked(function, compiler) if instruction.opcode.partition(".")[0] == "EXIT"}
    different = sorted(exits.symmetric_difference(compiler.exits))
    if different:
        first = different[0]
        difference = "was read there, and the table has none" if first in exits else "is in the table, and none was read there"
        raise _damaged(function, f"EXIT at 0x{first:04x}: one {difference}")


def _check_instructions(function: Function, compiler: CompilerFacts, facts_of: FactsOf) -> None:
    """Refuse a table that lists targets of an instruction that has none, or targets that are no instructions."""
    instructions = {instruction.address: instruction for instruction in _unlinked(function, compiler)}
    for address, targets in compiler.indirect_targets:
        instruction = instructions.get(address)
        facts = facts_of(instruction) if instruction is not None else None
        if instruction is None or (facts is not None and facts.flow not in _LISTED) or not instructions.keys() >= set(targets):
            name = instruction.opcode if instruction is not None else "no instruction"
            raise _damaged(function, f"{name} at 0x{address:04x}: the table leads to {_list(targets)}")


def _check_targets(cfg: WarpCfg, compiler: CompilerFacts, facts_of: FactsOf, *, exact: bool) -> None:
    table = {address: frozenset(targets) for address, targets in compiler.indirect_targets}
    targets = _targets_of(cfg)
    opcodes = {instruction.address: instruction.opcode for instruction in _unlinked(cfg.function, compiler)}
    unknown = [address for address in targets.keys() - table.keys() if opcodes.get(address) in _TOKENS]
    for address in sorted({*table, *unknown}):
        have, want = targets.get(address, frozenset()), table.get(address, frozenset())
        if have == want or (not exact and have >= want):
            continue
        if address not in targets and address not in _reached(cfg.function, compiler, facts_of):
            continue
        name = opcodes.get(address, "no instruction")
        raise _error(cfg.function, f"{name} at 0x{address:04x}: the graph leads to {_list(have)}, the table to {_list(want)}")


def _targets_of(cfg: WarpCfg) -> dict[int, frozenset[int]]:
    """Return where the graph says that each token instruction resumes and each indirect branch goes, all contexts together."""
    out = {address: frozenset(targets) for address, targets in cfg.token_targets}
    branches: dict[int, set[int]] = {}
    for edge in cfg.thread_edges:
        last = cfg.nodes[edge.src].instructions[-1]
        if last.targets and last.address not in out:
            branches.setdefault(last.address, set()).add(cfg.nodes[edge.dst].start)
    for node in cfg.nodes:
        last = node.instructions[-1]
        if last.address in branches and last.guard is not None:
            # A guarded one may fall through, which is not in the table, unless the table says so itself.
            branches[last.address] -= {last.following} - set(last.targets)
    return out | {address: frozenset(targets) for address, targets in branches.items()}


def _reached(function: Function, compiler: CompilerFacts, facts_of: FactsOf) -> frozenset[int]:
    """Return the addresses that a walk from the entry along branches, calls and the compiler's own table reaches."""
    code = {instruction.address: instruction for instruction in function.instructions}
    table = dict(compiler.indirect_targets)

    def following(address: int) -> Iterable[int]:
        return (to for to in _successors(code[address], table.get(address, ()), facts_of) if to in code)

    return frozenset(reachable([function.entry], following))


def _successors(instruction: Instruction, listed: tuple[int, ...], facts_of: FactsOf) -> Iterable[int]:
    facts = facts_of(instruction)
    if facts is None:
        return (instruction.following,)
    stays = (
        facts.flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.POP, Flow.RETURN, Flow.EXIT}
        and not facts.condition
        and instruction.guard is None
    )
    direct = () if facts.target is None else (facts.target,)
    return (*direct, *instruction.targets, *listed, *(() if stays else (instruction.following,)))


def _unlinked(function: Function, compiler: CompilerFacts) -> list[Instruction]:
    """Return the instructions of the function's own section, without those that were linked to it."""
    return [instruction for instruction in function.instructions if instruction.address < compiler.code_size]


def _list(addresses: Iterable[int]) -> str:
    return ", ".join(f"0x{address:04x}" for address in sorted(addresses)) or "nothing"


def _damaged(function: Function, difference: str) -> InputError:
    return InputError("compiler-table", f"the code of '{function.name}' is not what its tables say: {difference}", hint=_DAMAGED)


def _error(function: Function, difference: str) -> SelfCheckError:
    return SelfCheckError("compiler-table", f"'{function.name}' is not as the compiler says: {difference}", hint=_HINT)
