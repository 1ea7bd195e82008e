"""manage.py first_admin_link"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from accounts.first_admin.services import make_secret


class Command(BaseCommand):
    help = "Print a link that makes the first admin, once, within a day; nothing once there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--address", help="of the site, where PUBLIC_URL is not set")

    def handle(self, *args: Any, **options: Any) -> None:
        secret = make_secret()
        if secret is None:
            return
        site = settings.GIVEN_URL or options["address"] or settings.PUBLIC_URL
        path = reverse("accounts:first_admin", args=[secret])
        self.stderr.write(
            "This site has no admin. Whoever uses this link first, within a day, becomes one:"
        )
        self.stderr.write(site.rstrip("/") + path)
