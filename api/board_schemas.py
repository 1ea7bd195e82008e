"""The board of a campaign and its paired tests as the API shows them."""

from __future__ import annotations

import uuid
from datetime import datetime

from ninja import Field, Schema


class BoardQuery(Schema):
    """Which column sorts the board."""

    by: str = Field("", description="Measure that sorts the board; the first column if empty.")


class BoardCell(Schema):
    """One value of one model on the board."""

    value: float | None = Field(description="Null where undefined, or of too few queries.")
    low: float | None = Field(description="Lower end of the 95 % interval.")
    high: float | None = Field(description="Upper end of the 95 % interval.")
    no_interval: str = Field(description="Why there is no interval; empty where there is.")
    n_queries: int | None = Field(description="Queries that it is the mean of.")
    n_units: int | None = Field(description="Independent units of these queries.")
    comparable_with: str = Field(description="Models whose values this one may be compared with.")
    reason: str = Field(description="Why with these alone.")
    letters: str = Field(description="Models that share a letter are not told apart.")
    is_best: bool = Field(description="Told apart from, and above, all that it is compared with.")


class BoardLine(Schema):
    """One model of the board."""

    name: str
    badge: str = Field(description="Its part in the pool: pooled, sibling or outsider.")
    notes: list[str]
    cells: dict[str, BoardCell] = Field(description="By measure.")


class BoardOut(Schema):
    """The board of a campaign's newest result, as its page shows it."""

    campaign: str
    result: uuid.UUID
    created_at: datetime
    by: str = Field(description="The measure that sorts it.")
    unit: str = Field(description="What intervals and tests take as independent.")
    measures: list[str] = Field(description="The columns, in their order.")
    lines: list[BoardLine] = Field(description="Best first among models that may be compared.")


class ComparisonQuery(Schema):
    """The measure by which models are compared."""

    measure: str = Field(min_length=1, description="A measure with paired tests, such as AP'.")


class ComparisonOut(Schema):
    """Two models of a board compared by a measure, on the queries of both."""

    first: str
    second: str
    difference: float = Field(description="Mean of first minus second.")
    low: float | None = Field(description="Lower end of the 95 % interval.")
    high: float | None = Field(description="Upper end of the 95 % interval.")
    no_interval: str = Field(description="Why there is no interval; empty where there is.")
    effect_size: float | None = Field(description="Mean over standard deviation (d_z).")
    n_queries: int
    n_units: int | None = Field(description="Independent units of these queries.")
    p: float | None = Field(description="Two-sided paired sign-flip test.")
    p_holm: float | None = Field(
        description="After Holm's correction; null where the two may not be compared."
    )


class ComparisonsOut(Schema):
    """The paired tests of a campaign's newest result by one measure."""

    campaign: str
    result: uuid.UUID
    measure: str
    unit: str = Field(description="What intervals and tests take as independent.")
    comparisons: list[ComparisonOut]
