"""Deposit a release at Zenodo, or at another service with its API; it answers with a DOI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests
from django.conf import settings

from audit.actions import Action
from audit.services import record
from lookalike.release.documents.citation import citation
from lookalike.release.documents.facts import Facts
from lookalike.release.documents.people import authors_of
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from releases.models import Release
from releases.publishing.checks import check_publishable
from releases.storage import archive_path, files_folder

_SECONDS = (10, 600)  # to connect, and without a byte


@dataclass(frozen=True)
class Deposit:
    """What became of a deposit.

    Attributes:
        doi: of this version.
        url: its page.
    """

    doi: str
    url: str


def metadata_of(release: Release) -> dict[str, Any]:
    """Return what the repository is told of a release."""
    info = release.info
    creators = [
        {"name": author.sorted_name} | ({"orcid": author.orcid} if author.orcid else {})
        for author in authors_of(info)
    ]
    return {
        "upload_type": "dataset",
        "title": release.title,
        "version": release.version,
        "publication_date": info["date"],
        "description": _facts(release).abstract,
        "creators": creators,
        "access_right": "open",
        "license": info["licence"]["labels"].lower(),
        "notes": f"Images: {info['licence']['images']} Seal of the manifest: {release.seal}",
        "keywords": ["visual similarity", "image retrieval", "benchmark"],
    }


def _facts(release: Release) -> Facts:
    return Facts.of(Folder(files_folder(release)), {})


def deposit(release: Release) -> Deposit:
    """Upload archive and citation, publish both, and note the DOI.

    The DOI is reserved first, so that the CITATION.cff beside the archive names it; the one in
    the archive is sealed and does not.

    Raises:
        ReleaseError: it has a DOI, may not leave the site, or the repository refuses.
    """
    check_depositable(release)
    token = settings.ZENODO_TOKEN
    if not token:
        raise ReleaseError("Set ZENODO_TOKEN to a token that may deposit and publish.")
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        session.max_redirects = 0  # none leads the token elsewhere
        base = f"{settings.ZENODO_URL.rstrip('/')}/api/deposit/depositions"
        draft = _answer(session.post, base, json={"metadata": metadata_of(release)})
        try:
            doi = str(draft["metadata"]["prereserve_doi"]["doi"])
            number, bucket = int(draft["id"]), str(draft["links"]["bucket"])
        except (KeyError, TypeError, ValueError) as problem:
            raise ReleaseError(f"{base} answered without a DOI or a place for files.") from problem
        if not bucket.startswith(f"{settings.ZENODO_URL.rstrip('/')}/"):
            raise ReleaseError(f"{base} names a place for files on another site: {bucket}")
        text = citation(_facts(release), doi).encode()
        _answer(session.put, f"{bucket}/CITATION.cff", data=text)
        archive = archive_path(release)
        with archive.open("rb") as file:
            _answer(session.put, f"{bucket}/{quote(archive.name)}", data=file)
        done = _answer(session.post, f"{base}/{number}/actions/publish")
    release.doi = str(done.get("doi") or doi)
    release.save(update_fields=["doi"])
    record(None, Action.RELEASE_DEPOSITED, release, doi=release.doi)
    return Deposit(release.doi, str(done.get("links", {}).get("html", "")))


def check_depositable(release: Release) -> None:
    """Return if a release may be deposited.

    Raises:
        ReleaseError: it has a DOI, or may not leave the site.
    """
    if release.doi:
        raise ReleaseError(f"{release} was deposited already: {release.doi}")
    check_publishable(release)


def _answer(send: Callable[..., requests.Response], url: str, **content: Any) -> dict[str, Any]:
    """Return what the repository answers.

    Raises:
        ReleaseError: it cannot be reached, or refuses.
    """
    try:
        answer = send(url, timeout=_SECONDS, **content)
        if not answer.ok:
            raise ReleaseError(f"{url} answered {answer.status_code}: {answer.text[:300]}")
        parsed = answer.json()
    except (requests.RequestException, ValueError) as problem:
        raise ReleaseError(f"{url} cannot be used: {problem}") from problem
    if not isinstance(parsed, dict):
        raise ReleaseError(f"{url} answered no JSON object.")
    return parsed
