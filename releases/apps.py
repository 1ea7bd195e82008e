from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"
    verbose_name = "Releases"

    def ready(self) -> None:
        """Keep what releases were made from."""
        from conditional.triplets.services import add_holder  # noqa: PLC0415 - models are loaded
        from releases.site.queries import release_of_triplets  # noqa: PLC0415 - now

        add_holder(release_of_triplets)
