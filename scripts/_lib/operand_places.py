"""From instructions with encodings to the places of their operands, and the other bits of their forms."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import reduce

from sassan.isa.operand_fields import SYMBOL, Form, Operands, Place, Slot, place_of

PLACES = {
    "maxwell": {
        "R": "r0+8 r8+8 r20+8 r28+8 r39+8",
        "P": "r0+3 r3+3 r12+3 r29+3 r39+3 r48+3",
        "SB": "r26+3",
        "": "i20+32 i20+24 i20+19 i20+16 i20+8 i20+6 i20+5 i20+4 i20+14<2 f20+32"
        " f20+19<12 d20+19<12 i34+5 i36+5 i34+13 i28+5 i28+8 i28+20 i30+2 i39+5 i39+8 i48+8 i8+5 i8+8",
    },
    "volta": {
        "R": "r16+8 r24+8 r32+8 r40+8 r64+8",
        "UR": "r16+6 r24+6 r32+6 r64+6",
        "P": "r81+3 r84+3 r87+3 r77+3 r68+3 r24+3",
        "UP": "r81+3 r84+3 r87+3 r77+3 r68+3 r24+3",
        "B": "r16+4 r24+4",
        "SB": "r44+3",
        "": "i32+32 i32+16 i32+6 f32+32 d32+32 h32+16 h48+16 i16+8"
        " i34+5 i37+16 i38+16 i40+24 i40+16 i40+13 i40+8 i42+4 i53+5 i54+5 i54+6 i59+3 i64+3,72+5 i24+64 i64+8 i72+8 i72+4 i75+5",
    },
}
"""Where the operands of each kind can be, '' for numbers."""
MOST = 16
"""A form with more values of the other bits has an operand of which the place is unknown."""
_Seen = tuple[int, tuple[str, ...], str]
"""An encoding, its values, and the letter of its architecture."""
_KIND = re.compile(r"([A-Z]*)#")


class Observations:
    """What has been seen of the instructions of a table."""

    def __init__(self, table: str) -> None:
        """Begin with nothing."""
        self._places = {kind: [place_of(each) for each in listed.split()] for kind, listed in PLACES[table].items()}
        self._seen: defaultdict[tuple[int, str], defaultdict[str, set[_Seen]]] = defaultdict(lambda: defaultdict(set))

    def add(self, operands: Operands) -> None:
        """Take one instruction."""
        arch, code, text, word = operands
        if SYMBOL in text.form:
            return
        self._seen[code, text.shape][text.form].add((word, text.values, arch))

    def rows(self) -> Iterator[str]:
        """Yield the lines of the file of the table."""
        last = -1
        for (code, shape), forms in sorted(self._seen.items()):
            if code != last:
                yield f"\n{code:x}"
            last = code
            slots = self._slots(shape, [each for seen in forms.values() for each in seen])
            yield " ".join([shape, "=", *map(str, slots)])
            without = reduce(int.__or__, (slot.place.mask for slot in slots if slot.place), 0)
            for name, seen in sorted(forms.items()):
                if len({word & ~without for word, *_ in seen}) <= MOST:
                    yield " ".join([f" {name}", "=", *_rests(Form(name, slots, {}), seen)])

    def _slots(self, shape: str, seen: list[_Seen]) -> tuple[Slot, ...]:
        kinds = enumerate(_KIND.findall(shape))
        return tuple(self._slot(kind, [(values[number], word) for word, values, _ in seen]) for number, kind in kinds)

    def _slot(self, kind: str, seen: list[tuple[str, int]]) -> Slot:
        """Return the places that fit all values, if these differ; of several that begin with one bit, the largest."""
        first, *others = {value for value, _ in seen}
        if not others:
            return Slot(constant=first)
        fitting = [
            place
            for place in self._places.get(kind, ())
            if _varies(place, seen) and all(place.fits(*each) or "NAN" in each[0] for each in seen)
        ]
        largest = {(place.kind, place.first - place.dropped): place for place in sorted(fitting, key=lambda place: place.bits)}
        return Slot(tuple(largest.values()))


def _varies(place: Place, seen: list[tuple[str, int]]) -> bool:
    return len({place.of(word) for _, word in seen}) > 1


def _rests(form: Form, seen: set[_Seen]) -> Iterator[str]:
    """Yield the bits of a form that belong to no value, with the letters of the architectures where they were seen."""
    arches: defaultdict[int, set[str]] = defaultdict(set)
    for word, _, arch in seen:
        arches[form.rest(word)].add(arch)
    return (f"{rest:x}:{''.join(sorted(letters))}" for rest, letters in sorted(arches.items()))
