"""A WSGI application behind granian's event loop: RSGI outside, threads inside.

The event loop reads a request's body before a thread is taken and sends the answer after the
thread is free again, so that slow, stalled and idle clients cost a connection and no thread.
"""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from granian._granian import RSGIHTTPProtocol as HTTPProtocol
from granian.rsgi import Scope

from config.running.budgets import STRANGER_BODY, UNSPOOLED, OverBudgetError
from config.running.gate import Gate, Spool, Visit

Headers = list[tuple[str, str]]
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

STALL_SECONDS = 30.0
PROGRESS = 30 * 2**10
"""Bytes of a body that must come within STALL_SECONDS, or it is given up."""
READ_FIRST = 25 * 2**20
"""Longer bodies have upload threads, where Django refuses them before it reads them."""
BLOCK = 2**20  # of an upload, or of an answer; what is longer is sent from a file
KEEP_SECONDS = 60  # a temporary file, until the event loop has opened it
RETRY_SECONDS = 5
API = "/api/v1/"
CODES = {413: "too_large", 429: "rate_limited", 503: "unavailable"}
CLOSE = [("connection", "close")]
REFUSED = [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
PLAIN = ("content-type", "text/plain; charset=utf-8")
JSON = ("content-type", "application/json")


class Writable(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Append bytes; return how many."""


class BrokenOffError(OSError):
    """A body came too slowly, or not to its end."""


class FileWrapper:
    """What Django gives back for a file, as PEP 3333 has it (`wsgi.file_wrapper`)."""

    def __init__(self, file: BinaryIO, block_size: int = BLOCK) -> None:
        self.file = file
        self.close = file.close

    def __iter__(self) -> Iterable[bytes]:
        while block := self.file.read(BLOCK):
            yield block


class Adapter:
    """Runs a WSGI application as an RSGI one."""

    def __init__(self, application: Application, gate: Gate) -> None:
        self.application = application
        self.gate = gate

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        environ = environment(scope)
        try:
            visit = await self.gate.visit(environ)
            n_bytes = int(environ.get("CONTENT_LENGTH", 0))
            if n_bytes > READ_FIRST:
                self.gate.check_body(visit, n_bytes)
                loop = asyncio.get_running_loop()
                arriving = Arriving(protocol, n_bytes, loop, self.gate.visitors.has_room)
                environ["wsgi.input"] = io.BufferedReader(arriving, BLOCK)
                await self._answer(environ, visit, "uploads", protocol)
            elif n_bytes or "HTTP_TRANSFER_ENCODING" in environ:
                await self._read_and_answer(environ, visit, n_bytes, protocol)
            else:
                await self._answer(environ, visit, visit.pool, protocol)
        except OverBudgetError as problem:
            refuse(problem, environ["PATH_INFO"], protocol)

    def close(self) -> None:
        """Wait for the requests under way."""
        self.gate.close()

    async def _read_and_answer(
        self, environ: dict[str, Any], visit: Visit, n_bytes: int, protocol: HTTPProtocol
    ) -> None:
        """Answer a request once its body has come.

        Raises:
            OverBudgetError: The body is longer than the parties may send.
        """
        self.gate.check_body(visit, n_bytes)
        most = READ_FIRST if visit.is_known else STRANGER_BODY
        with closing(self.gate.spool(visit)) as body:
            try:
                n_read = await read_into(body, chunks_of(protocol), most + 1)
            except TimeoutError:
                return protocol.response_empty(408, CLOSE)
            if n_read > most:
                raise OverBudgetError(413, "The body is too long.")
            if n_read < n_bytes:
                return protocol.response_empty(400, CLOSE)
            body.file.seek(0)
            environ |= {"wsgi.input": body.file, "CONTENT_LENGTH": str(n_read)}
            return await self._answer(environ, visit, visit.pool, protocol)

    async def _answer(
        self, environ: dict[str, Any], visit: Visit, pool: str, protocol: HTTPProtocol
    ) -> None:
        loop = asyncio.get_running_loop()
        await self.gate.run(visit, pool, self._respond, environ, visit, protocol, loop)

    def _respond(
        self,
        environ: dict[str, Any],
        visit: Visit,
        protocol: HTTPProtocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Run the application in this thread.

        Raises:
            OverBudgetError: The answer needs more temporary space than the parties may use.
        """
        status, headers = 0, []

        def start_response(line: str, given: Headers, exc_info: object = None) -> None:
            nonlocal status, headers
            status, headers = int(line[:3]), given

        answer = self.application(environ, start_response)
        try:
            if isinstance(answer, FileWrapper) and (part := file_part(answer.file, headers)):
                protocol.response_file_range(status, headers, *part)
            elif isinstance(content := self._in_memory_or_spooled(answer, visit), bytes):
                protocol.response_bytes(status, headers, content)
            else:
                protocol.response_file(status, headers, content.file.name)
                loop.call_soon_threadsafe(loop.call_later, KEEP_SECONDS, content.close)
        finally:
            if hasattr(answer, "close"):
                answer.close()

    def _in_memory_or_spooled(self, pieces: Iterable[bytes], visit: Visit) -> bytes | Spool:
        """Return a short answer as bytes, and a long one in a named temporary file."""
        held, n_held = [], 0
        pieces = iter(pieces)
        for piece in pieces:
            held.append(piece)
            n_held += len(piece)
            if n_held > BLOCK:
                break
        else:
            return b"".join(held)
        spool = self.gate.spool(visit, is_named=True)
        try:
            for piece in chain(held, pieces):
                spool.write(piece)
            spool.flush()
        except BaseException:
            spool.close()
            raise
        return spool


class Arriving(io.RawIOBase):
    """A body that is read by a thread while it comes."""

    def __init__(
        self,
        protocol: HTTPProtocol,
        n_bytes: int,
        loop: asyncio.AbstractEventLoop,
        has_room: Callable[[int], bool],
    ) -> None:
        self._chunks = chunks_of(protocol)
        self._n_left = n_bytes
        self._loop = loop
        self._has_room = has_room
        self._block = io.BytesIO()

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is, or wait for the next block.

        Raises:
            BrokenOffError: the rest does not come.
            OSError: ENOSPC, the disk that takes the upload is nearly full.
        """
        n_read = self._block.readinto(buffer)
        if n_read or not self._n_left:
            return n_read
        if not self._has_room(BLOCK):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._block = io.BytesIO()
        reading = read_into(self._block, self._chunks, BLOCK)
        try:
            n_come = asyncio.run_coroutine_threadsafe(reading, self._loop).result()
        except TimeoutError:
            n_come = 0
        if not n_come:
            raise BrokenOffError("The upload broke off.")
        self._n_left -= n_come
        self._block.seek(0)
        return self._block.readinto(buffer)


def refuse(problem: OverBudgetError, path: str, protocol: HTTPProtocol) -> None:
    """Answer without the application; the connection closes, since its body was not read."""
    headers = [*CLOSE, *REFUSED]
    if problem.status in {429, 503}:
        headers.append(("retry-after", str(RETRY_SECONDS)))
    if not path.startswith(API):
        protocol.response_str(problem.status, [*headers, PLAIN], problem.reason + "\n")
        return
    error = {"code": CODES[problem.status], "message": problem.reason, "details": []}
    protocol.response_str(problem.status, [*headers, JSON], json.dumps(error))


async def chunks_of(protocol: HTTPProtocol) -> AsyncIterator[bytes]:
    """Yield a body as it comes; granian's own iterator begins only once."""
    async for chunk in protocol:
        yield chunk


async def read_into(file: Writable, chunks: AsyncIterator[bytes], most: int) -> int:
    """Write what comes into a file until it ends or `most` bytes are there; return how many.

    Raises:
        TimeoutError: it comes too slowly.
    """
    n_read, n_expected = 0, PROGRESS
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(STALL_SECONDS) as limit:
        async for chunk in chunks:
            n_read += file.write(chunk)
            if n_read >= most:
                break
            if n_read >= n_expected:
                n_expected = n_read + PROGRESS
                limit.reschedule(loop.time() + STALL_SECONDS)
    return n_read


def environment(scope: Scope) -> dict[str, Any]:
    """Return the WSGI environment of a request, but for its body."""
    server, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "SERVER_NAME": server.strip("[]"),
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
    }
    for name, value in scope.headers.items():
        if "_" in name:  # would pass for the header with a hyphen, which a proxy may have set
            continue
        key = name.upper().replace("-", "_")
        if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            key = f"HTTP_{key}"
        joint = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{joint}{value}" if key in environ else value
    if scope.authority:
        environ["HTTP_HOST"] = scope.authority
    return environ


def file_part(file: BinaryIO, headers: Headers) -> tuple[str, int, int] | None:
    """Return path, begin and end of a long file's part to send; None for what is no file."""
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    name = getattr(file, "name", None)
    if length <= UNSPOOLED or not isinstance(name, str | os.PathLike):
        return None
    path = Path(name)
    if not path.is_absolute() or not path.is_file():  # an object storage's
        return None
    begin = file.tell()
    return str(path), begin, begin + length
