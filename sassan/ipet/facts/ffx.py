"""Flow facts as FFX, the XML of OTAWA and oRange: read into facts, and written from the bounds of a function.

The format is that of OTAWA's page "Flow Fact XML format" (docs/bibliography.md). Its `maxcount` limits what the loop constraint of OTAWA's
IPET limits, back edges per entry, and so is the `bound` of sassan's own facts; `totalcount` limits the back edges of one run. Calls,
contexts and conditions restrict what stands in them to some runs, and are refused: a bound of some runs is none of all.
An input is never trusted: a text with a document type is refused, so that no entity is expanded and nothing outside is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sassan.checked import shown
from sassan.errors import InputError
from sassan.ipet.facts.model import FlowFacts, FunctionFacts, LineReference, LoopName, Total
from sassan.ipet.flow_facts import LoopBounds
from sassan.plurals import count_of
from sassan.source import Source, Span
from sassan.warpcfg.graph import WarpCfg

HINT = "sassan export FILE -o facts.ffx writes such a file"
_DEEPEST = 100
"""Elements that may stand in each other."""
_UNKNOWN = "NOCOMP"
"""The count of a loop that a tool has found no bound for."""
_NUMBER = re.compile("0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,21}|[1-9][0-9]{0,18}", re.ASCII)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of XML 1.0 may hold."""


def is_ffx(name: str, text: str) -> bool:
    """Whether a file of flow facts is FFX: its name ends so, or its text begins as XML does, which no TOML does."""
    return name.lower().endswith((".ffx", ".xml")) or text.lstrip().startswith("<")


def read(name: str, text: str) -> FlowFacts:
    """The facts of an FFX text that the user called `name`: bounds and totals of loops, by function.

    Raises InputError `facts-syntax` for what is not well-formed XML or has a document type, `facts-value` for an element or a value that
    is not read, each with its line.
    """
    reader = _Reader(name, text)
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: reader.start(parser, tag, attributes)
    parser.EndElementHandler = lambda _: reader.end()
    parser.CharacterDataHandler = lambda data: reader.text_of(parser, data)

    def refuse_document_type(*_: object) -> None:
        reader.document_type(parser)

    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise reader.refused("facts-syntax", f"not XML: {expat.ErrorString(error.code)}", error.lineno, error.offset + 1) from None
    except ValueError:
        raise reader.refused("facts-syntax", "not XML: the text has characters that XML cannot hold", 1, 1) from None
    return FlowFacts(name, tuple((function, known.facts()) for function, known in reader.functions.items()))


@dataclass(slots=True)
class _FunctionReader:
    """The facts of one function as far as they are read."""

    text: str = ""
    bounds: dict[LoopName, int] = field(default_factory=dict[LoopName, int])
    totals: dict[LoopName, int] = field(default_factory=dict[LoopName, int])

    def facts(self) -> FunctionFacts:
        """The facts as a value."""
        return FunctionFacts(
            self.text, tuple(self.bounds.items()), totals=tuple(Total(name, back=True, bound=most) for name, most in self.totals.items())
        )


class _Reader:
    """What the elements of a text say, in their order."""

    def __init__(self, name: str, text: str) -> None:
        self._source = Source(name, text)
        self._open: list[tuple[str, str, str]] = []
        """The elements around, each with the function and the source file that it speaks of, '' for none."""
        self.functions: dict[str, _FunctionReader] = {}

    def refused(self, code: str, message: str, line: int, column: int) -> InputError:
        """The error with a place in the text."""
        return InputError(code, f"{self._source.name}: {message}", source=self._source, span=Span(line, column, 1), hint=HINT)

    def document_type(self, parser: expat.XMLParserType) -> None:
        """Refuse a document type: it could declare entities, or name a file or a host."""
        raise self._at(parser, "facts-syntax", "a document type (<!DOCTYPE …>) is not read: omit it")

    def text_of(self, parser: expat.XMLParserType, data: str) -> None:
        """Refuse text between elements, which has no meaning in FFX."""
        if data.strip():
            raise self._at(parser, "facts-value", f"text between elements has no meaning: {shown(data.strip())}")

    def start(self, parser: expat.XMLParserType, tag: str, attributes: Mapping[str, str]) -> None:
        """Read the begin of an element."""
        if len(self._open) >= _DEEPEST:
            raise self._at(parser, "facts-syntax", f"more than {_DEEPEST} elements stand in each other")
        parent, function, file = self._open[-1] if self._open else ("", "", "")
        file = attributes.get("source", file)
        if not self._open:
            if tag != "flowfacts":
                raise self._at(parser, "facts-value", f"the top element must be <flowfacts>, not <{shown(tag)}>")
        elif tag == "function" and parent == "flowfacts":
            function = attributes.get("label") or attributes.get("name") or ""
            if not function:
                raise self._at(parser, "facts-value", 'a <function> needs label="NAME"')
            known = self.functions.setdefault(function, _FunctionReader())
            known.text = known.text or attributes.get("text", "")
        elif tag == "loop":
            function = self._loop(parser, function, file, attributes)
        else:
            raise self._at(parser, "facts-value", f"<{shown(tag)}> in <{shown(parent)}> is not read, only <function> and <loop> are")
        self._open.append((tag, function, file))

    def end(self) -> None:
        """Leave an element."""
        self._open.pop()

    def _loop(self, parser: expat.XMLParserType, function: str, file: str, attributes: Mapping[str, str]) -> str:
        """Read a loop; the function that it is of. An offset without a label is from `function`, a line without a source of `file`."""
        name: LoopName
        function = attributes.get("label", function)
        if "address" in attributes:
            name = self._number(parser, attributes, "address")
        elif "offset" in attributes or "label" in attributes:
            name = self._number(parser, attributes, "offset")
        elif file and "line" in attributes:
            name = LineReference(file.replace("\\", "/"), self._number(parser, attributes, "line"))
        else:
            raise self._at(parser, "facts-value", 'a <loop> needs label="FUNCTION" offset="0x…", address="0x…", or source="…" line="…"')
        if not function:
            message = 'functions have addresses and lines of their own here: put the <loop> into <function label="NAME">'
            raise self._at(parser, "facts-value", message)
        if not {"maxcount", "totalcount"} & attributes.keys():
            raise self._at(parser, "facts-value", "a <loop> needs maxcount or totalcount")
        known = self.functions.setdefault(function, _FunctionReader())
        for key, most in (("maxcount", known.bounds), ("totalcount", known.totals)):
            if attributes.get(key, _UNKNOWN) != _UNKNOWN:
                if name in most:
                    place = name if isinstance(name, LineReference) else f"0x{name:04x}"
                    raise self._at(parser, "facts-value", f"the loop at {place} has two values of {key}")
                most[name] = self._number(parser, attributes, key)
        return function

    def _number(self, parser: expat.XMLParserType, attributes: Mapping[str, str], key: str) -> int:
        text = attributes.get(key, "")
        if _NUMBER.fullmatch(text) is None:
            raise self._at(parser, "facts-value", f'{key} must be a whole number such as "64" or "0x40", not {shown(text)}')
        return int(text, 16 if text[:2].lower() == "0x" else 8 if text[0] == "0" else 10)

    def _at(self, parser: expat.XMLParserType, code: str, message: str) -> InputError:
        return self.refused(code, message, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)


def write(graphs: Iterable[tuple[WarpCfg, LoopBounds]]) -> str:
    """The FFX text of the loop bounds of functions, with the hash of each, which is compared when the file is read again.

    A loop in several call contexts has one element, with the largest of its bounds. One without a bound is a comment that says so.
    Raises InputError `unwritable-name` for a function whose name XML cannot hold.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
        "<!-- maxcount: back edges of one thread per entry into the loop -->",
    ]
    lines.append("<flowfacts>")
    for cfg, bounds in graphs:
        name = cfg.function.name
        if _NO_XML.search(name):
            message = f"the function {name!r} has characters in its name that XML cannot hold"
            raise InputError("unwritable-name", message, hint="choose others with -f")
        lines.append(f"  <function label={quoteattr(name)} text={quoteattr(cfg.function.text_hash)}>")
        lines += (f"    <!-- {_comment(text)} -->" for text in (*cfg.assumptions, *bounds.assumptions))
        lines += _loops(cfg, bounds)
        lines.append("  </function>")
    return "\n".join((*lines, "</flowfacts>")) + "\n"


def _comment(text: str) -> str:
    """A text as a comment of XML holds it, without two hyphens in a row: an option loses one of its own."""
    return _NO_XML.sub("\ufffd", text).replace("--", "-").rstrip("-")


def _loops(cfg: WarpCfg, bounds: LoopBounds) -> Iterator[str]:
    totals = {total.counted: total.bound for total in bounds.facts.totals if total.back and total.per is None}
    of_head: dict[int, list[int]] = {}
    for index, loop in enumerate(cfg.loops):
        of_head.setdefault(cfg.nodes[loop.head].start, []).append(index)
    for head, loops in sorted(of_head.items()):
        known = [bounds.of_loop[index] for index in loops]
        most = None if None in known else max(bound for bound in known if bound is not None)
        counts = [("maxcount", most), ("totalcount", totals.get(head))]
        values = "".join(f' {key}="{count}"' for key, count in counts if count is not None)
        if values:
            origin = bounds.origins[loops[0]].value
            alone = "" if all(cfg.loops[index].single_witness for index in loops) else ", threads of a warp may iterate separately"
            contexts = f", {count_of(len(loops), 'call context')}" if len(loops) > 1 else ""
            place = f'label={quoteattr(cfg.function.name)} offset="0x{head:x}"'
            yield f"    <loop {place}{values}/> <!-- {origin}{contexts}{alone} -->"
        if most is None:
            yield f"    <!-- the loop at 0x{head:x} has no bound -->"
