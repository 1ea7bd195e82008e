"""Reading pictures where they are: what an attacker's list, host or redirect may not do."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from lookalike.images import remote as module
from lookalike.images.manifest import path_of
from lookalike.images.remote import Remote, RemoteError
from tests.picture_host import PictureHost, picture_host, status

MIB = 2**20


@pytest.fixture(scope="module")
def server() -> Iterator[PictureHost]:
    with picture_host() as host:
        yield host


@pytest.fixture
def host(server: PictureHost, monkeypatch: pytest.MonkeyPatch) -> PictureHost:
    server.files, server.answers, server.asked = {"a.jpg": b"picture"}, {}, []
    monkeypatch.setattr(module, "WAITS", (0.0, 0.0))
    return server


def remote(host: PictureHost, **options: Any) -> Remote:
    return Remote(**{"private_hosts": (host.name,), **options})


def test_a_picture_is_read_from_a_listed_host(host: PictureHost) -> None:
    assert remote(host).read(host.url("a.jpg"), MIB) == b"picture"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "names no host"),
        ("ftp://img.example.org/a.jpg", "does not begin with http"),
        ("gopher://img.example.org/a.jpg", "does not begin with http"),
        ("https://user:pass@img.example.org/a.jpg", "a user or password"),
        ("https://img.example.org/a.jpg?X-Amz-Signature=abc", "a secret"),
        ("https://img.example.org/a.jpg?size=2&token=abc", "a secret"),
        ("https://evil.example/a.jpg", "evil.example is not one of REMOTE_HOSTS"),
        ("https://img.example.org.evil.example/a.jpg", "not one of REMOTE_HOSTS"),
        ("https://notimg.example.org/a.jpg", "not one of REMOTE_HOSTS"),
        ("https://img.example.org:22/a.jpg", "img.example.org:22 is not one of REMOTE_HOSTS"),
        ("https://img.example.org:99999/a.jpg", "it is no address"),
        ("https://img.example.org/a b.jpg", "printable ASCII"),
        ("https://img.example.org/a.jpg\r\nX: y", "printable ASCII"),
        ("https://[::1]/a.jpg", "not one of REMOTE_HOSTS"),
        ("https://img.example.org@127.0.0.1/", "a user or password"),
        ("http://2130706433/", "not one of REMOTE_HOSTS"),
        ("s3://other/a.jpg", "not one of REMOTE_S3_BUCKETS"),
        ("s3://shop/", "names no object"),
        ("a.jpg", "names no host"),
        ("", "names no host"),
    ],
)
def test_an_address_that_is_not_allowed_is_refused_before_it_is_asked(url: str, words: str) -> None:
    allowed = Remote(hosts=("img.example.org",), buckets=("shop",))
    with pytest.raises(RemoteError, match=words) as caught:
        allowed.check(url)
    assert "pass" not in str(caught.value).replace("password", "")
    assert "abc" not in str(caught.value)


def test_names_below_a_host_are_allowed_by_a_star_alone() -> None:
    allowed = Remote(hosts=("*.example.org", "exact.example.net:8443"))
    allowed.check("https://a.b.example.org/1.jpg")
    allowed.check("https://exact.example.net:8443/1.jpg")
    for url in ("https://example.org/1.jpg", "https://exact.example.net/1.jpg"):
        with pytest.raises(RemoteError):
            allowed.check(url)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1",
                                     "::ffff:192.168.0.1", "100.64.0.1", "0.1.2.3"])  # fmt: skip
def test_a_listed_host_that_leads_inside_is_not_connected_to(
    address: str, host: PictureHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lookup(name: str, port: int, **_: Any) -> list[Any]:
        return [(0, 0, 0, "", ("9.9.9.9", port)), (0, 0, 0, "", (address, port))]

    def connect(*_: Any, **__: Any) -> None:
        raise AssertionError("it was connected to")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(RemoteError, match="not on the public internet"):
        Remote(hosts=("img.example.org",)).read("http://img.example.org/a.jpg", MIB)


def test_a_listed_public_host_may_not_be_this_machine(host: PictureHost) -> None:
    with pytest.raises(RemoteError, match="not on the public internet"):
        Remote(hosts=(host.name,)).read(host.url("a.jpg"), MIB)
    assert host.asked == []


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:1/inside", "http://169.254.169.254/latest/", "file:///etc/passwd",
     "https://evil.example/", "http://user:pw@127.0.0.1/"],
)  # fmt: skip
def test_a_redirect_leads_nowhere_that_the_list_could_not(target: str, host: PictureHost) -> None:
    host.answers["go"] = status(302, Location=target)
    with pytest.raises(RemoteError):
        remote(host).read(host.url("go"), MIB)
    assert host.asked == ["go"]


@pytest.mark.parametrize(
    ("code", "headers"),
    [(302, {"Location": "//["}), (302, {"Location": "http://127.0.0.1:x/"}),
     (503, {"Retry_After": "²"}), (503, {"Retry_After": "9" * 400})],
)  # fmt: skip
def test_headers_that_make_no_sense_cost_their_picture_alone(
    code: int, headers: dict[str, str], host: PictureHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAIT", 0.0)
    host.answers["odd"] = status(code, **headers)
    with pytest.raises(RemoteError, match=r"answered 503|it is no address"):
        remote(host).read(host.url("odd"), MIB)


@pytest.mark.parametrize("key", ["../other/a.jpg", "a/%2e%2e/%2E%2E/other/a.jpg", "./a.jpg"])
def test_a_key_does_not_climb_out_of_its_bucket(key: str) -> None:
    with pytest.raises(RemoteError, match=r"“\.” or “\.\.” in its key"):
        Remote(buckets=("ours",)).check(f"s3://ours/{key}")


@pytest.mark.parametrize("key", ["a#1.jpg", "what?.jpg", "a?x=1#2.jpg", "a%20b#?.jpg"])
def test_a_key_is_read_whole_and_names_its_picture(key: str, host: PictureHost) -> None:
    asked: list[tuple[str, str]] = []

    def sign(bucket: str, key: str) -> str:
        asked.append((bucket, key))
        return host.url("object")

    host.files["object"] = b"picture"
    signed = remote(host, private_hosts=(), buckets=("shop",), sign=sign)
    assert signed.read(f"s3://shop/{key}", MIB) == b"picture"
    assert asked == [("shop", key.replace("%20", " "))]
    assert path_of(f"s3://shop/{key}") == f"shop/{key.replace('%20', ' ')}"


def test_a_redirect_to_a_listed_host_that_leads_inside_is_refused(
    host: PictureHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.answers["go"] = status(302, Location="http://img.example.org/a.jpg")
    looked_up = socket.getaddrinfo

    def lookup(name: str, *arguments: Any, **options: Any) -> list[Any]:
        name = "127.0.0.1" if name == "img.example.org" else name
        return looked_up(name, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(RemoteError, match="not on the public internet"):
        remote(host, hosts=("img.example.org",)).read(host.url("go"), MIB)


def test_a_redirect_within_the_list_is_followed_three_times(host: PictureHost) -> None:
    for number in range(4):
        host.answers[str(number)] = status(302, Location=f"/{number + 1}")
    host.files["4"] = b"there"
    assert remote(host).read(host.url("1"), MIB) == b"there"
    with pytest.raises(RemoteError, match="leads on more than 3 times"):
        remote(host).read(host.url("0"), MIB)


def test_a_name_that_changes_after_it_was_looked_up_gains_nothing(
    host: PictureHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The IP that was checked is the one that is connected to."""
    connected: list[str] = []
    answers = iter([["9.9.9.9"], ["127.0.0.1"]])

    def lookup(name: str, port: int, **_: Any) -> list[Any]:
        return [(0, 0, 0, "", (address, port)) for address in next(answers)]

    def connect(address: tuple[str, int], **_: Any) -> None:
        connected.append(address[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(RemoteError):
        Remote(hosts=("img.example.org",)).read("http://img.example.org/a.jpg", MIB)
    assert connected == ["9.9.9.9"]


def test_no_more_is_read_than_allowed(host: PictureHost) -> None:
    host.files["big"] = bytes(3 * MIB)
    sent = []

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(bytes(MIB))
            sent.append(MIB)

    host.answers["endless"] = endless
    for path in ("big", "endless"):
        with pytest.raises(RemoteError, match="more than 2 MB"):
            remote(host).read(host.url(path), 2 * MIB)
    assert len(sent) < 100


def test_a_host_that_drips_is_cut(host: PictureHost, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(600):
            handler.wfile.write(b"x")
            time.sleep(0.05)
        ended.append(True)

    host.answers["drip"] = drip
    monkeypatch.setattr(module, "SECONDS", 0.3)
    with pytest.raises(RemoteError, match="no answer in time") as caught:
        remote(host).read(host.url("drip"), MIB)
    assert caught.value.is_passing
    assert host.asked == ["drip"] * 3
    assert not ended


def test_what_passes_is_tried_again_and_what_stays_is_not(host: PictureHost) -> None:
    def twice_busy(handler: BaseHTTPRequestHandler) -> None:
        if host.asked.count("busy") < 3:
            return status(503, Retry_After="0")(handler)
        handler.path = "/a.jpg"
        return host.answer(handler)

    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"only this")

    host.answers |= {"busy": twice_busy, "cut": cut, "gone": status(410)}
    assert remote(host).read(host.url("busy"), MIB) == b"picture"
    with pytest.raises(RemoteError, match="cut off after 9 bytes"):
        remote(host).read(host.url("cut"), MIB)
    with pytest.raises(RemoteError, match="answered 410") as caught:
        remote(host).read(host.url("gone"), MIB)
    assert not caught.value.is_passing
    assert host.asked.count("gone") == 1


def test_packed_bytes_are_not_unpacked(host: PictureHost) -> None:
    host.answers["gz"] = status(200, Content_Encoding="gzip")
    with pytest.raises(RemoteError, match="sends it packed"):
        remote(host).read(host.url("gz"), MIB)


def test_no_proxy_of_the_environment_is_asked(
    host: PictureHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert remote(host).read(host.url("a.jpg"), MIB) == b"picture"


def test_a_signed_address_is_in_no_message(host: PictureHost) -> None:
    def sign(bucket: str, key: str) -> str:
        return host.url(f"{bucket}/{key}?X-Amz-Signature=geheim")

    signed = remote(host, private_hosts=(), buckets=("shop",), sign=sign)
    host.files["shop/a b.jpg"] = host.files["shop/a%20b.jpg"] = b"object"
    with pytest.raises(RemoteError, match="answered 404") as caught:
        signed.read("s3://shop/none.jpg", MIB)
    assert "geheim" not in str(caught.value)
    assert host.asked == ["shop/none.jpg?X-Amz-Signature=geheim"]
