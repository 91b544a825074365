"""`sassan check --junit`: a test case per function, as CI systems read it (the schema of Jenkins and Ant)."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from sassan.app.builds.checked import CheckedFunction
from sassan.app.inputs import RefusedInput
from sassan.cli.output.terminal import label, safe


def text(checked: Sequence[CheckedFunction], refused: Sequence[RefusedInput]) -> str:
    """Return the results: a suite per input, a case per function, one failure that names all gates; a refused input is an error."""
    suites = ET.Element("testsuites", name="sassan check")
    for file in dict.fromkeys([*(entry.result.file for entry in checked), *(refusal.file for refusal in refused)]):
        cases = [entry for entry in checked if entry.result.file == file]
        errors = [refusal for refusal in refused if refusal.file == file]
        failed = sum(bool(entry.failures) for entry in cases)
        tests, errored = str(len(cases) + len(errors)), str(len(errors))
        suite = ET.SubElement(suites, "testsuite", name=safe(file), tests=tests, failures=str(failed), errors=errored)
        for entry in cases:
            _case(suite, entry, safe(file))
        for refusal in errors:
            case = ET.SubElement(suite, "testcase", classname=safe(file), name="(input)")
            ET.SubElement(case, "error", type=refusal.error.code, message=safe(refusal.error.message))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ET.Element, entry: CheckedFunction, file: str) -> None:
    function = entry.result.function
    case = ET.SubElement(suite, "testcase", classname=file, name=f"{label(function.name)} ({function.arch})")
    if entry.failures:
        rules = ", ".join(dict.fromkeys(failure.rule.value for failure in entry.failures))
        failure = ET.SubElement(case, "failure", type=rules, message=safe(entry.failures[0].message))
        failure.text = "\n".join(safe(f"{each.rule}: {each.message}") for each in entry.failures)
