from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"
    verbose_name = "Releases"

    def ready(self) -> None:
        """Keep what releases were made from."""
        import releases.signals  # noqa: F401, PLC0415  (models are loaded now)
