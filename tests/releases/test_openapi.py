"""The document says which routes want a token: not those that strangers may ask."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client


def test_routes_of_public_releases_take_a_token_but_want_none(client: Client, db: None) -> None:
    document: dict[str, Any] = json.loads(client.get("/api/v1/openapi.json").content)
    assert set(document["components"]["securitySchemes"]) == {"TokenAccess"}
    open_to_all = set()
    for path, routes in document["paths"].items():
        for route in routes.values():
            assert {"TokenAccess": []} in route["security"], path
            if {} in route["security"]:
                open_to_all.add(path.removeprefix("/api/v1"))
    base = "/releases/{slug}/{version}"
    files = {f"{base}/{part}" for part in ("archive", "files/{path}", "negatives")}
    assert open_to_all == {"/releases", base, *files}
    for path in ("/releases", "/releases/none/1.0.0"):
        assert client.get(f"/api/v1{path}").status_code in {200, 404}
    assert client.get("/api/v1/catalogs").status_code == 401
