"""Messages of a stand-in, and what a program could send in their place."""

import socket
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import PATIENCE
from sassan.launches import ProgramLaunch
from sassan.record import protocol
from sassan.record.devices import DeviceChoice, simulated_device
from sassan.record.protocol import ProtocolError, RawLaunch
from sassan.record.recorder import ProcessState, Recorder
from sassan.record.server import Server


def payload(blocks: int = 4, *arguments: tuple[int, bytes], known: int = 1, stream: int = 0) -> bytes:
    words = (blocks, 1, 1, 64, 1, 1, *(0,) * 9, 16, stream, known, len(arguments), 1)
    head = struct.pack("=Q20I", 1, *words) + b"k"
    return head + b"".join(struct.pack("=II", offset, len(data)) + data for offset, data in arguments)


def recorder(most: int = 10) -> Recorder:
    return Recorder(simulated_device(DeviceChoice(), 86), 12090, 13000, most)


def test_a_launch_is_read_as_the_stand_in_sends_it():
    result = protocol.launch(payload(4, (0, b"\x01\x00"), (8, b"\x02")))
    arguments = ((0, b"\x01\x00"), (8, b"\x02"))
    assert result == RawLaunch(1, "k", (4, 1, 1), (64, 1, 1), None, None, False, False, result.carveout, 16, 0, arguments)


def test_unknown_arguments_are_none():
    assert protocol.launch(payload(known=0)).arguments is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_launch_or_refused(data: bytes):
    try:
        protocol.launch(data)
    except ProtocolError:
        return


@given(st.integers(0, 90))
def test_a_truncated_launch_is_refused(size: int):
    whole = payload(4, (0, b"\x01\x00\x00\x00"), (8, b"\x02\x00\x00\x00"))
    with pytest.raises(ProtocolError):
        protocol.launch(whole[: size % (len(whole) - 1)]) if size else protocol.launch(b"")


def test_a_kernel_of_an_image_that_was_never_shown_is_refused():
    with pytest.raises(ProtocolError):
        recorder().answer(ProcessState(), "K", struct.pack("=Q", 7) + b"k")


@given(
    st.lists(
        st.tuples(st.sampled_from("HIKGOLAFUN?\0"), st.binary(max_size=120) | st.binary(max_size=40).map(lambda end: payload() + end)),
        max_size=8,
    )
)
def test_any_messages_are_answered_or_refused(messages: list[tuple[str, bytes]]):
    recording, process = recorder(), ProcessState()
    for kind, data in messages:
        with suppress(ProtocolError):
            assert isinstance(recording.answer(process, kind, data), bytes | None)
    assert len(recording.launches()) <= 10
    assert recording.images() == ()
    assert all(isinstance(note, str) for note in recording.notes())


@pytest.mark.parametrize(
    "sent", [b"?", b"\xff" * 64, protocol.HEAD.pack(protocol.MOST + 1, ord("I")), protocol.HEAD.pack(2, ord("L")) + b"no"]
)
def test_a_program_that_sends_rubbish_ends_its_connection_alone(sent: bytes, tmp_path: Path):
    recording = recorder()
    with Server(tmp_path / "socket", recording), socket.socket(socket.AF_UNIX) as program:
        program.settimeout(PATIENCE)
        program.connect(str(tmp_path / "socket"))
        program.sendall(sent)
        program.shutdown(socket.SHUT_WR)
        assert program.recv(1) == b""
    assert recording.launches() == ()
    assert recording.error is None


def test_a_message_of_an_unknown_kind_is_refused():
    with pytest.raises(ProtocolError):
        recorder().answer(ProcessState(), "?", b"")


def test_equal_launches_are_counted_and_others_begin_a_row():
    recording, process = recorder(), ProcessState()
    for blocks in (4, 4, 5, 4):
        recording.answer(process, "L", payload(blocks, known=0))
    rows = [(launch.grid[0], launch.count) for launch in recording.launches()]
    assert rows == [(4, 2), (5, 1), (4, 1)]


def test_launches_on_different_streams_are_different():
    recording, process = recorder(), ProcessState()
    for stream in (0, 1):
        recording.answer(process, "L", payload(known=0, stream=stream))
    assert recording.launches() == tuple(ProgramLaunch("k", (4, 1, 1), (64, 1, 1), 16, None, 1, None, stream) for stream in (0, 1))


def test_a_recording_ends_before_one_row_too_many():
    recording, process = recorder(2), ProcessState()
    for blocks in range(1, 9):
        recording.answer(process, "L", payload(blocks, known=0))
    assert recording.ended.is_set()
    assert len(recording.launches()) == 2
    assert recording.cut == "after 2 launches: 2 distinct consecutive launches (--max-launches)"


def test_an_image_that_cannot_be_read_is_a_note_and_its_kernels_are_unknown():
    recording, process = recorder(), ProcessState()
    recording.answer(process, "I", struct.pack("=Q", 1) + b"no image")
    assert recording.answer(process, "K", struct.pack("=Q", 1) + b"k") == protocol.UNREADABLE
    assert [text for text in recording.notes() if "cannot be used, so arguments of its kernels are unknown" in text]
