"""A leaderboard as a file to take away: CSV at full precision, Markdown, LaTeX."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpResponse

from lookalike.io.documents import as_csv, as_latex, as_markdown
from lookalike.metrics.leaderboard import Leaderboard, numbers_table, words_table

ENDINGS: dict[str, tuple[str, Callable[[Leaderboard], str]]] = {
    "csv": ("text/csv", lambda board: as_csv(numbers_table(board))),
    "md": ("text/markdown", lambda board: as_markdown(words_table(board))),
    "tex": ("application/x-tex", lambda board: as_latex(words_table(board))),
}


def leaderboard_response(board: Leaderboard, name: str, ending: str) -> HttpResponse:
    """Return a download of the table as it is sorted.

    Raises:
        Http404: another ending than csv, md or tex.
    """
    if ending not in ENDINGS:
        raise Http404
    content_type, written = ENDINGS[ending]
    headers = {
        "Content-Disposition": f'attachment; filename="{name}-leaderboard.{ending}"',
        "Cache-Control": "private, no-store",
    }
    return HttpResponse(written(board), content_type=content_type, headers=headers)
