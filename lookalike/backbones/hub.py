"""Find the weights of a known model: on this machine, or on the Hugging Face hub.

Everything is looked for locally first. The hub is only asked after a probe of three seconds, so
that a machine without a network gets its answer at once and not after minutes of retries.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import torch
from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

from lookalike.backbones.errors import WeightsUnavailableError

PROBE_SECONDS = 3.0
ENDINGS = (".safetensors", ".pth", ".pt", ".bin", ".npz")


@dataclass(frozen=True)
class Wanted:
    """The weights of one model.

    Attributes:
        spec: what the person asked for, for messages.
        names: names that a file in the weights folder may have, without its ending.
        repository: on the hub, "" for none.
        files: file names in the repository, the best first.
        url: where else they are published, "" for none.
        remedy: how to give them as a file, for messages.
    """

    spec: str
    names: Sequence[str]
    repository: str
    files: Sequence[str]
    url: str = ""
    remedy: str = ""
    folder: Path | None = field(default=None, kw_only=True)


def find_weights(wanted: Wanted, endpoint: str = constants.ENDPOINT) -> Path:
    """Return a local file with the weights, fetched into the hub's cache if need be.

    Looks in the weights folder, in the caches of the Hugging Face hub and of torch.hub, and then
    on the hub.

    Raises:
        WeightsUnavailableError: they are nowhere; the message names the model and what to do.
    """
    path = _in_folder(wanted) or _in_caches(wanted)
    if path is not None:
        return path
    if constants.HF_HUB_OFFLINE:
        raise WeightsUnavailableError(_message(wanted, "HF_HUB_OFFLINE is set"))
    if not wanted.repository:
        raise WeightsUnavailableError(_message(wanted, "they are not on the Hugging Face hub"))
    try:
        _probe(endpoint)
        return _fetched(wanted, endpoint)
    except OSError as problem:  # name resolution, connection, time-out, HTTP status, disk
        raise WeightsUnavailableError(_message(wanted, str(problem).strip())) from problem


def _in_folder(wanted: Wanted) -> Path | None:
    if wanted.folder is None:
        return None
    paths = (wanted.folder / f"{name}{end}" for name in wanted.names for end in ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _in_caches(wanted: Wanted) -> Path | None:
    if wanted.repository:
        for file in wanted.files:
            cached = try_to_load_from_cache(wanted.repository, file)
            if isinstance(cached, str):
                return Path(cached)
    if wanted.url:
        path = Path(torch.hub.get_dir()) / "checkpoints" / Path(urlsplit(wanted.url).path).name
        if path.is_file():
            return path
    return None


def _probe(endpoint: str) -> None:
    """Connect to the hub, or to the proxy that leads to it.

    Raises:
        OSError: nobody answers.
    """
    proxy = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
    parts = urlsplit(proxy or endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), PROBE_SECONDS).close()
    except OSError as problem:
        raise OSError(f"{parts.hostname}:{port} cannot be reached: {problem}") from problem


def _fetched(wanted: Wanted, endpoint: str) -> Path:
    for file in wanted.files:
        try:
            return Path(hf_hub_download(wanted.repository, file, endpoint=endpoint))
        except EntryNotFoundError as problem:
            if not isinstance(problem, HfHubHTTPError):
                raise OSError(str(problem)) from problem
    raise OSError(f"{wanted.repository} has none of {', '.join(wanted.files)}")


def _message(wanted: Wanted, reason: str) -> str:
    ways = []
    if wanted.repository:
        ways.append(
            f"fetch them on a machine with a network (hf download {wanted.repository}) and copy "
            f"them into {constants.HF_HUB_CACHE}"
        )
    if wanted.folder is not None:
        ways.append(f"put them at {wanted.folder / wanted.names[0]}.safetensors")
    if wanted.remedy:
        ways.append(f"name a file that you have: {wanted.remedy}")
    return (
        f"{wanted.spec}: its weights are not on this machine and could not be fetched ({reason}). "
        f"To supply them: {'; or '.join(ways)}."
    )
