"""Read pairs with known answers from a CSV file."""

from __future__ import annotations

from annotation.queries.references import ImageNames
from annotation.services.gold import GoldPair
from lookalike.io.numbered_rows import TableError, parse_rows


def read_gold(name: str, content: bytes, images: ImageNames) -> list[GoldPair]:
    """Return the pairs of a file with the columns query, candidate, answer and perhaps why.

    Raises:
        TableError: rows name unknown or ambiguous images, or answers that are none, or stand
            there twice; all are named.
    """
    problems: list[str] = []
    pairs: dict[tuple[int, int], GoldPair] = {}
    for row, (query, candidate, answer, why) in parse_rows(
        name, content, ("query", "candidate", "answer"), problems, optional=("why",)
    ):
        ids = []
        for image in (query, candidate):
            try:
                image_id = images.find(image)
            except LookupError as problem:
                problems.append(f"row {row}: {problem}")
                continue
            if image_id is None:
                problems.append(f"row {row}: no image of these catalogs is called {image!r}")
            else:
                ids.append(image_id)
        if answer not in {"similar", "different"}:
            problems.append(f"row {row}: the answer {answer!r} is neither similar nor different")
        if len(ids) == 2:
            pair = GoldPair(ids[0], ids[1], answer, why)
            if pairs.setdefault((ids[0], ids[1]), pair) is not pair:
                problems.append(f"row {row}: this pair stands in an earlier row")
    if not pairs and not problems:
        problems.append("there are no pairs")
    if problems:
        raise TableError(name, problems)
    return list(pairs.values())
