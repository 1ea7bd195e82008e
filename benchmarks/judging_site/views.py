"""What a step of judging costs at least: insert one row, return one row."""

from __future__ import annotations

import json

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpRequest, JsonResponse

TABLE = """
create table if not exists floor_answer (
    id bigserial primary key, question bigint, annotator bigint, answer text,
    at timestamptz default now())
"""


@login_required
def floor(request: HttpRequest) -> JsonResponse:
    """Insert one row and return one row, behind the site's middleware and sign-in."""
    assert request.user.pk is not None
    return step(request, request.user.pk)


def step(request: HttpRequest, person: int) -> JsonResponse:
    """Insert one row and return one row."""
    body = json.loads(request.body)
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into floor_answer (question, annotator, answer) values (%s, %s, %s)",
            [body["question"], person, body["answer"]],
        )
        cursor.execute(
            "select uid, position from annotation_question where id = %s", [body["next"]]
        )
        uid, position = cursor.fetchone()
    return JsonResponse({"uid": str(uid), "position": position})
