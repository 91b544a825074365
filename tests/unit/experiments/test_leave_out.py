"""Which bounds would be below, had the program that a figure was chosen with not been seen."""

import pytest

from scripted import scripted

leave_out = scripted("leave_out_experiment")


def launch(program: str, ratio: float, before: float | None) -> object:
    return leave_out.LaunchRatio(program, "k", "32x1x1", "1x1x1", ratio, {} if before is None else {"clock": before})


@pytest.mark.parametrize(
    ("launches", "below"),
    [
        ([("a", 1.1, 0.9), ("a", 1.2, 0.95), ("b", 1.3, 1.1), ("c", 9.0, None)], ["a", "a"]),
        ([("a", 1.1, 0.9), ("b", 1.1, 0.95)], []),
        ([("a", 0.9, 0.8), ("b", 1.3, 1.0)], []),
    ],
    ids=["one program needs the value", "another shows it, too", "a bound that is below anyway"],
)
def test_only_the_launches_of_a_program_that_alone_needs_a_value_would_be_below(launches: list[tuple[str, float, float]], below: list[str]):
    assert [one.program for one in leave_out.decisive([launch(*one) for one in launches], "clock")] == below
