"""manage.py check_storage: find files that are cut, changed or missing."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand

from lookalike.core.stored_files import StoredFile


@dataclass(frozen=True)
class Damage:
    """A file that is not what was stored.

    Attributes:
        kind, name: as in `StoredFile`.
        reason: what is wrong with it.
        repaired: whether it was made again just now.
    """

    kind: str
    name: str
    reason: str
    repaired: bool = False


class Command(BaseCommand):
    help = "Read every stored file; name those that are cut, changed or missing, and exit with 1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
        parser.add_argument(
            "--repair", action="store_true", help="make damaged thumbnails and views again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        n_checked: Counter[str] = Counter()
        damaged: list[tuple[StoredFile, str]] = []
        for file in all_stored_files():
            n_checked[file.kind] += 1
            if reason := file.check():
                damaged.append((file, reason))
        found = [
            Damage(file.kind, file.name, reason, options["repair"] and _is_repaired(file))
            for file, reason in damaged
        ]
        if options["json"]:
            damages = [asdict(damage) for damage in found]
            self.stdout.write(json.dumps({"checked": n_checked, "damages": damages}, indent=1))
        else:
            self._print_table(n_checked, found)
        if not all(damage.repaired for damage in found):
            sys.exit(1)

    def _print_table(self, n_checked: Counter[str], found: list[Damage]) -> None:
        n_wrong = Counter(damage.kind for damage in found)
        self.stdout.write(f"{'kind':<18}{'files':>12}{'damaged':>12}")
        for kind, n in n_checked.items():
            self.stdout.write(f"{kind:<18}{n:>12,}{n_wrong[kind]:>12,}")
        for damage in found:
            repaired = " (made again)" if damage.repaired else ""
            self.stdout.write(f"{damage.kind} {damage.name}: {damage.reason}{repaired}")


def all_stored_files() -> Iterator[StoredFile]:
    """Yield what the apps have on disk: each says so itself, in its module `stored_files`."""
    for config in apps.get_app_configs():
        name = f"{config.name}.stored_files"
        if find_spec(name) is not None:
            yield from import_module(name).stored_files()


def _is_repaired(file: StoredFile) -> bool:
    if file.repair is None:
        return False
    try:
        file.repair()
    except OSError:  # what it would be made from is damaged, too, and is named by itself
        return False
    return not file.check()
