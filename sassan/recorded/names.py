"""Names of kernels in recordings: mangled, demangled with types, or the bare name."""

import re

_NESTED = re.compile(r"_ZN?K?")
_CODES = {
    "bool": "b",
    "char": "c",
    "signed char": "a",
    "unsigned char": "h",
    "short": "s",
    "unsigned short": "t",
    "int": "i",
    "unsigned int": "j",
    "long": "l",
    "unsigned long": "m",
    "long long": "x",
    "unsigned long long": "y",
    "float": "f",
    "double": "d",
}
"""How the Itanium C++ ABI (5.1.5) writes a type of the language."""
_LENGTH = re.compile(r"([1-9][0-9]*)")


def bare(name: str) -> str:
    """Return the name of a function without return type, namespaces, template arguments and parameters, mangled or not.

    For a mangled name this is the identifier in the source (Itanium C++ ABI, 5.1: lengths before identifiers).
    """
    return _bare_mangled(name) if name.startswith("_Z") else _bare_text(name)


def fits(mangled: str, text: str) -> bool:
    """Say whether a mangled name may be that of a text with types: the types and numbers of its template are no others."""
    rest = text.partition(f"{bare(text)}<")[2]
    arguments = rest.split(">(")[0].split(", ") if rest else []
    codes = [_CODES.get(each) or (f"Li{each}E" if each.isdecimal() else "") for each in arguments]
    return not codes or not all(codes) or f"{bare(text)}I{''.join(codes)}E" in mangled


def _bare_mangled(name: str) -> str:
    at = _NESTED.match(name)
    last, place = "", at.end() if at is not None else 0
    while (length := _LENGTH.match(name, place)) is not None:
        last = name[length.end() : length.end() + int(length[1])]
        place = length.end() + int(length[1])
    return last or name


def _bare_text(name: str) -> str:
    depth, plain = 0, ""
    for character in name.replace("(anonymous namespace)", "anonymous"):
        depth += (character == "<") - (character == ">")
        if depth == 0 and character != ">":
            plain += character
    return plain.split("(")[0].strip().split(" ")[-1].rpartition("::")[2]
