"""What a Triton kernel is compiled with."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TritonCase:
    """A kernel and its arguments.

    `types` names the type of each argument, as `x=*fp16 n=i32/16 start=i32`: pointers, and integers with /16, are multiples of 16, which
    is what Triton finds out when a program calls a kernel. The other parameters are `constants`. `first` and `last` are the SMs that it is
    for.
    """

    name: str
    function: object
    types: str
    constants: Mapping[str, object] = field(default_factory=dict[str, object])
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    first: int = 0
    last: int = 999

    @property
    def signature(self) -> dict[str, str]:
        """Return the type of each argument as Triton writes it."""
        given = dict(each.split("=") for each in self.types.split())
        return {name: kind.removesuffix("/16") for name, kind in given.items()} | dict.fromkeys(self.constants, "constexpr")

    @property
    def multiples(self) -> dict[tuple[int, ...], list[list[object]]]:
        """Return the arguments that are multiples of 16, by their place."""
        kinds = [each.split("=")[1] for each in self.types.split()]
        return {(place,): [["tt.divisibility", 16]] for place, kind in enumerate(kinds) if kind.startswith("*") or kind.endswith("/16")}
