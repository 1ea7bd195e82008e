"""docs/security.md names a test for every published class of attack; some of them stand here."""

from __future__ import annotations

import ast
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Role, User
from config import env
from config.settings import _secret_key
from tests.clients import signed_in
from tests.paths import ROOT

ROWS = re.findall(
    r"^\| ([0-9AB]\w*) \| .* \| (.*) \|$", (ROOT / "docs/security.md").read_text(), re.M
)
APPS = ("accounts", "annotation", "api", "audit", "catalog", "conditional", "config", "evaluation",
        "jobs", "learning", "notices", "pooling", "releases", "lookalike")  # fmt: skip
FETCHES = {"requests", "httpx", "aiohttp", "urllib3", "urllib.request", "http.client"}
FETCHES_FOR_ADMINS = {
    "notices/webhook.py": "an admin's webhook, at public addresses alone; tests/notices",
    "lookalike/core/public_http.py": "connects for the two beside it, at the IP that it checked",
    "lookalike/images/remote.py": "an admin's manifest, at hosts of a setting; tests/lookalike",
    "releases/publishing/zenodo.py": "a command of the admin, to the address of a setting",
    "accounts/sign_in/breached.py": "the address of a setting; tests/accounts/test_breached.py",
}
RUNS = {"pickle", "dill", "marshal", "shelve", "yaml", "joblib"}


def test_every_class_names_tests_that_exist() -> None:
    own = [*(f"A{number}" for number in range(1, 13)), *(f"B{number}" for number in range(1, 5))]
    assert [name for name, _ in ROWS] == [*(str(number) for number in range(1, 34)), *own]
    for name, cell in ROWS:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", cell)
        assert tests, f"class {name} names no test"
        for path, function in tests:
            tree = ast.parse((ROOT / path).read_text())
            known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert function in known, f"class {name}: {path} has no {function}"


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def imports(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_the_site_fetches_no_address() -> None:
    """Class 6. The client, which people run themselves, is what fetches."""
    fetching = {
        str(path): found
        for path, tree in modules()
        if path.parts[:2] != ("lookalike", "client")
        and str(path) not in FETCHES_FOR_ADMINS
        and (found := imports(tree) & FETCHES)
    }
    assert fetching == {}


def test_nothing_from_outside_is_run_or_unpickled() -> None:
    """Classes 15 and 16."""
    problems = []
    for path, tree in modules():
        problems += [f"{path} imports {name}" for name in imports(tree) & RUNS]
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            options = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if called in {"eval", "exec", "compile", "__import__"}:
                problems.append(f"{path}:{node.lineno} calls {called}")
            if (
                called.endswith(("np.load", "numpy.load"))
                and options.get("allow_pickle") != "False"
            ):
                problems.append(f"{path}:{node.lineno} may unpickle")
            if called == "torch.load" and options.get("weights_only") != "True":
                problems.append(f"{path}:{node.lineno} may unpickle")
    assert problems == []


LISTS = ("/catalogs/", "/people/", "/pools/", "/campaigns/", "/jobs/", "/audit/", "/releases/",
         "/results/", "/api/v1/catalogs", "/api/v1/campaigns", "/api/v1/audit")  # fmt: skip
LOOKUPS = (
    "owner__password__startswith", "created_by__password", "user__is_superuser", "order_by",
    "ordering", "sort", "o", "fields", "attribute__", "id__in", "actor__password",
)  # fmt: skip


def shape(content: bytes) -> bytes:
    return re.sub(rb"[0-9a-zA-Z_-]{20,}|\d\d:\d\d:\d\d|before=\d+", b"", content)


@pytest.mark.parametrize("path", LISTS)
def test_no_parameter_becomes_a_lookup(db: None, path: str) -> None:
    """Classes 1 and 29."""
    browser = signed_in(User.objects.create_user(uuid.uuid4().hex, role=Role.ADMIN))
    plain = browser.get(path)
    for name in LOOKUPS:
        for value in ("pbkdf2", "'; select pg_sleep(9); --", "password"):
            reply = browser.get(path, {name: value})
            assert reply.status_code == plain.status_code == 200, (name, value)
            if path not in {"/audit/", "/api/v1/audit"}:  # which record that they were read
                text = shape(reply.content).replace(value.encode(), b"")
                assert len(text) - len(shape(plain.content)) < 500, name


def test_one_address_is_not_flooded_with_mails(db: None) -> None:
    """Class 19: whoever asks from wherever."""
    User.objects.create_user("pia", email=f"{uuid.uuid4().hex}@example.org")
    address = User.objects.get(username="pia").email
    for number in range(12):
        sender = Client(REMOTE_ADDR=f"192.0.2.{number}")
        sender.post("/accounts/password/reset/", {"email": address})
    assert 1 <= len(mail.outbox) <= 5


def test_no_page_can_be_framed(db: None) -> None:
    """Class 20."""
    for path in ("/accounts/login/", "/releases/", "/nothing-here/"):
        reply = Client().get(path)
        assert reply["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in reply["Content-Security-Policy"]


def test_no_key_is_known_to_others(monkeypatch, tmp_path) -> None:
    """Classes 20 and 21: none is shipped, a short one is refused, one that is made is random."""
    text = (ROOT / "config/settings.py").read_text()
    assert not re.search(r"SECRET_KEY\s*=\s*[\"']", text)
    assert 'DEBUG = env.flag("DEBUG", False)' in text
    monkeypatch.setenv("SECRET_KEY", "changeme")
    with pytest.raises(env.EnvError, match="at least 50 characters"):
        _secret_key()
    monkeypatch.delenv("SECRET_KEY")
    keys = set()
    for name in ("one", "two"):
        monkeypatch.setattr("config.settings.DATA_DIR", tmp_path / name)
        keys |= {_secret_key(), _secret_key()}
        assert (tmp_path / name / "secret-key").stat().st_mode & 0o077 == 0
    assert len(keys) == 2


def test_no_answer_is_for_other_origins(db: None) -> None:
    """Class 23."""
    for path in ("/releases/", "/api/v1/openapi.json", "/api/v1/releases", "/metrics"):
        reply = Client().get(path, headers={"Origin": "https://evil.example"})
        assert not [name for name in reply.headers if name.startswith("Access-Control")], path


def test_a_form_of_a_million_fields_is_refused(db: None) -> None:
    """Class 30."""
    body = "&".join(f"f{number}=" for number in range(20_000))
    kind = "application/x-www-form-urlencoded"
    assert Client().post("/accounts/login/", body, content_type=kind).status_code == 400


@pytest.mark.parametrize(
    "address",
    ["/people/?words=%00", "/releases/freeze/?campaign=a%00b",
     "/api/v1/campaigns/%00/second-opinions"],
)  # fmt: skip
def test_a_null_character_in_an_address_is_no_error(address: str, db: None) -> None:
    chief = User.objects.create_user("chief", role=Role.ADMIN)
    assert signed_in(chief).get(address).status_code in {200, 404}
