"""The server of a page against clients that mean no good, over real sockets."""

import socket
import threading
from collections.abc import Iterator

import pytest

from sassan.serve import server as module
from sassan.serve.server import PageServer

PAGE = "<p>secret</p>"


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(0) as running:
        running.publish(PAGE, "1")
        yield running


def port(server: PageServer) -> int:
    return int(server.url.rsplit(":", 1)[1].strip("/"))


def connected(server: PageServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port(server)), timeout=20)


def exchanged(server: PageServer, request: bytes) -> bytes:
    """Return all that is answered to some bytes."""
    with connected(server) as client:
        client.sendall(request)
        return whole(client)


def whole(client: socket.socket) -> bytes:
    answer = b""
    try:
        while data := client.recv(1 << 16):
            answer += data
    except ConnectionResetError:
        pass
    return answer


def asked(server: PageServer, method: str = "GET", path: str = "/", *hosts: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"Host: {host}" for host in hosts or (f"localhost:{port(server)}",)), "", ""]
    return exchanged(server, "\r\n".join(lines).encode("latin-1"))


def test_the_host_of_the_page_is_answered_and_no_other(server: PageServer):
    assert PAGE.encode() in asked(server)
    good = f"127.0.0.1:{port(server)}"
    for hosts in (("evil.example",), (f"evil.example:{port(server)}",), (good, "evil.example"), (f"{good}@evil",), ("[::1]",), ("",)):
        assert asked(server, "GET", "/", *hosts).startswith(b"HTTP/1.1 421 ")
    for request in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"GET /\r\n\r\n"):
        assert b"secret" not in exchanged(server, request)


def test_one_method_and_two_paths_are_answered(server: PageServer):
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "<script>"):
        answer = asked(server, method)
        assert answer.startswith(b"HTTP/1.1 501 ")
        assert b"secret" not in answer
        assert b"<script>" not in answer
    for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/events/..", "/?", "http://evil.example/", "/\x00", "*"):
        assert b" 404 " in asked(server, "GET", path).split(b"\r\n")[0]


def test_what_is_too_large_is_refused(server: PageServer):
    assert exchanged(server, b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n")[9:12] in {b"414", b""}
    assert exchanged(server, b"GET / HTTP/1.1\r\nHost: " + b"a" * 70_000 + b"\r\n\r\n")[9:12] in {b"431", b""}
    assert exchanged(server, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n")[9:12] in {b"431", b""}
    assert PAGE.encode() in asked(server)


def test_a_client_that_sends_a_byte_at_a_time_is_let_go(server: PageServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_REQUEST", 0.5)
    with connected(server) as slow:
        done = threading.Event()

        def trickle() -> None:
            while not done.wait(0.05):
                try:
                    slow.send(b"G")
                except OSError:
                    return

        sender = threading.Thread(target=trickle)
        sender.start()
        assert b"secret" not in whole(slow)
        done.set()
        sender.join()


def test_many_connections_at_once_are_answered_and_the_next_ones_are_closed(server: PageServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST", 210)
    head = f"GET /events HTTP/1.1\r\nHost: localhost:{port(server)}\r\n\r\n".encode()
    readers = [connected(server) for _ in range(200)]
    idle = [connected(server) for _ in range(5)]
    try:
        for reader in readers:
            reader.sendall(head)
        assert all(reader.recv(12) == b"HTTP/1.1 200" for reader in readers)
        assert PAGE.encode() in asked(server)
        idle += [connected(server) for _ in range(20)]
        assert b"secret" not in asked(server)
    finally:
        for client in (*readers, *idle):
            client.close()
    for _ in range(100):  # those who have gone make room
        if PAGE.encode() in asked(server):
            break
        server.working()
        threading.Event().wait(0.05)
    else:
        pytest.fail("the connections that have ended are counted on")


def test_the_end_of_the_server_ends_its_readers(server: PageServer):
    with connected(server) as reader:
        reader.sendall(f"GET /events HTTP/1.1\r\nHost: localhost:{port(server)}\r\n\r\n".encode())
        seen = b""
        while b"data: " not in seen:
            seen += reader.recv(1 << 16)
        server.__exit__(None, None, None)
        whole(reader)  # it ends
