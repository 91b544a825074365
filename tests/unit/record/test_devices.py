"""The devices of the table, and what the user changes of them."""

import pytest

from sassan.errors import UsageError
from sassan.record.devices import DeviceChoice, simulated_device


def test_a_program_for_sm_86_sees_an_rtx_3080():
    device = simulated_device(DeviceChoice(), 86).device
    assert (device.name, device.arch, device.sms, device.memory) == ("NVIDIA GeForce RTX 3080", "sm_86", 68, 10 * 1024**3)


def test_the_numbers_are_those_of_the_table_of_sms():
    numbers = simulated_device(DeviceChoice(), 90).numbers(12090, 13000)
    assert numbers[:3] == (9, 0, 114)
    assert numbers[8:15] == (228 * 1024, 48 * 1024, 227 * 1024, 1024, 2048, 32, 65536)


def test_every_device_of_the_table_has_rules():
    for number in (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121):
        assert len(simulated_device(DeviceChoice(f"sm_{number}"), 86).numbers(1, 1)) == 17


def test_a_device_that_no_table_knows_is_refused():
    with pytest.raises(UsageError) as caught:
        simulated_device(DeviceChoice("sm_42"), 86)
    assert caught.value.code == "no-device"
