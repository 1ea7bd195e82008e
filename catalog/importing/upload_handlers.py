"""Who may send how much, checked before the first byte of a form is read; and where it arrives."""

from __future__ import annotations

import tempfile
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

from accounts.models import User
from accounts.sign_in.limits import consume
from catalog.importing.uploads import MAX_BYTES, check_room, uploads_folder
from lookalike.core.errors import Refused

HOUR = 3600
SMALL = 25 * 2**20
READER_PAGES = {"evaluation:runs": 2 * 2**30, "releases:submit": 2 * 2**30}
"""How much more researchers may send to some pages, by their URL names."""


class TooManyUploadsError(RequestDataTooBig):
    """Somebody has uploaded too often within an hour; the message says when to go on."""

    def __init__(self, seconds: int) -> None:
        minutes = -(-seconds // 60)
        super().__init__(
            f"At most {settings.UPLOADS_AN_HOUR} uploads an hour are taken from one person. "
            f"Try again in {minutes} minutes."
        )
        self.seconds = seconds


class NoRoomError(RequestDataTooBig):
    """The disk has no room for an upload; the message says how much is free."""


class BoundedUploads(FileUploadHandler):
    """Refuse large forms where nothing large is to be uploaded; the real handlers follow.

    Django reads a form to the end before the view, and so its check of rights, is reached.
    """

    _is_counted = False

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Compare the announced length with what this person may send to this page.

        Raises:
            RequestDataTooBig: too much; the answer is 400.
            NoRoomError: the disk has no room for it; likewise.
        """
        if content_length > self._most():
            raise RequestDataTooBig("The upload is too large.")
        if content_length > settings.FILE_UPLOAD_MAX_MEMORY_SIZE:
            try:
                check_room(content_length)
            except Refused as problem:
                raise NoRoomError(str(problem)) from None

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

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Count the first file of a request; the API counts its own.

        Raises:
            TooManyUploadsError: the answer is 429.
        """
        super().new_file(*args, **kwargs)
        user = getattr(self.request, "user", None)
        path = self.request.path_info if self.request is not None else ""
        if self._is_counted or not isinstance(user, User) or path.startswith("/api/"):
            return
        self._is_counted = True
        usage = consume("page:uploads", user.pk, limit=settings.UPLOADS_AN_HOUR, seconds=HOUR)
        if not usage.is_allowed:
            raise TooManyUploadsError(usage.seconds)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the data on."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the next handler."""


class ArrivingFile(TemporaryUploadedFile):
    """What is too long for memory, beside the uploads that are kept: /tmp may be memory, too."""

    def __init__(self, *about: Any) -> None:
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=uploads_folder())  # noqa: SIM115
        UploadedFile.__init__(self, file, *about)


class DataFolderUploads(TemporaryFileUploadHandler):
    """Writes long uploads to the data folder's disk."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = ArrivingFile(
            self.file_name, self.content_type, 0, self.charset, self.content_type_extra
        )
