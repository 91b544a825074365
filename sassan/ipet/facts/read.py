"""From the TOML text of a file of flow facts to facts; whether they fit a function is checked elsewhere (`places.py`)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType

from sassan.access.limits import Limit
from sassan.checked import Fields, Format, shown
from sassan.ilp.model import Sense
from sassan.ipet.facts.model import Constraint, Exclusive, FlowFacts, FunctionFacts, LineReference, LoopName, Total

_FORMAT = Format("facts-value", "sassan ipet --facts-template writes such a file", syntax="facts-syntax")
_MOST_COST = 10**12
_MOST_FACTOR = 10**6
_MOST_LIMIT = 10**12
_LINE = re.compile(r"(.*[^/\\:]):([1-9][0-9]{0,8})", re.ASCII)
_ADDRESS = re.compile("0x[0-9a-fA-F]+", re.ASCII)
_LIMITS = ("sectors", "passes", "distinct")
_SENSES: Mapping[str, Sense] = MappingProxyType({"most": "<=", "least": ">=", "equal": "="})


def read(name: str, text: str) -> FlowFacts:
    """The facts of a TOML text that the user called `name`.

    Raises InputError `facts-syntax` where the text is not TOML, `facts-value` where a value is not what docs/reference/flow-facts.md says.
    """
    file = _FORMAT.toml(name, text)
    file.only("function", "external")
    functions, external = file.table("function"), file.table("external")
    return FlowFacts(
        name,
        tuple((function, _function(functions.table(function))) for function in functions.values),
        tuple((callee, _external(external, callee)) for callee in external.values),
    )


def _external(functions: Fields, callee: str) -> int | None:
    table = functions.table(callee)
    table.only("cost", "calls")
    if len(table.values) != 1:
        raise functions.fail(callee, 'must hold either cost = N or calls = "never"')
    if "calls" in table:
        table.choice("calls", ("never",))
        return None
    return table.whole("cost", least=0, most=_MOST_COST)


def _function(table: Fields) -> FunctionFacts:
    table.only("text", "parameters", "loop", "total", "never", "exclusive", "constraint", "branch", "access")
    parameters = table.table("parameters")
    facts = FunctionFacts(
        "",
        _bounds(table),
        tuple((key, _offset(parameters, key)) for key in parameters.values),
        tuple(_total(total) for total in table.tables("total")),
        tuple(dict.fromkeys(table.addresses("never"))),
        tuple(_exclusive(exclusive) for exclusive in table.tables("exclusive")),
        tuple(_constraint(constraint) for constraint in table.tables("constraint")),
        _targets(table),
        _accesses(table),
    )
    return replace(facts, text=table.text("text", "" if _survives_recompilation(facts) else None))


def _survives_recompilation(facts: FunctionFacts) -> bool:
    """Whether every fact names its loops by source line, so that no hash of the text is needed; and there is such a fact."""
    names = [name for name, _ in facts.bounds]
    for total in facts.totals:
        names += [total.counted] if total.per is None else [total.counted, total.per]
    by_address = facts.parameters or facts.never or facts.exclusive or facts.constraints or facts.targets or facts.accesses
    return bool(names) and not by_address and all(isinstance(name, LineReference) for name in names)


def _bounds(function: Fields) -> tuple[tuple[LoopName, int], ...]:
    bounds: dict[LoopName, int] = {}
    for loop in function.tables("loop"):
        loop.only("head", "line", "bound")
        key = _only_one(loop, "head", "line")
        name = _loop(loop, key)
        if name in bounds:
            raise loop.fail(key, f"the loop at {name if isinstance(name, LineReference) else f'0x{name:04x}'} has two bounds")
        bounds[name] = loop.whole("bound", least=0, most=inf)
    return tuple(bounds.items())


def _total(total: Fields) -> Total:
    total.only("head", "line", "block", "bound", "per")
    key = _only_one(total, "head", "line", "block")
    counted = _loop(total, key) if key != "block" else total.address(key)
    return Total(counted, key != "block", total.whole("bound", least=0, most=inf), _loop(total, "per") if "per" in total else None)


def _exclusive(exclusive: Fields) -> Exclusive:
    exclusive.only("blocks", "within")
    blocks = tuple(dict.fromkeys(exclusive.addresses("blocks")))
    if len(blocks) < 2:  # noqa: PLR2004 - of a single block nothing is excluded
        raise exclusive.fail("blocks", "must be the addresses of two blocks or more")
    return Exclusive(blocks, _loop(exclusive, "within") if "within" in exclusive else None)


def _constraint(constraint: Fields) -> Constraint:
    constraint.only("blocks", *_SENSES)
    blocks = constraint.table("blocks", required=True)
    if not blocks.values:
        raise constraint.fail("blocks", 'must give factors, such as { "0x0068" = 2, "0x00c8" = -1 }')
    terms: dict[int, int] = {}
    for key in blocks.values:
        address = int(key, 16) if _ADDRESS.fullmatch(key) else None
        if address is None or address in terms:
            raise blocks.fail(key, 'must be an address such as "0x0158"' if address is None else "stands twice")
        terms[address] = blocks.whole(key, least=-_MOST_FACTOR, most=_MOST_FACTOR)
    sense = _only_one(constraint, *_SENSES)
    return Constraint(tuple(terms.items()), _SENSES[sense], constraint.whole(sense, least=-_MOST_LIMIT, most=_MOST_LIMIT))


def _targets(function: Fields) -> tuple[tuple[int, tuple[int, ...]], ...]:
    targets: dict[int, tuple[int, ...]] = {}
    for branch in function.tables("branch"):
        branch.only("at", "targets")
        address = branch.address("at")
        if address in targets:
            raise branch.fail("at", f"the targets of 0x{address:04x} stand twice")
        targets[address] = tuple(sorted(set(branch.addresses("targets"))))
        if not targets[address]:
            raise branch.fail("targets", "must be one address or more")
    return tuple(targets.items())


def _accesses(function: Fields) -> tuple[tuple[int, Limit], ...]:
    limits: dict[int, Limit] = {}
    for access in function.tables("access"):
        access.only("at", *_LIMITS)
        address = access.address("at")
        if address in limits:
            raise access.fail("at", f"the access at 0x{address:04x} stands twice")
        given = {key: access.whole(key, most=_MOST_FACTOR) for key in _LIMITS if key in access}
        if not given:
            raise access.fail("at", f"a fact of an access gives {', '.join(_LIMITS[:-1])} or {_LIMITS[-1]}")
        limits[address] = Limit(**given)
    return tuple(limits.items())


def _only_one(table: Fields, *keys: str) -> str:
    """The one of some keys that the table holds."""
    given = [key for key in keys if key in table]
    if len(given) != 1:
        names = ", ".join(keys[:-1]) + f" or {keys[-1]}"
        raise table.fail(given[1] if given else keys[0], f"a fact gives {names}, exactly one of them")
    return given[0]


def _loop(table: Fields, key: str) -> LoopName:
    """A loop by its head, or by file and line; the keys `head` and `line` say which."""
    value = table.text(key)
    if key == "head" or (key != "line" and _ADDRESS.fullmatch(value)):
        return table.address(key)
    match = _LINE.fullmatch(value)
    if match is None:
        also = "" if key == "line" else 'an address such as "0x0158" or '
        raise table.fail(key, f'must be {also}a source line such as "kernel.cu:42", not {shown(value)}')
    return LineReference(match[1].replace("\\", "/"), int(match[2]))


def _offset(parameters: Fields, name: str) -> int:
    value = parameters.text(name)
    if re.fullmatch("0x[0-9a-fA-F]{1,4}", value) is None:
        raise parameters.fail(name, f'must be a place in constant bank 0 such as "0x140", not {shown(value)}')
    return int(value, 16)
