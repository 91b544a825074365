"""Messages of the protocol, a line each, of which a line beyond a limit is dropped as it is read."""

import os
import re
from typing import BinaryIO, Self

from anyio.to_thread import run_sync

TOO_LARGE = "message-too-large"
"""The call that stands in place of one that was dropped, so that its client gets an answer."""
_HEAD = re.compile(rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,64}"\s*,)*\s*"id"\s*:\s*(?P<id>[0-9]{1,18}|"[^"\\]{1,64}")\s*[,}]')
_TAIL = re.compile(rb',\s*"id"\s*:\s*(?P<id>[0-9]{1,18}|"[^"\\]{1,64}")\s*\}\s*$')
_BLOCK = 1 << 16


def private_input() -> BinaryIO:
    """Return standard input from a descriptor of its own; what else reads standard input, a process that a call starts, finds it empty."""
    private = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(private, "rb", buffering=_BLOCK)


class BoundedLines:
    """The lines of a stream, as the transport of the protocol iterates over them; memory is bounded by `limit` bytes."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        """Take the stream and the bytes of the longest line."""
        self._stream, self._limit = stream, limit

    def __aiter__(self) -> Self:
        """Return the lines."""
        return self

    async def __anext__(self) -> str:
        """Return the next line; raises StopAsyncIteration at the end of the stream."""
        line = await run_sync(self.next, abandon_on_cancel=True)
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    def next(self) -> bytes:
        """Return the next line, for one beyond the limit a call that is refused, b"" at the end."""
        while line := self._stream.readline(self._limit + 1):
            if len(line) <= self._limit or line.endswith(b"\n"):
                return line
            head, tail = line[:_BLOCK], b""
            while (part := self._stream.readline(_BLOCK)) and not part.endswith(b"\n"):
                tail = (tail + part)[-_BLOCK:]
            number = _HEAD.match(head) or _TAIL.search(tail + part)
            if number is not None:
                return b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s"}}\n' % (number["id"], TOO_LARGE.encode())
        return b""
