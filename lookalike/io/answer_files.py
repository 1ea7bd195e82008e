"""Read every answer about pairs, whichever tool wrote the file."""

from __future__ import annotations

from lookalike.io.fiftyone import fiftyone_answers, holds_pair_samples
from lookalike.io.json_text import JsonText
from lookalike.io.label_studio import label_studio_answers
from lookalike.io.label_studio_tasks import is_label_studio
from lookalike.io.named_images import NameOf
from lookalike.io.pair_answers import PairAnswers
from lookalike.io.vote_options import VoteOptions


def answers_in(
    file: JsonText, options: VoteOptions, name_of: NameOf | None = None
) -> PairAnswers | None:
    """Return every answer in JSON of Label Studio or FiftyOne; None if it is of neither.

    Args:
        file: the JSON.
        options: how to read it.
        name_of: the name of an image, from its path or address; by default the path itself.

    Raises:
        FormatError: a task or sample that is no pair, or an answer that cannot be read.
    """
    if is_label_studio(file):
        return label_studio_answers(file, options, name_of)
    if holds_pair_samples(file):
        return fiftyone_answers(file, options, name_of)
    return None
