"""A server of one page on the loopback address, and of events that say when there is a newer one."""

import json
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from time import monotonic
from types import TracebackType
from typing import Any, Self

from sassan.errors import UsageError

_ADDRESS = "127.0.0.1"
_NAMES = (_ADDRESS, "localhost")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_ALIVE = 10.0
"""Seconds after which an event repeats, so that a reader who has gone is noticed."""
_REQUEST = 30.0
"""Seconds for a request to arrive, whole, and for an answer, or an event, to leave."""
_MOST = 256
"""Connections at a time: what comes beyond them is closed at once."""


class PageServer:
    """Serves the newest page in threads of its own, inside a `with` block."""

    def __init__(self, port: int) -> None:
        """Bind the port, 0 for a free one.

        Raises UsageError `port` where it is not free.
        """
        self.changed = threading.Condition()
        self.page = b""
        self.version = ""
        self.busy = True
        self.closed = False
        try:
            self._server = _Server((_ADDRESS, port), _Handler)
        except OSError as error:
            message = f"port {port} cannot be used: {error.strerror or error}"
            raise UsageError("port", message, hint="pass another with --port; 0 takes a free one") from None
        self._server.shown = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{_ADDRESS}:{self._server.server_port}/"

    @property
    def hosts(self) -> frozenset[str]:
        """The values of `Host` that are answered."""
        return frozenset(f"{name}:{self._server.server_port}" for name in _NAMES)

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End all connections."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def working(self) -> None:
        """Tell readers that a newer page is being made."""
        with self.changed:
            self.busy = True
            self.changed.notify_all()

    def publish(self, page: str, version: str) -> None:
        """Replace the page."""
        with self.changed:
            self.page, self.version, self.busy = page.encode(), version, False
            self.changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = _MOST
    shown: PageServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: dict[socket.socket, float] = {}
        """When the request of each connection has to be there."""

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Answer in a thread, unless there are too many."""
        if len(self._open) >= _MOST:
            self.shutdown_request(request)
            return
        self._open[request] = monotonic() + _REQUEST
        super().process_request(request, client_address)

    def arrived(self, request: socket.socket) -> None:
        """Take note that a request is whole."""
        self._open[request] = inf

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as in the base class
        self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End the connections of those who send a request a byte at a time; called several times a second."""
        now = monotonic()
        for request in [request for request, end in list(self._open.items()) if end < now]:
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)  # its thread reads the end, and closes it

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a reader who has gone is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _REQUEST
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - that of the base class is any server

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.arrived(self.connection)
        shown = self.server.shown
        if self.headers.get_all("Host", []) not in ([host] for host in shown.hosts):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.path == "/":
            self._page(shown)
        elif self.path == "/events":
            self._events(shown)
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        """Say nothing of requests."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse without a word of the request."""
        del message, explain
        self.close_connection = True
        self._refuse(HTTPStatus(code))

    def version_string(self) -> str:
        return "sassan"

    def _head(self, status: HTTPStatus, kind: str, size: int | None) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Connection": "close"}.items():
            self.send_header(name, value)
        if size is not None:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def _refuse(self, status: HTTPStatus) -> None:
        text = f"{status.value} {status.phrase}\n".encode()
        self._head(status, "text/plain; charset=utf-8", len(text))
        self.wfile.write(text)

    def _page(self, shown: PageServer) -> None:
        with shown.changed:
            shown.changed.wait_for(lambda: shown.page or shown.closed)
            page = shown.page
        self._head(HTTPStatus.OK, "text/html; charset=utf-8", len(page))
        self.wfile.write(page)

    def _events(self, shown: PageServer) -> None:
        """Send the version of the page, and whether a newer one is being made, at once and at every change."""
        self._head(HTTPStatus.OK, "text/event-stream", None)
        while not shown.closed:
            with shown.changed:
                state = {"version": shown.version, "busy": shown.busy}
            self.wfile.write(f"data: {json.dumps(state)}\n\n".encode())
            self.wfile.flush()
            with shown.changed:
                shown.changed.wait_for(lambda: shown.closed or {"version": shown.version, "busy": shown.busy} != state, _ALIVE)  # noqa: B023 - it is called at once
