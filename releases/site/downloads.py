"""Answer a download of a file or of the archive, and count it: for pages and for the API."""

from __future__ import annotations

import mimetypes

from django.http import HttpRequest, HttpResponseBase

from audit.actions import Action
from audit.services import record
from releases.services import count_download
from releases.site.integrity import check_whole
from releases.site.queries import FileLine
from releases.site.ranges import begins_download, file_response
from releases.storage import archive_path, files_folder


def download(request: HttpRequest, line: FileLine) -> HttpResponseBase:
    """Return a file of a release, or the part that was asked for.

    The whole of it counts as a download, and so does its first part; going on does not.

    Raises:
        DamagedFileError: it is missing, or is not what was frozen.
    """
    release = line.release
    path = files_folder(release) / line.path if line.path else archive_path(release)
    check_whole(path, line.sha256)
    kind = mimetypes.guess_type(line.name)[0] or "application/octet-stream"
    if kind.startswith("text/"):
        kind += "; charset=utf-8"  # without it some clients read Latin-1
    answer = file_response(request, path, name=line.name, content_type=kind, sha256=line.sha256)
    is_whole = answer.status_code == 200 and request.method == "GET"
    if is_whole or (answer.status_code == 206 and begins_download(request)):
        count_download(release=release, path=line.path)
        if request.user.is_authenticated:  # strangers take what is public, without a name
            record(request, Action.DOWNLOADED, release, file=line.path or "archive")
    return answer
