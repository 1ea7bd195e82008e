"""One whole site, whose workers these tests disturb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from config import embedded
from tests.site import Site


@pytest.fixture(scope="package")  # an idle site takes a tenth of a processor
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose light workers have a process replaced after an import, for its memory."""
    site = Site(tmp_path_factory.mktemp("site") / "var")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIGHT_MEMORY_MIB", "160")
        site.start()
        yield site
        site.end()


def asked(site: Site, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the site's own database."""
    services = embedded.service_urls(site.data_dir, database_url=None, redis_url=None)
    with psycopg.connect(services.database_url) as connection:
        return connection.execute(query, values).fetchall()
