"""The README's table: which control constructs each sample was found to contain."""

import re

_LINE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:\{\s+)?(?P<guard>@!?U?P\w+ )?\s*(?P<op>[A-Z][\w.]*)(?P<rest>.*)$", re.MULTILINE)
_PLAIN = [
    "SSY",
    "SYNC",
    "PBK",
    "BRK",
    "PCNT",
    "CONT",
    "CAL",
    "JCAL",
    "RET",
    "PRET",
    "BRX",
    "JMX",
    "KIL",
    "BPT",
    "BSSY",
    "BSYNC",
    "BREAK",
    "WARPSYNC",
    "CALL",
    "YIELD",
    "NANOSLEEP",
    "BMOV",
    "ENDCOLLECTIVE",
    "BRXU",
    "JMP",
]
FAMILIES = {"sm_52/61": (52, 61), "sm_70/75": (70, 75), "sm_80/90": (80, 90), "sm_100/120": (100, 120)}
BEGIN = "<!-- constructs: written by scripts/build_samples -->"
END = "<!-- constructs: end -->"


def constructs(nvdisasm_text: str) -> set[str]:
    """Return the control constructs of a listing; ``@`` marks one under a predicate, ``CC`` a condition-code test."""
    names: set[str] = set()
    for line in _LINE.finditer(nvdisasm_text):
        base, _, suffix = line["op"].partition(".")
        guard = "@" if line["guard"] else ""
        if base in _PLAIN or (base == "EXIT" and guard):
            names.add(guard + (line["op"] if base in ("CALL", "RET", "WARPSYNC", "BRX") else base))
        elif base == "BRA" and suffix:
            names.add(guard + line["op"])
        if base in ("BRA", "EXIT", "SYNC", "BRK", "RET", "BPT") and " CC." in line["rest"]:
            names.add(f"{base} CC")
    return names


def _row(name: str, why: str, per_arch: dict[int, tuple[int, set[str]]]) -> str:
    cells = [f"`{name}`", why]
    for archs in FAMILIES.values():
        sizes = "/".join(str(per_arch[arch][0]) for arch in archs)
        names = sorted(set().union(*(per_arch[arch][1] for arch in archs)))
        cells.append(f"{sizes}: {' '.join(names) or '-'}")
    return f"| {' | '.join(cells)} |"


def instructions(nvdisasm_text: str) -> int:
    """Return the number of instruction lines of a listing, including padding."""
    return sum(1 for _ in _LINE.finditer(nvdisasm_text))


def table(rows: dict[str, tuple[str, dict[int, tuple[int, set[str]]]]]) -> str:
    """Return the Markdown table of {sample: (why, {arch: (instructions, constructs)})}."""
    head = ["sample", "why", *FAMILIES]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [_row(name, why, per_arch) for name, (why, per_arch) in sorted(rows.items())]
    return "\n".join(lines)


def with_table(readme: str, text: str) -> str:
    """Return the README with the table between its two markers replaced."""
    before, rest = readme.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}"
