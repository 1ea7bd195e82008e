"""An answer that is excluded counts neither in a release nor where the release is imported."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from django.db import connection

from accounts.models import Role
from annotation.models import Judgement
from annotation.queries.frozen_rows import JUDGEMENTS
from annotation.queries.labels import labels
from annotation.services import exclude_answers, import_judgements, reconcile
from releases.importing.campaign import store_judgements
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("n_excluded", [1, 3])
@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 2}])
def test_an_exclusion_survives_a_release_and_its_import(rules, n_excluded, campaign_of, people):
    campaign = campaign_of(1, 3, 3, **rules)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssd dd. sdc"))
    first = campaign.questions.order_by("candidate_id")[0]
    given = Judgement.objects.filter(question=first).order_by("-answer", "pk")
    events = list(given.values_list("event__uuid", flat=True))[:n_excluded]
    exclude_answers(campaign=campaign, events=events, reason="x", by=people(1, Role.ADMIN)[0])
    table = list(labels(campaign))

    with connection.cursor() as cursor:
        cursor.execute(JUDGEMENTS, [[campaign.pk]])
        names = [column.name for column in cursor.description]
        frozen = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    assert sum(row["is_counted"] for row in frozen) == sum(
        r.n_similar + r.n_different for r in table
    )
    other = campaign_of(1, 3, 3, **rules)
    numbers = dict(campaign.panel.values_list("pk", "number"))
    judges = {str(m.number): m.annotator for m in other.panel.all()}
    place = dict(
        zip(campaign.questions.order_by("candidate_id").values_list("candidate_id", flat=True),
            other.questions.order_by("candidate_id").values_list("query_id", "candidate_id"),
            strict=True)
    )  # fmt: skip
    rows = [
        {"campaign": other.slug, "query": place[row["image"]][0], "image": place[row["image"]][1],
         "annotator": str(numbers[row["member"]]), "answer": row["answer"], "reason": row["reason"],
         "is_counted": row["is_counted"], "decided_at": "2026-01-01T00:00:00+00:00",
         "visible_ms": 0, "guideline_version": 1}
        for row in frozen
    ]  # fmt: skip
    folder: Any = SimpleNamespace(
        table=lambda _: pa.Table.from_pylist(rows), info={"name": "small", "samples": []}
    )
    images: Any = SimpleNamespace(pair=lambda row: (row["query"], row["image"]))
    store_judgements(folder, {"slug": other.slug}, other, images, judges)
    assert [row[2:] for row in labels(other)] == [row[2:] for row in table]
    assert reconcile(campaign=other) == []
