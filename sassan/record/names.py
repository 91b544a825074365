"""What Python calls the parameters of recorded kernels: those of Triton by its cache, of Numba by the types in their symbols.

Nothing of the program is imported: its sources are parsed. A kernel whose parameters do not fit keeps none of the names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sassan.compilers.python_signatures import parameters, parts_of_array
from sassan.compilers.signatures import NamedParameter
from sassan.launches import Argument, ProgramLaunch
from sassan.system.reading import read

_LARGEST = 16 * 1024 * 1024
"""Bytes of a source, or of a file in the cache."""
_NAME_BYTES = 255
"""Of a file's name, at most."""
_TTIR_BYTES = {"!tt.ptr": 8, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
_TTIR_PARAMETER = re.compile(
    r'%\w+: (?P<type>!tt\.ptr|[a-z]+\d+(?=[ ,)]))[^%]*?\bloc\((?:"(?P<file>[^"]*)":(?P<line>\d+):\d+|"(?P<name>[A-Za-z_]\w*)"\()', re.ASCII
)
_NUMBA_TYPES = {"h": 1, "a": 1, "t": 2, "s": 2, "j": 4, "i": 4, "y": 8, "x": 8, "f": 4, "d": 8}
"""Bytes of a number by its letter in a symbol."""
_NUMBA_TYPE = re.compile(
    r"5ArrayI(?:[a-z]|Dh|9complex64|10complex128)Li(?P<dimensions>\d)E1[ACF](?:7mutable|8readonly)(?:7aligned|9unaligned)E"
    r"|(?P<number>[abdfhijstxy]|Dh)",
    re.ASCII,
)


def with_names(
    launches: Sequence[ProgramLaunch], images: Sequence[tuple[str, bytes]], command: Sequence[str], variables: Mapping[str, str]
) -> tuple[ProgramLaunch, ...]:
    """Return the launches of a command with the names of their arguments, where they are known; `images` are those that were launched."""
    code = dict(images)
    kernels = dict.fromkeys((launch.kernel, launch.code) for launch in launches)
    known = {
        kernel: tuple(_of_numba(kernel[0], command) or _of_triton(kernel[0], code.get(kernel[1] or "", b""), variables) or ())
        for kernel in kernels
    }
    return tuple(_with_names(launch, known[launch.kernel, launch.code]) for launch in launches)


def _with_names(launch: ProgramLaunch, names: Sequence[NamedParameter]) -> ProgramLaunch:
    arguments = sorted(launch.arguments or (), key=lambda argument: argument.offset)
    pairs = list(zip(names, arguments, strict=False))
    if not names or len(pairs) < len(names) or any(name.size not in (0, argument.size) for name, argument in pairs):
        return launch
    called: list[Argument] = [replace(argument, name=name.name) for name, argument in pairs]
    return replace(launch, arguments=(*called, *arguments[len(called) :]))


def _of_triton(kernel: str, cubin: bytes, variables: Mapping[str, str]) -> list[NamedParameter] | None:
    """Return the parameters by the intermediate code beside the cubin in Triton's cache: it has those that are left after compilation."""
    beside = next((path.with_suffix(".ttir") for path in _cached(kernel, variables) if cubin and _bytes(path) == cubin), None)
    text = _text(beside) if beside is not None else ""
    head = next((line for line in text.splitlines() if f"tt.func public @{kernel}(" in line), "")
    written = list(_TTIR_PARAMETER.finditer(head))
    if not written or len(written) != head.count("%"):
        return None
    names = [each["name"] or "" for each in written]
    if not all(names):
        # Before Triton 3.5 the names are those of the source, as long as compilation dropped none of them.
        source = parameters(_text(Path(written[0]["file"] or "")), [kernel], int(written[0]["line"] or 0))
        names = list(source or ())
    several = [NamedParameter(name, _TTIR_BYTES.get(each["type"], 0)) for name, each in zip(names, written, strict=False)]
    return several if len(names) == len(written) else None


def _cached(kernel: str, variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the cubins of a kernel's name in Triton's cache, in order."""
    home = variables.get("TRITON_HOME") or variables.get("HOME")
    folder = variables.get("TRITON_CACHE_DIR") or (f"{home}/.triton/cache" if home else "")
    # A file of Triton's cache has its kernel's name; those of C++ templates may be longer than any file's.
    if folder and re.fullmatch(r"\w+", kernel) and len(f"{kernel}.cubin".encode()) <= _NAME_BYTES:
        yield from sorted(Path(folder).glob(f"*/{kernel}.cubin"))


def _of_numba(symbol: str, command: Sequence[str]) -> list[NamedParameter] | None:
    """Return the parameters by the types in a symbol, and by the source of the module that it names."""
    path, types = _symbol(symbol)
    script = next((Path(word) for word in command if word.endswith(".py")), None)
    if not path or script is None:
        return None
    if path[0] == "__main__":
        names = parameters(_text(script), path[1:]) if path[1:] else None
    else:
        # Where the module ends and its functions begin, the symbol does not say.
        places = ((script.parent.joinpath(*path[:count]).with_suffix(".py"), path[count:]) for count in range(len(path) - 1, 0, -1))
        names = next((parameters(_text(file), rest) for file, rest in places if file.is_file()), None)
    kinds = list(_NUMBA_TYPE.finditer(types))
    if names is None or "".join(kind[0] for kind in kinds) != types or len(kinds) != len(names):
        return None
    return [part for name, kind in zip(names, kinds, strict=True) for part in _parts(name, kind)]


def _parts(name: str, kind: re.Match[str]) -> Iterator[NamedParameter]:
    if kind["dimensions"]:
        yield from parts_of_array(name, int(kind["dimensions"]))
    else:
        yield NamedParameter(name, _NUMBA_TYPES.get(kind["number"], 0))


def _symbol(symbol: str) -> tuple[list[str], str]:
    """Return the names in `_ZN8__main__5scaleB2v1EPfi`, without tags, and the types behind them; nothing of other symbols."""
    path: list[str] = []
    rest, tag = symbol.removeprefix("_ZN"), False
    while rest != symbol and (match := re.match(r"(B?)(\d+)", rest)):
        end = match.end() + int(match[2])
        word, rest, tag = rest[match.end() : end], rest[end:], tag or bool(match[1])
        if not match[1] and word != "_3clocals_3e":
            path.append(word)
    plain = rest != symbol and rest.startswith("E") and tag and all(word.isidentifier() for word in path)
    return (path, rest[1:]) if plain else ([], "")


def _bytes(path: Path) -> bytes:
    try:
        return read(path, _LARGEST)
    except (OSError, ValueError):
        return b""


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace")
