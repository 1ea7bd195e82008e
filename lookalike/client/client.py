"""The client: one method for each thing that can be asked of a site."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from lookalike.client import board_schemas, conditional_schemas, release_schemas, schemas
from lookalike.client.downloads import download
from lookalike.client.errors import RateLimitedError, RefusedError, WaitedTooLongError
from lookalike.client.reading import made
from lookalike.client.transport import Transport

A_PART = 200
Thing = TypeVar("Thing")


class Client:
    """A Lookalike site, asked with an access token.

    Args:
        url: of the site, such as https://lookalike.example.org.
        token: made under your profile there; by default that of LOOKALIKE_TOKEN. Public
            releases need none.
        timeout: seconds to wait for the site at each step.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60.0) -> None:
        given = os.environ.get("LOOKALIKE_TOKEN", "") if token is None else token
        self._transport = Transport(url, given, timeout)

    # ---- reading ----
    def me(self) -> schemas.Me:
        """Return whose token this is."""
        return made(schemas.Me, self._transport.get("/me"))

    def catalogs(self) -> Iterator[schemas.Catalog]:
        """Yield all catalogs."""
        return self._all("/catalogs", schemas.Catalog)

    def catalog(self, slug: str) -> schemas.CatalogWhole:
        """Return one catalog with the attributes of its images."""
        return made(schemas.CatalogWhole, self._transport.get(f"/catalogs/{_part(slug)}"))

    def images(
        self, catalog: str, *, product: str = "", search: str = "", attributes: Sequence[str] = ()
    ) -> Iterator[schemas.Image]:
        """Yield the images of a catalog; `attributes` as name=value."""
        query = {"product": product, "search": search, "attribute": list(attributes)}
        return self._all(f"/catalogs/{_part(catalog)}/images", schemas.Image, query)

    def image(self, uid: str) -> schemas.Image:
        """Return one image."""
        return made(schemas.Image, self._transport.get(f"/images/{_part(uid)}"))

    def picture(self, uid: str, size: str = "original") -> bytes:
        """Return the bytes of a picture: thumb, view or original."""
        with self._transport.opened(f"/api/v1/images/{_part(uid)}/{_part(size)}") as reply:
            return reply.read()

    def pools(self) -> Iterator[schemas.Pool]:
        """Yield all pools, newest first."""
        return self._all("/pools", schemas.Pool)

    def pool(self, slug: str) -> schemas.PoolWhole:
        """Return one pool with its models."""
        return made(schemas.PoolWhole, self._transport.get(f"/pools/{_part(slug)}"))

    def pairs(self, pool: str) -> Iterator[schemas.PooledPair]:
        """Yield a pool's pairs with who proposed them; for admins."""
        return self._all(f"/pools/{_part(pool)}/pairs", schemas.PooledPair)

    def campaigns(self) -> Iterator[schemas.Campaign]:
        """Yield all campaigns, newest first."""
        return self._all("/campaigns", schemas.Campaign)

    def campaign(self, slug: str) -> schemas.Campaign:
        """Return one campaign."""
        return made(schemas.Campaign, self._transport.get(f"/campaigns/{_part(slug)}"))

    def progress(self, campaign: str) -> schemas.Progress:
        """Return how far a campaign is."""
        path = f"/campaigns/{_part(campaign)}/progress"
        return made(schemas.Progress, self._transport.get(path))

    def agreement(self, campaign: str) -> schemas.Agreement:
        """Return how much a panel agrees."""
        path = f"/campaigns/{_part(campaign)}/agreement"
        return made(schemas.Agreement, self._transport.get(path))

    def judgements(self, campaign: str, *, kind: str = "") -> Iterator[schemas.Judgement]:
        """Yield the single judgements of a campaign; for admins."""
        path = f"/campaigns/{_part(campaign)}/judgements"
        return self._all(path, schemas.Judgement, {"kind": kind})

    def comments(self, campaign: str, *, state: str = "") -> Iterator[schemas.Comment]:
        """Yield what judges asked about single questions, newest first; for admins.

        Args:
            campaign: its slug.
            state: "open", "answered" or "withdrawn"; all by default.
        """
        path = f"/campaigns/{_part(campaign)}/comments"
        return self._all(path, schemas.Comment, {"state": state})

    def results(self, campaign: str = "") -> Iterator[schemas.Result]:
        """Yield results, newest first."""
        return self._all("/results", schemas.Result, {"campaign": campaign})

    def result(self, uid: str) -> schemas.ResultWhole:
        """Return one result with every measure of every model."""
        return made(schemas.ResultWhole, self._transport.get(f"/results/{_part(uid)}"))

    def bias_report(self, uid: str) -> schemas.BiasReport:
        """Return what a result says of the bias of its campaign's pool."""
        return made(schemas.BiasReport, self._transport.get(f"/results/{_part(uid)}/bias"))

    def board(self, campaign: str, by: str = "") -> board_schemas.Board:
        """Return a campaign's board: values, intervals, letters and what may be compared."""
        path = f"/campaigns/{_part(campaign)}/board"
        return made(board_schemas.Board, self._transport.get(path, {"by": by}))

    def comparisons(self, campaign: str, measure: str) -> board_schemas.Comparisons:
        """Return each two models of a campaign compared by a measure."""
        path = f"/campaigns/{_part(campaign)}/comparisons"
        return made(board_schemas.Comparisons, self._transport.get(path, {"measure": measure}))

    def second_opinions(self, campaign: str) -> schemas.SecondOpinions:
        """Return the judged pairs of a campaign that another panel would change most by."""
        path = f"/campaigns/{_part(campaign)}/second-opinions"
        return made(schemas.SecondOpinions, self._transport.get(path))

    # ---- templates and triplets ----
    def template_sets(self) -> Iterator[conditional_schemas.TemplateSet]:
        """Yield all sets of retrieval templates, newest first."""
        return self._all("/template-sets", conditional_schemas.TemplateSet)

    def template_set(self, slug: str) -> conditional_schemas.TemplateSetWhole:
        """Return one set of templates with its conditions and what models score on it."""
        path = f"/template-sets/{_part(slug)}"
        return made(conditional_schemas.TemplateSetWhole, self._transport.get(path))

    def templates(self, template_set: str) -> Iterator[conditional_schemas.Template]:
        """Yield the templates of a set."""
        return self._all(
            f"/template-sets/{_part(template_set)}/templates", conditional_schemas.Template
        )

    def triplet_sets(self) -> Iterator[conditional_schemas.TripletSet]:
        """Yield all sets of triplets, newest first."""
        return self._all("/triplet-sets", conditional_schemas.TripletSet)

    def triplet_set(self, slug: str) -> conditional_schemas.TripletSetWhole:
        """Return one set of triplets with its figures and what models score on it."""
        path = f"/triplet-sets/{_part(slug)}"
        return made(conditional_schemas.TripletSetWhole, self._transport.get(path))

    def triplets(self, triplet_set: str) -> Iterator[conditional_schemas.Triplet]:
        """Yield the single answers of a set of triplets."""
        return self._all(
            f"/triplet-sets/{_part(triplet_set)}/triplets", conditional_schemas.Triplet
        )

    def triplet_questions(self, triplet_set: str) -> Iterator[conditional_schemas.TripletQuestion]:
        """Yield what a set of triplets asks."""
        path = f"/triplet-sets/{_part(triplet_set)}/questions"
        return self._all(path, conditional_schemas.TripletQuestion)

    def alignments(self, triplet_set: str) -> Iterator[conditional_schemas.Alignment]:
        """Yield how embedding sets were matched with a set's conditions, newest first."""
        return self._all(
            f"/triplet-sets/{_part(triplet_set)}/alignments", conditional_schemas.Alignment
        )

    # ---- runs ----
    def runs(self, campaign: str = "") -> Iterator[schemas.Run]:
        """Yield the runs that were checked, newest first."""
        return self._all("/runs", schemas.Run, {"campaign": campaign})

    def run(self, uid: str) -> schemas.RunWhole:
        """Return one run with its newest score."""
        return made(schemas.RunWhole, self._transport.get(f"/runs/{_part(uid)}"))

    def upload_run(
        self,
        campaign: str,
        name: str,
        file: str | Path,
        *,
        ids_file: str | Path | None = None,
        family: str = "",
        description: str = "",
        missing: str = "error",
        lower_is_better: bool = False,
    ) -> schemas.Upload:
        """Upload scores or embeddings to be checked and scored on a campaign's labels."""
        fields = {"name": name, "family": family, "description": description, "missing": missing}
        fields |= {"lower_is_better": "true"} if lower_is_better else {}
        files = {"file": Path(file)}
        if ids_file is not None:
            files["ids_file"] = Path(ids_file)
        path = f"/campaigns/{_part(campaign)}/runs"
        return made(schemas.Upload, self._transport.send(path, fields, files))

    def upload(self, uid: str) -> schemas.Upload:
        """Return how far the check of an upload is, by its job's uid."""
        return made(schemas.Upload, self._transport.get(f"/uploads/{_part(uid)}"))

    def wait_for_score(
        self, upload: schemas.Upload, *, seconds: float = 600.0, pause: float = 2.0
    ) -> schemas.RunWhole:
        """Wait until an uploaded run is scored, and return it with its score.

        Raises:
            RefusedError: its check failed, or an evaluation left it out; the message says why.
            WaitedTooLongError: it takes longer than `seconds`.
        """

        def look() -> schemas.RunWhole | None:
            told = self.upload(upload.job.uid)
            _require_alive(told.job)
            if told.run is None:
                return None
            run = self.run(told.run)
            if run.score is not None and run.score.left_out:
                raise RefusedError(f"“{run.name}” is not scored: {run.score.left_out}")
            return run if run.score is not None else None

        return _waited(look, f"“{upload.job.title}”", seconds, pause)

    # ---- releases ----
    def releases(self) -> Iterator[release_schemas.Release]:
        """Yield every version of every benchmark that you may see, newest first."""
        return self._all("/releases", release_schemas.Release)

    def release(self, slug: str, version: str) -> release_schemas.ReleaseWhole:
        """Return one version of a benchmark with its files."""
        path = f"/releases/{_part(slug)}/{_part(version)}"
        return made(release_schemas.ReleaseWhole, self._transport.get(path))

    def negatives(self, slug: str, version: str) -> Iterator[release_schemas.Negative]:
        """Yield the random negatives of a release."""
        path = f"/releases/{_part(slug)}/{_part(version)}/negatives"
        return self._all(path, release_schemas.Negative)

    def download(self, file: release_schemas.ReleaseFile, folder: str | Path = ".") -> Path:
        """Fetch a file of a release, or its archive, from where an earlier try was cut.

        Raises:
            DamagedError: what came is not what the site names.
            ConnectionFailedError: it was cut; call again and it goes on.
        """
        name = Path(file.name).name
        return download(self._transport, file, Path(folder) / name)

    def submit(
        self,
        slug: str,
        version: str,
        name: str,
        file: str | Path,
        *,
        description: str = "",
        missing: str = "error",
        lower_is_better: bool = False,
    ) -> release_schemas.Submission:
        """Submit a run or embeddings to a release; private until you publish it on its page.

        A run without a score for every pair put to the judges is refused, unless `missing` is
        "worst": those without one then count as the worst.
        """
        path = f"/releases/{_part(slug)}/{_part(version)}/submissions"
        fields = {"name": name, "description": description, "missing": missing}
        fields |= {"lower_is_better": "true"} if lower_is_better else {}
        told = self._transport.send(path, fields, {"file": Path(file)})
        return made(release_schemas.Submission, told)

    def submission(self, uid: str) -> release_schemas.Submission:
        """Return a submission, with its scores once there are any."""
        return made(release_schemas.Submission, self._transport.get(f"/submissions/{_part(uid)}"))

    def wait_for_submission(
        self, submission: release_schemas.Submission, *, seconds: float = 600.0, pause: float = 2.0
    ) -> release_schemas.Submission:
        """Wait until a submission is scored, and return it.

        Raises:
            RefusedError: it cannot be scored; the message says why.
            WaitedTooLongError: it takes longer than `seconds`.
        """

        def look() -> release_schemas.Submission | None:
            told = self.submission(submission.uid)
            if told.job is not None:
                _require_alive(told.job)
            return told if told.scored_at is not None else None

        return _waited(look, f"“{submission.name}”", seconds, pause)

    def _all(
        self, path: str, kind: type[Thing], query: dict[str, Any] | None = None
    ) -> Iterator[Thing]:
        after = ""
        while True:
            part = self._transport.get(path, {**(query or {}), "after": after, "limit": A_PART})
            for one in part["items"]:
                yield made(kind, one)
            if part["next"] is None:
                return
            after = part["next"]


def _part(name: str) -> str:
    return quote(name, safe="")


def _require_alive(job: schemas.Job) -> None:
    if job.state in {"failed", "cancelled"}:
        raise RefusedError(job.error or f"{job.title} was cancelled.")


def _waited(look: Callable[[], Thing | None], what: str, seconds: float, pause: float) -> Thing:
    end = time.monotonic() + seconds
    while True:
        wait = pause
        try:
            found = look()
        except RateLimitedError as problem:
            found, wait = None, float(problem.retry_after or pause)
        if found is not None:
            return found
        if time.monotonic() + wait > end:
            raise WaitedTooLongError(f"{what} is not scored after {seconds:g} seconds.")
        time.sleep(wait)
