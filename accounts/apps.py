from django.apps import AppConfig
from django.core.checks import Tags, register

from accounts.checks import check_upgrade


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        register(check_upgrade, Tags.database)
