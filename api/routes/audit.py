"""The API's route to the audit log, for admins."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema
from pydantic import AwareDatetime

from api.access import reads_audit
from api.errors import errors
from api.paging import Page, PageQuery, Part, Text, read_part
from audit.actions import Action
from audit.models import Entry
from audit.queries import EntryFilter
from audit.services import record_part

router = Router(tags=["Audit log"], auth=reads_audit)


class EntryOut(Schema):
    """One act."""

    id: int
    at: datetime
    actor: str = Field(
        validation_alias="actor_name", description="User name; empty for the program or a stranger."
    )
    action: str = Field(description="What was done, such as campaign_opened.")
    subject_kind: str
    subject_id: str
    subject: str = Field(validation_alias="subject_label")
    details: dict[str, Any]
    address: str | None = Field(description="From where; null once it is no longer kept.")
    request_id: str


class EntryQuery(Schema):
    """Which entries are wanted."""

    actor: Text = Field("", description="Only of this user name.")
    action: Action | None = Field(None, description="Only of this kind.")
    kind: Text = Field("", description="Only about this kind of subject, such as campaign.")
    subject: Text = Field("", description="Part of the subject's name, or its id.")
    since: AwareDatetime | None = Field(None, description="Not before.")
    until: AwareDatetime | None = Field(None, description="Before.")


@router.get(
    "/audit", response={200: Page[EntryOut], **errors(422)}, summary="Entries of the audit log"
)
def audit_entries(
    request: HttpRequest, wanted: Query[EntryQuery], page: Query[PageQuery]
) -> Part[Entry]:
    """Return who did what, newest first. For admins."""
    given = EntryFilter(**{**wanted.dict(), "action": wanted.action.value if wanted.action else ""})
    part = read_part(given.entries(), page, newest_first=True)
    record_part(request, None, what="audit log", is_first=not page.after)
    return part
