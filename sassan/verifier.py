"""Checks a certificate of `sassan task` again: hashes, integer programs, sums, the deadline. Needs Python alone, and no solver.

It shares no code with the analysis, and one person can read it: `python verifier.py C.json` runs this file by itself. Arithmetic is exact.
An integer program is checked by its solution, which has to satisfy every row, and by the multipliers of its rows, which prove that no
solution is greater (weak duality: with y >= 0 on `<=` rows, y <= 0 on `>=` rows, and c - yA <= 0, c x <= y b + (c - yA) lower). What it
takes on trust: that programs, figures and assumptions describe the kernel and the GPU.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any, cast

LARGEST = 1 << 28
"""Bytes of a certificate."""
KIND = "sassan certificate"
_RATIONAL = re.compile(r"-?[0-9]{1,400}(?:/[1-9][0-9]{0,399})?", re.ASCII)
_HASH = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_STATUSES = ("proved", "checked", "recorded", "published", "assumed")
_SENSES = ("<=", "=", ">=")
Program = dict[str, Fraction]
Linear = dict[str, int]


class Refused(Exception):  # noqa: N818 - a verdict, not an error
    """The certificate does not hold; the text says what is wrong, and where."""


@dataclass
class CheckedParts:
    """What was checked: how many programs, of which a proof is in the certificate; inputs; what could not be checked."""

    programs: int = 0
    proved: int = 0
    inputs: int = 0
    assumptions: int = 0
    missed: bool = False
    notes: list[str] = field(default_factory=list[str])


def verify(path: Path) -> CheckedParts:
    """Check the certificate in a file, and inputs that lie beside it.

    Raises Refused where it does not hold, OSError where it cannot be read.
    """
    if path.exists() and not path.is_file():
        raise OSError("not a plain file")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Refused(f"the file has more than {LARGEST} bytes")
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)
        return check(_Table(document, "certificate"), path.parent)
    except json.JSONDecodeError as error:
        raise Refused(f"not a certificate: no JSON from line {error.lineno}, column {error.colno} on") from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Refused(f"not a certificate: {str(error)[:200]}") from None


def check(certificate: "_Table", folder: Path) -> CheckedParts:
    """Check a certificate; `folder` holds its inputs."""
    if certificate.text("kind") != KIND or certificate.whole("schema") != 1:
        raise Refused(f"certificate: not a '{KIND}' of schema 1")
    verdict = CheckedParts()
    for each in certificate.tables("inputs"):
        _check_input(each, folder, verdict)
    programs = [_check_program(each, verdict) for each in certificate.tables("programs")]
    used, cited = set[int](), set[int]()
    assumptions = certificate.tables("assumptions")
    product = certificate.table("product")
    launches = [_check_launch(each, product, programs, used) for each in certificate.tables("launches")]
    if certificate.table("task").text("mode") == "interfered" and product.whole("l2_kept_bytes"):
        raise Refused("product.l2_kept_bytes: where launches overlap, L2 keeps nothing")
    task = certificate.table("task")
    for table in (task, *certificate.tables("launches")):
        cited.update(table.wholes("assumptions"))
    _check_references("assumption", cited, len(assumptions))
    _check_references("program", used, len(programs))
    verdict.assumptions = _check_assumptions(assumptions)
    _check_task(task, product, (certificate.tables("steps"), certificate.tables("others")), launches, verdict)
    if certificate.text("digest") != digest(certificate.values):
        raise Refused("digest: the certificate was changed after it was written")
    return verdict


def digest(document: Mapping[str, Any]) -> str:
    """Return the hash of a certificate without its own key."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _check_input(each: "_Table", folder: Path, verdict: CheckedParts) -> None:
    name, expected = each.text("name"), each.text("sha256")
    if _HASH.fullmatch(expected) is None:
        raise Refused(f"{each.where}.sha256: no hash")
    if Path(name).is_absolute() or ".." in Path(name).parts or not (folder / name).is_file():
        verdict.notes.append(f"input '{name}' does not lie beside the certificate: its hash was not checked")
        return
    hashed = hashlib.sha256()
    with (folder / name).open("rb") as file:
        while part := file.read(1 << 20):
            hashed.update(part)
    if f"sha256:{hashed.hexdigest()}" != expected:
        raise Refused(f"{each.where}: '{name}' is not the file that was analyzed")
    verdict.inputs += 1


# --- integer programs


@dataclass(frozen=True)
class _Lp:
    """A program in the LP format: maximize `objective` over whole numbers from `lower` on."""

    objective: Linear
    rows: dict[str, tuple[Linear, str, int]]
    lower: Linear


def _check_program(each: "_Table", verdict: CheckedParts) -> Fraction:
    """Return the optimum of a program, in the unit of its bound."""
    where, lp = each.where, _parsed(each.text("lp"), each.where)
    value, scale, values = each.whole("value"), each.whole("scale"), each.table("values")
    solution = {name: values.whole(name) for name in values.values}
    if unknown := solution.keys() - lp.lower.keys():
        raise Refused(f"{where}.values: no variable '{min(unknown)}'")
    for name, lower in lp.lower.items():
        if solution.get(name, 0) < lower:
            raise Refused(f"{where}.values: {name} is below {lower}")
    for name, (form, sense, right) in lp.rows.items():
        left = _value(form, solution)
        if (left > right and sense != ">=") or (left < right and sense != "<="):
            raise Refused(f"{where}: the solution does not satisfy row '{name}': {left} {sense} {right}")
    if _value(lp.objective, solution) != value:
        raise Refused(f"{where}.value: {value} is not the objective of the solution, {_value(lp.objective, solution)}")
    if scale < 1:
        raise Refused(f"{where}.scale: must be 1 or more")
    verdict.programs += 1
    if each.text("proof") == "dual":
        bound = _dual_bound(lp, each.table("multipliers"))
        if floor(bound) != value:
            raise Refused(f"{where}: the multipliers prove a maximum of {bound}, not {value}")
        verdict.proved += 1
    else:
        verdict.notes.append(f"{where}: the optimum rests on the word of the solver; solve its LP text again")
    return Fraction(value, scale)


def _value(form: Linear, solution: Mapping[str, int]) -> int:
    return sum(factor * solution.get(name, 0) for name, factor in form.items())


def _dual_bound(lp: _Lp, multipliers: "_Table") -> Fraction:
    reduced = {name: Fraction(lp.objective.get(name, 0)) for name in lp.lower}
    bound = Fraction(0)
    for name in multipliers.values:
        value = multipliers.rational(name)
        if name not in lp.rows:
            raise Refused(f"{multipliers.where}: no row '{name}'")
        form, sense, right = lp.rows[name]
        if (value < 0 and sense == "<=") or (value > 0 and sense == ">="):
            raise Refused(f"{multipliers.where}: the multiplier of row '{name}' has the wrong sign")
        bound += value * right
        for variable, factor in form.items():
            reduced[variable] -= value * factor
    for name, rest in reduced.items():
        if rest > 0:
            raise Refused(f"{multipliers.where}: the multipliers prove nothing: the reduced cost of '{name}' is {rest}")
        bound += rest * lp.lower[name]
    return bound


def _parsed(text: str, where: str) -> _Lp:
    """Return the program of an LP text as sassan writes it; anything else is refused."""
    words = [word for line in text.splitlines() if not line.startswith("\\") for word in line.split()]
    try:
        maximize, subject, bounds, generals = (words.index(mark) for mark in ("Maximize", "Subject", "Bounds", "Generals"))
        if maximize != 0 or words[subject + 1] != "To" or words[-1] != "End" or not subject < bounds < generals:
            raise Refused(f"{where}.lp: not an LP text")
        lower = {}
        for at in range(bounds + 1, generals, 3):
            name, sense, number = words[at : at + 3]
            if sense != ">=" or name in lower:
                raise Refused(f"{where}.lp: a bound of '{name}' is not read here")
            lower[name] = int(number)
        if sorted(words[generals + 1 : -1]) != sorted(lower):
            raise Refused(f"{where}.lp: not every variable is a whole number with a bound")
        (_, objective, rest), *more = _forms(words[1:subject], lower)
        forms = list(_forms(words[subject + 2 : bounds], lower))
        rows = {name: (form, end[0], int(end[1])) for name, form, end in forms}
    except (ValueError, IndexError) as error:
        raise Refused(f"{where}.lp: not an LP text: {str(error)[:100]}") from None
    if rest or more or len(rows) != len(forms) or any(sense not in _SENSES for _, sense, _ in rows.values()):
        raise Refused(f"{where}.lp: not an LP text")
    return _Lp(objective, rows, lower)


def _forms(words: Sequence[str], known: Mapping[str, int]) -> Iterator[tuple[str, Linear, list[str]]]:
    """Yield `name: + 3 x - 2 y <= 5` as its name, its linear form, and what follows that."""
    at = 0
    while at < len(words):
        name, form, at = words[at].removesuffix(":"), Linear(), at + 1
        while at < len(words) and words[at] in "+-":
            sign, number, variable = words[at : at + 3]
            if variable not in known:
                raise ValueError(f"no variable '{variable}'")
            form[variable] = form.get(variable, 0) + (int(number) if sign == "+" else -int(number))
            at += 3
        end = list(words[at : at + 2]) if at < len(words) and words[at] in _SENSES else []
        at += len(end)
        yield name, form, end


# --- the bound of a launch (docs/proofs/grid-bound.md, docs/proofs/gpu-memory.md, docs/proofs/many-warps.md)


@dataclass(frozen=True)
class _Launch:
    """A launch whose bound was checked: that in microseconds, and what it is made of, in cycles."""

    us: Fraction
    blocks: int
    places: int
    lifetime: Fraction
    stall: Fraction
    beside: Fraction
    takes: Mapping[str, Fraction]


def _check_launch(each: "_Table", product: "_Table", programs: Sequence[Fraction], used: set[int]) -> _Launch:
    optima, floors = _optima(each, programs, used), each.table("floors")
    grid, terms, memory = each.table("grid"), each.table("terms"), each.table("memory")
    barriers = grid.whole("barriers") > 0
    if "segment" in optima:
        optima["segment"] = max(optima["segment"], floors.rational("segment"))
    slowdown = product.rational("slowdown")
    lifetime, stall = _block(optima, grid, barriers=barriers)
    chain, sm, drain = (slowdown * part for part in _sm_terms(lifetime, stall, grid))
    every = grid.whole("blocks") * optima["uncached"]
    allocated = memory.wholes("allocated")
    if allocated and sum(allocated) <= product.whole("l2_kept_bytes"):
        every = min(
            every, grid.whole("blocks") * optima["cached"] + Fraction(2 * sum(allocated)) / product.rational("dram_bytes_per_cycle")
        )
    launch = (
        product.whole("launch_cycles")
        + memory.whole("cold_cycles") * slowdown
        + grid.whole("blocks") * product.rational("dispatch_cycles") * slowdown
    )
    for name, value in (("chain", chain), ("sm", sm), ("drain", drain), ("memory", every), ("launch", launch)):
        if terms.rational(name) != value:
            raise Refused(f"{terms.where}.{name}: {terms.rational(name)} does not follow from the optima: {value}")
    cycles = each.whole("cycles")
    if floor(chain + sm + drain + every + launch) != cycles:
        raise Refused(f"{each.where}.cycles: {cycles} is not the sum of the terms")
    us, takes = Fraction(cycles, product.whole("clock_mhz")), each.table("takes")
    parts = {name: takes.rational(name) for name in takes.values}
    if any(not 0 < part <= 1 for part in parts.values()):
        raise Refused(f"{takes.where}: a block takes no such part of an SM")
    # Where launches overlap, the SM of a tail has a cold start of its own.
    beside = every + launch + memory.whole("cold_cycles") * slowdown
    return _Launch(us, grid.whole("blocks"), grid.whole("places"), slowdown * lifetime, slowdown * stall, beside, parts)


def _optima(each: "_Table", programs: Sequence[Fraction], used: set[int]) -> dict[str, Fraction]:
    """Return the optima of a launch by their names: sums over programs."""
    named, out = each.table("optima"), dict[str, Fraction]()
    for name in named.values:
        total = Fraction(0)
        for part in named.tables(name):
            at = part.whole("program")
            if not 0 <= at < len(programs):
                raise Refused(f"{part.where}.program: there is no program {at}")
            used.add(at)
            total += part.whole("times") * programs[at]
        out[name] = total
    missing = {"isolated", "scheduler_stall", "uncached", "cached"} - out.keys()
    if missing:
        raise Refused(f"{named.where}: no {min(missing)}")
    return out


def _block(optima: Mapping[str, Fraction], grid: "_Table", *, barriers: bool) -> tuple[Fraction, Fraction]:
    """Return what a block is charged that is followed, and what it keeps others waiting."""
    warps, cluster = grid.whole("block_warps"), grid.whole("cluster")
    if min(warps, cluster) < 1:
        raise Refused(f"{grid.where}: there are no blocks")
    alike = warps * optima["scheduler_stall"]
    stall = cluster * min(alike, optima.get("block", alike))
    return _lifetime(optima, warps, cluster, stall, barriers=barriers), stall


def _sm_terms(lifetime: Fraction, stall: Fraction, grid: "_Table") -> tuple[Fraction, Fraction, Fraction]:
    """Return what blocks that follow each other take, others on their SM, and the last block."""
    blocks, sms, places, cluster = (grid.whole(key) for key in ("blocks", "sms", "places", "cluster"))
    if min(blocks, sms, places) < 1:
        raise Refused(f"{grid.where}: there are no blocks")
    line = grid.whole("line")
    if line:
        # Any block may wait for any other: one after the other.
        if line != blocks:
            raise Refused(f"{grid.where}.line: not all blocks")
        return (line - 1) * lifetime, (line - 1) * stall, lifetime + stall
    drain = lifetime + (min(blocks, places) - 1) * stall
    if cluster > 1:
        if grid.whole("at_once"):
            return Fraction(0), Fraction(0), drain
        waves = Fraction(-(-blocks // cluster), grid.whole("resident_clusters"))
        return waves * lifetime, waves * stall * (places - 1), drain
    if blocks <= sms * places:
        return Fraction(0), Fraction(0), drain
    before = (blocks - 1) // sms
    several = [(k * lifetime, (before - k) * stall, drain) for k in (0, before // places)]
    return max(several, key=lambda parts: floor(sum(parts)))


def _lifetime(optima: Mapping[str, Fraction], warps: int, cluster: int, stall: Fraction, *, barriers: bool) -> Fraction:
    if not barriers:
        return optima["isolated"] + min((warps - 1) * optima["scheduler_stall"], stall)
    chains = [warps * optima["isolated"] if "alone" not in optima else optima["alone"] + optima.get("engines", Fraction(0))]
    if "segment" in optima and "openings" in optima and cluster == 1:
        chains.append((floor(optima["openings"]) + 1) * optima["segment"] + stall)
    if "relay" in optima and cluster == 1:
        chains.append(optima["relay"] + stall)
    return cluster * min(chains)


# --- the task (docs/proofs/response-time.md, docs/proofs/overlapping-launches.md)


@dataclass(frozen=True)
class _Run:
    """One run of a task: its steps, the rate of its copies (a key of `table`), its period and response time, 0 for none."""

    table: "_Table"
    steps: Sequence["_Table"]
    period: Fraction
    response: Fraction


def _check_task(
    task: "_Table",
    product: "_Table",
    parts: tuple[Sequence["_Table"], Sequence["_Table"]],
    launches: Sequence[_Launch],
    verdict: CheckedParts,
) -> None:
    steps, others = parts
    tables = [*steps, *(step for other in others for step in other.tables("steps"))]
    if not steps or not all(each.tables("steps") for each in others):
        raise Refused("steps: there are none")
    for step in tables:
        if not 0 <= step.whole("launch") < len(launches) or step.whole("count") < 1:
            raise Refused(f"{step.where}: there is no launch {step.whole('launch')}")
    if {step.whole("launch") for step in tables} != set(range(len(launches))):
        raise Refused("launches: one is in no step")
    if task.text("mode") == "interfered":
        total = _overlapping(task, product, (steps, others), launches)
    elif task.text("mode") == "isolated" and not others:
        total = _in_turn(task, product, steps, launches)
    else:
        raise Refused("task.mode: neither isolated, with no other task, nor interfered")
    _equal(task, "bound_us", total)
    if not task.text("deadline_us"):
        verdict.notes.append("the task has no deadline")
        expected = "none"
    else:
        slack = task.rational("deadline_us") - total
        _equal(task, "slack_us", slack)
        verdict.missed = slack < 0
        expected = "missed" if slack < 0 else "met"
    if task.text("deadline") != expected:
        raise Refused(f"task.deadline: '{task.text('deadline')}' is wrong: {expected}")


def _copies(step: "_Table", of: "_Table", product: "_Table") -> Fraction:
    """Return the microseconds of the copies before a launch, one after the other; `of` has the rate of those by the host."""
    host, within = step.table("host"), step.table("within")
    starts = (host.whole("number") + within.whole("number")) * (product.rational("launch_us") + product.rational("between_us"))
    by_host = host.whole("bytes") / of.rational("copy_bytes_per_us") if host.whole("number") else Fraction(0)
    return starts + by_host + 2 * within.whole("bytes") / product.rational("dram_bytes_per_us")


def _in_turn(task: "_Table", product: "_Table", steps: Sequence["_Table"], launches: Sequence[_Launch]) -> Fraction:
    """Return the sum of launches one after the other."""
    rate = product.rational("dram_bytes_per_us")
    full = left = product.whole("l2_bytes") / rate
    total = Fraction(0)
    for step in steps:
        count, between = step.whole("count"), product.rational("between_us")
        written = (step.table("host").whole("bytes") + step.table("within").whole("bytes")) / rate
        behind = min(full, step.whole("left_bytes") / rate)
        first, again = min(full, left + written), min(full, behind + written)
        copies = _copies(step, task, product)
        bound = count * (launches[step.whole("launch")].us + between + copies) + first + (count - 1) * again
        _equal(step, "bound_us", bound)
        total, left = total + bound, behind
    return total


def _overlapping(
    task: "_Table", product: "_Table", parts: tuple[Sequence["_Table"], Sequence["_Table"]], launches: Sequence[_Launch]
) -> Fraction:
    """Return the response time where launches overlap: those of each task are within what its launches, and runs of others, add."""
    steps, others = parts
    period = task.rational("period_us") if others else Fraction(0)
    runs = [_Run(task, steps, period, task.rational("bound_us"))]
    runs += [_Run(each, each.tables("steps"), each.rational("period_us"), each.rational("response_us")) for each in others]
    if others and not all(0 < each.response <= each.period for each in runs):
        raise Refused("others: a run may not have ended when the next one of its task starts")
    most: dict[str, Fraction] = {}
    for launch in launches:
        for name, part in launch.takes.items():
            most[name] = max(part, most.get(name, part))
    once = product.whole("l2_bytes") / product.rational("dram_bytes_per_us")
    totals = list[Fraction]()
    for run in runs:
        numbers = [1 if other is run else max(1, ceil((run.response + other.response) / other.period)) for other in runs]
        among = sum(number * sum(step.whole("count") for step in other.steps) for number, other in zip(numbers, runs, strict=True))
        added = [[_added(step, other.table, product, (launches, most, among)) for step in other.steps] for other in runs]
        totals.append(once + sum((number * sum(each, Fraction(0)) for number, each in zip(numbers, added, strict=True)), Fraction(0)))
        if totals[-1] > run.response:
            raise Refused(f"{run.table.where}: a response time of {run.response} us does not hold all that its window adds, {totals[-1]}")
        if run is runs[0]:
            for step, bound in zip(steps, added[0], strict=True):
                _equal(step, "bound_us", bound + (once if step is steps[0] else 0))
            for number, other, bounds in zip(numbers[1:], others, added[1:], strict=True):
                if other.whole("runs") != number:
                    raise Refused(f"{other.where}.runs: {other.whole('runs')} is not {number}")
                _equal(other, "bound_us", number * sum(bounds, Fraction(0)))
    return totals[0]


def _added(step: "_Table", of: "_Table", product: "_Table", known: tuple[Sequence[_Launch], Mapping[str, Fraction], int]) -> Fraction:
    """Return what the launches of a step add to a window with so many launches."""
    launches, most, among = known
    launch, sms, rate = launches[step.whole("launch")], product.whole("sms"), product.rational("dram_bytes_per_us")
    parts = [part / (1 - most[name]) if most[name] < 1 else Fraction(1) for name, part in launch.takes.items()]
    weight = min(Fraction(1), max(parts, default=Fraction(1)))
    resident = min(launch.blocks, launch.places)
    in_tails = resident - 1 + min(launch.blocks, launch.places * max(0, among - step.whole("in_turn")))
    share = Fraction(launch.blocks, sms)
    cycles = (share * weight + 1 - weight / sms) * launch.lifetime + (share + in_tails * (1 - Fraction(1, sms))) * launch.stall
    host, within = step.table("host").whole("bytes"), step.table("within").whole("bytes")
    # What DRAM moves for copies keeps launches waiting that run beside them.
    copies = _copies(step, of, product) + (host + 2 * within) / rate
    left = min(product.whole("l2_bytes"), step.whole("left_bytes")) + host + within
    return step.whole("count") * (
        (cycles + launch.beside) / product.whole("clock_mhz") + product.rational("between_us") + copies + left / rate
    )


def _equal(table: "_Table", key: str, value: Fraction) -> None:
    if table.rational(key) != value:
        raise Refused(f"{table.where}.{key}: {table.rational(key)} is not the sum, {value}")


def _check_references(kind: str, used: set[int], number: int) -> None:
    if used != set(range(number)):
        wrong = min(used ^ set(range(number)))
        raise Refused(f"{kind}s: {kind} {wrong} {'is not used' if wrong not in used else 'is missing'}")


def _check_assumptions(assumptions: Sequence["_Table"]) -> int:
    texts = [each.text("text") for each in assumptions]
    for each in assumptions:
        if each.text("status") not in _STATUSES or not each.text("check"):
            raise Refused(f"{each.where}: no status, or not how to check it")
    if len(set(texts)) != len(texts) or not all(texts):
        raise Refused("assumptions: one stands twice, or is empty")
    return len(texts)


# --- values of the document


@dataclass(frozen=True)
class _Table:
    """An object of the document; `where` is the path that leads to it."""

    given: object
    where: str

    @property
    def values(self) -> dict[str, Any]:
        if not isinstance(self.given, dict):
            raise Refused(f"{self.where}: must be an object")
        return cast("dict[str, Any]", self.given)

    def _at(self, key: str, kind: type, name: str) -> Any:  # noqa: ANN401 - of that kind
        value = self.values.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise Refused(f"{self.where}.{key}: must be {name}")
        return value

    def text(self, key: str) -> str:
        return cast("str", self._at(key, str, "a text"))

    def whole(self, key: str) -> int:
        return cast("int", self._at(key, int, "a whole number"))

    def rational(self, key: str) -> Fraction:
        text = self.text(key)
        if _RATIONAL.fullmatch(text) is None:
            raise Refused(f"{self.where}.{key}: must be a fraction such as 3/2")
        return Fraction(text)

    def table(self, key: str) -> "_Table":
        return _Table(self._at(key, dict, "an object"), f"{self.where}.{key}".removeprefix("certificate."))

    def tables(self, key: str) -> list["_Table"]:
        items = cast("list[object]", self._at(key, list, "an array"))
        return [_Table(item, f"{self.where}.{key}[{at}]".removeprefix("certificate.")) for at, item in enumerate(items)]

    def wholes(self, key: str) -> list[int]:
        items = cast("list[object]", self._at(key, list, "an array"))
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            raise Refused(f"{self.where}.{key}: must be an array of whole numbers")
        return cast("list[int]", items)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return out


def _no_float(text: str) -> None:
    raise ValueError(f"the number {text[:40]} is not exact")


def lines(verdict: CheckedParts) -> Iterator[str]:
    """Yield what was checked, in words, and what follows."""
    yield f"programs: {verdict.programs}, of which multipliers prove {verdict.proved}"
    yield f"inputs: {verdict.inputs} with the hash of the certificate"
    yield f"assumptions: {verdict.assumptions}, on which the bound rests and which are not checked here"
    yield from verdict.notes
    unproved = verdict.programs - verdict.proved
    doubt = f", provided that the solver is right about {unproved} optima without a proof" if unproved else ""
    yield "the deadline may be missed" if verdict.missed else f"the certificate holds{doubt}"


def main(arguments: Sequence[str], say: Callable[[str], object]) -> int:
    """Check the certificate that the arguments name; return 0 where it holds, 1 where it does not, 2 for usage."""
    if len(arguments) != 1:
        say("usage: verifier.py C.json")
        return 2
    try:
        verdict = verify(Path(arguments[0]))
    except (Refused, OSError) as error:
        say(f"refused: {error}")
        return 1
    for line in lines(verdict):
        say(line)
    return int(verdict.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], lambda text: sys.stdout.write(text + "\n")))
