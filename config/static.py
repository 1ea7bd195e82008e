"""How static files get their addresses."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Content-hashed names, in CSS and in the imports of ES modules too.

    Before the first `collectstatic` there is no manifest; files then keep their plain names and
    are served from their folders, so that tests and a fresh checkout need no build step.
    """

    support_js_module_import_aggregation = True
    # our own modules only: packages ship modules that import by names no file has
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )

    def stored_name(self, name: str) -> str:
        """Return the hashed name, or the plain one while nothing has been collected."""
        return super().stored_name(name) if self.hashed_files else name
