"""Who may send how much: checked before the first byte of a form is read."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

from accounts.models import User
from catalog.importing.uploads import MAX_BYTES

SMALL = 25 * 2**20
READER_PAGES = {"evaluation:runs": 2 * 2**30, "releases:submit": 2 * 2**30}
"""How much more researchers may send to some pages, by their URL names."""


class BoundedUploads(FileUploadHandler):
    """Refuse large forms where nothing large is to be uploaded; the real handlers follow.

    Django reads a form to the end before the view, and so its check of rights, is reached.
    """

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Compare the announced length with what this person may send to this page.

        Raises:
            RequestDataTooBig: too much; the answer is 400.
        """
        if content_length > self._most():
            raise RequestDataTooBig("The upload is too large.")

    def _most(self) -> int:
        """Return how many bytes are read: a researcher may send large files to some pages."""
        user = getattr(self.request, "user", None)
        if not isinstance(user, User):
            return SMALL
        if user.is_admin:
            return MAX_BYTES
        page = getattr(self.request, "resolver_match", None)
        if user.is_researcher and page is not None:
            return SMALL + READER_PAGES.get(page.view_name, 0)
        return SMALL

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the data on."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the next handler."""
