"""Pairs with every answer as samples of FiftyOne, there and back.

A sample is a pair: `filepath` is the candidate, `query` the query, and `votes` has one
Classification for each judge's answer. The file is the `samples.json` of FiftyOne's
LegacyFiftyOneDataset, which it also reads without a `metadata.json`.

Source: docs.voxel51.com, user guide, importing datasets; tried with FiftyOne 1.22.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText
from lookalike.io.named_images import NameOf
from lookalike.io.pair_answers import (
    CANT_TELL,
    SKIP,
    VOTES,
    PairAnswer,
    PairAnswers,
    details_from,
    details_of,
    one_answer_each,
    rules_from,
)
from lookalike.io.vote_options import VoteOptions

ANSWERS = (*VOTES, CANT_TELL, SKIP)


def holds_pair_samples(file: JsonText) -> bool:
    """Whether JSON is a list of samples of FiftyOne that are pairs with votes."""
    samples = file.value.get("samples") if isinstance(file.value, dict) else None
    first = samples[0] if isinstance(samples, list) and samples else None
    return isinstance(first, dict) and {"filepath", "query", "votes"} <= first.keys()


def fiftyone_pieces(answers: PairAnswers) -> Iterator[str]:
    """Yield pairs as samples, one a line.

    Args:
        answers: those of one pair stand next to each other.
    """
    before = '{"samples": [\n'
    for (query, candidate), group in groupby(answers.answers, key=attrgetter("query", "candidate")):
        sample = {
            "filepath": candidate,
            "query": query,
            "candidate": candidate,
            "tags": [],
            "metadata": None,
            **answers.rules(),
            "votes": {
                "_cls": "Classifications",
                "classifications": [_classification(one) for one in group],
            },
        }
        yield before + json.dumps(sample, ensure_ascii=False)
        before = ",\n"
    yield '{"samples": []}\n' if before.startswith("{") else "\n]}\n"


def fiftyone_answers(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf | None = None
) -> PairAnswers:
    """Return every answer of a file that `fiftyone_pieces` or FiftyOne wrote.

    Args:
        file: `samples.json`.
        options: which of a judge's answers to one pair counts; without one, two are an error.
        name_of: the name of an image, from its path; by default the path itself.

    Raises:
        FormatError: a sample without images or votes, or an answer that is none.
    """
    options = options or VoteOptions()
    answers: list[PairAnswer] = []
    rules: dict[str, Any] = {}
    for line, sample in file.entries("samples"):
        held = _without_nulls(sample)
        votes = _classifications(held.get("votes"))
        query, candidate = held.get("query"), held.get("candidate") or held.get("filepath")
        if votes is None or not (isinstance(query, str) and isinstance(candidate, str)):
            raise FormatError(file.path, line, "the sample is no pair with votes")
        rules = rules or rules_from(file.path, line, held)
        images = (query, candidate) if name_of is None else (name_of(query), name_of(candidate))
        answers += [_answer(file, line, images, vote) for vote in votes]
    counted, notes = one_answer_each(file.path, answers, options.repeats)
    return PairAnswers(counted, **rules, notes=tuple(notes))


def _classification(answer: PairAnswer) -> dict[str, Any]:
    comments = {"comments": list(answer.comments)} if answer.comments else {}
    return {
        "_cls": "Classification",
        "label": answer.answer,
        "judge": answer.judge,
        **details_of(answer),
        **comments,
    }


def _classifications(votes: object) -> list[Mapping[str, Any]] | None:
    held = votes.get("classifications") if isinstance(votes, dict) else None
    if not isinstance(held, list) or not all(isinstance(one, dict) for one in held):
        return None
    return [_without_nulls(one) for one in held]


def _without_nulls(held: object) -> Mapping[str, Any]:
    """Return an object without the fields that FiftyOne leaves empty."""
    items = held.items() if isinstance(held, dict) else ()
    return {name: value for name, value in items if value is not None}


def _answer(
    file: JsonText, line: int, images: tuple[str, str], vote: Mapping[str, Any]
) -> PairAnswer:
    word = vote.get("label")
    if word not in ANSWERS:
        reason = f"the label {word!r} is none of {', '.join(ANSWERS)}"
        raise FormatError(file.path, line, reason)
    comments = vote.get("comments", [])
    if not isinstance(comments, list) or not all(isinstance(one, str) for one in comments):
        raise FormatError(file.path, line, f"the comments are {comments!r}, no list of texts")
    details = details_from(file.path, line, vote)
    if word in (CANT_TELL, SKIP):
        details.setdefault("is_counted", False)
    judge = str(vote.get("judge", ""))
    return PairAnswer(*images, judge, word, comments=tuple(comments), line=line, **details)
