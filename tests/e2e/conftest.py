"""Chromium against a live server. Static files come from their folders, without a build step."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import create_campaign, open_campaign
from tests.clients import PASSWORD
from tests.e2e.pages import (
    SIZES,
    session_cookie,
)
from tests.e2e.pictures import SIDE, make_images

# Playwright's synchronous interface runs an event loop in this thread, and Django would refuse
# to touch the database beside it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
expect.set_options(timeout=30_000)  # five seconds are few for a busy machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder."""
    for item in items:
        if "/e2e/" in item.path.as_posix():
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, at best the one without windows, or the one that Playwright brings."""
    names = (os.environ.get("CHROMIUM", ""), "chromium-headless-shell", "chromium")
    path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def make_person(transactional_db: None) -> Callable[..., User]:
    """Make a person who can sign in with PASSWORD."""

    def make(username: str, role: Role = Role.ANNOTATOR, **fields: Any) -> User:
        person = User(username=username, role=role, is_staff=role == Role.ADMIN, **fields)
        person.set_password(PASSWORD)
        person.save()
        return person

    return make


@pytest.fixture
def open_page(browser: Browser, live_server: Any) -> Iterator[Callable[..., Page]]:
    """Open a window, signed in as a person; console errors and refused content fail the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_window(
        person: User | None = None,
        *,
        size: str = "desktop",
        theme: Literal["light", "dark"] = "light",
        **options: Any,
    ) -> Page:
        context = browser.new_context(
            base_url=live_server.url,
            viewport=SIZES[size],
            color_scheme=theme,
            has_touch=size == "phone",
            **options,
        )
        contexts.append(context)
        if person is not None:
            context.add_cookies([session_cookie(person, live_server.url)])
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type == "error" and "Content Security Policy" in message.text
                else None
            ),
        )
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def make_campaign(transactional_db: None) -> Callable[..., Campaign]:
    """Open a campaign over pictures with files: each query with candidates of its own."""

    def make(
        *panel: User,
        n_queries: int = 3,
        n_candidates: int = 8,
        is_open: bool = True,
        is_read: bool = True,
        side: int = SIDE,
        **rules: Any,
    ) -> Campaign:
        images = make_images(n_queries * (1 + n_candidates), side)
        queries, candidates = images[:n_queries], images[n_queries:]
        pairs = [
            (query.pk, candidate.pk)
            for i, query in enumerate(queries)
            for candidate in candidates[i * n_candidates : (i + 1) * n_candidates]
        ]
        slug = f"c-{uuid.uuid4().hex[:8]}"
        given = {"guidelines": "# What counts\n\nThe same **kind** of thing, seen alike."} | rules
        campaign = create_campaign(
            name="Coats and bags, autumn", slug=slug, pairs=pairs, panel=panel, **given
        )
        if is_read:  # the guidelines do not open by themselves
            campaign.panel.update(read_version=1)
        return open_campaign(campaign=campaign) if is_open else campaign

    return make
