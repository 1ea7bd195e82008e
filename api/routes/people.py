"""The API's route about the person who asks."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from ninja import Field, Router, Schema

from accounts.access import signed_in
from accounts.models import User
from accounts.tokens.services import allowed_scopes
from api.access import reads
from api.errors import errors

router = Router(tags=["You"], auth=reads)


class MeOut(Schema):
    """The person for whom a token acts."""

    username: str
    role: str
    may: list[str]
    joined_at: datetime = Field(validation_alias="date_joined")

    @staticmethod
    def resolve_may(person: User) -> list[str]:
        return sorted(scope.value for scope in allowed_scopes(person))


@router.get("/me", response={200: MeOut, **errors()}, summary="Who you are")
def me(request: HttpRequest) -> User:
    """Tell whose token this is, and what that person's role allows (the token may allow less)."""
    return signed_in(request)
