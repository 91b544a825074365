from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from sassan.alphabet import UNITS, Letter
from sassan.strings.fold import Item, Repeat, counts, normal, total
from sassan.strings.fold import Sequence as Items
from sassan.strings.kernel_string import KernelString, LetterRun, Part, RepeatedString, letters, of, parse

LETTERS = st.sampled_from(list(Letter))
RUNS = st.builds(LetterRun, LETTERS, st.integers(1, 3))


def grouped(parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
    return st.builds(lambda row, times: RepeatedString(of(row), times), st.lists(parts, max_size=3), st.integers(0, 3))


STRINGS = st.lists(st.recursive(RUNS, grouped, max_leaves=6), max_size=4).map(of)


def spelled(string: KernelString) -> list[Letter]:
    return list(string.steps())


@given(STRINGS)
def test_what_is_printed_reads_back_as_the_same_string(string: KernelString) -> None:
    assert parse(str(string)) == string


@given(STRINGS)
def test_a_string_read_in_lower_case_is_the_same(string: KernelString) -> None:
    assert parse(str(string).lower()) == string


@given(STRINGS)
def test_the_length_is_that_of_the_expanded_string(string: KernelString) -> None:
    assert string.length + string.barriers == len(spelled(string))


@given(STRINGS)
def test_a_barrier_is_no_instruction(string: KernelString) -> None:
    assert list(string.expand()) == [letter for letter in spelled(string) if letter is not Letter.BARRIER]


@given(STRINGS)
def test_the_counts_are_those_of_the_expanded_string(string: KernelString) -> None:
    assert string.counts() == {letter: spelled(string).count(letter) for letter in UNITS}
    assert string.barriers == spelled(string).count(Letter.BARRIER)


@given(STRINGS, STRINGS)
def test_concatenation_expands_to_concatenation(one: KernelString, two: KernelString) -> None:
    assert spelled(one + two) == spelled(one) + spelled(two)


@given(STRINGS)
def test_the_empty_string_is_neutral(string: KernelString) -> None:
    assert string + KernelString() == string == KernelString() + string


@given(STRINGS, st.integers(0, 4))
def test_a_repeat_expands_to_repetition(string: KernelString, times: int) -> None:
    assert spelled(of([RepeatedString(string, times)])) == spelled(string) * times


@given(STRINGS, st.integers(1, 4), st.integers(1, 4))
def test_repeats_of_one_body_add_up(string: KernelString, one: int, two: int) -> None:
    assert (of([RepeatedString(string, one)]) + of([RepeatedString(string, two)])).length == string.length * (one + two)


@given(st.lists(LETTERS, max_size=12))
def test_letters_in_order_are_kept(row: list[Letter]) -> None:
    assert spelled(letters(row)) == row


@given(STRINGS)
def test_normalising_twice_changes_nothing(string: KernelString) -> None:
    assert of(string.parts) == string


NUMBERS: st.SearchStrategy[Item] = st.integers(0, 3)
SEQUENCES: st.SearchStrategy[Items] = st.lists(
    st.recursive(NUMBERS, lambda inner: st.builds(Repeat, st.lists(inner, max_size=3).map(tuple), st.integers(0, 3)), max_leaves=6),
    max_size=5,
).map(tuple)


def expand(items: Items) -> Iterator[int]:
    for item in items:
        if isinstance(item, Repeat):
            yield from list(expand(item.body)) * item.times
        else:
            yield item


@given(SEQUENCES)
def test_folding_keeps_the_expanded_sequence(items: Items) -> None:
    assert list(expand(normal(items))) == list(expand(items))


@given(SEQUENCES)
def test_the_counts_of_a_folded_sequence_need_no_expansion(items: Items) -> None:
    plain = list(expand(items))
    assert {number: count for number, count in counts(items).items() if count} == {number: plain.count(number) for number in plain}


@given(SEQUENCES)
def test_the_weight_of_a_folded_sequence_needs_no_expansion(items: Items) -> None:
    assert total(items, lambda number: number + 1) == sum(number + 1 for number in expand(items))
