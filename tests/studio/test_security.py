"""What stands before every request."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from groundling.limits import Limit
from groundling.studio.security import Security

TOKEN = "a-long-enough-token"


async def echo(scope, receive, send):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await PlainTextResponse(f"{len(body)}")(scope, receive, send)


def client(**settings):
    return TestClient(Security(echo, **settings), base_url="http://127.0.0.1:8090")


def test_guard_sets_strict_headers():
    answer = client().get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8090", "", "10.0.0.3:80"])
def test_guard_refuses_names_of_others(host):
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", ["127.0.0.1:8090", "localhost:1", "LOCALHOST", "[::1]:8090"])
def test_guard_knows_its_own_names(host):
    assert client().get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_guard_refuses_posts_of_other_pages(headers):
    assert client().post("/", headers=headers).status_code == 403


def test_guard_lets_its_own_page_post_and_links_open():
    own = {"origin": "http://127.0.0.1:8090", "sec-fetch-site": "same-origin"}
    assert client().post("/", headers=own).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client().get("/", headers=link).status_code == 200


def test_guard_limits_bodies_told_and_streamed():
    body, larger = Limit("body", 10, "bytes"), Limit("import", 20, "bytes")
    limited = client(body=body, larger={"/import": larger})
    assert limited.post("/", content=b"x" * 10).text == "10"
    assert limited.post("/", content=b"x" * 11).status_code == 413
    assert limited.post("/import", content=b"x" * 20).text == "20"
    refused = limited.post("/import", content=b"x" * 21)
    assert refused.status_code == 413
    assert "at most 20 bytes; got more. Set GROUNDLING_LIMIT_IMPORT" in refused.json()["detail"]


def test_guard_asks_for_the_token():
    guarded = client(token=TOKEN, open_paths=("/v1/health",))
    assert guarded.get("/").status_code == 401
    assert guarded.get("/?token=wrong").status_code == 401
    assert guarded.get("/v1/health").status_code == 200
    for said in ("Bearer wrong", TOKEN, "Basic " + TOKEN, "Bearer "):
        assert guarded.get("/", headers={"authorization": said}).status_code == 401
    assert guarded.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_guard_keeps_the_token_in_a_cookie_of_this_site_only():
    guarded = client(token=TOKEN)
    answer = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert guarded.get("/anything").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["testserver", "localhost.", "localhost:80:80", "127.0.0.1:", "127.0.0.1:port", "[::1",
     "[::1]x", "127.0.0.1:8090@evil.example", "127.1", "localhost\t", "localhost/",
     "127.0.0.1:99999999"],
)  # fmt: skip
def test_guard_hosts_are_exact(host):
    assert client().get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://[", "http://]", "[", "", "//", "http://127.0.0.1:8090:1", "http://[::1",
               "http://127.0.0.1:8090/", "http://x@127.0.0.1:8090", "ftp://127.0.0.1:8090", "é"],
)  # fmt: skip
def test_guard_origins_that_are_none_are_refused(origin):
    assert client().post("/", headers={"origin": origin.encode()}).status_code == 403


TOKENS = (
    "a+b & c#d %41",
    "päss wörd “ключ”",
    'quote " and \\ and ; and ,',
    "%2B%2B%2B%2B",
    "=" * 9,
)


@pytest.mark.parametrize("token", TOKENS)
def test_guard_tokens_of_any_characters_work_in_the_printed_address(token):
    from groundling.studio.server import Address

    address = Address("127.0.0.1", None, token)
    address.close()
    query = address.url.partition("/?")[2]
    guarded = client(token=token)
    answer = guarded.get(f"/?{query}", follow_redirects=False)
    assert answer.status_code == 303
    assert guarded.get("/anything").status_code == 200  # by the cookie
    fresh = client(token=token)
    assert fresh.get("/anything").status_code == 401
    said = f"Bearer {token}".encode()
    assert fresh.get("/anything", headers={"authorization": said}).status_code == 200
    assert fresh.get("/?token=" + "x" * 9, follow_redirects=False).status_code == 401


@pytest.mark.parametrize(
    "size", ["-1", "1e3", "٣", "²", "9" * 5000, "0x10", ""],
)  # fmt: skip
def test_guard_lengths_that_are_none_are_refused(size):
    answer = client().post("/", content=b"x", headers={"content-length": size.encode()})
    assert answer.status_code == 413
