"""A log of findings as SARIF 2.1.0 (OASIS standard of 2020): from plain data to the object of the JSON document.

Numbers in parentheses are sections of the standard.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
"""A value in the document."""

ROOT = "%SRCROOT%"
"""The base of every relative path: the folder that the command ran in."""


@dataclass(frozen=True, slots=True)
class SarifRule:
    """A rule: a stable id, a name, a sentence, and how to fix its findings."""

    id: str
    name: str
    short: str
    help: str


@dataclass(frozen=True, slots=True)
class Location:
    """A location: `line` in `file`, else an instruction of a binary at `address` of `function`; unknown parts are None or ''.

    `function` is the name as a person reads it, `decorated` as the input has it.
    """

    file: str
    line: int | None = None
    function: str = ""
    address: int | None = None
    message: str = ""
    decorated: str = ""


@dataclass(frozen=True, slots=True)
class SarifResult:
    """A violated rule, its first location, and further ones. `key` identifies it in the next build."""

    rule: str
    message: str
    place: Location
    key: tuple[str, ...]
    related: tuple[Location, ...] = ()
    properties: tuple[tuple[str, str | float], ...] = ()


@dataclass(frozen=True, slots=True)
class SarifRun:
    """One run of the tool; `notices` are (id, text, file) of refused inputs, `warnings` (id, text) of checks that were not made."""

    version: str
    rules: tuple[SarifRule, ...]
    findings: tuple[SarifResult, ...]
    files: tuple[str, ...]
    status: int
    folder: str
    notices: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


def log(run: SarifRun) -> Mapping[str, Value]:
    """Return the document; the same run gives the same bytes."""
    driver: dict[str, Value] = {"name": "sassan", "version": run.version, "rules": [_rule(rule) for rule in run.rules]}
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


def _rule(rule: SarifRule) -> Value:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.short},
        "fullDescription": {"text": rule.short},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(run: SarifRun) -> Value:
    """Return the end of the run (3.20): it was successful if every input was analyzed, whatever the findings."""
    notices: list[Value] = []
    for code, text, file in run.notices:
        place: list[Value] = [{"physicalLocation": {"artifactLocation": _artifact(file, run.folder)}}] if file else []
        notices.append({"descriptor": {"id": code}, "level": "error", "message": {"text": _plain(text)}, "locations": place})
    for code, text in run.warnings:
        notices.append({"descriptor": {"id": code}, "level": "warning", "message": {"text": _plain(text)}})
    return {"executionSuccessful": not run.notices, "exitCode": run.status, "toolExecutionNotifications": notices}


def _results(run: SarifRun) -> Sequence[Value]:
    index = {rule.id: place for place, rule in enumerate(run.rules)}
    occurrences: Counter[tuple[str, ...]] = Counter()
    results: list[Value] = []
    for finding in run.findings:
        key = (finding.rule, *finding.key)
        occurrences[key] += 1
        results.append(
            {
                "ruleId": finding.rule,
                "ruleIndex": index[finding.rule],
                "level": "error",
                "message": {"text": _plain(finding.message)},
                "locations": [_location(finding.place, run.folder)],
                "relatedLocations": [_location(place, run.folder) | {"id": number} for number, place in enumerate(finding.related)],
                "partialFingerprints": {"sassan/v1": _fingerprint((*key, str(occurrences[key])))},
                "properties": dict(finding.properties),
            }
        )
    return results


def _plain(text: str) -> str:
    """Return a message in which nothing is a placeholder (3.11.5) and nothing a link (3.11.6): names of kernels are untrusted."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _fingerprint(key: Iterable[str]) -> str:
    """Return a fingerprint that stays the same when code around a finding moves: without address and line (3.27.17)."""
    return hashlib.sha256("\0".join(key).encode("utf-8", "backslashreplace")).hexdigest()


def _location(place: Location, folder: str) -> dict[str, Value]:
    physical: dict[str, Value] = {"artifactLocation": _artifact(place.file, folder)}
    if place.line is not None:
        physical["region"] = {"startLine": place.line}
    elif place.address is not None:
        # An address of a function's section, which is what a listing counts from (3.32.7).
        physical["address"] = {"relativeAddress": place.address, "kind": "instruction", "fullyQualifiedName": place.function}
    location: dict[str, Value] = {"physicalLocation": physical}
    if place.function:
        name = place.function if place.address is None else f"{place.function}+0x{place.address:04x}"
        decorated = {"decoratedName": place.decorated} if place.decorated not in {"", place.function} else {}
        location["logicalLocations"] = [{"name": place.function, "fullyQualifiedName": name, **decorated, "kind": "function"}]
    if place.message:
        location["message"] = {"text": _plain(place.message)}
    return location


def _artifact(file: str, folder: str) -> dict[str, Value]:
    """Return the location of a file: relative to the folder if it is below it, so that a code host finds it in its checkout."""
    path = PurePosixPath(file.replace("\\", "/"))
    if PureWindowsPath(file).drive:
        # The source paths in a cubin of another machine may have this form.
        return {"uri": f"file:///{_quoted(str(path), '/~:')}"}
    if path.is_absolute() and path.is_relative_to(folder):
        path = path.relative_to(folder)
    spelled = _quoted(str(path), "/~")
    return {"uri": f"file://{spelled}"} if path.is_absolute() else {"uri": spelled, "uriBaseId": ROOT}


def _quoted(path: str, safe: str) -> str:
    """Return a path in a URI: of a name that is not UTF-8 the bytes, which Python keeps as surrogates, of another surrogate its escape."""
    data = b"".join(
        character.encode("utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "backslashreplace") for character in path
    )
    return quote(data, safe=safe)
