"""A leaderboard as a file to take away: CSV at full precision, Markdown, LaTeX."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404, HttpResponse

from lookalike.agreement.human_line import HumanLine
from lookalike.io.documents import as_csv, as_latex, as_markdown, latex_notes, markdown_text
from lookalike.metrics.leaderboard import Cell, Leaderboard
from lookalike.metrics.leaderboard_tables import numbers_table, table_notes, words_table

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex",
}


def leaderboard_response(
    board: Leaderboard,
    name: str,
    ending: str,
    *,
    human: HumanLine | None = None,
    is_simulated: bool = False,
    notes: Iterable[str] = (),
) -> HttpResponse:
    """Return a download of the table as it is sorted.

    Args:
        board: it.
        name: what the file's name begins with.
        ending: csv, md or tex.
        human: the judges, who stand below the models.
        is_simulated: whether programs judged, which the file and its name then say.
        notes: sentences to stand below the table, in Markdown and LaTeX; empty ones are omitted.

    Raises:
        Http404: another ending.
    """
    if ending not in CONTENT_TYPES:
        raise Http404
    people = None if human is None else _people(human)
    if ending == "csv":
        text = as_csv(numbers_table(board, people, is_simulated=is_simulated))
    else:
        table = words_table(board, people)
        below = [*table_notes(board, is_simulated=is_simulated), *filter(None, notes)]
        text = as_latex(table) + latex_notes(below)
        if ending == "md":
            text = "\n".join([as_markdown(table), *map(markdown_text, below)]) + "\n"
    mark = "-simulated" if is_simulated else ""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}{mark}-leaderboard.{ending}"',
        "Cache-Control": "private, no-store",
    }
    return HttpResponse(text, content_type=CONTENT_TYPES[ending], headers=headers)


def _people(human: HumanLine) -> Cell:
    ends = human.interval
    low, high = (ends.low, ends.high) if ends.is_defined else (None, None)
    return Cell(human.auc, low, high, human.n_queries)
