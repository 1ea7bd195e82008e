"""Read pairs with known answers from a CSV file."""

from __future__ import annotations

from annotation.queries.references import find_in_row
from annotation.services.gold import GoldPair
from lookalike.agreement.grades import Scale
from lookalike.io.image_names import ImageNames
from lookalike.io.numbered_rows import TableError, parse_rows


def read_gold(
    name: str, content: bytes, images: ImageNames[int], scale: Scale | None = None
) -> list[GoldPair]:
    """Return the pairs of a file with the columns query, candidate, answer and perhaps why.

    Args:
        name: of the file.
        content: its bytes.
        images: that it may name.
        scale: where pairs are graded: the answer is a grade, 0 to the highest.

    Raises:
        TableError: rows name unknown or ambiguous images, or answers that are none, or stand
            there twice; all are named.
    """
    problems: list[str] = []
    pairs: dict[tuple[int, int], GoldPair] = {}
    known = {"similar": "similar", "different": "different"}
    if scale:
        known = {str(grade): scale.answer(grade) for grade in range(scale.n_grades)}
    for row, (query, candidate, answer, why) in parse_rows(
        name, content, ("query", "candidate", "answer"), problems, optional=("why",)
    ):
        query_id, candidate_id = (
            find_in_row(images, name, row, problems) for name in (query, candidate)
        )
        if answer not in known:
            wanted = (
                f"no grade from 0 to {len(known) - 1}" if scale else "neither similar nor different"
            )
            problems.append(f"row {row}: the answer {answer!r} is {wanted}")
        if query_id is not None and candidate_id is not None:
            pair = GoldPair(query_id, candidate_id, known.get(answer, ""), why)
            if pairs.setdefault((query_id, candidate_id), pair) is not pair:
                problems.append(f"row {row}: this pair stands in an earlier row")
    if not pairs and not problems:
        problems.append("there are no pairs")
    if problems:
        raise TableError(name, problems)
    return list(pairs.values())
