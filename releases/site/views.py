"""Pages and downloads of releases: for everybody where a release is public."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import admin_required, signed_in
from annotation.models import Campaign
from audit.actions import Action
from audit.services import record
from catalog.images.blobs import read_preview
from evaluation.results.leaderboard_files import leaderboard_response
from jobs.services import JobConflictError
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.release.documents.citation import bibtex, citation, cite_as
from lookalike.release.documents.datasheet import datasheet_html
from lookalike.release.documents.facts import Facts
from lookalike.release.format.folder import Folder
from releases.blindness.images import WithheldError, campaigns_asking, in_words
from releases.forms import FreezeForm, first_words
from releases.models import Release, Visibility
from releases.services import request_freeze, set_visibility
from releases.site.board import board_of
from releases.site.downloads import download
from releases.site.integrity import DamagedFileError
from releases.site.leaderboard import human
from releases.site.pictures import covers, has_picture, shown_pair
from releases.site.queries import (
    FileLine,
    archive_line,
    file_lines,
    freeze_jobs,
    is_reader,
    is_withheld,
    line_or_404,
    list_versions,
    n_downloads,
    newest_releases,
    open_release,
    quota,
    release_or_404,
    visible_submissions,
)
from releases.site.signing import signature_of
from releases.storage import files_folder

PageView = Callable[..., HttpResponseBase]


def says_withheld(view: PageView) -> PageView:
    """Answer with status 403 and the reason where a release is withheld."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except WithheldError as problem:
            return render(
                request, "releases/withheld_file.html", {"release": problem.release}, status=403
            )

    return guarded


def page_facts(release: Release) -> Facts:
    """Return what the documents of a release are written from."""
    return Facts.of(Folder(files_folder(release)), {})


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The newest version of every benchmark."""
    person = request.user
    is_admin = person.is_authenticated and person.is_admin
    context = {
        "releases": [
            (release, [], True)
            if is_withheld(release, person)
            else (release, covers(release), False)
            for release in newest_releases(person)
        ],
        "jobs": freeze_jobs()[:5] if is_admin else [],
        "may_freeze": is_admin,
    }
    return render(request, "releases/home.html", context)


@require_safe
def newest(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest version of a benchmark: an address that stays."""
    release = release_or_404(request.user, slug)
    return redirect("releases:release", slug=slug, version=release.version)


@require_safe
def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """What a release is, its numbers, leaderboard, files, how to cite it, and its versions."""
    release = release_or_404(request.user, slug, version)
    facts = page_facts(release)
    if is_withheld(release, request.user):
        return _withheld(request, release, facts)
    hidden = _asks_hidden(request, release)
    board = board_of(release, request.user, request.GET.get("by", ""), hidden=hidden)
    person = request.user
    try:
        files, damage = list(file_lines(release)), ""
    except DamagedFileError as problem:  # the page stays: people cite it
        files, damage = [], str(problem)
    context: dict[str, Any] = {
        "release": release,
        "facts": facts,
        "labels": release.statistics["labels"]["label"],
        "hidden": hidden,
        "board": board,
        "human": None if hidden or facts.in_part else human(release),
        "sorted_by": board.columns[board.sorted_at].name,
        "of_pool": any(column.name == EQUAL_OUTSIDER for column in board.columns),
        "more_query": "&labels=hidden" if hidden else "",
        "archive": archive_line(release),
        "signature": signature_of(release),
        "groups": _grouped(files),
        "n_files": len(files),
        "damage": damage,
        "n_downloads": n_downloads(release),
        "bibtex": bibtex(facts, release.doi),
        "cite_as": cite_as(facts, release.doi),
        "versions": [(one, is_withheld(one, person)) for one in list_versions(person, slug)],
        "example": shown_pair(release),
        "may_submit": is_reader(person),
        "asked_by": campaigns_asking(release) if is_reader(person) else [],
        "is_admin": person.is_authenticated and person.is_admin,
    }
    if person.is_authenticated and is_reader(person):
        context["mine"] = visible_submissions(release, person).filter(owner=person)
        context["quota"] = quota(person, release)
    return render(request, "releases/release.html", context)


def _withheld(request: HttpRequest, release: Release, facts: Facts) -> HttpResponse:
    """Return the page of a release that is withheld: what a citation needs, and why."""
    context = {
        "release": release,
        "bibtex": bibtex(facts, release.doi),
        "cite_as": cite_as(facts, release.doi),
        "versions": list_versions(request.user, release.slug),
    }
    return render(request, "releases/withheld.html", context)


def _asks_hidden(request: HttpRequest, release: Release) -> bool:
    return release.has_hidden_labels and request.GET.get("labels") == "hidden"


@require_safe
@says_withheld
def leaderboard_file(request: HttpRequest, slug: str, version: str, ending: str) -> HttpResponse:
    """Download the leaderboard, sorted as the page is: csv, md or tex."""
    release = open_release(request.user, slug, version)
    hidden = _asks_hidden(request, release)
    response = leaderboard_response(
        board_of(release, request.user, request.GET.get("by", ""), hidden=hidden),
        f"{slug}-{version}",
        ending,
        human=None if hidden else human(release),
        is_simulated=page_facts(release).is_simulated,
    )
    if request.user.is_authenticated:  # strangers take what is public, without a name
        record(request, Action.EXPORTED, release, what="leaderboard", format=ending)
    return response


def _grouped(files: list[FileLine]) -> list[tuple[str, list[FileLine]]]:
    """Return the files by folder: tables first, then the formats, then documents."""
    titles = {
        "data": "Tables (parquet)",
        "runs": "Scores of the models (parquet)",
        "vsd": "VSD JSON",
        "trec": "TREC",
        "genecis": "GeneCIS JSON",
        "triplets": "Triplets (CSV)",
        "csv": "CSV",
        "jsonl": "JSONL",
        "mteb": "MTEB (parquet)",
        "": "Documents and metadata",
        "guidelines": "Guidelines as shown to the judges",
    }
    by_folder: dict[str, list[FileLine]] = {name: [] for name in titles}
    for line in files:
        head, slash, _ = line.path.partition("/")
        by_folder.setdefault(head if slash else "", []).append(line)
    return [(titles.get(name, name), lines) for name, lines in by_folder.items() if lines]


@require_safe
@says_withheld
def datasheet(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The datasheet on a page of the site."""
    release = open_release(request.user, slug, version)
    title, end, body = _scrolling(datasheet_html(page_facts(release))).partition("</h1>")
    # made by MarkdownIt with html off: nothing that a person wrote becomes markup
    context = {"title": mark_safe(title + end), "body": mark_safe(body)}  # noqa: S308
    return render(request, "releases/datasheet.html", {"release": release, **context})


def _scrolling(page: str) -> str:
    """Let wide tables scroll in a narrow window; a corner without words is no heading."""
    frame = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table">'
    page = page.replace("<th></th>", "<td></td>")
    return page.replace("<table>", f"{frame}<table>").replace("</table>", "</table></div>")


@require_safe
def citation_file(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """CITATION.cff with the DOI, which the sealed one cannot name."""
    release = release_or_404(request.user, slug, version)
    text = citation(page_facts(release), release.doi)
    headers = {"Content-Disposition": "attachment; filename=CITATION.cff"}
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
@says_withheld
def archive(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    """Download everything in one zip."""
    release = open_release(request.user, slug, version)
    return _sent(request, release, lambda: archive_line(release))


@require_safe
@says_withheld
def file(request: HttpRequest, slug: str, version: str, path: str) -> HttpResponseBase:
    """Download one file."""
    release = open_release(request.user, slug, version)
    return _sent(request, release, lambda: line_or_404(release, path))


def _sent(
    request: HttpRequest, release: Release, find_line: Callable[[], FileLine]
) -> HttpResponseBase:
    """Return a download, or a page that says why the file is withheld."""
    try:
        return download(request, find_line())
    except DamagedFileError as problem:
        context = {"release": release, "problem": str(problem)}
        return render(request, "releases/damaged.html", context, status=503)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def freeze(request: HttpRequest) -> HttpResponse:
    """The form that freezes a release."""
    slug = request.GET.get("campaign", "")
    campaign = Campaign.objects.filter(slug=slug).first()
    form = FreezeForm(request.POST or None, initial=first_words(campaign))
    if request.method == "POST" and form.is_valid():
        try:
            request_freeze(request=form.request, owner=signed_in(request))
        except JobConflictError as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(
                request, f"{form.request.title} {form.request.version} is being frozen."
            )
            return redirect("releases:home")
    return render(request, "releases/freeze.html", {"form": form})


@require_POST
@admin_required
def visibility(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Show a release to everybody, or to members alone."""
    release = release_or_404(request.user, slug, version)
    set_visibility(release=release, is_public=request.POST.get("show") == "public")
    asking = campaigns_asking(release) if release.visibility == Visibility.PUBLIC else []
    hidden = f" It stays hidden for now: {in_words(asking)}." if asking else ""
    seen_by = release.get_visibility_display().lower()
    messages.success(request, f"{release} is now for: {seen_by}.{hidden}")
    return redirect("releases:release", slug=slug, version=version)


@require_safe
@says_withheld
def picture(request: HttpRequest, slug: str, version: str, sha256: str) -> HttpResponseBase:
    """A small picture of an image that is part of a release."""
    release = open_release(request.user, slug, version)
    if not has_picture(release, sha256):
        raise Http404
    try:
        content = read_preview(sha256, "thumb")
    except (FileNotFoundError, ValueError):
        raise Http404 from None
    headers = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}
    return HttpResponse(content, content_type="image/webp", headers=headers)
