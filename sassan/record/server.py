"""The socket that stand-ins connect to: one thread for each process of the program."""

import contextlib
import socket
import threading
from pathlib import Path
from typing import Self

from sassan.record import protocol
from sassan.record.recorder import Process, Recorder

_DRAIN = 5.0
"""Seconds that a program which has ended may leave unread messages for."""


class Server:
    """Listens at `path` while it is used as a context; at its end every connection is closed, and what came before is recorded."""

    def __init__(self, path: Path, recorder: Recorder) -> None:
        """Prepare a socket; it is made on entry."""
        self._path = path
        self._recorder = recorder
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lines: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._closing = False

    def __enter__(self) -> Self:
        """Listen."""
        self._listener.bind(str(self._path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close all."""
        self.close()

    def drain(self) -> None:
        """Read on until every process has closed its end, a few seconds at most."""
        # Connections are accepted in their order: when this one is answered, none of a process that has ended still waits.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
            last.settimeout(_DRAIN)
            last.connect(str(self._path))
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        for thread in list(self._threads):
            thread.join(_DRAIN)

    def close(self) -> None:
        """Close every connection: a process that speaks on ends itself."""
        self._closing = True
        for connection in (self._listener, *self._lines):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in list(self._threads):
            thread.join(_DRAIN)

    def _accept(self) -> None:
        while not self._closing:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self._lines.append(line)
            thread = threading.Thread(target=self._serve, args=(line,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, line: socket.socket) -> None:
        """Answer one process until it ends, or until the recording does."""
        process = Process()
        try:
            with line.makefile("rb", buffering=1 << 20) as stream:
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
                        line.sendall(len(answer).to_bytes(4, "little") + answer)
        except protocol.Broken:
            self._recorder.stop("a process of the program sent a message that cannot be read")
        except (OSError, ValueError):
            return  # the line was closed: the program or the recording has ended
        finally:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
