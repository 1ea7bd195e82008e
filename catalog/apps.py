from django.apps import AppConfig
from django.core.checks import register

from catalog.images.checks import check_storage


class CatalogConfig(AppConfig):
    name = "catalog"
    verbose_name = "Catalogs"

    def ready(self) -> None:
        register(check_storage, "storage")
