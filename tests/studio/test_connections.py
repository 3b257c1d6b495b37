"""Clients that send half of something, or nothing at all, do not keep others from being served."""

import contextlib
import resource
import socket
import time

import httpx
import pytest
from starlette.responses import PlainTextResponse

from groundling.studio import connections
from groundling.studio.security import Security
from tests.studio.conftest import serving


async def echo(scope, receive, send):
    if scope["type"] != "http":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await PlainTextResponse(f"{len(body)}")(scope, receive, send)


@pytest.fixture
def many_files():
    """As many open files as a client of a thousand connections needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_half(address, sent=b"GET /v1/health HTTP/1.1\r\nHost: 127"):
    host, port = address.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)), timeout=10)
    made.sendall(sent)
    return made


def test_connections_a_thousand_half_open_ones_stop_nobody(many_files):
    with serving(Security(echo)) as address:
        half = []
        try:
            for number in range(1100):
                half.append(
                    open_half(address, (b"", b"GET ", b"GET / HTTP/1.1\r\nX: ")[number % 3])
                )
                if number % 100 == 99:
                    began = time.monotonic()
                    assert httpx.get(f"{address}/v1/health", timeout=10).status_code == 200
                    assert time.monotonic() - began < 5
        finally:
            for each in half:
                each.close()


def test_connections_headers_have_a_time_limit(monkeypatch):
    monkeypatch.setattr(connections, "HEADERS", 0.3)
    with serving(Security(echo)) as address:
        half = open_half(address)
        half.settimeout(20)
        assert half.recv(100) == b""  # closed by the server
        half.close()
        assert httpx.get(f"{address}/", timeout=10).status_code == 200


def test_connections_headers_that_trickle_in_have_the_same_limit(monkeypatch):
    monkeypatch.setattr(connections, "HEADERS", 0.5)
    with serving(Security(echo)) as address:
        half = open_half(address, b"GET / HTTP/1.1\r\n")
        closed = False
        for _ in range(200):
            try:
                half.sendall(b"X: y\r\n")
            except OSError:
                closed = True
                break
            time.sleep(0.05)
        assert closed
        half.close()


@pytest.mark.parametrize("length", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
def test_connections_bodies_have_a_time_limit(length):
    with serving(Security(echo, seconds=0.3)) as address:
        half = open_half(address, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + length + b"\r\n\r\n")
        half.settimeout(20)
        assert b" 408 " in half.recv(200)
        half.close()


def test_connections_are_kept_for_the_next_request(monkeypatch):
    monkeypatch.setattr(connections, "HEADERS", 0.5)
    with serving(Security(echo)) as address, httpx.Client() as client:
        for _ in range(4):
            assert client.get(f"{address}/").status_code == 200
            time.sleep(0.3)


@pytest.mark.parametrize(
    "sent", [b"\x00\xff\xfe" * 50, b"GET / HTTP/9.9\r\n\r\n", b"GET \xff HTTP/1.1\r\n\r\n",
             b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000],
)  # fmt: skip
def test_connections_what_is_no_request_is_refused(sent):
    with serving(Security(echo)) as address:
        half = open_half(address, sent)
        half.settimeout(20)
        assert half.recv(20).startswith(b"HTTP/1.1 40")
        half.close()
        assert httpx.get(f"{address}/", timeout=10).status_code == 200


HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
ASKS = b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20


async def large(scope, receive, send):
    """Answer with more than the buffers of a connection hold."""
    if scope.get("path") == "/large":
        await PlainTextResponse("x" * 2**20)(scope, receive, send)
    else:
        await echo(scope, receive, send)


@pytest.mark.parametrize("sent", [HALF_A_BODY, ASKS], ids=["half a body", "answers not read"])
def test_connections_that_wait_for_their_clients_stop_nobody(monkeypatch, sent):
    monkeypatch.setenv("GROUNDLING_LIMIT_CONNECTIONS", "20")
    with serving(Security(large)) as address:
        waiting = [open_half(address, sent) for _ in range(30)]
        try:
            time.sleep(0.5)  # all are at work
            for _ in range(3):
                assert httpx.get(f"{address}/v1/health", timeout=10).status_code == 200
        finally:
            for each in waiting:
                each.close()


def test_connections_whose_answers_are_not_read_have_a_time_limit(monkeypatch):
    monkeypatch.setattr(connections, "STALLED", 0.3)
    with serving(Security(large)) as address:
        asking = open_half(address, ASKS)
        asking.settimeout(20)
        time.sleep(2)
        got = b""
        with contextlib.suppress(ConnectionError):
            while part := asking.recv(2**20):
                got += part
        assert len(got) < 20 * 2**20  # the server ended it before all was sent
        asking.close()
        # Who reads slowly, but reads, gets everything.
        with httpx.stream("GET", f"{address}/large", timeout=20) as answer:
            size = 0
            for part in answer.iter_raw(2**17):
                size += len(part)
                time.sleep(0.1)
        assert size == 2**20
