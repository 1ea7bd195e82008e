from django.apps import AppConfig
from django.core.checks import Tags, register
from django.db.models.signals import post_save

from accounts.checks import check_mail, check_newer_schema, check_upgrade


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        from accounts.signals import end_access  # noqa: PLC0415  (imports models)

        register(check_upgrade, Tags.database)
        register(check_newer_schema, Tags.database)
        register(check_mail, deploy=True)
        post_save.connect(end_access, sender="accounts.User", dispatch_uid="end access")
