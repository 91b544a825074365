"""What a command line of nvcc makes: read as nvcc reads it, with its variables and its files of options."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sassan.system import reading

_GPU = frozenset({".cu", ".gpu", ".ptx", ".cubin"})
_SOURCES = _GPU | {".c", ".cc", ".cpp", ".cxx", ".i", ".ii", ".fatbin"}
_PHASES = {
    **dict.fromkeys(("-c", "--compile", "-dc", "--device-c", "-dw", "--device-w"), ".o"),
    **dict.fromkeys(("-cubin", "--cubin"), ".cubin"),
    **dict.fromkeys(("-fatbin", "--fatbin"), ".fatbin"),
    **dict.fromkeys(("-ptx", "--ptx"), ".ptx"),
}
"""Options that end the compilation early, and what their output is called after its source."""
_UNREADABLE = frozenset({"-cuda", "--cuda", "-optix-ir", "--optix-ir", "-ltoir", "--ltoir"})
"""What these make holds no machine code that could be read."""
_DEVICE_LINKS = frozenset({"-dlink", "--device-link"})
_LINK_TIME = frozenset({"-dlto", "--dlink-time-opt", "-lto", "--lto"})
"""With these a link makes GPU code; any other only gathers what has been analyzed. So does `-rdc=true`."""
_QUERIES = (
    "-V --version -h --help -dryrun --dryrun -E --preprocess -M --generate-dependencies -MM --generate-nonsystem-dependencies -code-ls "
    "--list-gpu-code -arch-ls --list-gpu-arch -clean --clean-targets -fdevice-syntax-only --fdevice-syntax-only"
)
"""With these nothing is compiled to machine code."""
_VALUED = (
    "-o --output-file -include --pre-include -l --library -D --define-macro -U --undefine-macro -I --include-path -isystem "
    "--system-include -L --library-path -odir --output-directory -ccbin --compiler-bindir -arbin --archiver-binary -cudart --cudart "
    "-cudadevrt --cudadevrt -ldir --libdevice-directory -target-dir --target-directory -opt-info --optimization-info -O --optimize -Ofc "
    "--Ofast-compile -dopt --dopt -ftemplate-backtrace-limit --ftemplate-backtrace-limit -ftemplate-depth --ftemplate-depth -x --x -std "
    "--std -m --machine -Xcompiler --compiler-options -Xlinker --linker-options -Xarchive --archive-options -Xptxas --ptxas-options "
    "-Xnvlink --nvlink-options -t --threads -split-compile --split-compile -split-compile-extended --split-compile-extended "
    "-fdevice-time-trace --fdevice-time-trace -keep-dir --keep-dir -time --time -run-args --run-args -idp --input-drive-prefix -ddp "
    "--dependency-drive-prefix -dp --drive-prefix -MT --dependency-target-name -MF --dependency-output -arch --gpu-architecture -code "
    "--gpu-code -gencode --generate-code -rdc --relocatable-device-code -e --entries -maxrregcount --maxrregcount -ftz --ftz -prec-div "
    "--prec-div -prec-sqrt --prec-sqrt -fmad --fmad -default-stream --default-stream -Werror --Werror -diag-error --diag-error "
    "-diag-suppress --diag-suppress -diag-warn --diag-warn -hls --host-linker-script -brief-diag --brief-diagnostics -jtd "
    "--jump-table-density -compress-mode --compress-mode -frandom-seed --frandom-seed -sanitize --sanitize -qpp-config --qpp-config "
    "-static-global-template-stub --static-global-template-stub -device-entity-has-hidden-visibility "
    "--device-entity-has-hidden-visibility -device-stack-protector --device-stack-protector -optf --options-file"
)
"""Options of nvcc 13 whose value may be a word of its own."""
_FILES = ("-o", "--output-file", "-odir", "--output-directory", "-keep-dir", "--keep-dir", "-MF", "--dependency-output")
_QUOTED = (
    "-D --define-macro -U --undefine-macro -I --include-path -isystem --system-include -L --library-path -include --pre-include "
    "-o --output-file -odir --output-directory -keep-dir --keep-dir -MF --dependency-output"
)
"""Options whose values nvcc puts between double quotes, with their quotes escaped; names of inputs, too (nvcc 13, --dryrun)."""
_QUOTED_WORDS = ("-D", "-U", "-I", "-L")
_DEPTH = 8
"""Files of options that name each other."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a command line makes: whether GPU code may come of it, and the files where it will be."""

    compiles: bool
    outputs: tuple[Path, ...] = ()
    names: tuple[str, ...] = field(default=(), compare=False)
    """The files and folders that it names."""
    words: tuple[str, ...] = field(default=(), compare=False)
    """All that was typed, also in files of options."""
    bare: tuple[str, ...] = field(default=(), compare=False)
    """Those of them that nvcc puts between no quotes: `-Xcompiler` and its value, `-lm`."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a command line: options without a value of their own, values by option (the last counts), and the inputs."""

    flags: frozenset[str]
    values: Mapping[str, str]
    inputs: tuple[str, ...]

    def value(self, *names: str) -> str | None:
        """Return the value of an option, by any of its names."""
        return next((self.values[name] for name in names if name in self.values), None)


def line(arguments: Sequence[str], environment: Mapping[str, str]) -> CommandLine:
    """Return what nvcc makes for these arguments, in this environment."""
    before, after = (_split(environment.get(f"NVCC_{place}_FLAGS", "")) for place in ("PREPEND", "APPEND"))
    words = _words(list(_expanded((*before, *arguments, *after))))
    given = tuple(_expanded(arguments))
    typed = _words(given)
    named = (*typed.inputs, *(typed.values[name] for name in _FILES if name in typed.values))
    return replace(_made(words), names=named, words=given, bare=tuple(_bare(given)))


def _bare(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        value = "" if equals or name not in _VALUED.split() else next(rest, "")
        if word.startswith("-") and not (name in _QUOTED.split() or word.startswith(_QUOTED_WORDS)):
            yield from (word, value)


def _made(words: _Words) -> CommandLine:
    phase = next((suffix for name, suffix in _PHASES.items() if name in words.flags), None)
    sources = _sources(words, phase)
    device = bool(_DEVICE_LINKS & words.flags)
    links = device or bool(_LINK_TIME & words.flags) or words.value("-rdc", "--relocatable-device-code") == "true"
    if words.flags.intersection(_QUERIES.split()) or not (sources or links or phase):
        return CommandLine(compiles=False)
    if _UNREADABLE & words.flags or not (sources or (links and words.inputs)):
        return CommandLine(compiles=True)
    named = words.value("-o", "--output-file")
    if named is not None:
        return CommandLine(compiles=True, outputs=(Path(named),))
    folder = Path(words.value("-odir", "--output-directory") or ".")
    if phase is not None and not device:
        return CommandLine(compiles=True, outputs=tuple(folder / Path(source).with_suffix(phase).name for source in sources))
    program = "a_dlink" + (phase or ".o") if device else "a.a" if {"-lib", "--lib"} & words.flags else "a.out"
    return CommandLine(compiles=True, outputs=(folder / program,))


def _sources(words: _Words, phase: str | None) -> tuple[str, ...]:
    """Return the inputs of which something is made: all in the language of `-x`, else by their names."""
    language = words.value("-x", "--x")
    only_gpu = phase in {".cubin", ".fatbin", ".ptx"}
    if language is not None:
        return () if only_gpu and language != "cu" else words.inputs
    wanted = _GPU if only_gpu else _SOURCES
    return tuple(name for name in words.inputs if Path(name).suffix in wanted)


def _words(words: Sequence[str]) -> _Words:
    flags: set[str] = set()
    values: dict[str, str] = {}
    inputs: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            inputs.append(word)
        elif name in _VALUED.split():
            values[name] = value if equals else next(rest, "")
        else:
            flags.add(word)
    return _Words(frozenset(flags), values, tuple(inputs))


def _expanded(words: Sequence[str], depth: int = _DEPTH) -> Iterator[str]:
    """Yield the words, and behind a file of options what it holds; what cannot be read is nvcc's to refuse."""
    for word, before in zip(words, ("", *words), strict=False):
        yield word
        name, _, value = word.partition("=")
        files = value if name in {"-optf", "--options-file"} else word if before in {"-optf", "--options-file"} else ""
        for file in files.split(",") if depth and files else ():
            with suppress(OSError, ValueError):
                yield from _expanded([part.strip('"') for part in _split(reading.text(file))], depth - 1)


def _split(text: str) -> tuple[str, ...]:
    """Return the words of a variable or a file, as nvcc splits it: only double quotes hold blanks together, and they stay."""
    reader = shlex.shlex(text, posix=False)
    reader.whitespace_split, reader.commenters, reader.quotes = True, "", '"'
    try:
        return tuple(reader)
    except ValueError:
        return ()  # nvcc refuses it
