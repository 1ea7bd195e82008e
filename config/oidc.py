"""Sign-in through an OpenID Connect provider, read from five variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from config import env

ROLES = ("annotator", "admin", "researcher")
NEEDED = ("OIDC_URL", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_ROLES")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
ID = "sso"  # in the address to which the provider sends people back


@dataclass(frozen=True)
class Provider:
    """The provider of a site; `roles` gives groups their role, earlier ones first."""

    url: str
    client_id: str
    client_secret: str
    name: str
    roles: Mapping[str, str]


def given() -> Provider | None:
    """Return the provider, or None where no variable names one.

    Raises:
        env.EnvError: a variable is missing, or cannot be read.
    """
    found = {name: env.optional(name) for name in NEEDED}
    if not any(found.values()):
        return None
    url, client_id, secret, roles = (env.text(name) for name in NEEDED)
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        # what is fetched from it is believed without a look at signatures, as its TLS vouches
        raise env.EnvError(f"OIDC_URL must start with https://, not {parts.scheme!r}.")
    name = env.text("OIDC_NAME", "single sign-on")
    return Provider(url.rstrip("/"), client_id, secret, name, read_roles(roles))


def read_roles(text: str) -> dict[str, str]:
    """Return the role of each group in `group=role,group=role`; the group `*` is everybody."""
    roles: dict[str, str] = {}
    for pair in text.split(","):
        group, _, role = (part.strip() for part in pair.rpartition("="))
        if not group or role not in ROLES:
            raise env.EnvError(
                f"OIDC_ROLES must read group=role,group=role, with roles {', '.join(ROLES)}; "
                f"{pair.strip()!r} does not."
            )
        roles.setdefault(group, role)
    return roles


def providers(provider: Provider | None) -> dict[str, object]:
    """Return allauth's entry for the provider."""
    if provider is None:
        return {}
    app = {
        "provider_id": ID,
        "name": provider.name,
        "client_id": provider.client_id,
        "secret": provider.client_secret,
        "settings": {"server_url": provider.url, "roles": provider.roles},
    }
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
