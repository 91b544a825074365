"""Where processes are started, libraries loaded, and files read: found from the source, so that no new place is forgotten."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sassan

PACKAGE = Path(sassan.__file__).parent
STARTING = frozenset(
    {
        "subprocess",
        "multiprocessing",
        "webbrowser",
        "pty",
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "ctypes.CDLL",
        "ctypes.PyDLL",
        "ctypes.cdll",
        "ctypes.pydll",
        "ctypes.util",
        "concurrent.futures.ProcessPoolExecutor",
        "typer.launch",
        "pickle.load",
        "pickle.loads",
        "marshal",
        "shelve",
        "runpy",
        "importlib.metadata.entry_points",
        "importlib.util.spec_from_file_location",
        "numpy.load",
        "pulp.getSolver",
        "platform.processor",
        "platform.uname",
        "os.system",
        "os.popen",
        "os.startfile",
    }
)
FAMILIES = ("os.exec", "os.spawn", "os.posix_spawn", "os.fork")
KNOWN = {
    "sassan.compilers.library": {"ctypes.CDLL", "os.execv"},
    "sassan.executor.dask": {"pickle.loads"},
    "sassan.executor.processes": {"multiprocessing", "pickle.loads"},
    "sassan.ilp.solve": {"pulp.getSolver"},
    "sassan.system.processes": {"subprocess"},
}
"""Every place: NVRTC's library and, in a child of ours, the program that the parent found; workers of our own code and what they send over
pipes, or a cluster that runs the code of whoever reaches it; PuLP, which writes and reads the files of solvers that we start, and runs SCIP
in this process; and the one place for everything else."""
STARTERS = {
    "sassan.evolve.compilation.children": {"start"},
    "sassan.frontend.cubin.disassembly": {"run"},
    "sassan.frontend.cubin.extract": {"run"},
    "sassan.frontend.cubin.tools": {"run"},
    "sassan.compilers.ptxas": {"run"},
    "sassan.compilers.source": {"run"},
    "sassan.ilp.solve": {"run"},
    "sassan.integrations.gpu_code": {"run"},
    "sassan.integrations.nvcc": {"start_typed"},
    "sassan.names": {"finish"},
    "sassan.record.images": {"run"},
    "sassan.record.library": {"run"},
    "sassan.record.run": {"start_typed"},
    "sassan.render.graph.draw": {"finish"},
    "sassan.render.html.layout": {"finish"},
}
"""Who starts processes by it: tests/cli/test_hostile_names.py drives each."""


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    names = (
        (".".join(("sassan", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"), path)
        for path in sorted(PACKAGE.rglob("*.py"))
    )
    return tuple((name, ast.parse(path.read_text("utf-8"))) for name, path in names)


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


@cache
def used(tree: ast.Module) -> frozenset[str]:
    return frozenset(uses(tree))


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield every full name that a module uses of others: `os.execv` also of `from os import execv` and `import os as o; o.execv`."""
    names: dict[str, str] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                names[each.asname or each.name.partition(".")[0]] = each.name if each.asname else each.name.partition(".")[0]
                yield each.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
                yield f"{node.module}.{each.name}"
    for node in nodes(tree):
        if isinstance(node, ast.Attribute):
            parts, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                parts.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in {*names, "pulp"}:
                yield ".".join((names.get(inner.id, inner.id), *reversed(parts)))


def matched(name: str) -> str | None:
    """Return what a name is a use of."""
    if name.startswith(FAMILIES):
        return name
    return next((known for known in STARTING if name == known or name.startswith(f"{known}.")), None)


def test_processes_are_started_and_code_is_loaded_in_known_places_only():
    found = {name: {known for each in used(tree) if (known := matched(each))} for name, tree in modules()}
    assert {name: known for name, known in found.items() if known} == KNOWN


def test_who_starts_processes_is_known():
    prefix = "sassan.system.processes."
    starting = {f"{prefix}{name}" for name in ("run", "finish", "start", "start_typed")}
    found = {name: {each.removeprefix(prefix) for each in used(tree) if each in starting} for name, tree in modules()}
    assert {name: known for name, known in found.items() if known} == STARTERS


READING = frozenset({"read_bytes", "read_text", "open"})
OWN_FILES = {
    "sassan.batch.results": "its own results, to append to: refused before where it is no plain file",
    "sassan.cli.output.exhaustion": "figures of the system's control groups",
    "sassan.cli.output.terminal": "the null device",
    "sassan.compilers.ptxas": "in a private folder",
    "sassan.compilers.source": "in a private folder",
    "sassan.entries": "with O_NOFOLLOW and O_NONBLOCK, in a trusted folder",
    "sassan.estimate.figures": "of this package",
    "sassan.evolve.compilation.compilers": "in a private folder",
    "sassan.executor.dask": "of this package",
    "sassan.frontend.cubin.extract": "in a private folder",
    "sassan.frontend.grammar": "of this package",
    "sassan.launches.data": "an entry of an archive that is in memory",
    "sassan.mcp.messages": "the null device",
    "sassan.record.devices": "of this package",
    "sassan.record.images": "in a private folder",
    "sassan.record.library": "of this package",
    "sassan.render.html.page": "of this package",
    "sassan.scratch": "its own folder, to lock it",
    "sassan.system.leftovers": "with O_NOFOLLOW and O_NONBLOCK",
    "sassan.system.reading": "the one place",
    "sassan.batch.parquet": "reads the lines that the batch has written itself",
    "sassan.verifier": "imports nothing of the package: what is no plain file is refused before",
}
"""Who opens files by another way than `system/reading.py`, and why that waits for nobody."""


def opened(tree: ast.Module) -> bool:
    functions = [node.func for node in nodes(tree) if isinstance(node, ast.Call)]
    methods = [each for each in functions if isinstance(each, ast.Attribute) and each.attr in READING and not _is_own(each.value)]
    return bool(methods) or any(isinstance(each, ast.Name) and each.id == "open" for each in functions)


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "reading"}


def test_files_that_somebody_names_are_read_in_one_place():
    assert {name for name, tree in modules() if opened(tree)} == set(OWN_FILES)
