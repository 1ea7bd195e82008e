"""The ways in which files write the name of one picture: paths, addresses, URIs, keys."""

from __future__ import annotations

import base64
import binascii
import html
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

PICTURE = re.compile(r"\.(jpe?g|png|webp|gif|bmp|tiff?|avif|hei[cf]|jp2|jfif)$", re.IGNORECASE)
_LOCAL_FILE = re.compile(r"(?:(?:^|/)data/local-files/?|^)\?(?:.*?&)?d=(?P<path>.*)$", re.DOTALL)
_PACKED_URI = re.compile(r"[?&]fileuri=(?P<packed>[\w+/=%-]+)")
_NOT_NORMAL = re.compile(r"\\|//|^\.|/\.|/\Z")  # in ASCII: a path that may not be normal
_UPLOAD = re.compile(r"(?:^|/)data/upload/(?:[^/]+/)*?(?:[0-9a-f]{8}-)(?P<name>[^/]+)$")
_SCHEME = re.compile(r"^(?P<scheme>[a-zA-Z][\w+.-]+)://")
_FILE_ADDRESS = re.compile(r"^file:/{0,3}(?P<path>.*)$", re.IGNORECASE | re.DOTALL)
_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/])")
_QUOTED = re.compile(r"(?:[A-Za-z0-9_.~/!*'():,;=@$-]|%[0-9A-Fa-f]{2})*\Z")
_PARAMETER = re.compile(r"&[A-Za-z_][\w.-]*=")
_BUCKET_HOST = re.compile(
    r"^(?P<bucket>.+?)\.(?:s3[\w.-]*\.amazonaws\.com|storage\.googleapis\.com)"
)
_STORAGE_HOST = re.compile(
    r"^(?:s3[\w.-]*\.amazonaws\.com|storage\.(?:googleapis|cloud\.google)\.com)"
)


def normal_path(path: str) -> str:
    r"""Return a path with composed letters, forward slashes, and without `.` and empty parts.

    >>> normal_path("./shoes\\1.jpg")
    'shoes/1.jpg'
    """
    if path.isascii() and not _NOT_NORMAL.search(path):
        return path
    slashed = unicodedata.normalize("NFC", path).replace("\\", "/")
    is_absolute = slashed.startswith("/")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    return ("/" if is_absolute else "") + "/".join(parts)


def storage_key(address: str) -> tuple[str, str]:
    """Return bucket and key of an address of an object storage; `?` and `#` belong to the key.

    >>> storage_key("s3://shop/a%20b/what?#1.jpg")
    ('shop', 'a b/what?#1.jpg')
    """
    bucket, _, key = address.partition("://")[2].partition("/")
    return bucket, _unquoted(key)


def spellings(name: str) -> Iterator[list[str]]:
    """Yield the readings of a name, the likeliest first; those in one list are equally likely.

    Every reading is a normal path. An address that is quoted as addresses must be has one reading
    before others: `?d=a%20b.jpg` is `a b.jpg`. One that is not may be meant as it stands or
    quoted in part: `?d=a+b.jpg` is `a+b.jpg` or `a b.jpg`.

    Args:
        name: a path, URL, file or storage URI, or an address of Label Studio.
    """
    seen: set[str] = set()
    for readings in _readings(name.strip()):
        fresh = [text for text in dict.fromkeys(map(normal_path, readings)) if text not in seen]
        seen.update(fresh)
        if fresh := [text for text in fresh if text]:
            yield fresh


def plain_name(name: str) -> str:
    """Return the likeliest path behind an address; a name that is no address as it stands.

    For readers that know no catalog; with one, `lookalike.io.named_images.ImageNames` decides.

    >>> plain_name("/data/local-files/?d=H&M/a%2B1.jpg")
    'H&M/a+1.jpg'
    >>> plain_name("s3://bucket/a.jpg")
    's3://bucket/a.jpg'
    """
    matched = _LOCAL_FILE.search(name)
    if matched is None:
        return name
    text = matched["path"]
    cut = _PARAMETER.split(text)[0]
    if cut != text and PICTURE.search(cut) and not PICTURE.search(text):
        text = cut
    return normal_path(_unquoted(text))


def _readings(name: str) -> Iterator[Iterable[str]]:
    if packed := _PACKED_URI.search(name):
        yield from _readings(_unpacked(packed["packed"]))
    if matched := _LOCAL_FILE.search(name):
        yield from _quoted_readings(matched["path"])
        yield from _quoted_readings(_PARAMETER.split(matched["path"])[0])
    elif matched := _UPLOAD.search(name.partition("?")[0]):
        yield from _quoted_readings(matched["name"])
    elif matched := _FILE_ADDRESS.match(name):
        yield from _quoted_readings("/" + matched["path"])
        yield from _quoted_readings("/" + re.split("[?#]", matched["path"])[0])
    elif matched := _SCHEME.match(name):
        yield from _address_readings(matched["scheme"].lower(), name)
    else:
        yield from _path_readings(name)


def _path_readings(name: str) -> Iterator[Iterable[str]]:
    yield [name]
    yield _decoded(name)
    for sign in "?#":
        if sign in name:
            yield _decoded(name.partition(sign)[0])
    yield [html.unescape(name)]
    yield [_unquoted(_unquoted(name))]


def _quoted_readings(text: str) -> Iterator[Iterable[str]]:
    """Yield the readings of a text that should be quoted once."""
    if _QUOTED.match(text):
        yield [_unquoted(text)]
    yield [text, *_decoded(text)]
    yield [html.unescape(text)]
    yield [_unquoted(_unquoted(text))]


def _decoded(text: str) -> list[str]:
    return [_unquoted(text), _unquoted(text.replace("+", " "))]


def _address_readings(scheme: str, name: str) -> Iterator[Iterable[str]]:
    rest = name[len(scheme) + 3 :]
    host, _, path = rest.partition("/")
    if not scheme.startswith("http"):  # keys of object storages are not quoted
        yield [rest, path]
        yield [_unquoted(rest), _unquoted(path)]
        return
    try:
        parts = urlsplit(name)
        query = f"?{parts.query}" if parts.query else ""
        yield [_unquoted(parts.netloc + parts.path) + query]
        yield from _hosted_readings(parts.netloc, parts.path)
    except ValueError:
        pass
    yield from _hosted_readings(host, path)


def _hosted_readings(host: str, path: str) -> Iterator[Iterable[str]]:
    path = path.removeprefix("/")
    yield [_unquoted(f"{host}/{path}")]
    if bucket := _BUCKET_HOST.match(host):
        yield [_unquoted(f"{bucket['bucket']}/{path}")]
    if not _STORAGE_HOST.match(host):
        yield [_unquoted(path)]
    yield [path, *_decoded(path)]


def _unquoted(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="cp1252", errors="replace")


def _unpacked(packed: str) -> str:
    text = unquote(packed)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_").decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def place_suffixes(path: str) -> Iterator[str]:
    """Yield the ends of a path, from the longest to its file name, without the path itself.

    >>> list(place_suffixes("/home/me/shoes/1.jpg"))
    ['home/me/shoes/1.jpg', 'me/shoes/1.jpg', 'shoes/1.jpg', '1.jpg']
    """
    whole = _DRIVE.sub("/", path)
    if ".." in whole.split("/"):
        whole = posixpath.normpath(whole)
    parts = [part for part in whole.split("/") if part not in ("", "..", "~")]
    for first in range(len(parts)):
        end = "/".join(parts[first:])
        if end != path:
            yield end
