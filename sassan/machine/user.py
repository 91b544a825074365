"""Machine files of a user: an entry of the SM table with changes.

base = "6.1"                        # the compute capability whose entry is changed
source = "measured on board 7"      # where the figures below come from
[sm]                                # keys of the section [sm] of an architecture file
warps = 32
[unit.fp64]                         # units of its section [units]: lanes or cycles, and who shares them
lanes = 8
scope = "partition"                 # or "sm"
[latency]                           # worst latencies in cycles, by the names of `latencies.class`
global = 900
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sassan.arch import described, named
from sassan.checked import Fields, Format
from sassan.errors import InputError
from sassan.machine.multiprocessor import NUMBERS, PAIRS, Multiprocessor, capabilities, entry, load
from sassan.machine.pipes import PARTITION, SM, PipeOverride, changed

FORMAT = Format("bad-machine", "sassan/machine/README.md describes machine files")


@dataclass(frozen=True, slots=True)
class MachineFile:
    """The machine that a user names: an SM, and worst latencies in cycles by name.

    `name` is the file, the architecture, or the product, and `option` how the user named it.
    """

    name: str
    source: str
    sm: Multiprocessor
    latency: Mapping[str, int] = field(default_factory=dict[str, int])
    option: str = "--machine"

    def of(self, arch: str) -> Multiprocessor:
        """Return the SM for code of an architecture.

        Raises InputError where that code does not run on it: a GPU runs code of its own major version, up to its minor version.
        """
        if not described(arch).runs_on(described(self.sm.arch)):
            message = f"{self.option} {self.name} is compute capability {self.sm.capability}, which does not run this code of {arch}"
            hint = "a GPU runs code of its own major version, up to its minor one" + f": --machine {arch}" * (self.option == "--machine")
            raise InputError("other-machine", message, hint=hint)
        return self.sm


def known(name: str) -> MachineFile | None:
    """Return the machine of `sm_61` or `6.1` as the tables have it, None for another text than the name of an architecture.

    Raises InputError where no table knows it.
    """
    arch, _ = named(name)
    if not arch:
        return None
    sm = load(arch)
    return MachineFile(sm.arch, sm.source, sm)


def machine_of(arch: str, file: MachineFile | None) -> Multiprocessor:
    """Return the SM for code of an architecture, from the user's file where there is one.

    Raises InputError where no table knows it, or the file is for another one.
    """
    return load(arch) if file is None else file.of(arch)


def read_file(name: str, text: str) -> MachineFile:
    """Return the machine of a TOML text that the user called `name`.

    Raises InputError `bad-machine` that names the file and the key.
    """
    file = FORMAT.toml(name, text)
    file.only("base", "source", "sm", "unit", "latency")
    if file.text("base") not in capabilities():
        raise file.fail("base", f"must be one of {', '.join(capabilities())}")
    base = load(file.text("base"))
    source = file.text("source")
    changed_sm = file.table("sm")
    changed_sm.only(*NUMBERS, *PAIRS)
    changes = _changes(file.table("unit"), base)
    whole = replace(
        changed_sm, values={**_numbers(base), **changed_sm.values, "unsure": [key for key in base.unsure if key not in changed_sm]}
    )
    sm = entry(base.capability, whole, f"{base.source}; {name}: {source}", changed(base.pipes, changes), name)
    latency = file.table("latency")
    return MachineFile(name, source, sm, {key: latency.whole(key) for key in latency.values})


def _numbers(base: Multiprocessor) -> dict[str, object]:
    lanes = {key: value for key in NUMBERS if (value := getattr(base, key))}
    return {**lanes, "partitions": base.partitions, "issue": [base.schedulers, base.dispatch], "shared": list(base.shared)}


def _changes(units: Fields, base: Multiprocessor) -> dict[str, PipeOverride]:
    units.only(*dict.fromkeys(pipe.unit for pipe in base.pipes))
    out: dict[str, PipeOverride] = {}
    for unit in units.values:
        fields = units.table(unit)
        fields.only("cycles", "scope")
        out[unit] = PipeOverride(
            cycles=fields.whole("cycles") if "cycles" in fields else 0,
            scope=fields.choice("scope", (PARTITION, SM)) if "scope" in fields else "",
        )
    return out
