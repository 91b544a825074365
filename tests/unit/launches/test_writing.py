"""What is written is read again as it was, whatever a program is called."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from sassan.launches import Argument, Buffer, Launches, ProgramDevice, ProgramLaunch
from sassan.launches import parse as parse_launches
from sassan.launches import text as launches_text

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20)
SHAPES = st.tuples(st.integers(1, 16), st.integers(1, 8), st.integers(1, 8))
BUFFERS = st.builds(
    lambda number, offset, host, managed: Buffer(number, offset, 2 * offset, host, host and managed),
    st.integers(1, 9),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)


@st.composite
def arguments(draw: st.DrawFn) -> tuple[Argument, ...]:
    parsed: list[Argument] = []
    offset = 0
    for size in draw(st.lists(st.integers(1, 20), max_size=4)):
        parsed.append(Argument(offset, size, draw(st.integers(0, 2 ** (8 * size) - 1)), draw(st.none() | BUFFERS)))
        offset += size
    return tuple(parsed)


LAUNCHES = st.builds(
    ProgramLaunch,
    TEXTS,
    SHAPES,
    SHAPES,
    st.integers(0, 99),
    st.none() | arguments(),
    st.integers(1, 99),
    st.none() | st.just("sha256:" + "a" * 64),
    st.integers(0, 3),
    st.none() | SHAPES,
    st.booleans(),
    preferred_cluster=st.none() | SHAPES,
    programmatic=st.booleans(),
    carveout=st.none() | st.integers(0, 100),
)
DEVICES = st.builds(ProgramDevice, TEXTS, st.just("sm_90a"), st.integers(1, 200), st.integers(0, 2**40))


WORDS = st.lists(TEXTS, max_size=2).map(tuple)
RECORDINGS = st.builds(
    Launches, st.lists(LAUNCHES, max_size=3).map(tuple), TEXTS, WORDS, st.none() | DEVICES, st.none() | st.integers(-9, 9), TEXTS, WORDS
)


@given(RECORDINGS)
def test_a_recording_is_read_as_it_was_written(recording: Launches):
    assert parse_launches("x", launches_text(recording)) == recording


def test_what_is_no_character_becomes_one():
    text = launches_text(Launches((), "a\udcffb"))
    assert tomllib.loads(text)["program"] == "a\ufffdb"


def test_the_file_states_that_no_kernel_ran():
    assert "no kernel ran" in launches_text(Launches(()))
