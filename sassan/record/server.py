"""The socket server for stand-in libraries: a thread per process of the program."""

import contextlib
import socket
import threading
from pathlib import Path
from typing import Self

from sassan.record import protocol
from sassan.record.recorder import ProcessState, Recorder

_DRAIN = 5.0
"""Maximum time in seconds to read the messages left by a program that has exited."""


class Server:
    """Listens at `path` while used as a context manager; on exit it closes all connections, keeping what was recorded."""

    def __init__(self, path: Path, recorder: Recorder) -> None:
        """Prepare a socket; it is bound on entry."""
        self._path = path
        self._recorder = recorder
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._closing = False

    def __enter__(self) -> Self:
        """Listen."""
        self._listener.bind(str(self._path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections."""
        self.close()

    def drain(self) -> None:
        """Read until every process has closed its connection, for a few seconds at most."""
        # Connections are accepted in order: when this one is answered, those of exited processes have been accepted.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
            last.settimeout(_DRAIN)
            last.connect(str(self._path))
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        for thread in list(self._threads):
            thread.join(_DRAIN)

    def close(self) -> None:
        """Close every connection; a process that sends another message then exits."""
        self._closing = True
        for connection in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in list(self._threads):
            thread.join(_DRAIN)

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """Serve a process until it or the recording ends."""
        process = ProcessState()
        try:
            with connection.makefile("rb", buffering=1 << 20) as stream:
                while not self._recorder.ended.is_set():
                    head = stream.read(protocol.HEAD.size)
                    if len(head) < protocol.HEAD.size:
                        return
                    size, kind = protocol.HEAD.unpack(head)
                    payload = stream.read(size) if size <= protocol.MOST else b""
                    if len(payload) < size:
                        return
                    answer = self._recorder.answer(process, chr(kind), payload)
                    if answer is not None:
                        connection.sendall(len(answer).to_bytes(4, "little") + answer)
        except protocol.ProtocolError:
            self._recorder.stop("a process of the program sent an invalid message")
        except (OSError, ValueError):
            return  # the connection was closed: the program or the recording has ended
        finally:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
