"""Who may send how much: checked before the first byte of a form is read."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

from accounts.models import User
from catalog.uploads import MAX_BYTES

SMALL = 25 * 2**20


class BoundedUploads(FileUploadHandler):
    """Refuse large forms of people who have nothing to upload; the real handlers follow.

    Django reads a form to the end before the view, and so its check of rights, is reached.
    """

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Compare the announced length with what this person may send.

        Raises:
            RequestDataTooBig: too much; the answer is 400.
        """
        user = getattr(self.request, "user", None)
        most = MAX_BYTES if isinstance(user, User) and user.is_admin else SMALL
        if content_length > most:
            raise RequestDataTooBig("The upload is too large.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the data on."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the next handler."""
