"""What compares images under a condition: a projection for each, or the same for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lookalike.conditional.template_scores import TemplateScore, score_templates
from lookalike.conditional.types import Task
from lookalike.core.arrays import Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.learning.projection import Projection


class Composer(Protocol):
    """Scores candidates against a reference under a condition."""

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return how well each candidate fits, higher is better.

        Args:
            reference: shape (d,).
            candidates: shape (n, d).
            condition: in words.

        Raises:
            Refused: nothing is known of the condition.
        """


@dataclass(frozen=True)
class NotionComposer:
    """Cosine in the projection of the condition's notion.

    Attributes:
        notions: a projection for each condition.
        otherwise: for a condition that has none; None to refuse it.
    """

    notions: Mapping[str, Projection]
    otherwise: Projection | None = None

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return cosines, shape (n,), as `Composer`.

        Raises:
            Refused: no notion is said for the condition.
        """
        notion = self.notions.get(condition, self.otherwise)
        if notion is None:
            known = ", ".join(self.notions) or "none"
            raise Refused("condition", f"no notion is said for {condition!r}; there is {known}")
        mapped = notion.apply(np.vstack([reference[None], candidates])).astype(np.float64)
        cosines: Floats = mapped[1:] @ mapped[0]
        return cosines


def score_composer(
    composer: Composer,
    vectors: Float32s,
    *,
    tasks: Sequence[Task],
    rows: Sequence[Sequence[int]],
    conditions: Sequence[str],
    answers: Sequence[int],
) -> TemplateScore:
    """Return a composer's recall on templates, ties at their expected value.

    Source: Vaze et al., "GeneCIS" (CVPR 2023), section 5.

    Args:
        composer: scores candidates.
        vectors: of all images, shape (n_images, d).
        tasks: of the templates.
        rows: of each template, the reference's row of `vectors` and after it the candidates'.
        conditions: of the templates.
        answers: place of the target among its candidates.

    Raises:
        Refused: as `Composer.scores`.
        ValueError: as `score_templates`.
    """
    scores = [
        composer.scores(vectors[row[0]], vectors[list(row[1:])], condition)
        for row, condition in zip(rows, conditions, strict=True)
    ]
    return score_templates(tasks, scores, answers)
