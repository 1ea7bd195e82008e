"""Downloads that go on where they were cut, and are kept only when every byte is right."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lookalike.client.errors import ApiError, ConnectionFailedError, DamagedError
from lookalike.client.release_schemas import ReleaseFile
from lookalike.client.transport import BLOCK, Transport


def download(transport: Transport, file: ReleaseFile, target: Path) -> Path:
    """Fetch a file to `target`, from where an earlier try was cut, and check its hash.

    While it comes it lies beside as `NAME.part`. A target that is already right is left alone.

    Raises:
        DamagedError: what came is not what the site names.
        ConnectionFailedError: it was cut; call again and it goes on.
        ApiError: the site refuses.
    """
    if target.exists() and file_sha256(target) == file.sha256:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    if not _is_whole(part, file):
        _fetch(transport, file, part)
    if not _is_whole(part, file):
        raise ConnectionFailedError(
            f"{file.name} was cut at {part.stat().st_size} of {file.n_bytes} bytes; call again."
        )
    if file_sha256(part) != file.sha256:
        part.unlink()
        raise DamagedError(f"{file.name} came with other bytes than the site names; nothing kept.")
    part.replace(target)
    return target


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _is_whole(part: Path, file: ReleaseFile) -> bool:
    return part.exists() and part.stat().st_size >= file.n_bytes


def _fetch(transport: Transport, file: ReleaseFile, part: Path) -> None:
    start = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={start}-", "If-Range": f'"{file.sha256}"'} if start else {}
    try:
        with transport.opened(file.url, headers=headers) as reply:
            goes_on = reply.status == 206 and reply.headers.get("Content-Range", "").startswith(
                f"bytes {start}-"
            )
            with part.open("ab" if goes_on else "wb") as out:
                while block := reply.read(BLOCK):
                    out.write(block)
    except ApiError as problem:
        if problem.status != 416:
            raise
        part.unlink()
        _fetch(transport, file, part)
