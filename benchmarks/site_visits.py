"""Visits to a site at size, as a web process answers them; benchmarks/pages.py starts it."""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.busy_seconds import busy_seconds

FIRST_SECONDS, AGAIN_SECONDS = 1.0, 0.3
N_SHOWN = 10


@dataclass
class Visit:
    """One look at an address: seconds of processors and of the clock, and its statements."""

    status: int = 0
    busy: float = 0.0
    clock: float = 0.0
    is_file: bool = False
    statements: list[tuple[float, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Visited:
    """An address as a role sees it, first and again."""

    role: str
    route: str
    address: str
    first: Visit
    again: Sequence[Visit]

    @property
    def again_seconds(self) -> float:
        """The median of processors' time."""
        return statistics.median(visit.busy for visit in self.again)

    @property
    def share(self) -> float:
        """Of what is allowed, the larger part of both."""
        return max(self.first.busy / FIRST_SECONDS, self.again_seconds / AGAIN_SECONDS)


OpenPage = Callable[[Any, str], Visit]


def ask(browser: Any, address: str) -> Visit:
    """Open an address; of a file that is sent in parts, the first part."""
    from django.db import connection  # noqa: PLC0415

    found = Visit()

    def timed(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, *rest)
        finally:
            found.statements.append((time.perf_counter() - began, " ".join(str(sql).split())))

    with connection.execute_wrapper(timed):
        reply = browser.get(address)
        if reply.streaming:
            next(iter(reply.streaming_content), b"")
            reply.close()
    found.status = reply.status_code
    found.is_file = "attachment" in reply.get("Content-Disposition", "")
    return found


def visit(browser: Any, address: str) -> Visit:
    """Open an address, and say how long that takes."""
    busy, clock = busy_seconds(), time.perf_counter()
    found = ask(browser, address)
    found.clock = time.perf_counter() - clock
    found.busy = busy_seconds() - busy
    return found


def browsers() -> dict[str, tuple[Any, Any]]:
    """Return for each role who looks at pages and who asks the API."""
    from django.test import Client  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from accounts.tokens.services import allowed_scopes, create_token  # noqa: PLC0415
    from tests.clients import signed_in  # noqa: PLC0415

    found = {"nobody": (Client(), Client())}
    for role, name in (("annotator", "judith"), ("researcher", "rita"), ("admin", "ada")):
        person = User.objects.get(username=name)
        person.access_tokens.all().delete()
        program = Client()
        if scopes := allowed_scopes(person):  # judges have none
            _, token = create_token(owner=person, name="b", scopes=scopes, days=1)
            program = Client(headers={"authorization": f"Bearer {token}"})
        found[role] = (signed_in(person), program)
    return found


def prepare() -> Any:
    """Begin as a web process does, forget what is kept, answer once; return what addresses hold."""
    import config.wsgi  # noqa: F401, PLC0415  # isort: skip
    from django.conf import settings  # noqa: PLC0415
    from django.core.cache import cache  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from annotation.models import Campaign  # noqa: PLC0415
    from api import access, limits  # noqa: PLC0415
    from benchmarks.site_at_size import KEPT  # noqa: PLC0415
    from config import embedded  # noqa: PLC0415
    from config.running.memory import settle_memory  # noqa: PLC0415
    from tests.clients import Browser  # noqa: PLC0415

    settle_memory()
    embedded.hold_services(settings.SERVICES)
    logging.disable(logging.ERROR)  # pages that a role may not see are part of the visit
    settings.ALLOWED_HOSTS.append("testserver")
    cache.clear()
    access.REQUESTS = access.STRANGERS = limits.Limit("visits", 10**9, 60)  # type: ignore[attr-defined]
    campaign = Campaign.objects.get(slug="size")
    if not Browser(campaign, User.objects.get(username="judith")).judge("similar"):
        raise SystemExit("The judge has no pair left; make the site anew.")
    return json.loads((settings.DATA_DIR / KEPT).read_text())["values"]


def look(
    values: Any, n_again: int, role: str = "", only: str = "", open_page: OpenPage = visit
) -> Iterator[Visited]:
    """Visit every address as each role, or as one, all of them first, then again.

    Args:
        values: what stands in addresses.
        n_again: visits after the first.
        role: the only one, if any.
        only: routes that have this in their names.
        open_page: what opens an address.

    Raises:
        SystemExit: a page failed.
    """
    from django.urls import get_resolver  # noqa: PLC0415

    from tests.every_page import A_PAGE, addresses  # noqa: PLC0415
    from tests.routes import routes  # noqa: PLC0415

    firsts: list[tuple[str, str, str, Any, Visit]] = []
    found = {name: browser for name, browser in browsers().items() if role in {"", name}}
    for name, parts in routes(get_resolver()):
        if name.startswith(("admin:", "openid_", "socialaccount_")) or only not in name:
            continue
        for visitor, (page, program) in found.items():
            n_open = 0
            browser = program if name.startswith("api:") else page
            for address in addresses(name, parts, values):
                first = open_page(browser, address)
                if first.status >= 500:
                    raise SystemExit(f"{visitor}, {address}: {first.status}")
                if first.status == 200:
                    firsts.append((visitor, name, address, browser, first))
                    n_open += 1
                if n_open == A_PAGE or (n_open and not parts):
                    break
    for visitor, name, address, browser, first in firsts:
        again = [open_page(browser, address) for _ in range(n_again)]
        yield Visited(visitor, name, address, first, again)


def print_slowest(visited: Sequence[Visited]) -> None:
    """Print the visits that take the largest part of what is allowed."""
    print("| | role | first, s | again, ms | by the clock | statements | slowest of them |")
    print("|---|---|---|---|---|---|---|")
    for one in sorted(visited, key=lambda one: -one.share)[:N_SHOWN]:
        last = one.again[-1]
        seconds, sql = max(one.first.statements, default=(0.0, "-"))
        clock = statistics.median(visit.clock for visit in one.again)
        print(f"| {one.address} | {one.role} | {one.first.busy:.2f} | "
              f"{1000 * one.again_seconds:.0f} | {one.first.clock:.2f} s, {1000 * clock:.0f} ms | "
              f"{len(one.first.statements)}, {len(last.statements)} | "
              f"{1000 * seconds:.0f} ms: `{sql[:80]}` |")  # fmt: skip


def main() -> int:
    """Visit the site of this data folder; return 1 where something is over the bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", type=int, default=3, help="visits after the first")
    parser.add_argument("--role", default="", help="as this role alone")
    parser.add_argument("--only", default="", help="routes that have this in their names")
    given = parser.parse_args()

    visited = list(look(prepare(), given.again, given.role, given.only))
    print_slowest(visited)
    over = [one for one in visited if one.share > 1 and not one.first.is_file]
    for one in over:
        print(f"over the bounds: {one.role}, {one.address}")
    print(f"{len(visited)} addresses, {len(over)} over the bounds of {FIRST_SECONDS:.0f} s first "
          f"and {1000 * AGAIN_SECONDS:.0f} ms again")  # fmt: skip
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
