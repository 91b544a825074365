"""Instances as files and options spell them; what means nothing is refused by name."""

from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.errors import InputError, UsageError
from sassan.makespan.configuration import capacities, latencies, read
from sassan.strings.kernel_string import parse

L, C, D = Letter.LOAD, Letter.COMPUTE, Letter.DOUBLE

FIGURE_2 = """
kernel = "LC"
warps = 4
[multiprocessor]
units = { L = 16, C = 32 }
"""


def test_capacities_are_whole_numbers_and_fractions():
    assert capacities("L=1, C=4,D=1/32,s=0.5") == {L: 1, C: 4, D: Fraction(1, 32), Letter.SPECIAL: Fraction(1, 2)}
    assert capacities("t=1/8") == {Letter.TENSOR: Fraction(1, 8)}


def test_latencies_are_whole_slots():
    assert latencies("D=8,L=2") == {D: 8, L: 2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("L=0", "bad-capacity"),
        ("L=0/5", "bad-capacity"),
        ("L=1/0", "bad-capacity"),
        ("L=-1", "bad-capacity"),
        ("L=nan", "bad-capacity"),
        ("L=1e9", "bad-capacity"),
        ("L=", "bad-capacity"),
        ("L=99999999", "bad-capacity"),
        ("X=1", "bad-units"),
        ("L", "bad-units"),
        ("", "bad-units"),
        ("L=1,,C=1", "bad-units"),
        ("L=1,L=2", "bad-units"),
    ],
)
def test_a_capacity_that_means_nothing_is_refused(text: str, code: str):
    with pytest.raises(UsageError) as caught:
        capacities(text)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize("text", ["D=0", "D=1.5", "D=-1", "D=x"])
def test_a_latency_that_means_nothing_is_refused(text: str):
    with pytest.raises(UsageError) as caught:
        latencies(text)
    assert caught.value.code == "bad-latency"


def test_lanes_and_the_warp_size_give_the_capacities_of_the_2011_paper():
    configuration = read("x.toml", FIGURE_2)
    assert configuration.capacity == {L: Fraction(1, 2), C: Fraction(1)}
    assert (configuration.strings, configuration.warps, configuration.issue, configuration.engine) == ((parse("LC"),), 4, None, None)


def test_every_key_is_read():
    configuration = read(
        "x.toml",
        'kernel = ["LC", "CL"]\nwarps = 3\n[multiprocessor]\nsm = "6.1"\ncapacity = { L = "1/2" }\nissue = 4\nlatency = { D = 8 }\n'
        '[search]\nengine = "beam"\ntime_limit = 1.5\nseed = 7\n',
    )
    assert configuration.strings == (parse("LC"), parse("CL"))
    assert (configuration.warps, configuration.sm, configuration.capacity, configuration.issue, configuration.latency) == (
        3,
        "6.1",
        {L: Fraction(1, 2)},
        4,
        {D: 8},
    )
    assert (configuration.engine, configuration.time_limit, configuration.seed) == ("beam", 1.5, 7)


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("kernel = ", "config-syntax", "x.toml"),
        ("", "config-value", "kernel"),
        ('kernel = "LC"\nwarp = 4', "config-value", "x.toml: warp: unknown key"),
        ('kernel = "LC"\nwarps = 0', "config-value", "warps"),
        ('kernel = "LC"\nwarps = 2.5', "config-value", "warps"),
        ('kernel = "LC"\nwarps = true', "config-value", "warps"),
        ("kernel = 7", "config-value", "kernel"),
        ("kernel = []", "config-value", "kernel"),
        ('kernel = "LXC"', "string-syntax", "not a kernel string"),
        (
            'kernel = "L"\n[multiprocessor]\nunits = { L = 16 }\ncapacity = { L = 1 }',
            "config-value",
            "multiprocessor.capacity: contradicts",
        ),
        ('kernel = "L"\n[multiprocessor]\nwarp_size = 32', "config-value", "warp_size"),
        ('kernel = "L"\n[multiprocessor]\ncapacity = { L = 0 }', "bad-capacity", "capacity.L"),
        ('kernel = "L"\n[multiprocessor]\ncapacity = { X = 1 }', "config-value", "multiprocessor.capacity.X"),
        ('kernel = "L"\nmultiprocessor = 7', "config-value", "multiprocessor"),
        ('kernel = "L"\n[search]\ntime_limit = 0', "config-value", "time_limit"),
        ('kernel = "L"\n[search]\nseed = -1', "config-value", "seed"),
        ('kernel = "L"\n[search]\nengine = 1', "config-value", "engine"),
    ],
)
def test_a_file_that_is_refused_names_what_is_wrong(text: str, code: str, named: str):
    with pytest.raises(InputError) as caught:
        read("x.toml", text)
    assert caught.value.code == code
    assert named in caught.value.message
