"""A log of findings as SARIF 2.1.0 (OASIS standard of 2020): plain data in, the object of the JSON document out.

Numbers in parentheses are sections of the standard.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]
"""What stands in the document."""

ROOT = "%SRCROOT%"
"""The base of every relative path: the folder that the command ran in."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is asked for: an id that stays the same for ever, a name, a sentence, and how to mend what is found."""

    id: str
    name: str
    short: str
    help: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is: `line` in `file`, else an instruction of a binary at `address` of `function`; what is not known is None or ''."""

    file: str
    line: int | None = None
    function: str = ""
    address: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken, the first place where, and further places. `key` finds it again in the next build."""

    rule: str
    message: str
    place: Place
    key: tuple[str, ...]
    related: tuple[Place, ...] = ()
    properties: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tool; `notices` are (id, text, file) of inputs that were refused, `warnings` (id, text) of what was not held."""

    version: str
    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    status: int
    folder: str
    notices: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


def log(run: Run) -> Mapping[str, Value]:
    """Return the document; the same run gives the same bytes."""
    driver: dict[str, Value] = {"name": "sassan", "version": run.version, "rules": [_rule(one) for one in run.rules]}
    if all(part.isdecimal() for part in run.version.split(".")):
        driver["semanticVersion"] = run.version
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [_invocation(run)],
                "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that sassan ran in."}}},
                "artifacts": [{"location": _artifact(file, run.folder), "roles": ["analysisTarget"]} for file in run.files],
                "results": _results(run),
                "columnKind": "unicodeCodePoints",
            }
        ],
    }


def _rule(one: Rule) -> Value:
    return {
        "id": one.id,
        "name": one.name,
        "shortDescription": {"text": one.short},
        "fullDescription": {"text": one.short},
        "help": {"text": one.help},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(run: Run) -> Value:
    """Return how the run ended (3.20): it was successful where every input was analyzed, whatever was found."""
    notices: list[Value] = []
    for code, text, file in run.notices:
        place: list[Value] = [{"physicalLocation": {"artifactLocation": _artifact(file, run.folder)}}] if file else []
        notices.append({"descriptor": {"id": code}, "level": "error", "message": {"text": _plain(text)}, "locations": place})
    for code, text in run.warnings:
        notices.append({"descriptor": {"id": code}, "level": "warning", "message": {"text": _plain(text)}})
    return {"executionSuccessful": not run.notices, "exitCode": run.status, "toolExecutionNotifications": notices}


def _results(run: Run) -> Sequence[Value]:
    index = {rule.id: place for place, rule in enumerate(run.rules)}
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[Value] = []
    for one in run.findings:
        key = (one.rule, *one.key)
        seen[key] += 1
        found.append(
            {
                "ruleId": one.rule,
                "ruleIndex": index[one.rule],
                "level": "error",
                "message": {"text": _plain(one.message)},
                "locations": [_location(one.place, run.folder)],
                "relatedLocations": [_location(place, run.folder) | {"id": number} for number, place in enumerate(one.related)],
                "partialFingerprints": {"sassan/v1": _fingerprint((*key, str(seen[key])))},
                "properties": dict(one.properties),
            }
        )
    return found


def _plain(text: str) -> str:
    """Return a message in which nothing is a placeholder (3.11.5) and nothing a link (3.11.6): names of kernels are untrusted."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _fingerprint(key: Iterable[str]) -> str:
    """Return what stays the same while code around a finding moves: no address and no line is in it (3.27.17)."""
    return hashlib.sha256("\0".join(key).encode("utf-8", "backslashreplace")).hexdigest()


def _location(place: Place, folder: str) -> dict[str, Value]:
    physical: dict[str, Value] = {"artifactLocation": _artifact(place.file, folder)}
    if place.line is not None:
        physical["region"] = {"startLine": place.line}
    elif place.address is not None:
        # An address of a function's section, which is what a listing counts from (3.32.7).
        physical["address"] = {"relativeAddress": place.address, "kind": "instruction", "fullyQualifiedName": place.function}
    found: dict[str, Value] = {"physicalLocation": physical}
    if place.function:
        name = place.function if place.address is None else f"{place.function}+0x{place.address:04x}"
        found["logicalLocations"] = [{"name": place.function, "fullyQualifiedName": name, "kind": "function"}]
    if place.message:
        found["message"] = {"text": _plain(place.message)}
    return found


def _artifact(file: str, folder: str) -> dict[str, Value]:
    """Return where a file is: relative to the folder where it lies below it, so that a host of code finds it in its checkout."""
    path = PurePosixPath(file.replace("\\", "/"))
    if PureWindowsPath(file).drive:
        # A cubin of another machine names its sources so.
        return {"uri": f"file:///{_quoted(str(path), '/~:')}"}
    if path.is_absolute() and path.is_relative_to(folder):
        path = path.relative_to(folder)
    spelled = _quoted(str(path), "/~")
    return {"uri": f"file://{spelled}"} if path.is_absolute() else {"uri": spelled, "uriBaseId": ROOT}


def _quoted(path: str, safe: str) -> str:
    """Return a path in a URI: of a name that is not UTF-8 the bytes, which Python keeps as surrogates, of another surrogate its escape."""
    data = b"".join(one.encode("utf-8", "surrogateescape" if "\udc80" <= one <= "\udcff" else "backslashreplace") for one in path)
    return quote(data, safe=safe)
