"""Where branches and calls by register lead, by flow facts: the function that is explored has these targets as if the input named them."""

from collections.abc import Callable
from dataclasses import replace

from sassan.errors import InputError
from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.flow_facts import check_functions
from sassan.ir import Function, Instruction, Language
from sassan.isa.facts import Facts, Flow

_BY_REGISTER = frozenset({Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL})


def with_targets(function: Function, facts: FlowFacts | None, facts_of: Callable[[Instruction], Facts | None]) -> Function:
    """The function with the targets that its facts give; the same one where they give none.

    Raises InputError for facts about another text, about an instruction that is not a branch or call by register, whose targets the input
    names, or where a target is not an instruction.
    """
    of_function = facts.of(function.name) if facts is not None else None
    if facts is None or of_function is None or not of_function.targets:
        return function
    check_functions(FlowFacts(facts.name, ((function.name, of_function),)), (function,))
    code = {instruction.address: instruction for instruction in function.instructions}
    for address, targets in of_function.targets:
        problem = _problem(function, code, address, targets, facts_of)
        if problem:
            raise InputError("facts-branch", f"{facts.name}: {function.name!r}: {problem}")
        code[address] = replace(code[address], targets=targets)
    return replace(function, instructions=tuple(code.values()))


def _problem(
    function: Function,
    code: dict[int, Instruction],
    address: int,
    targets: tuple[int, ...],
    facts_of: Callable[[Instruction], Facts | None],
) -> str:
    known = facts_of(code[address]) if address in code else None
    if known is None or known.flow not in _BY_REGISTER:
        return f"no branch or call by register stands at 0x{address:04x}"
    if function.language is Language.PTX:
        return f"PTX names the targets of {code[address].opcode} at 0x{address:04x} itself"
    if code[address].targets:
        listed = ", ".join(f"0x{target:04x}" for target in code[address].targets)
        return f"the input names the targets of {code[address].opcode} at 0x{address:04x}: {listed}"
    missing = next((target for target in targets if target not in code), None)
    return (
        "" if missing is None else f"{code[address].opcode} at 0x{address:04x} cannot lead to 0x{missing:04x}: no instruction starts there"
    )
