"""Listings, single instructions, and texts that contradict the encodings beside them."""

import json
import re
import sys
from functools import cache
from random import Random

from _lib.disassembly import changed, disassemblers
from _lib.disassembly import texts as printed
from _lib.fuzz import mutate
from _lib.fuzz.format import Format, answer, reading, small

from sassan.app.inputs import UNCOMPARED
from sassan.arch import architecture
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.instructions import PlainParser, TemplateParser
from sassan.isa import control

_LISTINGS = ("sm_*/*.cuobjdump.sass", "sm_*/*.nvdisasm.sass", "sm_*/*.nvdisasm-hex.sass")
_WORD = re.compile(r"/\* (0x[0-9a-f]{16}) \*/")
_LINE = re.compile(r"(?P<before>[ \t]*/\*[0-9a-f]{4,16}\*/\s+)(?P<text>\S.*?)(?P<after>\s*;\s*/\* 0x[0-9a-f]{16} \*/\s*)")
_PART = re.compile(r"0x[0-9a-f]+|(?<![\w.])U?[RP][0-9]+|[A-Z][A-Z0-9]*(?=[. ,;]|$)|(?<=\.)[A-Z0-9]+|[-!~|](?=[RP0-9])|RZ|PT")
_COMMANDS = (
    ("analyze", "{}", "--json", "--loop-bound", "3"),
    ("analyze", "{}", "-W", "4", "--block-dim", "64", "--grid", "4", "--gpu", "T4"),
    ("cfg", "{}", "--json"),
    ("strings", "{}"),
    ("ipet", "{}", "--loop-bound", "3"),
    ("memory", "{}", "--block-dim", "64"),
    ("listing", "{}", "--check"),
    ("estimate", "{}", "--block-dim", "64", "--grid", "4"),
    ("cfg", "{}", "--level", "thread"),
)
_NUMBERS = (("--loop-bound", "3"), ("--block-dim", "64", "--grid", "4", "-W", "4", "--loop-bound", "3"))
_BOUNDS = (("wcet", "value"), ("makespan", "upper"), ("grid", "upper"))


@cache
def _texts() -> list[str]:
    return [path.read_text("utf-8") for path in small(*_LISTINGS)]


@cache
def _bodies() -> list[str]:
    return sorted({line["text"] + " ;" for text in _encoded().values() for line in map(_LINE.fullmatch, text.split("\n")) if line})


@cache
def _encoded() -> dict[str, str]:
    """The listings with encodings, by these."""
    texts = [path.read_text("utf-8") for path in small("sm_*/*.cuobjdump.sass", "sm_*/*.nvdisasm-hex.sass", most=9000)]
    return {_words(text): text for text in texts}


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))


def _twins(data: bytes, choice: int) -> str:
    """Both parsers of instructions say the same."""
    del choice
    body = data.decode("utf-8", "replace")
    said: list[object] = []
    for parser in (PlainParser(), TemplateParser()):
        try:
            said.append(parser.parse(body))
        except SyntaxProblem as problem:
            said.append(str(problem))
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # of the comparison only: what is said of a number has to be short
    try:
        first, second = map(repr, said)
    finally:
        sys.set_int_max_str_digits(digits)
    return "" if first == second else f"the parsers differ: {first:.200} and {second:.200}"


def _contradicting(draw: Random) -> bytes:
    """A listing whose text is edited beside its encodings, in one instruction or two."""
    lines = draw.choice(list(_encoded().values())).split("\n")
    places = [(number, line) for number, line in enumerate(map(_LINE.fullmatch, lines)) if line]
    (number, line), (other, second) = draw.choice(places), draw.choice(places)
    if not draw.randrange(4):
        lines[number] = line["before"] + second["text"] + line["after"]
        lines[other] = second["before"] + line["text"] + second["after"]
        return "\n".join(lines).encode()
    parts = list(_PART.finditer(line["text"]))
    part = draw.choice(parts)
    like = [each[0] for _, each in places for each in _PART.finditer(each["text"]) if each[0][0] == part[0][0]]
    new = draw.choice((*like, "", hex(draw.choice(mutate.NUMBERS[:12])), part[0] + "1"))
    text = line["text"][: part.start()] + new + line["text"][part.end() :]
    lines[number] = line["before"] + text + line["after"]
    return "\n".join(lines).encode()


@cache
def _original(words: str, choice: int) -> str:
    return _numbers(_encoded()[words], choice)


def _numbers(text: str, choice: int) -> str:
    """What is said of the functions of a listing: their numbers, '' where it is refused; a number that is not known is None."""
    said = answer("analyze", str(_file(text)), "--json", *_NUMBERS[choice % len(_NUMBERS)])
    if said.finding:
        return said.finding
    functions = json.loads(said.out)["functions"] if said.status == 0 else []
    return json.dumps([[(function[part] or {}).get(key) for part, key in _BOUNDS] for function in functions])


def _file(text: str) -> str:
    with open("input.sass", "w", encoding="utf-8") as file:  # noqa: PTH123 - the working folder is that of the run
        file.write(text)
    return "input.sass"


def _silent(data: bytes, choice: int) -> str:
    """No other number from a text that contradicts its encodings: it is refused, or the number is that of the code."""
    text = data.decode("utf-8", "replace")
    words = _words(text)
    if words not in _encoded():
        return ""  # of a sample that has changed
    said, original = _numbers(text, choice), _original(words, choice)
    if not said.startswith("["):
        return said
    pairs = zip(json.loads(said), json.loads(original), strict=False)
    wrong = [(new, old) for numbers, before in pairs for new, old in zip(numbers, before, strict=True) if new is not None and new != old]
    return f"silent: {wrong[0][0]} instead of {wrong[0][1]}" if wrong else ""


_ARCH = re.compile(r"(?:\bsm_|EF_CUDA_SM)([0-9]+)")


@cache
def _originals() -> dict[str, list[int]]:
    """The words of the listings with encodings, by all else in them."""
    return {_WORD.sub("", text): [int(word, 16) for word in words.split()] for words, text in _encoded().items()}


def _flipped(draw: Random) -> bytes:
    """A listing of which one bit of an encoding is flipped, and no text is changed."""
    text = draw.choice(list(_encoded().values()))
    places = list(_WORD.finditer(text))
    place = draw.choice(places)
    return f"{text[: place.start(1)]}{int(place[1], 16) ^ 1 << draw.randrange(64):#018x}{text[place.end(1) :]}".encode()


def _unnoticed(data: bytes, choice: int) -> str:
    """No encoding whose own text is another one: it is refused, or the answer says that some are not compared."""
    text = data.decode("utf-8", "replace")
    words = [int(word, 16) for word in _WORD.findall(text)]
    said = answer("analyze", _file(text), "--json", *_NUMBERS[choice % len(_NUMBERS)])
    original = _originals().get(_WORD.sub("", text), words)  # of a sample that has changed
    differing = [at for at, pair in enumerate(zip(original, words, strict=True)) if pair[0] != pair[1]]
    if said.finding or not differing or "text-differs" in said.codes or UNCOMPARED in said.out:
        return said.finding
    arch = f"sm_{_ARCH.findall(text)[0]}"
    known = architecture(arch)
    assert known is not None
    tools = disassemblers(arch)
    if not tools:
        return ""
    before, after = (printed(tools[-1], arch, _together(each, differing[0], paired=known.control_words)) for each in (original, words))
    silent = next((pair for pair in zip(before, after, strict=True) if changed(*pair)), None)
    return "" if silent is None else f"silent: '{silent[0]}' is '{silent[1]}'"


def _together(words: list[int], at: int, *, paired: bool) -> list[int]:
    """The encodings that a word belongs to, with their control codes: until Pascal one, or the three behind a word of control codes."""
    if not paired:
        return [words[at & ~1] | words[at | 1] << 64]
    first = at & ~3
    places = range(1, 4) if at == first else [at - first]
    return [
        words[first + place] | (words[first] >> 21 * (place - 1) & control.BITS) << 64 for place in places if first + place < len(words)
    ]


FORMATS = (
    Format(
        "listing",
        ".sass",
        ("sassan.frontend", "sassan.isa"),
        lambda draw: mutate.text(draw, _texts()).encode("utf-8", "replace"),
        reading(".sass", *_COMMANDS),
    ),
    Format(
        "instruction",
        ".txt",
        ("sassan.frontend.grammar", "sassan.frontend.instructions", "sassan.frontend.operands"),
        lambda draw: mutate.text(draw, _bodies()).encode("utf-8", "replace"),
        _twins,
    ),
    Format("contradiction", ".sass", ("sassan.isa.encodings", "sassan.frontend.assemble"), _contradicting, _silent),
    Format("encoding", ".sass", ("sassan.isa.encodings", "sassan.isa.encoding_models", "sassan.isa.spelling"), _flipped, _unnoticed),
)
