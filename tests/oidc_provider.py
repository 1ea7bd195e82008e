"""A small OpenID Connect provider: `python -m tests.oidc_provider PORT` runs it by hand.

It signs in whoever `person` describes, without a question, and knows one client.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
import threading
import time
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "lookalike", "a secret of the client"
ADA = {
    "sub": "4711",
    "preferred_username": "ada",
    "given_name": "Ada",
    "family_name": "Lovelace",
    "email": "ada@example.org",
    "email_verified": True,
    "groups": ["experts"],
}


class FakeProvider:
    """The provider; tests change `person`, `id_token` and `status` to attack with it."""

    def __init__(self, port: int = 0) -> None:
        self.person: dict[str, Any] = dict(ADA)
        self.id_token: dict[str, Any] = {}  # what the ID token says otherwise; None leaves out
        self.status = 200
        self.codes: dict[str, dict[str, str]] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @cached_property
    def key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def __enter__(self) -> FakeProvider:
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "scopes_supported": ["openid", "profile", "email", "groups", "offline_access"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser is sent back to."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = urlencode({"code": code, "state": asked.get("state", "")})
        return f"{asked['redirect_uri']}?{answer}"

    def token(self, given: dict[str, str]) -> dict[str, Any] | None:
        """Trade a code for tokens, once, if client and verifier are the right ones."""
        asked = self.codes.pop(given.get("code", ""), None)
        if asked is None or (given.get("client_id"), given.get("client_secret")) != (
            CLIENT,
            SECRET,
        ):
            return None
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked.get("code_challenge") != challenge
            or asked["redirect_uri"] != given["redirect_uri"]
        ):
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60}
        claims |= {"sub": self.person["sub"], "nonce": asked.get("nonce"), **self.id_token}
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "at", "token_type": "Bearer", "expires_in": 60, "id_token": signed}

    def keys(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [public | {"kid": "1", "alg": "RS256", "use": "sig"}]}


def _handler(provider: FakeProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
                return
            pages = {
                "/.well-known/openid-configuration": provider.document,
                "/jwks": provider.keys,
                "/userinfo": lambda: provider.person,
            }
            self.answer(pages[parts.path](), provider.status)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            tokens = provider.token({name: v[0] for name, v in parse_qs(body).items()})
            self.answer(tokens or {"error": "invalid_grant"}, 200 if tokens else 400)

        def answer(self, data: dict[str, Any], status: int) -> None:
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    return Handler


if __name__ == "__main__":
    fake = FakeProvider(int(sys.argv[1]))
    sys.stderr.write(f"OIDC_URL={fake.url} OIDC_CLIENT_ID={CLIENT} OIDC_CLIENT_SECRET='{SECRET}'\n")
    fake.server.serve_forever()
