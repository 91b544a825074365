"""From what a disassembler prints of encodings, bit after bit, to the models of `sassan/isa/encoding_models.py`."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from operator import or_
from random import Random

from sassan.isa import control
from sassan.isa.encoding_models import COMPARED, CONTROL, NO_OPERANDS, REUSE, REUSING, UNSET, BitRun, EncodedField, ValueEncoding, listed
from sassan.isa.spelling import Written, written

Oracle = Callable[[Sequence[int]], Sequence[str]]
"""Returns the text of each encoding, '' for one that it refuses."""
Features = tuple[str, ...]
Form = tuple[str, str, Features]
"""A name, a shape, and features."""
_Sample = tuple[Written, int]
"""A text and its encoding."""
_ODD = re.compile(r"INV|\?|UNDEF|UNK|RESERV|BAD|ERR|SR[0-9]+\b")
"""Words for what no compiler writes."""
_BYTE = 8
_WIDTHS = {"R": 8, "P": 3, "UP": 3, "B": 4, "SB": 3}
"""The bits of a register of each file; those of a uniform one are more since Blackwell."""
_ROUNDS = 3
_PER_FORM, _SEEN = 3, 60
"""Encodings of a form of which bits may be flipped, and that its places of values are held against."""
_WHOLLY = 3
"""Encodings of a shape of which all bits are flipped; of the others, those that are not of a value."""
_WHOLE = {"f": 32, "d": 64, "h": 16}
"""The bits of each kind of floats."""
_IDLE = 0x7F1
"""A control code that sets no barrier."""


@dataclass
class _Shape:
    """What has been seen of the texts of a shape that hold their values in the same bits."""

    printed: dict[int, int] = field(default_factory=dict)
    """Of each value, the bits that it changes with."""
    deltas: defaultdict[tuple[int, int], Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """By value and bit, by how much it does."""
    seen: list["_Sample"] = field(default_factory=list)
    forms: dict[Features, "_Form"] = field(default_factory=dict)
    places: list[tuple[int, EncodedField]] | None = None
    """The places of its registers and integers, None while more is seen."""
    neighbours: dict[Features, "_Sample"] = field(default_factory=dict)
    """Other forms, with an encoding of each."""

    @property
    def mask(self) -> int:
        """The bits of all values."""
        return reduce(or_, self.printed.values(), 0)

    def holds(self, sample: "_Sample", printed: Mapping[int, int]) -> bool:
        """Whether the values of another encoding may be in the bits of those that were seen."""
        parts, word = sample
        first, other = self.seen[0]
        for value, mask in printed.items():
            if not mask & self.printed.get(value, mask):
                return False
            before, after = _offset(first.values[value], other, mask), _offset(parts.values[value], word, mask)
            if before is not None and after is not None and before != after:
                return False
        return True


@dataclass
class _Form:
    """The bits that a form changes with, those that it does not, and one of its encodings."""

    word: int
    genuine: bool
    care: int = 0
    free: int = 0


Key = tuple[str, str, int]
"""A name, a shape, and a value of the opcode field."""


@dataclass
class Learnt:
    """A shape of one architecture, ready to be joined with those of others."""

    slots: tuple[ValueEncoding, ...]
    forms: dict[Features, "_Form"]


class Learner:
    """Learns the encodings of one architecture."""

    def __init__(self, table: str, oracle: Oracle) -> None:
        """Begin with nothing; the oracle prints encodings."""
        self._table, self._oracle = table, oracle
        self._bits = range(COMPARED[table].bit_length())
        self._reuse = REUSE[table]
        self._found: set[tuple[Key, Features]] = set()
        self.reusing: set[str] = set()
        """The names whose registers are marked where they are read again, and those that refuse to be."""
        self.barriers: dict[Form, set[str]] = {}
        """Of each form, which barriers it can set."""
        self._shapes: defaultdict[Key, list[_Shape]] = defaultdict(list)

    def learn(self, words: Iterable[int]) -> dict[Key, list[Learnt]]:
        """Learn from the encodings of a compiler, without their control codes, and from those that differ from them by some bits."""
        draw = Random(1)  # noqa: S311 - reproducible, no secret
        words = sorted({word & COMPARED[self._table] for word in words})
        forms: defaultdict[Key, defaultdict[Features, list[_Sample]]] = defaultdict(lambda: defaultdict(list))
        for text, word in zip(self._oracle(words), words, strict=True):
            if text:
                parts = written(text)
                forms[self._key(parts, word)][parts.features].append((parts, word))
        first: list[_Sample] = []
        others: list[_Sample] = []
        seen: list[_Sample] = []
        for by_features in forms.values():
            drawn = [draw.sample(each, min(len(each), _PER_FORM)) for _, each in sorted(by_features.items())]
            several = [sample for each in zip_longest(*drawn) for sample in each if sample is not None]
            first += several[:_WHOLLY]
            others += [each[0] for each in drawn if each[0] not in several[:_WHOLLY]]
            seen += [sample for each in by_features.values() for sample in each[:_SEEN]]
        found = self._wholly(first)
        for sample in seen:
            for shape in self._shapes_of(sample):
                shape.seen.append(sample)
        for shapes in self._shapes.values():
            for shape in shapes:
                shape.places = None
        found += self._partly(others, genuine=True)
        for _ in range(_ROUNDS):
            found = self._partly(self._new(found), genuine=False)
        self._new(found)
        self._partly([sample for shapes in self._shapes.values() for shape in shapes for sample in _open(shape)], genuine=False)
        self._set()
        return {key: [Learnt(self._slots(shape), shape.forms) for shape in shapes] for key, shapes in self._shapes.items()}

    def _set(self) -> None:
        """Have an encoding of each form set each barrier."""
        words = [
            ((name, shape, features), form.word)
            for (name, shape, _), shapes in self._shapes.items()
            for each in shapes
            for features, form in each.forms.items()
        ]
        codes = {kind: _IDLE ^ control.NO_BARRIER << first for kind, first in zip(UNSET, control.PLACES, strict=True)}
        texts = iter(self._oracle([word | code << CONTROL[self._table] for _, word in words for code in codes.values()]))
        for form, _ in words:
            self.barriers.setdefault(form, set()).update([kind for kind in codes if next(texts)])

    def _key(self, parts: Written, word: int) -> Key:
        return parts.name, parts.shape, code_of(self._table, word)

    def _wholly(self, chosen: list[_Sample]) -> list[_Sample]:
        """Flip each bit of encodings of a compiler; return the outcomes of other forms."""
        texts = iter(self._oracle([word ^ 1 << bit for _, word in chosen for bit in (*self._bits, *self._reuse)]))
        found: list[_Sample] = []
        for parts, word in chosen:
            others = {bit: next(texts) for bit in self._bits}
            marked = [next(texts) for _ in self._reuse]
            if any(".reuse" in text or not text for text in marked):
                self.reusing.add(parts.name)
            printed: defaultdict[int, int] = defaultdict(int)
            for bit, text in others.items():
                for index in _differing(parts, text):
                    printed[index] |= 1 << bit
            shapes = self._shapes[self._key(parts, word)]
            shape = next((each for each in shapes if each.holds((parts, word), printed)), None)
            if shape is None:
                shape = _Shape()
                shapes.append(shape)
            for index, mask in printed.items():
                shape.printed[index] = shape.printed.get(index, 0) | mask
            shape.seen.append((parts, word))
            found += self._outcomes(shape, (parts, word), others, genuine=True)
        return found

    def _partly(self, chosen: list[_Sample], *, genuine: bool) -> list[_Sample]:
        """Flip the bits of encodings that belong to no value; return the outcomes of other forms."""
        placed = [(sample, shape) for sample in chosen for shape in self._shapes_of(sample)[:1]]
        bits = [[bit for bit in self._bits if not shape.mask >> bit & 1] for _, shape in placed]
        texts = iter(self._oracle([word ^ 1 << bit for ((_, word), _), each in zip(placed, bits, strict=True) for bit in each]))
        found: list[_Sample] = []
        for (sample, shape), each in zip(placed, bits, strict=True):
            found += self._outcomes(shape, sample, {bit: next(texts) for bit in each}, genuine=genuine)
        return found

    def _shapes_of(self, sample: _Sample) -> list[_Shape]:
        """Return what has been seen of a shape, and agrees with an encoding."""
        parts, word = sample
        out: list[_Shape] = []
        for shape in self._shapes.get(self._key(parts, word), ()):
            if shape.places is None:
                places = ((index, place) for index in shape.printed for place in self._places(shape, index))
                shape.places = [(index, place) for index, place in places if place.kind in "ri"]
            if all(_agrees(place, parts.values[index], word) for index, place in shape.places):
                out.append(shape)
        return out

    def _outcomes(self, shape: _Shape, sample: _Sample, texts: Mapping[int, str], *, genuine: bool) -> Iterator[_Sample]:
        """Take what is printed after a flip of each bit; yield what has another form, as a compiler might write it."""
        parts, word = sample
        form = shape.forms.setdefault(parts.features, _Form(word, genuine))
        for bit, text in texts.items():
            other = written(text) if text else None
            if other is None or other[:3] != parts[:3]:
                form.care |= 1 << bit
                if other is not None and not _ODD.search(text):
                    yield other, word ^ 1 << bit
                continue
            differing = _differing(parts, text)
            form.care |= bool(differing) << bit  # unless a place holds it
            for index in differing:
                before, after = _number(parts.values[index]), _number(other.values[index])
                if before is not None and after is not None and before[0] == after[0]:
                    delta = after[1] - before[1]
                    shape.deltas[index, bit][-delta if word >> bit & 1 else delta] += 1
            if not differing:
                form.free |= 1 << bit

    def _new(self, found: list[_Sample]) -> list[_Sample]:
        """Return encodings of a shape that compilers write, one for each feature that is new in it."""
        out: list[_Sample] = []
        known: dict[Key, set[str]] = {}
        for parts, word in found:
            key = self._key(parts, word)
            if key not in self._shapes:
                continue
            if (key, parts.features) not in self._found:
                self._found.add((key, parts.features))
                for shape in self._shapes_of((parts, word)):
                    shape.neighbours[parts.features] = (parts, word)
            features = known.setdefault(key, {feature for shape in self._shapes[key] for form in shape.forms for feature in form})
            if not features.issuperset(parts.features):
                features.update(parts.features)
                out.append((parts, word))
        return out

    def _slots(self, shape: _Shape) -> tuple[ValueEncoding, ...]:
        return tuple(self._slot(shape, index) for index in range(len(shape.seen[0][0].values)))

    def _slot(self, shape: _Shape, index: int) -> ValueEncoding:
        seen = [(parts.values[index], word) for parts, word in shape.seen]
        if index not in shape.printed:
            values = {value for value, _ in seen}
            return ValueEncoding(constant=next(iter(values))) if len(values) == 1 else ValueEncoding()
        places = list(self._places(shape, index))
        all_of = [place for place in places if all(_agrees(place, *each) for each in seen)]
        # MUFU.RSQ has a float, and MUFU.RCP64H the upper half of one.
        some_of = places if all(any(_agrees(place, *each) for place in places) for each in seen) else []
        return ValueEncoding(tuple(all_of or some_of))

    def _places(self, shape: _Shape, index: int) -> Iterator[EncodedField]:
        mask = shape.printed[index]
        shifts: dict[int, int] = {}
        for bit in self._bits:
            if deltas := shape.deltas.get((index, bit)):
                (delta, _), *others = deltas.most_common()
                if not others and abs(delta).bit_count() == 1:
                    shifts[bit] = abs(delta).bit_length() - 1
        if any(parts.values[index][0] in "URPSB" for parts, _ in shape.seen):
            # RZ and PT are no numbers, and there is no SB7: the bits of a register follow each other.
            file = next(parts.values[index].rstrip("0123456789ZT") for parts, _ in shape.seen)
            lows = Counter(bit - shift for bit, shift in shifts.items())
            low = lows.most_common(1)[0][0] if lows else (mask & -mask).bit_length() - 1
            bits = _WIDTHS.get(file) or next(bits for bits in range(_BYTE + 1) if bits == _BYTE or not mask >> low + bits & 1)
            place = EncodedField("r", (BitRun(low, bits, 0),))
            seen = ((_number(parts.values[index]), word) for parts, word in shape.seen)
            offsets = {number[1] - place.of(word) for number, word in seen if number is not None} or {0}
            if bits and len(offsets) == 1 and (offset := offsets.pop()) >= 0:
                yield EncodedField("r", place.runs, offset)
            return
        if not shifts:
            yield from _floats(mask)
            return
        place = EncodedField("i", tuple(_runs(shifts)))
        first = place.runs[0]
        if first.shift and not all(_agrees(place, parts.values[index], word) for parts, word in shape.seen):
            # Where the lowest bits change, 0 is not printed.
            place = EncodedField("i", (BitRun(first.first - first.shift, first.bits + first.shift, 0), *place.runs[1:]))
        yield place


def code_of(table: str, word: int) -> int:
    """Return the value of the opcode field; until Pascal modifiers and predicates are among its bits."""
    return 0 if table == "maxwell" else word & 0xFFF


def _open(shape: _Shape) -> Iterator[_Sample]:
    """Yield neighbours whose features no others say how to put together."""
    systems: defaultdict[int, _System] = defaultdict(_System)
    for features, form in shape.forms.items():
        systems[form.care & ~form.free & ~shape.mask].take(features)
    for features, sample in sorted(shape.neighbours.items()):
        unknown = [system.take(features) for system in systems.values()]
        if all(unknown):
            yield sample


def _differing(parts: Written, text: str) -> list[int]:
    """The indices of the values that differ from those of a text of the same form."""
    other = written(text) if text else None
    if other is None or other[:3] != parts[:3]:
        return []
    return [index for index, pair in enumerate(zip(parts.values, other.values, strict=True)) if pair[0] != pair[1]]


def _number(value: str) -> tuple[str, int] | None:
    """The index of a register or an integer, with its kind; None for another value."""
    if value[0] in "URPSB":
        digits = value.lstrip("URPSB")
        return ("r", int(digits)) if digits.isdigit() else None
    return ("i", int(value, 16)) if "0x" in value else None


def _offset(value: str, word: int, mask: int) -> int | None:
    """By how much the index of a register is more than the byte that begins with the first bit of a mask."""
    number = _number(value) if value[0] == "R" else None
    return None if number is None else number[1] - (word >> (mask & -mask).bit_length() - 1 & 0xFF)


def _agrees(place: EncodedField, value: str, word: int) -> bool:
    pattern = place.pattern(value)
    return pattern is None or word & pattern.mask == pattern.value


def _runs(shifts: dict[int, int]) -> Iterator[BitRun]:
    """The runs of bits with growing shifts; where some are missing between them, the disassembler refuses other values."""
    first = last = -1
    for bit, shift in sorted(shifts.items()):
        if first < 0:
            first = bit
        elif shift - shifts[first] != bit - first:
            yield BitRun(first, last - first + 1, shifts[first])
            first = bit
        last = bit
    yield BitRun(first, last - first + 1, shifts[first])


def _floats(mask: int) -> Iterator[EncodedField]:
    """The places of floats whose bits follow each other, but for a sign that is elsewhere."""
    low = (mask & -mask).bit_length() - 1
    count = 0
    while mask >> low + count & 1:
        count += 1
    rest = mask >> low + count
    for kind, whole in _WHOLE.items():
        if count + (rest != 0) > whole:
            continue
        if not rest:
            yield EncodedField(kind, (BitRun(low, count, whole - count),))
            if kind != "d" and count < whole <= low + count:  # of what is not a number, most bits are not printed
                yield EncodedField(kind, (BitRun(low + count - whole, whole, 0),))
        elif rest.bit_count() == 1:
            yield EncodedField(kind, (BitRun(low, count, whole - 1 - count), BitRun(mask.bit_length() - 1, 1, whole - 1)))


@dataclass
class _System:
    """The linear system of the features of a model over two elements: which bits each changes."""

    rows: dict[str, tuple[frozenset[str], int]] = field(default_factory=dict)
    """By pivot: the features of a row, in reduced form, and the bits that they have together; `` is the base."""

    def reduced(self, features: frozenset[str], value: int) -> tuple[frozenset[str], int]:
        """Return what is left of a form without the pivots of the rows."""
        for pivot in features & self.rows.keys():
            row, bits = self.rows[pivot]
            features, value = features ^ row, value ^ bits
        return features, value

    def take(self, features: Features) -> bool:
        """Take features whose bits do not matter; return whether no others say how they are put together."""
        left, value = self.reduced(frozenset({"", *features}), 0)
        if left:
            self.add(left, value)
        return bool(left)

    def add(self, features: frozenset[str], value: int) -> None:
        """Take a row that is reduced, and not empty."""
        pivot = min(features)
        for other, (row, bits) in self.rows.items():
            if pivot in row:
                self.rows[other] = (row ^ features, bits ^ value)
        self.rows[pivot] = (features, value)


@dataclass
class Group:
    """Forms that one model describes."""

    code: int
    slots: tuple[ValueEncoding, ...]
    care: int
    arches: set[str] = field(default_factory=set)
    system: _System = field(default_factory=_System)
    features: set[str] = field(default_factory=set)

    def takes(self, features: Features, value: int) -> bool:
        """Whether the model describes a form; it does from then on, if it does not contradict those that it had."""
        left, bits = self.system.reduced(frozenset({"", *features}), value & self.care)
        if left:
            self.system.add(left, bits)
        elif bits:
            return False
        self.features |= {*features}
        return True

    def row(self, table: str) -> str:
        """Return the line of the data."""
        free = {feature for row, _ in self.system.rows.values() for feature in row} - self.system.rows.keys()
        weights = {pivot: bits for pivot, (_, bits) in self.system.rows.items()} | dict.fromkeys(free, 0)
        ties = []
        for feature in sorted(free):
            tie = {feature, *(pivot for pivot, (row, _) in self.system.rows.items() if feature in row)}
            ties.append(("" if "" in tie else "0:") + ",".join(sorted(tie - {""})))
        slots = 0
        for slot in self.slots:
            slots |= slot.mask
        ignored = listed(COMPARED[table] & ~slots & ~self.care)
        changed = " ".join(f"{feature}={listed(weights[feature])}" for feature in sorted(self.features))
        fields = ("".join(sorted(self.arches)), " ".join(map(str, self.slots)), ignored, listed(weights.get("", 0)), changed)
        return "\t" + "\t".join((*fields, " ".join(ties)))


def unset(barriers: Iterable[Mapping[Form, set[str]]]) -> Iterator[str]:
    """Yield the lines of the data on what sets no barriers, on no architecture.

    Those are names, shapes of names of which others can, and forms of shapes of which others can.
    """
    known: defaultdict[Form, set[str]] = defaultdict(set)
    for each in barriers:
        for form, kinds in each.items():
            known[form] |= kinds
    for kind in UNSET:
        can = {part for form, kinds in known.items() if kind in kinds for part in _parts(form)}
        without = {next(part for part in _parts(form) if part not in can) for form, kinds in known.items() if kind not in kinds}
        if without:
            yield f"\n{kind}\n{' '.join(sorted(without))}"


def _parts(form: Form) -> tuple[str, str, str]:
    """A name, with its shape, and with its features, as in the data."""
    name, shape, features = form
    return name, f"{name}:{shape}", f"{name}:{shape}:{''.join(features)}"


def joined(table: str, learnt: Mapping[str, Mapping[Key, Sequence[Learnt]]], learners: Sequence[Learner]) -> Iterator[str]:
    """Yield the lines of the data: what was learnt of each architecture, by its letter."""
    yield f"\n{REUSING}\n{' '.join(sorted({name for each in learners for name in each.reusing}))}"
    yield from unset(each.barriers for each in learners)
    groups: defaultdict[str, defaultdict[str, list[Group]]] = defaultdict(lambda: defaultdict(list))
    for genuine in (True, False):
        for letter, keys in learnt.items():
            for (name, shape, code), several in sorted(keys.items(), key=lambda item: item[0]):
                for known in several:
                    _place(groups[name][shape], letter, code, known, genuine=genuine)
    for name, shapes in sorted(groups.items()):
        yield f"\n{name}"
        for shape, each in sorted(shapes.items()):
            yield shape or NO_OPERANDS
            for group in each:
                yield group.row(table)


def _place(groups: list[Group], letter: str, code: int, known: Learnt, *, genuine: bool) -> None:
    """Put the forms of a shape where they belong: into a group that describes them, or a new one."""
    values = reduce(or_, (slot.mask for slot in known.slots), 0)
    for features, form in sorted(known.forms.items()):
        if form.genuine is not genuine:
            continue
        care = form.care & ~form.free & ~values
        like = (group for group in groups if (group.code, group.slots, group.care) == (code, known.slots, care))
        group = next((group for group in like if group.takes(features, form.word)), None)
        if group is None:
            group = Group(code, known.slots, care)
            group.takes(features, form.word)
            groups.append(group)
        group.arches.add(letter)
